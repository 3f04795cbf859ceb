import { type Compilation, compile, type Summary } from "../compiler/index.ts";
import { asStrataError, type ContactScope, type Epoch, type StoredEvent, type TurnId } from "../protocol/index.ts";
import { type Gathered, gather } from "../sources/index.ts";
import { tailPlanOf } from "../wire/index.ts";
import { type Cast, keepOf, limitOf } from "./cast.ts";
import type { Parts } from "./parts.ts";

/** What a turn's first request is about. */
export interface Occasion {
  readonly scope: ContactScope;
  readonly turn: TurnId;
  readonly events: readonly StoredEvent[];
  readonly epoch: Epoch | undefined;
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
 * Asks the live layers' sources side by side under their deadline, then compiles the turn's first request.
 * @throws StrataError `source_failed` for a required layer, `budget_too_small`
 */
export async function compileFor(parts: Parts, cast: Cast, occasion: Occasion): Promise<Prepared> {
  const { agent, count } = cast;
  const live = agent.layers.filter((layer) => layer.scope === "turn");
  const { store, sources, vault } = parts;
  const { contents, notes } = await gather(agent, live, {
    ...occasion,
    at: parts.clock(),
    store,
    sources,
    vault,
    count,
  });
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
  };
  // More events than one message can hold are taken in several turns: half of them, until they fit.
  for (let taken = occasion.events.length; ; taken = Math.floor(taken / 2)) {
    try {
      const fitting = { ...input, events: occasion.events.slice(0, taken) };
      const withSummary = (summary: Summary): Compilation => compile({ ...fitting, summary });
      return { compilation: compile(fitting), notes, taken, withSummary };
    } catch (thrown) {
      if (taken <= 1 || asStrataError(thrown).code !== "budget_too_small") throw thrown;
    }
  }
}
