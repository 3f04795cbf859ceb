const SHORTEST_STEMMED = 5;

/** What is left of a word without its ending. */
export const stemOf = (word: string): string =>
  word.length < SHORTEST_STEMMED
    ? word
    : word
        .replace(/ies$/, "y")
        .replace(/(?:ing|edly|ed|es|s|ly)$/, "")
        .replace(/(.)\1$/, "$1")
        .replace(/e$/, "");
