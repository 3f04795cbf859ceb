import {
  asksChange,
  asksHelp,
  asksIn,
  holding,
  isOfAnyAnswer,
  mayHoldFor,
  type Standing,
  standsIn,
} from "../../../memory/index.ts";
import type { MemoryHit } from "../../../store/index.ts";

/**
 * How likely something that was said answers, by `evidence`, that it is shown. What was saved on purpose is short and says little of a
 * question in its own words: it needs less.
 */
const SAID = 0.24;
/** Vectors tell questions from other talk less well: where one is near, who asks nothing, or asks on the side, needs more. */
const NEAR_UNASKED = 0.9;
const NEAR_ASIDE = 0.5;
const SAVED = 0.1;

/** Below this a message says too little by itself: what was written before it is searched for along with it. */
export const SPEAKS_FOR_ITSELF = 0.45;

/** Of the best hit's score: what comes after it fits by accident. What only a vector is near to comes after all that, and is compared by its evidence. */
const FLOOR = 0.6;

/**
 * The hits that are worth showing, the best first; nothing where nothing fits. `judged` are the hits for what was just written
 * alone: only they open the gate, for what was written before is found in any case. What was said and what was saved have
 * scores of two kinds (nobody speaks in a fact): each is ranked by itself, and they take turns.
 */
export function worthShowing(
  newest: string,
  hits: readonly MemoryHit[],
  judged: readonly MemoryHit[],
): readonly MemoryHit[] {
  const opens = (hit: MemoryHit): boolean =>
    isSaid(hit) && hit.evidence >= ("vector" in hit.features ? Math.max(SAID, nearLeast(newest)) : SAID);
  const fitsSaved = (hit: MemoryHit): boolean => !isSaid(hit) && hit.evidence >= SAVED;
  const isOpen = judged.some(opens);
  const most = Math.max(0, ...judged.filter(isSaid).map(({ evidence }) => evidence));
  const said = isOpen ? hits.filter(isSaid) : [];
  const saved = judged.some(fitsSaved) ? hits.filter(fitsSaved) : [];
  const standing = bearingOn(newest, judged, isOpen ? 0 : most);
  const known = new Set(standing.map(({ id }) => id));
  const over = new Set(holding(judged.filter(isStanding)).flatMap(({ before }) => before));
  const isLeft = (hit: MemoryHit): boolean => !known.has(hit.id) && !over.has(hit);
  const others = [saved, said].map((list) => withoutBare(nearTheBest(withoutBare(list.filter(isLeft)))));
  const lists = [standing, ...others];
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

/** So many of the asker's rules and preferences are shown with a message that they may bear on; what was said so, beside what else was said. */
const MOST_STANDING = 2;
/** Of what the best says of a message: by less than that, a word they share is hardly about the same. */
const SHARED = 0.4;

const isStanding = ({ features }: MemoryHit): boolean => "rule" in features || "wishHelps" in features;

/** What somebody wanted and wants no longer, by what the model sees anyway: the message itself, and what stands in the transcript. */
export function withoutOutdated(
  newest: string,
  hits: readonly MemoryHit[],
  isSeen: (hit: MemoryHit) => boolean,
): readonly MemoryHit[] {
  if (asksChange(newest)) return hits;
  const { rule, wish } = standsIn(newest, []);
  const now = rule || wish ? [{ content: newest, at: Number.POSITIVE_INFINITY }] : [];
  const held = holding<MemoryHit | Standing>([...hits.filter(isStanding), ...now]);
  const over = new Set(held.flatMap(({ newest: last, before }) => (!("id" in last) || isSeen(last) ? before : [])));
  return hits.filter((hit) => !over.has(hit));
}

/**
 * What the asker wants in general, as far as it bears on a message, the newest word on each matter; what it replaced behind it where the
 * message asks about that. How an answer is to be bears on all that is asked; what else holds must share a word, or come beside something else.
 * @param most what the best says of the message; 0 where something else is shown
 */
function bearingOn(newest: string, hits: readonly MemoryHit[], most: number): readonly MemoryHit[] {
  const helps = asksHelp(newest);
  const isWorded = ({ features }: MemoryHit): boolean => "turn" in features;
  const bears = (hit: MemoryHit): boolean => {
    const { kind, content, features, evidence } = hit;
    if ("rule" in features && isOfAnyAnswer(content)) return true;
    if (!isWorded(hit) && !(helps && "rule" in features)) return false;
    if (most === 0 || kind !== "message") return true;
    return helps && "rule" in features && isWorded(hit) && evidence >= SHARED * most && mayHoldFor(content, newest);
  };
  const weight = (hit: MemoryHit, times: number): number => hit.score + Math.log(times);
  const held = holding(hits.filter(isStanding)).filter((one) => [one.newest, ...one.before].some(bears));
  return held
    .map((one) => ({ ...one, score: weight(one.newest, 1 + one.before.length) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_STANDING)
    .flatMap(({ newest: now, before }) => (asksChange(newest) ? [now, ...before.slice(0, 1)] : [now]));
}

/** Questions alone: what was asked before is no answer, unless what follows it is shown as well. */
const BARE =
  /^(?:(?:and|so|but|hey|hi|hmm|ok|okay|oh|wow|cool|nice|great|thanks|sure)\W+)*(?:who|whom|whose|what|when|where|which|why|how|did|does|do|is|are|was|were|can|could|would|have|has|wer|was|wann|wo|wie|warum)\b[^.!?\n]{0,120}\?\s*$/iu;

function withoutBare(hits: readonly MemoryHit[]): readonly MemoryHit[] {
  const isFollowed = ({ session, place }: MemoryHit): boolean =>
    hits.some((one) => one.session === session && one.place === place + 1);
  return hits.filter((hit) => !BARE.test(hit.content) || isFollowed(hit));
}

/** How much nearness alone must say to be worth showing: by words a search knows itself how likely it answers. */
function nearLeast(newest: string): number {
  return { question: 0, aside: NEAR_ASIDE, nothing: NEAR_UNASKED }[asksIn(newest)];
}

const isSaid = ({ kind }: MemoryHit): boolean => kind === "message";

function nearTheBest(hits: readonly MemoryHit[]): readonly MemoryHit[] {
  const isOnlyNear = ({ features }: MemoryHit): boolean => "behind" in features;
  const best = Math.max(...hits.filter((hit) => !isOnlyNear(hit)).map(({ score }) => score));
  const most = Math.max(...hits.map(({ evidence }) => evidence));
  return hits.filter((hit) =>
    isOnlyNear(hit) ? hit.evidence >= FLOOR * most : hit.score >= Math.min(best, FLOOR * best),
  );
}
