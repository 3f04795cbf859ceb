import type { ThreadId } from "../protocol/index.ts";
import type { Store, Thread, TurnRecord } from "../store/index.ts";

/** As many threads of one contact are looked through for forks from the same place. */
const MOST_THREADS = 1_000;

/**
 * What has not happened on a fork: the turns that its parent, and other forks from the same place, had come to from there on
 * when it was made, with what was said in them. Their answers are not to be seen where the same is answered again. What was said
 * elsewhere, or since, is known as on every thread.
 */
export async function undoneFor(store: Store, thread: Thread | undefined): Promise<ReadonlySet<string>> {
  if (thread?.forkedFrom === undefined) return NONE;
  const threads = await store.threads(thread.scope, MOST_THREADS);
  const undone: TurnRecord[] = [];
  for (let fork: Thread | undefined = thread; fork?.forkedFrom !== undefined; ) {
    const { id, createdAt } = fork;
    const forkedFrom: Point = fork.forkedFrom;
    const beside = threads.filter((one) => one.id !== id && isSame(one.forkedFrom, forkedFrom));
    const turnsOf = async (one: ThreadId): Promise<readonly TurnRecord[]> => store.turns(thread.scope, one);
    const parents = await turnsOf(forkedFrom.thread);
    const point = parents.find((turn) => turn.id === forkedFrom.turn)?.seq ?? 0;
    const others = [
      parents.filter(({ seq }) => seq > point),
      ...(await Promise.all(beside.map((one) => turnsOf(one.id)))),
    ];
    undone.push(...others.flat().filter(({ startedAt }) => startedAt <= createdAt));
    fork = threads.find((one) => one.id === forkedFrom.thread);
  }
  return new Set(
    undone.flatMap(({ id, events }) => [id, ...events.flatMap((event) => [event.id, memoryOf(event.id)])]),
  );
}

type Point = NonNullable<Thread["forkedFrom"]>;

const NONE: ReadonlySet<string> = new Set();

const isSame = (one: Thread["forkedFrom"], other: Point): boolean =>
  one !== undefined && one.thread === other.thread && one.turn === other.turn;

/** The memory of a message has its number: summaries name it among what they were made from. */
const memoryOf = (event: string): string => `mem_${event.slice(4)}`;
