import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AgentName,
  type Allowed,
  type ContactId,
  DEFAULT_SCHEDULING,
  isAllowed,
  type Scheduling,
  StrataError,
  type TurnEvent,
} from "../../protocol/index.ts";
import type { Parts } from "../parts.ts";

/** The caller that wants to run a turn. */
export interface Waiting {
  readonly agent: AgentName;
  readonly contact: ContactId;
  /** Whether it goes on with a chain that has begun. */
  readonly goesOn: boolean;
  /** It begins only if there is a place for it now. */
  readonly atOnce?: boolean;
}

/** What runs in a program just now, and what waits for its place. */
export interface Load {
  readonly running: number;
  readonly waiting: number;
}

/**
 * The turns of one program: some run side by side, the others wait. None of this is stored: a waiting turn is an unclaimed message, and a
 * turn that ends as `waiting` has given its place back.
 */
export interface TurnQueue {
  /**
   * The turn's events, once there is a place for it. It gives the place back before it yields the last event: the reader of that event may
   * start the next turn. With `atOnce`, it yields nothing where the turn would have to wait.
   * @throws StrataError `turn_cancelled` if the signal ends the wait
   */
  inPlace(
    who: Waiting,
    signal: AbortSignal | undefined,
    turn: () => AsyncIterable<TurnEvent>,
  ): AsyncGenerator<TurnEvent>;
  /** For doors, before anything is stored. @throws StrataError `queue_full` */
  checkRoom(actor: Allowed<"run">, who: Pick<Waiting, "agent" | "contact">): void;
  load(): Load;
  /** The place in the queue that a turn would have now: 1 if it is next, 0 if it would begin at once. */
  place(who: Pick<Waiting, "agent" | "contact">): number;
}

/** A turn that takes longer no longer counts, so that those that hang stop no other. Milliseconds. */
const LONG = 600_000;

/** The minimum and maximum seconds to wait before retrying. */
const SOONEST = 1;
const LATEST = 60;

/** How much the time of the newest turn counts in the mean. */
const NEWEST = 1 / 8;

/** Set where a tool runs: a turn that it runs in this program takes no place, for its own turn has one, and waits for it. */
export const INSIDE_TURN = new AsyncLocalStorage<true>();

interface Entry extends Waiting {
  readonly begin: () => void;
}

/** By agent, then by contact, each in the order in which it has its turn: whoever had one goes to the end. */
type Ring = Map<AgentName, Map<ContactId, Entry[]>>;

