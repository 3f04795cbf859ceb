import type { MemoryHit } from "../../store/index.ts";

/**
 * How much of what was asked a memory must say to be worth showing, by `evidence`. Measured on the development set
 * (docs/decisions/0019). What was saved on purpose is short and says little of a question in its own words: it needs less. What
 * a vector was much nearer to than is usual has evidence by that.
 */
const SAID = 0.22;
/** For one who tells something and asks nothing: most of it is new, and what was said before would only stand in the way. */
const SAID_UNASKED = 0.9;
/** For one who tells something and asks on the side. */
const SAID_ASIDE = 0.5;
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
  const least = saidLeast(newest);
  const fitsSaved = (hit: MemoryHit): boolean => !isSaid(hit) && hit.evidence >= SAVED;
  const said = judged.some((hit) => isSaid(hit) && hit.evidence >= least) ? hits.filter(isSaid) : [];
  const saved = judged.some(fitsSaved) ? hits.filter(fitsSaved) : [];
  const standing = judged.filter(isStanding).slice(0, MOST_STANDING);
  const known = new Set(standing.map(({ id }) => id));
  const others = [saved, said].map((list) => nearTheBest(list.filter(({ id }) => !known.has(id) && !isBare(list, id))));
  const lists = [standing, ...others];
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

/** So many of the asker's rules and preferences are shown with a message that they may bear on. */
const MOST_STANDING = 2;
/** What somebody prefers bears on what has a word of it; a rule on more. */
const WISHED = 0.1;

const isStanding = ({ features, evidence }: MemoryHit): boolean =>
  "ruleHelps" in features || (("rule" in features || "wishHelps" in features) && evidence >= WISHED);

/** Questions alone: what was asked before is no answer, unless what follows it is shown as well. */
const BARE =
  /^(?:(?:and|so|but|hey|hi|hmm|ok|okay|oh|wow|cool|nice|great|thanks|sure)\W+)*(?:who|whom|whose|what|when|where|which|why|how|did|does|do|is|are|was|were|can|could|would|have|has|wer|was|wann|wo|wie|warum)\b[^.!?\n]{0,120}\?\s*$/iu;

function isBare(all: readonly MemoryHit[], id: MemoryHit["id"]): boolean {
  const hit = all.find((one) => one.id === id);
  if (hit === undefined || !BARE.test(hit.content)) return false;
  return !all.some(({ session, place }) => session === hit.session && place === hit.place + 1);
}

/** A question's mark, its first word, or a wish to be told: in the languages whose questions often go without the mark. */
const ASKS =
  /[?？؟\u037e՞]|[吗嗎呢]|什么|什麼|怎么|怎麼|谁|哪|几|多少|(?:ですか|ますか|かな|何|誰|どこ|いつ)|(?:^|[.!,\n]\s*)(?:and |so |but |ok,? |hey,? )?(?:who|whom|whose|what|when|where|which|why|how|did|does|do|is|are|was|were|can|could|have|has|wer|was|wann|wo|wie|warum|qui|que|quoi|quand|où|comment|quién|qué|cuándo|dónde|cómo)\b|\b(?:remember|remind|recall|tell me|look up|find out|erinner|rappelle|recuerd)/iu;

/** How much of a message what was said before must say to be worth showing. */
export function saidLeast(newest: string): number {
  if (!ASKS.test(newest)) return SAID_UNASKED;
  const sentences = newest.match(/[^.!?。！？\n]+[.!?。！？]*/gu) ?? [];
  const told = sentences.filter((sentence) => !ASKS.test(sentence)).reduce((sum, { length }) => sum + length, 0);
  return told > newest.length / 2 ? SAID_ASIDE : SAID;
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
