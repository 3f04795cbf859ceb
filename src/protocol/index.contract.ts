import { expect } from "vitest";

/** Microseconds below which a measurement says nothing. */
const NOISE = 20_000;

/**
 * Fails if work on 4 n grows by more than linear work would. It compares processor time, the least of three tries: other work of the
 * machine only adds to it. Quadratic work takes 16 times as long.
 */
export async function growsLinearly(work: (n: number) => unknown, n: number): Promise<void> {
  await work(n);
  const [short, long] = [await timeOf(work, n), await timeOf(work, 4 * n)];
  expect(long / Math.max(short, NOISE), `${short} µs for ${n}, ${long} µs for ${4 * n}`).toBeLessThan(9);
}

async function timeOf(work: (n: number) => unknown, n: number): Promise<number> {
  const tries: number[] = [];
  while (tries.length < 3) {
    const before = process.cpuUsage();
    await work(n);
    const { user, system } = process.cpuUsage(before);
    tries.push(user + system);
  }
  return Math.min(...tries);
}
