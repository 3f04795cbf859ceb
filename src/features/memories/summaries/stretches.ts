import { type Memory, type Scope, StrataError, type ThreadId, type TurnId } from "../../../protocol/index.ts";
import type { Parts } from "../../../turn/index.ts";
import { everyMemory } from "../every-memory.ts";

/** A longer pause begins a new stretch of talk, as in search and recall. */
export const PAUSE = 30 * 60_000;

/** Fewer messages are as short as their summary would be. */
const LEAST = 4;

/** At most this many sources, as a memory keeps when it is saved again. */
const MOST = 100;

/** Consecutive messages of one thread, or of one imported conversation; oldest first. */
interface Stretch {
  readonly session: string;
  readonly memories: readonly Memory[];
}

/** What a summary already covers, and the time by which a stretch must have ended. */
export interface Due {
  readonly done: ReadonlySet<string>;
  readonly ended: number;
}

/**
 * The stretches of messages that ended before a time and are in no summary, those that ended first in front. Only messages, as they
 * were said: no summary is made from a summary, nor from anything that the platform showed (law 12).
 */
export async function* stretches(parts: Parts, scope: Scope, { done, ended }: Due): AsyncGenerator<Stretch> {
  const messages: Memory[] = [];
  for await (const memory of everyMemory(parts.store, scope, { kinds: ["message"] })) {
    if (!done.has(memory.id)) messages.push(memory);
  }
  const sessionOf = sessions(parts, scope);
  const open = new Map<string, Memory[]>();
  for (const message of messages.reverse()) {
    for (const [session, said] of open) {
      if (lastOf(said) + PAUSE >= message.at) continue;
      open.delete(session);
      yield* finished(session, said, ended);
    }
    const session = await sessionOf(message);
    if (session === undefined) continue;
    const said = open.get(session) ?? [];
    said.push(message);
    open.set(session, said);
  }
  for (const [session, said] of open) yield* finished(session, said, ended);
}

const lastOf = (said: readonly Memory[]): number => said.at(-1)?.at ?? 0;

function* finished(session: string, said: readonly Memory[], ended: number): Generator<Stretch> {
  if (lastOf(said) > ended || said.length < LEAST) return;
  for (const memories of inPieces(said)) yield { session, memories };
}

/** No more than one memory may name as its sources, in parts of the same size. */
export function inPieces(memories: readonly Memory[]): readonly (readonly Memory[])[] {
  const pieces = Math.ceil(memories.length / MOST);
  const size = Math.ceil(memories.length / pieces);
  return Array.from({ length: pieces }, (_, n) => memories.slice(n * size, (n + 1) * size));
}

/** The conversation of a message: that of the import, otherwise the thread of its turn. */
export function sessions(
  { store }: Pick<Parts, "store">,
  scope: Scope,
): (message: Memory) => Promise<string | undefined> {
  const threads = new Map<TurnId, ThreadId>();
  return async ({ session, turn }) => {
    if (session !== undefined || turn === undefined) return session;
    const known = threads.get(turn) ?? (await store.turn(scope, turn))?.thread;
    if (known === undefined)
      throw new StrataError(
        "record_broken",
        `a message is of ${turn}, which is not in the record; run \`strata verify\` where the data is`,
        { turn },
      );
    threads.set(turn, known);
    return known;
  };
}
