import type { Entries } from "./entries.ts";
import type { Walk } from "./prefixes.ts";
import type { CacheRules, Lifetime, SeenBlock } from "./seen.ts";
import { type Parts, UNTOUCHED } from "./split.ts";

type Rules = Extract<CacheRules, { kind: "marks" }>;

/** A block that carries a mark which counts: enough stands before it. */
interface Marked {
  readonly index: number;
  readonly lifetime: Lifetime;
}

/**
 * Anthropic's cache. It reads up to A, the longest beginning that a mark finds; writes for an hour from there to B, the last
 * mark of an hour; for five minutes from there to C, the last mark; the rest is input. A mark on what was read writes nothing new.
 */
export function marksCache(walk: Walk, entries: Entries, rules: Rules): Parts {
  const { blocks } = walk.request;
  const problems = refusals(blocks, rules);
  if (problems.length > 0) return { ...UNTOUCHED, problems };
  const marks = blocks.flatMap(({ mark }, index): readonly Marked[] =>
    mark !== undefined && sumAt(walk, index) >= rules.minimum ? [{ index, lifetime: mark }] : [],
  );
  const found = longestFound(walk, marks, { entries, rules });
  if (found !== undefined) entries.refresh(idAt(walk, found), walk.request);
  const a = found === undefined ? 0 : sumAt(walk, found);
  const b = Math.max(a, end(walk, marks.filter(({ lifetime }) => lifetime === "1h").at(-1)));
  const c = Math.max(b, end(walk, marks.at(-1)));
  for (const mark of marks) keep(walk, mark, { entries, rules, isRead: found !== undefined && mark.index <= found });
  return { read: a, write1h: b - a, write5m: c - b, problems };
}

/** What the provider answers with a 400. */
function refusals(blocks: readonly SeenBlock[], { most }: Rules): readonly string[] {
  const marked = blocks.filter(({ mark }) => mark !== undefined);
  const problems: string[] = [];
  if (marked.length > most)
    problems.push(`${marked.length} marks, and a request may carry ${most}: the provider refuses it`);
  const short = marked.findIndex(({ mark }) => mark === "5m");
  if (short >= 0 && marked.slice(short).some(({ mark }) => mark === "1h"))
    problems.push("a mark of 1h stands after one of 5m, and longer ones must come first: the provider refuses it");
  if (marked.some(({ kind }) => kind === "reasoning"))
    problems.push("a mark stands on reasoning, which cannot carry one: the provider refuses it");
  return problems;
}

/** The block where the longest beginning ends that earlier requests wrote: from the last mark so many positions back, then from the one before. */
function longestFound(
  walk: Walk,
  marks: readonly Marked[],
  { entries, rules }: { readonly entries: Entries; readonly rules: Rules },
): number | undefined {
  const positions = positionsOf(walk.request.blocks);
  for (const { index } of marks.toReversed()) {
    const last = positions[index] ?? 0;
    for (let at = index; at >= 0 && last - (positions[at] ?? 0) < rules.lookback; at--) {
      if (entries.has(idAt(walk, at), walk.request.at)) return at;
    }
  }
  return undefined;
}

/** Calls in a row are one position, and so are results in a row; every other block is one of its own. */
function positionsOf(blocks: readonly SeenBlock[]): readonly number[] {
  let position = -1;
  let before: SeenBlock["kind"] | undefined;
  return blocks.map(({ kind }) => {
    const goesOn = kind === before && (kind === "tool-use" || kind === "tool-result");
    if (!goesOn) position++;
    before = kind;
    return position;
  });
}

/** What was read and is held lives on as it was written; all else is written as the mark says. */
function keep(
  walk: Walk,
  { index, lifetime }: Marked,
  { entries, rules, isRead }: { readonly entries: Entries; readonly rules: Rules; readonly isRead: boolean },
): void {
  const id = idAt(walk, index);
  if (isRead && entries.has(id, walk.request.at)) entries.refresh(id, walk.request);
  else entries.hold(id, walk.request, rules.lifetimes[lifetime]);
}

const idAt = ({ ids }: Walk, index: number): number => ids[index] ?? -1;
const sumAt = ({ sums }: Walk, index: number): number => sums[index] ?? 0;
const end = (walk: Walk, mark: Marked | undefined): number => (mark === undefined ? 0 : sumAt(walk, mark.index));
