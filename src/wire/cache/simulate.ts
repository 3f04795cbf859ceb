import { never } from "../../protocol/index.ts";
import { billOf, type Entries, entries, type Parts, prefixNumbers, UNTOUCHED, type Walk } from "./cache-state.ts";
import type { Bill, CacheRules, Lifetime, SeenBlock, SeenRequest } from "./seen.ts";

/**
 * What a provider would bill for these requests, by its documented rules: a bill for each, in the same order. The cache is empty at first
 * and has no other users. Independent of how breakpoints are planned. Pure.
 */
export function simulate(requests: readonly SeenRequest[], rules: CacheRules): readonly Bill[] {
  const walkOf = prefixNumbers();
  const held = entries();
  const inTime = requests.map((request, n) => ({ request, n })).toSorted((a, b) => a.request.at - b.request.at);
  const bills = inTime.map(({ request, n }) => {
    const walk = walkOf(request);
    return { n, bill: billOf(walk.total, billedParts(walk, held, rules), rules.multipliers) };
  });
  return bills.toSorted((a, b) => a.n - b.n).map(({ bill }) => bill);
}

function billedParts(walk: Walk, held: Entries, rules: CacheRules): Parts {
  switch (rules.kind) {
    case "lookback":
      return lookbackCache(walk, held, rules);
    case "longest":
      return longestCache(walk, held, rules);
    case "exact":
      return exactCache(walk, held, rules);
    default:
      return never(rules);
  }
}

type LookbackRules = Extract<CacheRules, { kind: "lookback" }>;

/** A block with a valid breakpoint: there are enough tokens before it. */
interface ValidBreakpoint {
  readonly index: number;
  readonly lifetime: Lifetime;
}

/**
 * Anthropic's cache. It reads up to A, the longest beginning that a breakpoint finds; writes for an hour from there to B, the last
 * breakpoint of an hour; for five minutes from there to C, the last breakpoint; the rest is input. A breakpoint on what was read writes nothing new.
 */
function lookbackCache(walk: Walk, entries: Entries, rules: LookbackRules): Parts {
  const { blocks } = walk.request;
  const problems = refusals(blocks, rules);
  if (problems.length > 0) return { ...UNTOUCHED, problems };
  const valid = blocks.flatMap(({ breakpoint }, index): readonly ValidBreakpoint[] =>
    breakpoint !== undefined && sumAt(walk, index) >= rules.minimum ? [{ index, lifetime: breakpoint }] : [],
  );
  const found = longestFound(walk, valid, { entries, rules });
  if (found !== undefined) entries.refresh(idAt(walk, found), walk.request);
  const a = found === undefined ? 0 : sumAt(walk, found);
  const b = Math.max(a, tokensUpTo(walk, valid.filter(({ lifetime }) => lifetime === "1h").at(-1)));
  const c = Math.max(b, tokensUpTo(walk, valid.at(-1)));
  for (const breakpoint of valid)
    keepEntry(walk, breakpoint, { entries, rules, isRead: found !== undefined && breakpoint.index <= found });
  return { read: a, write1h: b - a, write5m: c - b, problems };
}

/** The reasons for which the provider would answer with a 400. */
function refusals(blocks: readonly SeenBlock[], { most }: LookbackRules): readonly string[] {
  const marked = blocks.filter(({ breakpoint }) => breakpoint !== undefined);
  const problems: string[] = [];
  if (marked.length > most)
    problems.push(`${marked.length} breakpoints, and a request may carry ${most}: the provider refuses it`);
  const short = marked.findIndex(({ breakpoint }) => breakpoint === "5m");
  if (short >= 0 && marked.slice(short).some(({ breakpoint }) => breakpoint === "1h"))
    problems.push("a breakpoint of 1h comes after one of 5m, but longer ones must come first: the provider refuses it");
  if (marked.some(({ kind }) => kind === "reasoning"))
    problems.push("a breakpoint is on reasoning, which cannot have one: the provider refuses it");
  return problems;
}

/**
 * The last block of the longest beginning that earlier requests wrote: within this many positions before the last breakpoint, then before
 * the previous one.
 */
function longestFound(
  walk: Walk,
  valid: readonly ValidBreakpoint[],
  { entries, rules }: { readonly entries: Entries; readonly rules: LookbackRules },
): number | undefined {
  const positions = positionsOf(walk.request.blocks);
  for (const { index } of valid.toReversed()) {
    const last = positions[index] ?? 0;
    for (let at = index; at >= 0 && last - (positions[at] ?? 0) < rules.lookback; at--) {
      if (entries.has(idAt(walk, at), walk.request.at)) return at;
    }
  }
  return undefined;
}

/** Consecutive calls are one position, and so are consecutive results; every other block is a separate position. */
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

/** An entry that was read keeps its lifetime; everything else is written as the breakpoint says. */
function keepEntry(
  walk: Walk,
  { index, lifetime }: ValidBreakpoint,
  { entries, rules, isRead }: { readonly entries: Entries; readonly rules: LookbackRules; readonly isRead: boolean },
): void {
  const id = idAt(walk, index);
  if (isRead && entries.has(id, walk.request.at)) entries.refresh(id, walk.request);
  else entries.hold(id, walk.request, rules.lifetimes[lifetime]);
}

const idAt = ({ ids }: Walk, index: number): number => ids[index] ?? -1;
const sumAt = ({ sums }: Walk, index: number): number => sums[index] ?? 0;
const tokensUpTo = (walk: Walk, breakpoint: ValidBreakpoint | undefined): number =>
  breakpoint === undefined ? 0 : sumAt(walk, breakpoint.index);

type LongestRules = Extract<CacheRules, { kind: "longest" }>;

/** A cache that keeps all by itself: the longest common beginning is read, in whole steps. It is found block by block, so at most a block too little. */
function longestCache({ ids, sums, request }: Walk, entries: Entries, { minimum, step, idle }: LongestRules): Parts {
  const strange = ids.findIndex((id) => !entries.has(id, request.at));
  const common = sums[(strange < 0 ? ids.length : strange) - 1] ?? 0;
  for (const id of ids) entries.hold(id, request, idle);
  const whole = common - (common % step);
  return { ...UNTOUCHED, read: whole >= minimum ? whole : 0 };
}

type ExactRules = Extract<CacheRules, { kind: "exact" }>;

/**
 * A cache that reads exactly at breakpoints. The provider sets its own at the end of the newest message, unless the request is `explicit`;
 * the ends of earlier blocks are then checked, too, because each was once the newest. Only the last breakpoints are written; the part
 * before the one that was read is not paid for again.
 */
function exactCache(walk: Walk, entries: Entries, rules: ExactRules): Parts {
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
  const isLong = (at: number): boolean => rules.idleLong !== undefined && request.blocks[at]?.breakpoint === "1h";
  for (const at of written) entries.hold(ids[at] ?? -1, request, (isLong(at) && rules.idleLong) || rules.idle);
  const endOf = (places: readonly number[]): number => Math.max(read, ...places.map((at) => sums[at] ?? 0));
  const [long, end] = [endOf(written.filter(isLong)), endOf(written)];
  return { ...UNTOUCHED, read, write1h: long - read, write5m: end - long };
}

/** The places of breakpoints, in order. */
function breakpoints(blocks: readonly SeenBlock[], own: number | undefined): readonly number[] {
  return blocks.flatMap(({ breakpoint }, at) => (breakpoint !== undefined || at === own ? [at] : []));
}
