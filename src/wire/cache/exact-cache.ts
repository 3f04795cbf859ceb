import type { Entries } from "./entries.ts";
import type { Walk } from "./prefixes.ts";
import type { CacheRules, SeenBlock } from "./seen.ts";
import { type Parts, UNTOUCHED } from "./split.ts";

type Rules = Extract<CacheRules, { kind: "exact" }>;

/**
 * A cache that reads exactly at breakpoints. The provider sets one of its own at the end of the newest message, unless the
 * request is `explicit`; the ends of earlier blocks are then looked at, too, for each was the newest once. Only the last
 * breakpoints are written; what lies before the one that was read is not paid for again.
 */
export function exactCache(walk: Walk, entries: Entries, rules: Rules): Parts {
  const { request, ids, sums } = walk;
  const implicit = (request.mode ?? rules.mode) === "implicit";
  const last = request.blocks.length - 1;
  const places = breakpoints(request.blocks, implicit ? last : undefined).filter(
    (at) => (sums[at] ?? 0) >= rules.minimum,
  );
  const looked = implicit ? ids.map((_, at) => at) : places;
  const found = looked.slice(-rules.reads).findLast((at) => entries.has(ids[at] ?? -1, request.at));
  const read = found === undefined ? 0 : (sums[found] ?? 0);
  if (found !== undefined) entries.refresh(ids[found] ?? -1, request);
  const written = places.slice(-rules.writes);
  for (const at of written) entries.hold(ids[at] ?? -1, request, rules.idle);
  const end = Math.max(read, ...written.map((at) => sums[at] ?? 0));
  return { ...UNTOUCHED, read, write5m: end - read };
}

/** Where a breakpoint stands, in order. */
function breakpoints(blocks: readonly SeenBlock[], own: number | undefined): readonly number[] {
  return blocks.flatMap(({ mark }, at) => (mark !== undefined || at === own ? [at] : []));
}
