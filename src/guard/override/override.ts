import { disguiseOf } from "./disguise.ts";
import { type Offence, offenceOf } from "./judge.ts";
import { LONGEST, type Reading, readingsOf } from "./readings.ts";
import { structureOf } from "./structure.ts";
import type { GuardFinding, GuardVerdict } from "./verdict.ts";
import { respelt } from "./words.ts";

/**
 * Whether a text may become a layer below those that nobody may change. It looks for talk that would take their force, in
 * plain words or disguised, and for what imitates the prompt's own structure. A courtesy and no guarantee: the engine gives
 * such a layer no rank whatever it says.
 */
export function judgeLayerText(whole: string): GuardVerdict {
  const text = whole.slice(0, LONGEST).replaceAll(PILED, "$1");
  const structure = structureOf(text);
  const { readings, areAll } = readingsOf(text);
  const disguise = structure.length > 0 ? undefined : disguiseOf(text, readings);
  const spoken = firstSpoken(readings);
  const findings = [
    ...structure,
    ...(spoken === undefined ? [] : [spoken]),
    ...(disguise === undefined ? [] : [disguise]),
    ...(whole.length > LONGEST ? [unread(whole)] : areAll ? [] : [MANIFOLD]),
  ];
  if (structure.length > 0) return { verdict: "reject", findings };
  return { verdict: findings.length > 0 ? "review" : "pass", findings };
}

/** A mark that has a place in the order of marks; those that choose a variant have none. */
const MARK = String.raw`(?:(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{M})`;
/** Marks piled up on one letter higher than Unicode asks anybody to bear: to put them in order takes quadratic time. */
const PILED = new RegExp(`(${MARK}{30})${MARK}+`, "gu");

/** What was not read may say anything. */
const unread = (text: string): GuardFinding => ({
  kind: "unread",
  says: `it is longer than the ${LONGEST} characters that are read; the rest begins with`,
  words: text.slice(LONGEST, LONGEST + 120),
});

const MANIFOLD: GuardFinding = {
  kind: "unread",
  says: "it can be read in more ways than are tried",
  words: "",
};

const SENTENCES = /(?<=[.!?。！？;])\s+|\n+/u;

/** Longer ones are read in pieces, so that none takes long. */
const LONGEST_SENTENCE = 500;

/** No shorter sentence takes anything's force. */
const SHORTEST_SENTENCE = 8;

/** The first offence in any reading, and in that reading with its words spelt right. What two readings share is judged once. */
function firstSpoken(readings: readonly Reading[]): GuardFinding | undefined {
  const judged = new Set<string>();
  for (const { by, text } of readings.map(joinedWhereBroken)) {
    for (const [read, hidden] of [[text, by] as const, [respelt(text), "misspelling"] as const]) {
      const offence = read === undefined ? undefined : firstOffence(read, judged);
      if (offence !== undefined) return told(offence, hidden);
    }
  }
  return undefined;
}

/** Lines of so few words were broken to be misread. */
const FEW_WORDS = 3;

/** Headings and points of a list are no sentence: only lines that a width or a trick has broken are read as one. */
function joinedWhereBroken(reading: Reading, _: number, readings: readonly Reading[]): Reading {
  const plain = readings[0]?.text ?? "";
  if (reading.by !== "line breaks") return reading;
  const lines = plain.split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line));
  const few = lines.filter((line) => (line.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) <= FEW_WORDS);
  if (few.length > lines.length / 2) return reading;
  return { ...reading, text: plain.replaceAll(/(?<=[^\n]{30}[\p{L}\p{N},])\n(?=[\p{L}(])/gu, " ") };
}

function firstOffence(text: string, judged: Set<string>): Offence | undefined {
  const sentences = text
    .split(SENTENCES)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
  for (const [i, sentence] of sentences.entries()) {
    const next = sentences[i + 1]?.slice(0, 80) ?? "";
    const known = `${sentence}\n${next}`;
    if (sentence.length < SHORTEST_SENTENCE || judged.has(known)) continue;
    judged.add(known);
    for (const piece of new Set(piecesOf(sentence))) {
      const offence = offenceOf({ sentence: piece, next, text });
      if (offence !== undefined) return offence;
    }
  }
  return undefined;
}

function piecesOf(sentence: string): readonly string[] {
  if (sentence.length <= LONGEST_SENTENCE) return [sentence];
  const pieces: string[] = [];
  for (let at = 0; at < sentence.length; at += LONGEST_SENTENCE / 2)
    pieces.push(sentence.slice(at, at + LONGEST_SENTENCE));
  return pieces;
}

const SAYS: Readonly<Record<Offence["kind"], string>> = {
  weakens: "it speaks of rules that stand above it, and not to keep them",
  "claims rank": "it claims a rank or a role that only the layers above can give",
  grants: "it allows what only the layers above may allow",
  resembles: "it reads like texts that take the force of rules above",
};

function told({ kind, words }: Offence, by: string): GuardFinding {
  return { kind, says: by === "" ? SAYS[kind] : `${SAYS[kind]} (hidden by ${by})`, words: words.slice(0, 120) };
}
