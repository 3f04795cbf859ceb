import { setTimeout as pause } from "node:timers/promises";
import {
  type Allowed,
  allow,
  type EventId,
  type Mode,
  type StoredEvent,
  StrataError,
  type ThreadId,
  type TurnEvent,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import {
  type Arrival,
  type CallParameters,
  eventsFor,
  follow,
  type Parts,
  type Run,
  type Runtime,
} from "../../turn/index.ts";
import { OUTBOX_STORE } from "../deliveries/index.ts";
import type { RunEvent } from "../operation.ts";
import { failureOf } from "../run-operation.ts";

/** A turn's good end. */
export type Done = Extract<TurnEvent, { type: "done" }>;

/** The end of a turn that waits for answers. */
export type WaitingEnd = Extract<TurnEvent, { type: "waiting" }>;

export interface Ports {
  readonly parts: Parts;
  readonly runtime: Pick<
    Runtime,
    "arrival" | "changes" | "checkRoom" | "contact" | "post" | "openAndPost" | "ended" | "place"
  >;
  readonly run: Run;
}

export interface Arriving {
  readonly thread: Thread;
  readonly arrival: Arrival;
}

/**
 * The turn that begins with a message, with its first event: both are in one commit. Undefined where no turn began with it, for whatever
 * reason: then the message is stored by itself, and followed like any other, which says why.
 */
export async function beginWith(
  { parts, run }: Ports,
  actor: Allowed<"post">,
  { thread, arrival: arriving, mode, parameters, signal, isRun }: Arriving & Omit<Following, "event">,
): Promise<BegunTurn | undefined> {
  const taken = new Set<EventId>();
  const options = {
    arriving,
    signal,
    parameters,
    taken: (ids: readonly EventId[]) => {
      for (const id of ids) taken.add(id);
    },
    ...(mode !== undefined && { mode }),
  };
  const turn = eventsFor(actor, isRun ? follow(parts, run, thread, options) : run(thread, options));
  const first = await turn.next().catch(() => undefined);
  if (first === undefined || first.done) return undefined;
  // The turn goes on while its message is put on the disk.
  const second = turn.next();
  second.catch(() => undefined);
  return { turn, first: first.value, second, taken };
}

/** A turn whose first event is read, and the second asked for. */
interface BegunTurn {
  readonly turn: AsyncGenerator<TurnEvent>;
  readonly first: TurnEvent;
  readonly second: Promise<IteratorResult<TurnEvent>>;
  /** What it has taken, once that is kept. */
  readonly taken: ReadonlySet<EventId>;
}

async function* wholeOf({ turn, first, second }: BegunTurn): AsyncGenerator<TurnEvent> {
  yield first;
  const next = await second;
  if (next.done) return;
  yield next.value;
  yield* turn;
}

/** How often a thread held elsewhere is tried again, and after what pauses: a little more than the longest turn. */
const TRIES = 160;
const retryPause = (tries: number): number => Math.min(1_000, 50 * 2 ** tries);

export interface Following {
  readonly event: StoredEvent;
  readonly thread: Thread;
  readonly mode: Mode | undefined;
  readonly parameters: CallParameters | undefined;
  readonly signal: AbortSignal;
  /** Whether the next turns of the run are followed, too. */
  readonly isRun: boolean;
  readonly begun?: BegunTurn | undefined;
}

/**
 * Nothing if the message is held back behind a call that a program or a person has to answer.
 * @throws StrataError `thread_busy` only after a long wait; a turn's error, after its `failed`
 */
export async function* followMessage(
  ports: Ports,
  actor: Allowed<"post">,
  { event, thread, mode, parameters, signal, isRun, begun }: Following,
): AsyncGenerator<RunEvent, Done | WaitingEnd | undefined> {
  const { parts } = ports;
  const run: Run = isRun ? (of, options) => follow(parts, ports.run, of, options) : ports.run;
  const { scope, id } = thread;
  let end: Done | WaitingEnd | undefined;
  let isTold = false;
  for (let tries = 0, waits = event.status !== "consumed"; ; tries++) {
    if (!waits) return end?.type === "done" ? end : yield* recorded(ports, actor, { event, thread, yielded: end });
    try {
      const taken = (ids: readonly EventId[]): void => {
        if (ids.includes(event.id)) waits = false;
      };
      const options = { signal, taken, parameters, ...(mode !== undefined && { mode }) };
      const isBegun = tries === 0 && begun !== undefined;
      for await (const one of isBegun ? wholeOf(begun) : eventsFor(actor, run(thread, options))) {
        yield one;
        if (one.type === "failed") throw failureOf(one);
        if (one.type === "done" || one.type === "waiting") end = one;
      }
      if (isBegun) taken([...begun.taken]);
    } catch (thrown) {
      const isBusy = thrown instanceof StrataError && thrown.code === "thread_busy";
      if (!isBusy || tries >= TRIES) throw thrown;
      if (!isTold) yield { type: "busy" };
      isTold = true;
    }
    const left = waits ? (await parts.store.untaken(scope, id)).find((one) => one.id === event.id) : undefined;
    if (left?.status === "held") return undefined;
    waits = left !== undefined;
    if (waits && end === undefined) await pauseForThread(retryPause(tries), signal, id);
  }
}

/** An end from the record, unless it was already reported. The caller that takes it has the reply. */
async function* recorded(
  { parts, runtime }: Ports,
  actor: Allowed<"post">,
  { event, thread, yielded }: Pick<Following, "event" | "thread"> & { readonly yielded: WaitingEnd | undefined },
): AsyncGenerator<TurnEvent, Done | WaitingEnd> {
  const { end } = await runtime.ended(allow(actor, "run"), event);
  if (end.turn === yielded?.turn) return yielded;
  if (end.type === "done" && end.text === "") {
    // What a person sent in place of a draft is the answer.
    const { contact, ...owner } = thread.scope;
    const wish = { contact, turn: end.turn, limit: 1 };
    const [sent] = await parts.store.part(OUTBOX_STORE).mail(owner, wish);
    const { withheld: _, drafted: ___, unanswered: __, ...rest } = end;
    const answer = sent === undefined ? end : { ...rest, text: sent.text };
    yield answer;
    return answer;
  }
  yield end;
  // The turn is done whatever happens here, as when it was run.
  await parts.store
    .part(OUTBOX_STORE)
    .deliver(thread.scope, { turn: end.turn }, parts.clock.recorded())
    .catch(() => undefined);
  return end;
}

async function pauseForThread(milliseconds: number, signal: AbortSignal, thread: ThreadId): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (cause) {
    const message = `the program stopped while the message waited for ${thread}; it keeps waiting there`;
    throw new StrataError("turn_cancelled", message, { thread }, cause);
  }
}
