import type { Entries } from "./entries.ts";
import type { Walk } from "./prefixes.ts";
import type { CacheRules } from "./seen.ts";
import { type Parts, UNTOUCHED } from "./split.ts";

type Rules = Extract<CacheRules, { kind: "longest" }>;

/** A cache that keeps all by itself: the longest common beginning is read, in whole steps. It is found block by block, so at most a block too little. */
export function longestCache({ ids, sums, request }: Walk, entries: Entries, { minimum, step, idle }: Rules): Parts {
  const strange = ids.findIndex((id) => !entries.has(id, request.at));
  const common = sums[(strange < 0 ? ids.length : strange) - 1] ?? 0;
  for (const id of ids) entries.hold(id, request, idle);
  const whole = common - (common % step);
  return { ...UNTOUCHED, read: whole >= minimum ? whole : 0 };
}
