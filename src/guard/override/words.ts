/** Long words of such talk, by which a misspelt one is known. Short ones have too many neighbours. */
const KEYS = [
  ..."ignore disregard forget override overrides overrule bypass supersede constitution instructions instruction previous precedence".split(
    " ",
  ),
  ..."immutable guidelines guardrails restrictions safety policies optional advisory disable disabled operator exception exempt replace".split(
    " ",
  ),
  ..."platform priority suspend jailbreak unrestricted layers layer rules your this".split(" "),
];
const KNOWN = new Set([
  ...KEYS,
  ..."lawyer lawyers player players later lager laser ruler rulers roles ignored ignores priorities exceptions replaced replaces".split(
    " ",
  ),
  ..."operators operates instruct platforms optionally disables suspended suspends layered policy precedent precedents previously".split(
    " ",
  ),
  ..."exempts exempted guideline overrode".split(" "),
]);

/** Words with one letter wrong, doubled, missing or in its neighbour's place, as what they were meant to be; nothing where all are right. */
export function respelt(text: string): string | undefined {
  const read = text.replaceAll(/(?<![\p{L}\p{N}])\p{L}{4,16}(?![\p{L}\p{N}])/gu, (word) =>
    KNOWN.has(word) ? word : (KEYS.find((key) => isMeant(word, key)) ?? word),
  );
  return read === text ? undefined : read;
}

function isMeant(word: string, key: string): boolean {
  if (Math.abs(word.length - key.length) > 1) return false;
  // Short words are taken for others too easily: there only letters in each other's place, or one doubled.
  if (key.length < 7) return isSwapped(word, key) || isDoubled(word, key);
  return isSwapped(word, key) || isOneEdit(word, key);
}

function isSwapped(word: string, key: string): boolean {
  if (word.length !== key.length) return false;
  const at = firstDifference(word, key);
  return (
    word.slice(at, at + 2) === `${key[at + 1]}${key[at]}` &&
    word.slice(at + 2) === key.slice(at + 2) &&
    at + 1 < key.length
  );
}

function isDoubled(word: string, key: string): boolean {
  const at = firstDifference(word, key);
  return word.length === key.length + 1 && word[at] === word[at - 1] && word.slice(at + 1) === key.slice(at);
}

function isOneEdit(word: string, key: string): boolean {
  const at = firstDifference(word, key);
  return [
    word.slice(at + 1) === key.slice(at + 1),
    word.slice(at + 1) === key.slice(at),
    word.slice(at) === key.slice(at + 1),
  ].some(Boolean);
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
