/** A text repeats another if it has this many characters in a row in common with it. */
const RUN = 30;
/** A shorter line of a text is repeated if the other holds all of it; lines below this length are too common to count. Characters. */
const SHORTEST_LINE = 20;

/** Whether a text holds, word for word, a good part of one of the others. Linear in the length of all. Pure. */
export const repeats = (said: string, shown: readonly string[]): boolean => repeaterOf(shown)(said);

/** The same for many texts that may repeat these. Text that is also in `known` is not a repetition. */
export function repeaterOf(shown: readonly string[], known: readonly string[] = []): (said: string) => boolean {
  const lines = shown
    .flatMap((text) => text.split("\n").map((line) => foldQuote(line).replace(/[.!?。！？]+$/u, "")))
    .filter(({ length }) => length >= SHORTEST_LINE && length < RUN)
    .filter((line) => !known.some((text) => foldQuote(text).includes(line)));
  const runs = new Set(shown.flatMap((text) => runsOf(foldQuote(text))));
  for (const text of known) for (const run of runsOf(foldQuote(text))) runs.delete(run);
  return (said) => {
    const whole = foldQuote(said);
    return lines.some((line) => whole.includes(line)) || (runs.size > 0 && runsOf(whole).some((run) => runs.has(run)));
  };
}

const runsOf = (text: string): readonly string[] =>
  Array.from({ length: Math.max(0, text.length - RUN + 1) }, (_, i) => text.slice(i, i + RUN));

/** Blanks, capital letters and what marks a line as quoted make no difference. */
const foldQuote = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/^[>|]+/gmu, "")
    .replace(/\s+/gu, " ")
    .trim();
