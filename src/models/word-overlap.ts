/** Words that say nothing about what a sentence is about. */
const COMMON = new Set(
  (
    "about again all also and any are but can could did does for from had has have her him his how its just know " +
    "like me my not now our out please recall remember said say she should still tell than that the their them then " +
    "there they this thing things was were what when where which who why will with would wrote you your"
  ).split(" "),
);

/** What a text is about, in its own words and order. */
const ownWords = (text: string): string[] =>
  (text.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 2 && !COMMON.has(word.toLowerCase()));

/** The text's first own words, for a search; the text itself when all of them are common. */
export const topicOf = (text: string): string => ownWords(text).slice(0, 10).join(" ") || text.trim();

/** Whether a question names nothing that it is about. */
export const asksForAll = (text: string): boolean => ownWords(text).length === 0;

/** The candidate that shares most words with the question; of equals the shortest, and the last of these. */
export function bestMatch<T extends { readonly text: string }>(question: string, among: readonly T[]): T | undefined {
  const stems = (text: string) => new Set(ownWords(text).map((word) => word.toLowerCase().replace(/s$/, "")));
  const asked = stems(question);
  const scored = among.map((candidate) => {
    const words = stems(candidate.text);
    return { candidate, shared: [...words].filter((word) => asked.has(word)).length, length: words.size };
  });
  const matches = scored.filter(({ shared }) => shared > 0).reverse();
  return matches.sort((a, b) => b.shared - a.shared || a.length - b.length)[0]?.candidate;
}