export function openTurnQueue(parts: Pick<Parts, "clock" | "scheduling">): TurnQueue {
  const { clock } = parts;
  const ring: Ring = new Map();
  const rules = (): Scheduling => parts.scheduling ?? DEFAULT_SCHEDULING;
  let [running, waiting, mean] = [0, 0, 1_000];

  /** Takes a place. Given back once, whoever asks for it. */
  const take = (): (() => void) => {
    const began = clock.real();
    running++;
    const leave = (): void => {
      if (!held) return;
      held = false;
      clearTimeout(late);
      running--;
      mean += (clock.real() - began - mean) * NEWEST;
      fill();
    };
    let held = true;
    const late = setTimeout(leave, LONG).unref();
    return leave;
  };

  const fill = (): void => {
    while (waiting > 0 && running < rules().atOnce) {
      const next = takeNext(ring, rules().chains);
      waiting--;
      next?.begin();
    }
  };

  const isFree = (): boolean => INSIDE_TURN.getStore() === true || running < rules().atOnce;

  const enter = (who: Waiting, signal: AbortSignal | undefined): Promise<() => void> => {
    if (INSIDE_TURN.getStore() === true) return Promise.resolve(() => undefined);
    if (isFree()) return Promise.resolve(take());
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const entry: Entry = {
      ...who,
      begin: () => {
        signal?.removeEventListener("abort", stop);
        resolve(take());
      },
    };
    const stop = (): void => {
      if (!remove(ring, entry)) return;
      waiting--;
      reject(new StrataError("turn_cancelled", "the turn was cancelled before it began; its messages keep waiting"));
    };
    addEntry(ring, entry);
    waiting++;
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    return promise;
  };

  return {
    async *inPlace({ agent, contact, goesOn, atOnce = false }, signal, turn) {
      if (atOnce && !isFree()) return;
      const leave = await enter({ agent, contact, goesOn }, signal);
      try {
        for await (const event of turn()) {
          if (event.type === "done" || event.type === "failed" || event.type === "waiting") leave();
          yield event;
        }
      } finally {
        leave();
      }
    },
    checkRoom: (actor, { agent, contact }) => {
      const { waiting: most, atOnce } = rules();
      if (waiting < most) return;
      const others = ring.get(agent);
      const agents = ring.size + (others === undefined ? 1 : 0);
      const contacts = (others?.size ?? 0) + (others?.has(contact) ? 0 : 1);
      const own = others?.get(contact)?.length ?? 0;
      if (own + 1 <= most / agents / contacts) return;
      const seconds = Math.min(LATEST, Math.max(SOONEST, Math.ceil((waiting * mean) / atOnce / 1_000)));
      const again = `send it again in ${seconds} second${seconds === 1 ? "" : "s"}`;
      if (!isAllowed(actor, "read"))
        throw new StrataError("queue_full", `many messages wait, and this one was not stored: ${again}`, {
          retryAfter: seconds,
        });
      throw new StrataError(
        "queue_full",
        `the queue of this program is full (${waiting} waiting, ${own} of them for ${contact} with ${agent}): ${again}, or raise \`turns.atOnce\` or \`turns.waiting\` of strata.yaml`,
        { agent, waiting, retryAfter: seconds },
      );
    },
    load: () => ({ running, waiting }),
    place: (who) => {
      if (isFree()) return 0;
      const coming: Ring = new Map();
      for (const contacts of ring.values())
        for (const entries of contacts.values()) for (const one of entries) addEntry(coming, one);
      const own: Entry = { ...who, goesOn: false, begin: () => undefined };
      addEntry(coming, own);
      let place = 1;
      while (takeNext(coming, rules().chains) !== own) place++;
      return place;
    },
  };
}

function addEntry(ring: Ring, entry: Entry): void {
  const contacts = ring.get(entry.agent) ?? new Map<ContactId, Entry[]>();
  ring.set(entry.agent, contacts);
  const entries = contacts.get(entry.contact);
  if (entries === undefined) contacts.set(entry.contact, [entry]);
  else entries.push(entry);
}

function remove(ring: Ring, entry: Entry): boolean {
  const contacts = ring.get(entry.agent);
  const entries = contacts?.get(entry.contact);
  const at = entries?.indexOf(entry) ?? -1;
  if (contacts === undefined || entries === undefined || at === -1) return false;
  entries.splice(at, 1);
  if (entries.length === 0) contacts.delete(entry.contact);
  if (contacts.size === 0) ring.delete(entry.agent);
  return true;
}

/** Of the agent that had its turn longest ago, of the contact that had it longest ago. Both go to the end. */
function takeNext(ring: Ring, chains: Scheduling["chains"]): Entry | undefined {
  const [agent, contacts] = ring.entries().next().value ?? [];
  const [contact, entries] = contacts?.entries().next().value ?? [];
  if (agent === undefined || contacts === undefined || contact === undefined || entries === undefined) return undefined;
  // The most recent action of a chain is nearest to its end.
  const newest = chains === "depth" ? entries.findLast(({ goesOn }) => goesOn) : undefined;
  const chosen = newest ?? entries[0];
  if (chosen === undefined) return undefined;
  ring.delete(agent);
  contacts.delete(contact);
  entries.splice(entries.indexOf(chosen), 1);
  if (entries.length > 0) contacts.set(contact, entries);
  if (contacts.size > 0) ring.set(agent, contacts);
  return chosen;
}
