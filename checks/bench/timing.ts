import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

/** Clears the heap, so that nobody pays for what somebody else has left. */
export function sweep(): void {
  if (typeof collectGarbage === "function") collectGarbage();
}

/** Milliseconds that one run takes. A promise is waited for. */
export async function once(run: () => unknown): Promise<{ readonly milliseconds: number; readonly made: unknown }> {
  const start = performance.now();
  const given = run();
  const made = given instanceof Promise ? await given : given;
  return { milliseconds: performance.now() - start, made };
}

/** Mean milliseconds of a run, over as many as fill about `fill` milliseconds. Each run is made ready untimed. */
export async function each(ready: () => () => unknown, fill: number): Promise<number> {
  const { milliseconds: first } = await once(ready());
  if (first > 100) return first;
  const { milliseconds: second } = await once(ready());
  const runs = Array.from({ length: Math.min(200, Math.ceil(fill / Math.max(second, 1e-3))) }, ready);
  const start = performance.now();
  for (const run of runs) {
    const given = run();
    if (given instanceof Promise) await given;
  }
  return (performance.now() - start) / runs.length;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** The value that `share` of the others are below. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
