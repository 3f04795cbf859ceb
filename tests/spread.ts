/** Whether `checks/whole.ts` runs the tests: then sweeps are whole. */
export const IS_WHOLE = process.env["STRATA_SWEEPS"] === "whole";

/** What a test tries of a long sweep, and a title that tells how much that is. */
export interface Spread<T> {
  readonly cases: readonly T[];
  readonly title: (text: string) => string;
}

/**
 * Of a sweep that takes long, about `most` cases, spread evenly and always the same, with at least one of each kind. All of them where
 * `checks/whole.ts` runs the test.
 */
export function spread<T>(all: readonly T[], most: number, kindOf: (one: T) => unknown = () => undefined): Spread<T> {
  const taken = new Set(IS_WHOLE ? all.keys() : evenly(all.length, most));
  const kinds = new Set([...taken].map((i) => kindOf(at(all, i))));
  for (const [i, one] of all.entries()) {
    if (kinds.has(kindOf(one))) continue;
    kinds.add(kindOf(one));
    taken.add(i);
  }
  const cases = all.filter((_, i) => taken.has(i));
  const share = `${cases.length} of ${all.length}; \`checks/whole.ts\` tries all`;
  return { cases, title: (text) => (cases.length === all.length ? text : `${text} (${share})`) };
}

/** Of a property's random cases, the first `most`; all of them where `checks/whole.ts` runs the test. */
export function firstRuns(
  all: number,
  most: number,
): { readonly numRuns: number; readonly title: Spread<never>["title"] } {
  const numRuns = IS_WHOLE ? all : most;
  return { numRuns, title: (text) => (IS_WHOLE ? text : `${text} (${most} cases; \`checks/whole.ts\` tries ${all})`) };
}

/** So many places, from the first to the last. */
function evenly(length: number, most: number): readonly number[] {
  const count = Math.min(length, most);
  return Array.from({ length: count }, (_, n) => (count === 1 ? 0 : Math.round((n * (length - 1)) / (count - 1))));
}

function at<T>(all: readonly T[], i: number): T {
  const one = all[i];
  if (one === undefined) throw new Error(`there is no case ${i}`);
  return one;
}
