import { segmented, wordsOf } from "./vocabulary.ts";

/** Words by which a line is known to be plain text again. */
const TELLING =
  /\b(?:the|and|are|you|your|all|this|not|for|never|only|pays?|paying|customers?|clients?|whoever|money|profit|refuse|when|every|before|layers?|rules?|safety|constitution|ignore|operator|sender|instructions?|with|may|from|override|previous|disregard)\b/g;
/** How much of a line is tried for each turn. */
const TRIED = 300;

const telling = (text: string): number => text.slice(0, TRIED).match(TELLING)?.length ?? 0;

const backwards = (text: string): string => [...text].toReversed().join("");
const shifted = (text: string, by: number): string =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + by) % 26) + 97));
const mirrored = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(219 - letter.charCodeAt(0)));

/** Lines written backwards, or with other letters for each letter, as the plain text that they become when turned. */
export function* turnings(text: string): Iterable<readonly [string, string]> {
  for (const whole of text.split("\n")) {
    if (whole.length > 12) yield* reversals(whole);
    const line = whole.includes(": ") ? whole.slice(whole.indexOf(": ") + 2) : whole;
    if (line.length < 12) continue;
    if (BACKWARDS.test(whole)) yield ["order of words", line.split(" ").toReversed().join(" ")];
    const now = telling(line);
    if (now > 3) continue;
    const tries: readonly (readonly [string, string])[] = [
      ["reversal", backwards(line)],
      ["reversal of words", line.replaceAll(/[\p{L}\p{P}]+/gu, backwards)],
      ["mirrored letters", mirrored(line)],
      ...SHIFTS.map((by) => ["shifted letters", shifted(line.slice(0, TRIED), by)] as const),
    ];
    const [best] = tries.map((one) => ({ one, tells: telling(one[1]) })).sort((a, b) => b.tells - a.tells);
    if (best !== undefined && best.tells > now + 1) yield best.one;
  }
}

/** Sentences and remarks in brackets that are written backwards beside others that are not. */
function* reversals(line: string): Iterable<readonly [string, string]> {
  const parts = line.split(/(?<=[.!?;:…])\s+|[()[\]]/u);
  for (const part of parts.length > 1 ? parts : []) {
    const now = telling(part);
    const turned = part.length < 12 ? "" : part.replaceAll(/[\p{L}\p{P}]+/gu, backwards);
    if (telling(turned) > now + 1) yield ["reversal of words", turned];
    else if (turned !== "" && telling(backwards(part)) > now + 1) yield ["reversal", backwards(part)];
  }
}

const BACKWARDS = /\b(?:last to first|backwards?|reversed? (?:order|words)|from the end)\b/;
const SHIFTS = Array.from({ length: 25 }, (_, i) => i + 1);

/** Letters that stand alone, with anything but letters between them. */
const APART = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}][^\p{L}\p{N}]{1,12}){5,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu;

/** `i.g.n.o.r.e`, `i g n o r e`: letters that stand alone, set together again. What mostly stands between them joins; the rest parts words. */
export function spelled(text: string): string | undefined {
  const read = text.replaceAll(APART, (run) => {
    const between = run.split(/[\p{L}\p{N}]/u).slice(1, -1);
    const counts = new Map<string, number>();
    for (const sign of between) counts.set(sign, (counts.get(sign) ?? 0) + 1);
    const [joint = ""] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
    return run
      .split(/(?<=[\p{L}\p{N}])(?=[^\p{L}\p{N}])|(?<=[^\p{L}\p{N}])(?=[\p{L}\p{N}])/u)
      .map((part) => (/[\p{L}\p{N}]/u.test(part) ? part : part === joint ? "" : " "))
      .join("");
  });
  return read === text ? undefined : read;
}

/** The same, whatever stands between them: the words are told apart by what they are. */
export function rejoined(text: string): string | undefined {
  const read = text.replaceAll(APART, (run) => {
    const letters = run.replaceAll(/[^\p{L}\p{N}]/gu, "");
    return ` ${wordsOf(letters) ?? letters} `;
  });
  return read === text ? undefined : read;
}

/** Words written without blanks between them. */
export function parted(text: string): string | undefined {
  const read = text.replaceAll(/[a-z0-9]{12,300}/g, (run) => segmented(run) ?? run);
  return read === text ? undefined : read;
}

/** `iiggnnoorree`: where nearly all letters stand twice. */
export function undoubled(text: string): string | undefined {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const twice = (text.match(/(\p{L})\1/gu)?.length ?? 0) * 2;
  return letters > 7 && twice > letters * 0.9 ? text.replaceAll(/([\p{L}\p{N}])\1/gu, "$1") : undefined;
}
