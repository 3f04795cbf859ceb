import { setImmediate } from "node:timers/promises";
import { join, joinAndCount, joinAndCountNew } from "./bare.ts";
import type { Engine } from "./engine.ts";
import { langchain } from "./langchain.ts";
import type { Lines } from "./lines.ts";
import { promptTsx } from "./prompt-tsx.ts";
import { strata } from "./strata.ts";
import { each, median, once, sweep } from "./timing.ts";
import { type Count, type Work, workOf } from "./work.ts";

/** Content never seen, the same request again, only the newest message new. */
export const CASES = ["cold", "warm", "last"] as const;
export type Case = (typeof CASES)[number];

/** Milliseconds of one engine in one setting; none where it was too slow to be waited for. */
export interface Timing {
  readonly engine: string;
  readonly limit: number;
  readonly history: number;
  readonly times?: Readonly<Record<Case, number>>;
}

export interface Plan {
  readonly histories: readonly number[];
  readonly limits: readonly number[];
  readonly rounds: number;
  /** Milliseconds of one request from which on an engine is left out of what is four times as large. */
  readonly patience: number;
}

export interface Counters {
  /** As Strata is shipped: it knows what it has counted. */
  readonly own: Count;
  /** The same tokenizer, each time anew. */
  readonly raw: Count;
}

export const BARE = ["join", "join + tokenize all", "join + tokenize new"] as const;

export function engines({ own, raw }: Counters): readonly Engine[] {
  const peers = [false, true].flatMap((memo) => {
    const suffix = memo ? ", memoized" : "";
    return [
      promptTsx(`prompt-tsx${suffix}`, raw, { memo }),
      langchain(`langchain${suffix}`, raw, { memo, select: false }),
      langchain(`langchain + select${suffix}`, raw, { memo, select: true }),
    ];
  });
  return [join, joinAndCount(raw), joinAndCountNew(raw), strata(own), ...peers];
}

/** All engines in every setting. They take turns within each round, so that a busy machine is busy for all of them. */
export async function timeAll(
  lines: Lines,
  plan: Plan,
  counters: Counters,
  tell: (what: string) => void,
): Promise<Timing[]> {
  const timings: Timing[] = [];
  for (const limit of plan.limits) {
    let patient: readonly Engine[] = engines(counters);
    for (const history of plan.histories) {
      tell(
        `${history} messages, ${Number.isFinite(limit) ? `${limit} tokens` : "no limit"}: ${patient.length} engines`,
      );
      const made = await timeSetting(patient, lines, { history, limit, rounds: plan.rounds }, counters);
      timings.push(...made);
      const slow = made.filter(({ times }) => times !== undefined && Math.max(times.cold, times.last) > plan.patience);
      patient = patient.filter(({ name }) => !slow.some(({ engine }) => engine === name));
      for (const { name } of engines(counters)) {
        if (!made.some(({ engine }) => engine === name)) timings.push({ engine: name, limit, history });
      }
    }
  }
  return timings;
}

interface Setting {
  readonly history: number;
  readonly limit: number;
  readonly rounds: number;
}

let edition = 0;

async function timeSetting(
  all: readonly Engine[],
  lines: Lines,
  setting: Setting,
  { raw }: Counters,
): Promise<Timing[]> {
  const samples = all.map((engine) => ({ engine, cold: [] as number[], warm: [] as number[], last: [] as number[] }));
  // The first round warms up and is not kept.
  for (let round = 0; round <= setting.rounds; round++) {
    const work = workOf(lines, setting, ++edition, raw);
    for (const sample of samples) {
      // A slow one needs fewer looks.
      if (sample.cold.length >= looksAt(median(sample.cold))) continue;
      const times = await timeEngine(sample.engine, work, lines);
      if (round === 0 && times.cold < 1_000) continue;
      for (const one of CASES) sample[one].push(times[one]);
      // Lets signals be heard.
      await setImmediate();
    }
  }
  return samples.map(({ engine, cold, warm, last }) => ({
    engine: engine.name,
    limit: setting.limit,
    history: setting.history,
    times: { cold: median(cold), warm: median(warm), last: median(last) },
  }));
}

const looksAt = (milliseconds: number): number =>
  milliseconds > 1_000 ? 1 : milliseconds > 100 ? 3 : Number.POSITIVE_INFINITY;

/** Milliseconds for which a fast engine repeats a request: a clock is too coarse for one. */
const FILL = 4;

async function timeEngine(engine: Engine, work: Work, lines: Lines): Promise<Record<Case, number>> {
  const message = () => lines.at(7, ++said + 1_000_000);
  const newest = message();
  sweep();
  // A sweep also forgets compiled regular expressions, which nobody's request shall pay for.
  await once(engine.open({ ...work, history: [], layers: work.layers.slice(0, 1) }).next(message()));
  const cold = await once(() => engine.open(work).next(newest)());
  const opened = engine.open(work);
  await once(opened.next(newest));
  const warm = await each(() => opened.next(newest), FILL);
  const last = await each(() => opened.next(message()), FILL);
  return { cold: cold.milliseconds, warm, last };
}

let said = 0;
