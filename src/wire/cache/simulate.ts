import { never } from "../../protocol/index.ts";
import { type Entries, entries } from "./entries.ts";
import { exactCache } from "./exact-cache.ts";
import { longestCache } from "./longest-cache.ts";
import { marksCache } from "./marks-cache.ts";
import { prefixNumbers, type Walk } from "./prefixes.ts";
import type { Bill, CacheRules, SeenRequest } from "./seen.ts";
import { billOf, type Parts } from "./split.ts";

/**
 * What a provider would bill for these requests, by the rules it documents: a bill for each, in the order given. The cache is
 * empty at first and nobody else uses it. It knows nothing of how marks are planned. Pure.
 */
export function simulate(requests: readonly SeenRequest[], rules: CacheRules): readonly Bill[] {
  const walkOf = prefixNumbers();
  const held = entries();
  const inTime = requests.map((request, n) => ({ request, n })).toSorted((a, b) => a.request.at - b.request.at);
  const bills = inTime.map(({ request, n }) => {
    const walk = walkOf(request);
    return { n, bill: billOf(walk.total, partsOf(walk, held, rules), rules.multipliers) };
  });
  return bills.toSorted((a, b) => a.n - b.n).map(({ bill }) => bill);
}

function partsOf(walk: Walk, held: Entries, rules: CacheRules): Parts {
  switch (rules.kind) {
    case "marks":
      return marksCache(walk, held, rules);
    case "longest":
      return longestCache(walk, held, rules);
    case "exact":
      return exactCache(walk, held, rules);
    default:
      return never(rules);
  }
}
