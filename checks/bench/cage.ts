import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { ATTEMPTS, handlerOf } from "../../src/sandbox/index.contract.ts";
import {
  type Answer,
  cageMissing,
  DEFAULT_LIMITS,
  LEVELS,
  type Level,
  openCage,
  type Pool,
  type Task,
} from "../../src/sandbox/index.ts";
import { figure, table } from "./table.ts";
import { median, quantile } from "./timing.ts";

const MEGABYTE = 1024 * 1024;
/** Milliseconds between two looks at the memory. */
const LOOKS = 10;

/** What a level costs, and what hostile code at it costs the platform. Memory in megabytes, times in milliseconds. */
interface LevelCost {
  readonly level: Level;
  /** Handlers in a second of CPU time, the platform's own included: those that answer at once, and those that ask one question first. */
  readonly plain: number;
  readonly asking: number;
  /** Time of the clock for a plain one. */
  readonly p50: number;
  readonly p99: number;
  /** While all attempts to escape run: how much the platform grows, and a process of the cage beyond an idle one. */
  readonly grown: number;
  readonly caged: number;
  /** The most CPU time that the main loop used between two looks at the clock. Unlike time of the clock, it is the same on a busy machine. */
  readonly held: number;
}

export interface CageReport {
  readonly bench: "cage";
  readonly attempts: number;
  readonly levels: readonly LevelCost[];
  readonly missing: readonly string[];
}

const PLAIN = handlerOf({ body: "return { payload: p.text.toUpperCase() }" });
const ASKS = handlerOf({
  body: "const { text } = await ports.complete({ message: p.text }); return { payload: text }",
});

const taskOf = (code: string, change: Partial<Task["limits"]> = {}): Task => ({
  code,
  input: JSON.stringify({ payload: { text: "x".repeat(1_000) }, metadata: { own_name: "bench" }, history: [] }),
  answers: [],
  seed: 7,
  now: 0,
  limits: { ...DEFAULT_LIMITS, ...change },
});

async function toEnd(pool: Pool, task: Task): Promise<void> {
  const answers: Answer[] = [];
  for (;;) {
    const outcome = await pool.run({ ...task, answers });
    if (outcome.kind !== "waits") return;
    answers.push(...outcome.asks.map(() => ({ value: '{"text":"yes"}' })));
  }
}

/** Handlers in a second of CPU time, and the time of each. */
async function timed(pool: Pool, code: string, count: number) {
  const each: number[] = [];
  const before = cpuSeconds();
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await toEnd(pool, taskOf(code));
    each.push(performance.now() - start);
  }
  return { each, perSecond: count / (cpuSeconds() - before) };
}

/** The processes at the ends of the chains below this program: those in jails. */
function jailed(pid: number | "self" = "self"): readonly number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean),
    );
    if (children.length > 0) return children.flatMap((child) => jailed(Number(child)));
    return pid === "self" ? [] : [pid];
  } catch {
    return [];
  }
}

/** Of this program and of what it has jailed. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  const theirs = jailed().map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  });
  return (user + system) / 1e6 + theirs.reduce((sum, one) => sum + one, 0);
}

/** Resident megabytes of the largest jailed process. */
function largestJailed(): number {
  const sizes = jailed().map((pid) => {
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
    } catch {
      // It has ended meanwhile.
      return 0;
    }
  });
  return Math.max(0, ...sizes);
}

/** All attempts to escape, as many at once as there are seats. */
async function attacked(pool: Pool, seats: number, attempts: typeof ATTEMPTS) {
  global.gc?.();
  const before = { own: process.memoryUsage.rss(), jail: largestJailed() };
  const now = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [own, jail, held, last] = [0, 0, 0, now()];
  const looks = setInterval(() => {
    held = Math.max(held, now() - last);
    own = Math.max(own, process.memoryUsage.rss() - before.own);
    last = now();
  }, 1);
  const sizes = setInterval(() => {
    jail = Math.max(jail, largestJailed() - before.jail);
    last = now();
  }, LOOKS);
  const waiting = [...attempts];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await toEnd(pool, taskOf(handlerOf(next), { cpuMs: 25 }));
  };
  await Promise.all(Array.from({ length: seats }, work));
  clearInterval(looks);
  clearInterval(sizes);
  return { grown: own / MEGABYTE, caged: jail, held };
}

/** What the cage costs at each level that this machine has. */
export async function cageBench(quick: boolean, tell: (what: string) => void): Promise<CageReport> {
  const seats = Math.max(1, Math.min(4, availableParallelism()));
  const count = quick ? 4 : 1_000;
  const attempts = quick ? ATTEMPTS.slice(0, 8) : ATTEMPTS;
  const levels: LevelCost[] = [];
  const missing = LEVELS.flatMap((level) => cageMissing(level) ?? []);
  for (const level of LEVELS.filter((one) => cageMissing(one) === undefined)) {
    tell(`handlers at the level ${level}`);
    const pool = openCage(level, { seats });
    await timed(pool, PLAIN, quick ? 1 : 50);
    const plain = await timed(pool, PLAIN, count);
    const asking = await timed(pool, ASKS, count / 2);
    tell(`attempts to escape at the level ${level}`);
    const costs = await attacked(pool, seats, attempts);
    await pool.close();
    const [p50, p99] = [median(plain.each), quantile(plain.each, 0.99)];
    const rates = { plain: plain.perSecond, asking: asking.perSecond };
    levels.push({ level, ...rates, p50, p99, ...costs });
  }
  return { bench: "cage", attempts: attempts.length, levels, missing };
}

export const cageText = ({ attempts, levels, missing }: CageReport): string =>
  [
    table(
      ["level", "plain, per core and s", "asking, per core and s", "p50 ms", "p99 ms"],
      levels.map(({ level, plain, asking, p50, p99 }) => [level, ...[plain, asking, p50, p99].map(figure)]),
    ),
    "",
    table(
      [`${attempts} attempts`, "platform grew, MB", "a jailed process, MB", "main loop held, CPU ms"],
      levels.map(({ level, grown, caged, held }) => [level, ...[grown, caged, held].map(figure)]),
    ),
    ...missing.map((one) => `\nNot measured: ${one}`),
  ].join("\n");
