import {
  type Agent,
  type ContactId,
  type CountTokens,
  type Layer,
  type Memory,
  type ModelRef,
  type Place,
  writeFrame,
} from "../../protocol/index.ts";
import type { Store, Thread, TurnRecord } from "../../store/index.ts";
import { isClosedChannel, type Parts } from "../../turn/index.ts";
import type { Observed, ThreadLength } from "../../wire/index.ts";

/** How many of an agent's threads are counted, and of how many of the newest the turns are read. */
const COUNTED = 1_000;
const LOOKED_AT = 20;
const MOST_MEMORIES = 10_000;

/** Without a record: the shorter of the two lengths that were measured (CACHING §3.6). */
const USUAL_TURNS = 50;

/** What the record shows about the agent: the length of its threads, the size of its tail, and the models that answered. */
export async function observe(
  { store, channels }: Pick<Parts, "store" | "channels">,
  { org, name, layers, recall: way }: Agent,
  count: CountTokens,
): Promise<{ readonly length: ThreadLength; readonly observed: Observed }> {
  const threads = await store.threads({ org, agent: name, contact: null }, COUNTED);
  // Summaries made in idle time are not conversations: their turns stand alone.
  const begun = threads.filter(({ turns, channel }) => turns > 0 && !isClosedChannel({ channels }, channel));
  const newest = begun.slice(0, LOOKED_AT);
  const turns = await Promise.all(newest.map(({ scope, id }) => store.turns(scope, id)));
  const tail = median(turns.flat().flatMap(({ requests }) => requests.slice(0, 1).map(tailTokens)));
  // If the agent only says `auto`, the cheaper way is used anyway.
  const recall = way === "search" ? await recalled(store, newest, { turns: turns.flat(), layers, count }) : undefined;
  const mixed = mixedModels(turns);
  const turn = newTokens(turns);
  const middle = median(begun.map((thread) => thread.turns));
  return {
    length: middle === undefined ? { turns: USUAL_TURNS, from: "default" } : { turns: middle, from: "record" },
    observed: {
      ...(tail !== undefined && { tail }),
      ...(turn && { turn }),
      ...(recall && { recall }),
      ...(mixed && { mixed }),
    },
  };
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

type SentRequest = TurnRecord["requests"][number];

const tailTokens = (request: SentRequest): number => tokensOf(request, "tail");

/** A turn's new tokens: its events, and everything added to the transcript until the next turn begins in the same epoch. */
function newTokens(threads: readonly (readonly TurnRecord[])[]): Observed["turn"] {
  const firsts = threads.map((turns) => turns.flatMap(({ requests }) => requests.slice(0, 1)));
  const events = median(firsts.flat().map((request) => tokensOf(request, "message")));
  const grows = median(
    firsts.flatMap((requests) =>
      requests.slice(1).flatMap((request, n) => {
        const before = requests[n];
        if (before?.epoch !== request.epoch) return [];
        const more = tokensOf(request, "transcript") - tokensOf(before, "transcript");
        return more > 0 ? [more] : [];
      }),
    ),
  );
  return events === undefined || grows === undefined ? undefined : { events, grows };
}

const tokensOf = ({ ledger }: SentRequest, where: Place): number =>
  ledger.entries.reduce((sum, { place, tokens }) => sum + (place === where ? tokens : 0), 0);

interface Recalling {
  readonly turns: readonly TurnRecord[];
  readonly layers: readonly Layer[];
  readonly count: CountTokens;
}

/** Turns in which nothing was recalled count too: freezing would have cost something in them. */
async function recalled(
  store: Store,
  threads: readonly Thread[],
  { turns, layers, count }: Recalling,
): Promise<Observed["recall"]> {
  const layer = layers.find(({ source }) => source.kind === "recall");
  if (layer === undefined) return undefined;
  const perTurn = median(
    turns.flatMap(({ requests }) =>
      requests.slice(0, 1).map(({ ledger }) => ledger.entries.find(({ section }) => section === layer.id)?.tokens ?? 0),
    ),
  );
  const byContact = new Map(threads.map(({ scope }): [ContactId, Thread["scope"]] => [scope.contact, scope]));
  const stored = await Promise.all([...byContact.values()].map((scope) => store.memories(scope, MOST_MEMORIES)));
  const middle = median(
    stored.map((memories) => memories.reduce((sum, memory) => sum + count(frameMemory(memory)), 0)),
  );
  return perTurn === undefined || middle === undefined ? undefined : { perTurn, stored: middle };
}

const frameMemory = ({ trust, at, content }: Memory): string =>
  writeFrame({ kind: "memory", trust, at }, undefined, content);

/** A rehearsal or a recording keeps nothing, so that changing from it to a model loses nothing. */
function mixedModels(threads: readonly (readonly TurnRecord[])[]): Observed["mixed"] {
  const models = threads.map(
    (turns) => new Set(turns.flatMap(({ model }): readonly ModelRef[] => (model?.includes(":") ? [model] : []))),
  );
  const mixed = models.filter(({ size }) => size > 1);
  if (mixed.length === 0) return undefined;
  const names = new Set(mixed.flatMap((found) => [...found]));
  return { threads: mixed.length, of: threads.length, models: [...names].toSorted() };
}
