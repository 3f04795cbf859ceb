import { setTimeout as pause } from "node:timers/promises";
import {
  type Allowed,
  type Mode,
  type StoredEvent,
  StrataError,
  type ThreadId,
  type TurnEvent,
} from "../../protocol/index.ts";
import type { Runtime } from "../../turn/index.ts";

/** A turn's good end. */
export type Done = Extract<TurnEvent, { type: "done" }>;

/** A thread that somebody else holds is asked for again so often, and after so long: a little more than the longest turn. */
const TRIES = 160;
const pauseAfter = (tries: number): number => Math.min(1_000, 50 * 2 ** tries);

/** Who waits for which event, and what ends the waiting. */
export interface Waiting {
  readonly actor: Allowed<"run">;
  readonly event: StoredEvent;
  readonly stop: AbortSignal;
  /** How much of the prompt is sent; left out, the agent's own mode. */
  readonly mode: Mode | undefined;
}

/**
 * The turn that answers an event: a new one, or, where another turn took the event meanwhile or long ago, that one's end
 * out of the record. So a client may send the same event again until it gets the answer.
 * @throws StrataError before the start, as `Runtime.run`; `thread_busy` only after a long wait
 */
export async function* answering(runtime: Runtime, { actor, event, stop, mode }: Waiting): AsyncGenerator<TurnEvent> {
  // A known event may have come in on another thread of the contact: it is answered there.
  const thread = await runtime.thread(actor, event.thread);
  for (let tries = 0; ; tries++) {
    const waits = (await runtime.pending(actor, thread)).some((one) => one.id === event.id);
    if (!waits) return yield* told(runtime, actor, (await runtime.ended(actor, event)).done);
    try {
      if (yield* passedOn(runtime.run(actor, thread, { signal: stop, ...(mode !== undefined && { mode }) }))) return;
    } catch (thrown) {
      const isBusy = thrown instanceof StrataError && thrown.code === "thread_busy";
      if (!isBusy || tries >= TRIES) throw thrown;
    }
    await rest(pauseAfter(tries), stop, thread.id);
  }
}

/** An end out of the record. Who takes it has the reply. */
async function* told(runtime: Runtime, actor: Allowed<"run">, done: Done): AsyncGenerator<TurnEvent, void> {
  yield done;
  // The turn is done whatever happens here, as where it was run.
  await runtime.confirmDelivery(actor, done.turn).catch(() => undefined);
}

/** Passes a turn on; false where there was none. */
async function* passedOn(turn: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent, boolean> {
  let any = false;
  for await (const event of turn) {
    any = true;
    yield event;
  }
  return any;
}

async function rest(milliseconds: number, stop: AbortSignal, thread: ThreadId): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal: stop });
  } catch (cause) {
    const message = `the server stopped while the message waited for ${thread}; it keeps waiting there`;
    throw new StrataError("turn_cancelled", message, { thread }, cause);
  }
}
