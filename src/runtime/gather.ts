import type { Compilation, Summary } from "../compiler/index.ts";
import {
  type Agent,
  asStrataError,
  type ContactScope,
  type Epoch,
  type Layer,
  type StoredEvent,
  type TurnId,
} from "../protocol/index.ts";
import { type Gathered, gather } from "../sources/index.ts";
import { tailPlanOf } from "../wire/index.ts";
import { type AtStart, atStart, seenOtherwise } from "./at-start.ts";
import { type Cast, keepOf, limitOf } from "./cast.ts";
import { type ColdCache, compileFirst } from "./early-cut.ts";
import type { Parts } from "./parts.ts";

/** What a turn's first request is about. */
export interface Occasion {
  readonly scope: ContactScope;
  readonly turn: TurnId;
  readonly events: readonly StoredEvent[];
  readonly epoch: Epoch | undefined;
  /** There where the provider has surely forgotten the thread. */
  readonly cold?: ColdCache | undefined;
  readonly signal?: AbortSignal;
}

/** A turn's first request, and a line for each source that failed or was late. */
export interface Prepared {
  readonly compilation: Compilation;
  readonly notes: Gathered["notes"];
  /** How many of the events are in it, from the first on. */
  readonly taken: number;
  /** The same request with a summary of what was cut from it. */
  readonly withSummary: (summary: Summary) => Compilation;
}

/**
 * Asks the live layers' sources side by side under their deadline, then compiles the turn's first request. Where that took away
 * what the sources took as seen, they are asked once more.
 * @throws StrataError `source_failed` for a required layer, `budget_too_small`
 */
export async function compileFor(parts: Parts, cast: Cast, occasion: Occasion): Promise<Prepared> {
  const start = await atStart(parts, cast, occasion);
  const prepared = await compileWith(parts, cast, { ...occasion, start });
  const seen = seenOtherwise(start, prepared.compilation);
  return seen === undefined ? prepared : compileWith(parts, cast, { ...occasion, start: { ...start, seen } });
}

async function compileWith(
  parts: Parts,
  cast: Cast,
  { start, ...occasion }: Occasion & { readonly start: AtStart },
): Promise<Prepared> {
  const { agent, count } = cast;
  const live = agent.layers.filter((layer) => layer.scope === "turn");
  const { store, sources, vault } = parts;
  const gathered = await gather(agent, live, {
    ...occasion,
    ...start.seen,
    at: parts.clock(),
    store,
    sources,
    vault,
    count,
  });
  const { contents } = gathered;
  const notes = [...start.notes, ...gathered.notes, ...vectorNotes(parts, agent, live)];
  const input = {
    agent,
    turn: occasion.turn,
    mode: agent.mode,
    limit: limitOf(cast),
    // A running epoch holds the schemas it was sent with: it goes on when a tool has gone, which then answers that it has.
    tools: occasion.epoch === undefined ? parts.tools.schemas(agent.tools) : [],
    epoch: occasion.epoch,
    contents,
    count,
    tail: tailPlanOf(cast.card, agent.tail),
    ...keepOf(cast),
    ...(cast.card.binds && { binds: true }),
    ...(start.memory.frozen && { memory: start.memory.frozen }),
    forgotten: start.memory.forgotten,
  };
  // More events than one message can hold are taken in several turns: half of them, until they fit.
  for (let taken = occasion.events.length; ; taken = Math.floor(taken / 2)) {
    try {
      const fitting = { ...input, events: occasion.events.slice(0, taken) };
      return { ...compileFirst(fitting, occasion.cold), notes, taken };
    } catch (thrown) {
      if (taken <= 1 || asStrataError(thrown).code !== "budget_too_small") throw thrown;
    }
  }
}

/** That memories were searched by words alone, where they should not have been: the turn goes on (law 13). */
function vectorNotes({ vectors }: Parts, { name }: Agent, live: readonly Layer[]): Gathered["notes"] {
  const says = vectors?.trouble(name);
  const recall = live.find(({ source }) => source.kind === "recall");
  return says === undefined || recall === undefined ? [] : [{ layer: recall.id, says }];
}
