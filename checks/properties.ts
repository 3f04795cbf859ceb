import { configureGlobal } from "fast-check";

/**
 * The same cases in every run, so that a change is judged by what it changed; `STRATA_SEED=random`, or a number of one's own, looks
 * at others. A broken law shows a small case soon, not the smallest one after minutes; and one that was not tried in all its cases
 * has not passed. Short of the time that a test may take; a property with more of it says so itself.
 */
configureGlobal({
  seed: seedOf(process.env["STRATA_SEED"]),
  interruptAfterTimeLimit: 25_000,
  markInterruptAsFailure: true,
});

function seedOf(asked = "1"): number {
  const seed = asked === "random" ? Date.now() % 2 ** 31 : Number(asked);
  if (!Number.isSafeInteger(seed)) throw new Error(`STRATA_SEED is "${asked}"; make it a whole number, or "random".`);
  return seed;
}
