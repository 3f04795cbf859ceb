import type { ContactScope, Epoch, ThreadId } from "../../protocol/index.ts";
import type { SentRequest, Thread } from "../records.ts";
import type { Row } from "../tables.ts";
import type { TranscriptEnd } from "../turns/epochs.ts";

/** An epoch as it was last read. */
export interface KnownEpoch {
  readonly row: Row<"epoch">;
  readonly epoch: Epoch;
  /** The rolling digest there covers each message, with its text. */
  readonly end: TranscriptEnd;
  /** How long its texts are. */
  readonly characters: number;
  /** The claim that has read it: while that holds the thread, nothing else changes it. */
  readonly fence?: number;
}

/** A thread's data that is valid until a further turn ends on it, here or in another program. */
export interface KnownPast {
  /** How many have ended. */
  readonly turns: number;
  /** Its newest answered requests, oldest first, each with the place of its turn. */
  readonly sent?: readonly (SentRequest & { readonly seq: number })[] | undefined;
  /** No call is open at its end. */
  readonly isClosed: boolean;
}

/**
 * Running epochs and what was sent, so that a turn reads only what others have written since the thread's last one. They hold nothing that the
 * record does not: whoever takes one compares it with the record first (`currentEpoch`; the thread's number of turns), for another program may have written since.
 */
export interface KnownEpochs {
  get(scope: ContactScope, thread: ThreadId): KnownEpoch | undefined;
  put(scope: ContactScope, thread: ThreadId, known: KnownEpoch): void;
  /** Undefined if it is known as of another number of turns. */
  past(scope: ContactScope, thread: ThreadId, turns: number | undefined): KnownPast | undefined;
  putPast(scope: ContactScope, thread: ThreadId, known: KnownPast): void;
  /** The thread of that name as the last turn that this program ended there left it. */
  thread(scope: ContactScope, name: ThreadName): Thread | undefined;
  putThread(thread: Thread): void;
  /** Forgets a contact's, whose texts are gone. */
  forget(scope: ContactScope): void;
}

/** Characters of all that are kept together, some 64 megabytes; those that were asked for longest ago go first. */
const MOST = 2 ** 24;
/** What each message takes beside its text. */
const MESSAGE = 400;
/** Threads of which it is known what was sent, at most 64 requests each, or how their last turn left them. */
const MOST_PASTS = 1_000;

type ThreadName = Pick<Thread, "channel" | "key">;

export function openKnownEpochs(most = MOST): KnownEpochs {
  const known = new Map<string, KnownEpoch>();
  const pasts = new Map<string, KnownPast>();
  const threads = new Map<string, Thread>();
  let characters = 0;
  const contactKey = ({ org, agent, contact }: ContactScope): string => JSON.stringify([org, agent, contact]);
  const keyOf = (scope: ContactScope, thread: ThreadId): string => `${contactKey(scope)} ${thread}`;
  const nameKey = (scope: ContactScope, { channel, key }: ThreadName): string =>
    `${contactKey(scope)} ${JSON.stringify([channel, key])}`;
  const remove = (key: string): void => {
    characters -= epochSize(known.get(key));
    known.delete(key);
  };
  return {
    get: (scope, thread) => {
      const key = keyOf(scope, thread);
      const found = known.get(key);
      if (found === undefined) return undefined;
      known.delete(key);
      known.set(key, found);
      return found;
    },
    put: (scope, thread, one) => {
      const key = keyOf(scope, thread);
      remove(key);
      known.set(key, one);
      characters += epochSize(one);
      for (const oldest of known.keys()) {
        if (characters <= most) break;
        remove(oldest);
      }
    },
    past: (scope, thread, turns) => {
      const found = pasts.get(keyOf(scope, thread));
      return found?.turns === turns ? found : undefined;
    },
    putPast: (scope, thread, past) => {
      const key = keyOf(scope, thread);
      // Whoever holds the thread as it was before knows less.
      if ((pasts.get(key)?.turns ?? 0) <= past.turns) putNewest(pasts, key, past);
    },
    thread: (scope, name) => threads.get(nameKey(scope, name)),
    putThread: (thread) => putNewest(threads, nameKey(thread.scope, thread), thread),
    forget: (scope) => {
      const own = `${contactKey(scope)} `;
      for (const all of [pasts, threads]) for (const key of [...all.keys()]) if (key.startsWith(own)) all.delete(key);
      for (const key of [...known.keys()]) if (key.startsWith(own)) remove(key);
    },
  };
}

function putNewest<V>(all: Map<string, V>, key: string, value: V): void {
  all.delete(key);
  all.set(key, value);
  const [oldest] = all.keys();
  if (all.size > MOST_PASTS && oldest !== undefined) all.delete(oldest);
}

const epochSize = (one: KnownEpoch | undefined): number =>
  one === undefined ? 0 : one.characters + MESSAGE * (one.epoch.transcript.length + 1);
