import type { ContactScope, Epoch, ThreadId } from "../../protocol/index.ts";
import type { SentRequest } from "../records.ts";
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
  /** Forgets a contact's, whose texts are gone. */
  forget(scope: ContactScope): void;
}

/** Characters of all that are kept together, some 64 megabytes; those that were asked for longest ago go first. */
const MOST = 2 ** 24;
/** What each message takes beside its text. */
const MESSAGE = 400;
/** Threads of which it is known what was sent, at most 64 requests each. */
const MOST_PASTS = 1_000;

export function openKnownEpochs(most = MOST): KnownEpochs {
  const known = new Map<string, KnownEpoch>();
  const pasts = new Map<string, KnownPast>();
  let characters = 0;
  const contactKey = ({ org, agent, contact }: ContactScope): string => JSON.stringify([org, agent, contact]);
  const keyOf = (scope: ContactScope, thread: ThreadId): string => `${contactKey(scope)} ${thread}`;
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
      pasts.delete(key);
      pasts.set(key, past);
      const [oldest] = pasts.keys();
      if (pasts.size > MOST_PASTS && oldest !== undefined) pasts.delete(oldest);
    },
    forget: (scope) => {
      const own = `${contactKey(scope)} `;
      for (const key of [...pasts.keys()]) if (key.startsWith(own)) pasts.delete(key);
      for (const key of [...known.keys()]) if (key.startsWith(own)) remove(key);
    },
  };
}

const epochSize = (one: KnownEpoch | undefined): number =>
  one === undefined ? 0 : one.characters + MESSAGE * (one.epoch.transcript.length + 1);
