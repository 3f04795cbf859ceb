import {
  asksChange,
  asksHelp,
  asksIn,
  type Holding,
  holding,
  isOfAnyAnswer,
  type LastingWish,
  mayHoldFor,
  standsIn,
} from "../../../memory/index.ts";
import type { MemoryHit } from "../../../store/index.ts";

/**
 * The minimum likelihood, by `evidence`, at which a message is shown as an answer. A saved fact is short and repeats few of the question's
 * words, so it needs less.
 */
const SAID = 0.24;
/**
 * Vectors distinguish questions from other talk less well, so a near hit needs more if the message asks nothing or asks only in passing.
 */
const NEAR_UNASKED = 0.9;
const NEAR_ASIDE = 0.5;
const SAVED = 0.1;

/** Below this a message says too little by itself: earlier messages are added to the search. */
export const SPEAKS_FOR_ITSELF = 0.45;

/** Of the best hit's score: what comes after it fits by accident. What only a vector is near to comes after all that, and is compared by its evidence. */
const FLOOR = 0.6;

/**
 * The hits worth showing, best first; empty if nothing fits. `judged` are the hits for the newest message alone: only they open the gate,
 * because earlier messages find something in any case. The scores of messages and saved facts are not comparable (facts have no speaker):
 * each kind is ranked separately, and they take turns.
 */
export function worthShowing(
  newest: string,
  hits: readonly MemoryHit[],
  judged: readonly MemoryHit[],
): readonly MemoryHit[] {
  const { forSaid, forSaved, most } = openedBy(newest, judged);
  const said = forSaid ? hits.filter(isSaid) : [];
  const saved = forSaved ? hits.filter(fitsSaved) : [];
  const over = new Set(holding(judged.filter(isStanding)).flatMap(({ before }) => before));
  const isLeft = (hit: MemoryHit): boolean => !over.has(hit) && (!isStanding(hit) || isWorded(hit));
  const fitting = [saved, said].map((list) => withoutBare(nearTheBest(withoutBare(byWords(list.filter(isLeft))))));
  const isBeside = fitting.flat().some((hit) => !isStanding(hit));
  const standing = bearingOn(newest, judged, isBeside ? undefined : most);
  const known = new Set(standing.map(({ id }) => id));
  const others = fitting.map((list) => list.filter(({ id }) => !known.has(id)));
  const lists = [standing, ...others];
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

/** Whether anything can be shown of whatever else is found, where these hits are judged. */
export function mayShow(newest: string, judged: readonly MemoryHit[]): boolean {
  const { forSaid, forSaved, most } = openedBy(newest, judged);
  return forSaid || forSaved || bearingOn(newest, judged, most).length > 0;
}

/** Why the gate is open, and how much the best message says about the newest one. */
function openedBy(newest: string, judged: readonly MemoryHit[]) {
  const least = nearLeast(newest);
  const opens = (hit: MemoryHit): boolean =>
    isSaid(hit) && hit.evidence >= ("vector" in hit.features ? Math.max(SAID, least) : SAID);
  const most = Math.max(0, ...judged.filter(isSaid).map(({ evidence }) => evidence));
  return { forSaid: judged.some(opens), forSaved: judged.some(fitsSaved), most };
}

/** How many of the asker's instructions, and of their preferences, are shown with a message to which they may apply. */
const MOST_STANDING = 2;
/** The least evidence, as a share of the best hit's own: below it, a shared word hardly means the same matter. */
const SHARED = 0.4;

const fitsSaved = (hit: MemoryHit): boolean => !isSaid(hit) && hit.evidence >= SAVED;
const isWorded = ({ features }: MemoryHit): boolean => "turn" in features;
const isStanding = ({ features }: MemoryHit): boolean => "rule" in features || "wishHelps" in features;

/** In the same order, but without the bonus of standing instructions and preferences: these are shown separately, in limited number. */
function byWords(hits: readonly MemoryHit[]): readonly MemoryHit[] {
  const placed = hits.filter((hit) => !isStanding(hit));
  for (const hit of hits.filter(isStanding)) {
    const { rule = 0, wishHelps = 0 } = hit.features;
    const score = hit.score - rule - wishHelps;
    const before = placed.findIndex((other) => other.score < score);
    placed.splice(before < 0 ? placed.length : before, 0, { ...hit, score });
  }
  return placed;
}

/** Removes preferences that have since changed, judging by what the model sees anyway: the message itself and the transcript. */
export function withoutOutdated(
  newest: string,
  hits: readonly MemoryHit[],
  isSeen: (hit: MemoryHit) => boolean,
): readonly MemoryHit[] {
  if (asksChange(newest)) return hits;
  const { rule, wish } = standsIn(newest, []);
  const now = rule || wish ? [{ content: newest, at: Number.POSITIVE_INFINITY }] : [];
  const held = holding<MemoryHit | LastingWish>([...hits.filter(isStanding), ...now]);
  const over = new Set(held.flatMap(({ newest: last, before }) => (!("id" in last) || isSeen(last) ? before : [])));
  return hits.filter((hit) => !over.has(hit));
}

const isRule = ({ newest: { features } }: Holding<MemoryHit>): boolean => "rule" in features;

/**
 * The asker's general preferences that bear on a message, the newest on each matter; what it replaced follows if the message asks about
 * that. A preference about the form of answers bears on every question; any other must share a word with it, or accompany another hit.
 * @param alone what the best hit says about the message if nothing else is shown
 */
function bearingOn(newest: string, hits: readonly MemoryHit[], alone: number | undefined): readonly MemoryHit[] {
  const helps = asksHelp(newest);
  const bears = (hit: MemoryHit): boolean => {
    const { kind, content, features, evidence } = hit;
    if ("rule" in features && isOfAnyAnswer(content)) return true;
    if (!isWorded(hit) && !("rule" in features && (helps || alone === undefined))) return false;
    if (alone === undefined || kind !== "message") return true;
    return helps && "rule" in features && isWorded(hit) && evidence >= SHARED * alone && mayHoldFor(content, newest);
  };
  const weight = ({ newest: { score }, before }: Holding<MemoryHit>): number => score + Math.log(1 + before.length);
  const held = holding(hits.filter(isStanding)).filter((one) => [one.newest, ...one.before].some(bears));
  const best = held.toSorted((a, b) => weight(b) - weight(a));
  const rules = best.filter(isRule).slice(0, MOST_STANDING);
  const wishes = best.filter((one) => !isRule(one)).slice(0, MOST_STANDING);
  return best
    .filter((one) => rules.includes(one) || wishes.includes(one))
    .flatMap(({ newest: now, before }) => (asksChange(newest) ? [now, ...before.slice(0, 1)] : [now]));
}

/** Bare questions: an earlier question is not an answer, unless what follows it is shown as well. */
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
