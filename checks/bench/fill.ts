import { AROUND, type Engine } from "./engine.ts";
import { langchain } from "./langchain.ts";
import type { Lines } from "./lines.ts";
import { promptTsx } from "./prompt-tsx.ts";
import { strata } from "./strata.ts";
import { median, quantile } from "./timing.ts";
import { type Count, workOf } from "./work.ts";

/** How an engine kept to its budgets. Shares are of the budget: 1 is full. */
export interface Fill {
  readonly engine: string;
  /** Requests made, of all that were asked for. */
  readonly made: number;
  readonly asked: number;
  readonly over: number;
  /** Requests without the newest message, or with nothing in them. */
  readonly lost: number;
  readonly refused: number;
  readonly median: number;
  readonly p10: number;
  readonly least: number;
}

export interface FillPlan {
  readonly texts: readonly Lines[];
  readonly budgets: readonly number[];
  readonly history: number;
}

/** So many budgets, evenly from 6,000 to 36,000 tokens. */
export const budgets = (times: number): readonly number[] =>
  Array.from({ length: times }, (_, n) => 6_000 + Math.round((30_000 * n) / Math.max(times - 1, 1)));

/** Every engine at every budget with every kind of text. What is sent is counted again here, by nobody's books. */
export async function fillAll(plan: FillPlan, count: Count): Promise<readonly Fill[]> {
  const engines = [
    strata(count),
    promptTsx("prompt-tsx", count, { memo: true }),
    langchain("langchain", count, { memo: true, select: false }),
    langchain("langchain + select", count, { memo: true, select: true }),
  ];
  const fills: Fill[] = [];
  for (const engine of engines) fills.push(await fillOf(engine, plan, count));
  return fills;
}

async function fillOf(engine: Engine, { texts, budgets, history }: FillPlan, count: Count): Promise<Fill> {
  const shares: number[] = [];
  let [lost, refused] = [0, 0];
  for (const lines of texts) {
    const whole = workOf(lines, { history, limit: 0 }, 0, count);
    for (const limit of budgets) {
      const sent = await ask(engine, { ...whole, limit }, lines.at(history, 1));
      if (sent === undefined) refused++;
      else if (!sent.hasMessage || sent.texts.every((text) => text === "")) lost++;
      else shares.push(sent.texts.reduce((sum, text) => sum + count(text) + AROUND, 0) / limit);
    }
  }
  return {
    engine: engine.name,
    made: shares.length,
    asked: texts.length * budgets.length,
    over: shares.filter((share) => share > 1).length,
    lost,
    refused,
    median: median(shares),
    p10: quantile(shares, 0.1),
    least: Math.min(...shares),
  };
}

/** Undefined where the engine says that it cannot be done: better than a request that is too large. */
async function ask(engine: Engine, work: Parameters<Engine["open"]>[0], message: string) {
  try {
    const opened = engine.open(work);
    return opened.sent(await opened.next(message)(), message);
  } catch {
    return undefined;
  }
}
