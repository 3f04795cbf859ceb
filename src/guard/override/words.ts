import { once } from "./once.ts";
import { SPELT } from "./spelt.ts";
import { VOCABULARY } from "./vocabulary.ts";

/** Shorter words have too many neighbours. */
const SHORTEST = 5;
const SHORTEST_EDITED = 7;

/** Words with one letter missing, by what is left of them. */
const shortened = once(
  (): ReadonlyMap<string, string> =>
    new Map(
      [...VOCABULARY]
        .filter((word) => word.length >= SHORTEST_EDITED)
        .flatMap((word) => withoutOne(word).map((rest) => [rest, word] as const)),
    ),
);

const withoutOne = (word: string): readonly string[] =>
  [...word].map((_, at) => word.slice(0, at) + word.slice(at + 1));

/** Words with one letter wrong, doubled, missing or in its neighbour's place, as what they were meant to be; nothing where all are right. */
export function respelt(text: string): string | undefined {
  const read = text.replaceAll(/(?<![\p{L}\p{N}])[a-z]{4,16}(?![\p{L}\p{N}])/gu, (word) =>
    VOCABULARY.has(word) || SPELT.has(word) ? word : otherThan(word, meant(word)),
  );
  return read === text ? undefined : read;
}

/** Another form of the same word is no mistake. */
const otherThan = (word: string, known: string | undefined): string =>
  known === undefined || known.startsWith(word) || word.startsWith(known) ? word : known;

function meant(word: string): string | undefined {
  const swapped = [...word].map((_, at) => word.slice(0, at) + (word[at + 1] ?? "") + word[at] + word.slice(at + 2));
  const undoubled = word.replaceAll(/([a-z])\1/g, "$1");
  const near = [...(word.length >= SHORTEST ? swapped : []), ...(undoubled.length >= SHORTEST ? [undoubled] : [])];
  const known = near.find((one) => VOCABULARY.has(one) && one.length >= SHORTEST);
  if (known !== undefined || word.length < SHORTEST_EDITED - 1) return known;
  const missing = shortened().get(word);
  if (missing !== undefined || word.length < SHORTEST_EDITED) return missing;
  return withoutOne(word)
    .map((rest) => (VOCABULARY.has(rest) && rest.length >= SHORTEST_EDITED ? rest : shortened().get(rest)))
    .find((found) => found !== undefined);
}
