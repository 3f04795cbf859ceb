import { asksIn } from "../../memory/index.ts";
import type { MemoryHit } from "../../store/index.ts";

/**
 * How likely something that was said answers, by `evidence`, that it is shown. What was saved on purpose is short and says little of a
 * question in its own words: it needs less.
 */
const SAID = 0.28;
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
  const standing = judged.filter((hit) => isStanding(hit) && (isOpen || isOfIt(hit, most))).slice(0, MOST_STANDING);
  const known = new Set(standing.map(({ id }) => id));
  const others = [saved, said].map((list) => nearTheBest(list.filter(({ id }) => !known.has(id) && !isBare(list, id))));
  const lists = [standing, ...others];
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

/** So many of the asker's rules and preferences are shown with a message that they may bear on; what was said so, beside what else was said. */
const MOST_STANDING = 2;

/** What somebody prefers bears on what has a word of it; a rule on more. */
const isStanding = ({ features }: MemoryHit): boolean =>
  "ruleHelps" in features || (("rule" in features || "wishHelps" in features) && "turn" in features);

/** Of what the best says of a message: by less than that, a word they share is hardly about the same. */
const SHARED = 0.4;

/** What was saved stands by itself, and what says some of the message where help is asked for. */
const isOfIt = ({ kind, features, evidence }: MemoryHit, most: number): boolean =>
  kind !== "message" ||
  (("ruleHelps" in features || "wishHelps" in features) && "turn" in features && evidence >= SHARED * most);

/** Questions alone: what was asked before is no answer, unless what follows it is shown as well. */
const BARE =
  /^(?:(?:and|so|but|hey|hi|hmm|ok|okay|oh|wow|cool|nice|great|thanks|sure)\W+)*(?:who|whom|whose|what|when|where|which|why|how|did|does|do|is|are|was|were|can|could|would|have|has|wer|was|wann|wo|wie|warum)\b[^.!?\n]{0,120}\?\s*$/iu;

function isBare(all: readonly MemoryHit[], id: MemoryHit["id"]): boolean {
  const hit = all.find((one) => one.id === id);
  if (hit === undefined || !BARE.test(hit.content)) return false;
  return !all.some(({ session, place }) => session === hit.session && place === hit.place + 1);
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
