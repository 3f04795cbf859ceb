import { foldedWords } from "./fold.ts";
import { STOP_WORDS } from "./word-lists.ts";

/** In a longer text, only one stretch of this length is searched: the one with most of the question's words. */
const LONGEST = 20_000;
/** Stretches overlap, so that a passage at the end of one is complete in the next. */
const STEP = 15_000;
/** A longer line is divided into its sentences. */
const LONG_LINE = 240;
const LONGEST_BELONGING = 120;
const FENCE = /^\s{0,3}(?:```|~~~)/;
const HEADING = /^\s*#{1,6}\s|^\s*(?:\*\*|__).+(?:\*\*|__):?\s*$|:\s*$/;
const LEFT_OUT = "…";

/**
 * The part of a text that fits a question best, at most `most` characters, with the heading above it and the first line of the text; "…"
 * marks what is left out. Line breaks stay, and code stays in a code block. A text that is short enough is returned whole. Pure.
 */
export function passageOf(text: string, question: string, most: number): string {
  if (text.length <= most) return text;
  const stretch = text.length > LONGEST ? fittingStretch(text, question.slice(0, LONGEST)) : text;
  const lines = splitLines(stretch);
  const { from, to } = best(lines, questionTerms(question.slice(0, LONGEST)), most);
  const inside = fenceAt(lines, from);
  const shown = lines.slice(from, to);
  const opens = inside === undefined ? [] : [inside];
  const isOpen = [...opens, ...shown].filter((line) => FENCE.test(line)).length % 2 === 1;
  const begins = from === 0 ? [] : [cut(lines[0] ?? "")];
  const heading = inside === undefined ? headingAbove(lines, from) : undefined;
  const above = heading === undefined ? [] : [cut(lines[heading] ?? "")];
  const gap = (at: number, after: number): readonly string[] => (at > after ? [LEFT_OUT] : []);
  return [
    ...begins,
    ...(heading === undefined ? gap(from, begins.length) : [...gap(heading, 1), ...above, ...gap(from, heading + 1)]),
    ...opens,
    ...joined(shown),
    ...(isOpen ? ["```"] : []),
    ...(to < lines.length ? [LEFT_OUT] : []),
  ].join("\n");
}

/** The stretch, with the text's first line above it. Words are compared by their beginnings, which their other forms mostly share. */
function fittingStretch(text: string, question: string): string {
  const stems = [...tellingIn(question)].map((term) => term.slice(0, Math.max(4, term.length - 3)));
  if (stems.length === 0) return `${text.slice(0, LONGEST)}\n${LEFT_OUT}`;
  const places = new RegExp(stems.join("|"), "giu");
  const has = Array.from({ length: Math.ceil(text.length / STEP) }, () => new Set<string>());
  for (const { 0: stem, index } of text.matchAll(places)) {
    const at = Math.floor(index / STEP);
    has[at]?.add(stem.toLowerCase());
    if (index % STEP < LONGEST - STEP) has[at - 1]?.add(stem.toLowerCase());
  }
  const most = Math.max(...has.map(({ size }) => size));
  const from = has.findIndex(({ size }) => size === most) * STEP;
  const end = from + LONGEST < text.length ? `\n${LEFT_OUT}` : "";
  if (from === 0) return text.slice(0, LONGEST) + end;
  return `${splitLines(text.slice(0, LONGEST))[0]}\n${LEFT_OUT}\n${text.slice(from, from + LONGEST)}${end}`.toWellFormed();
}

/** Marks a piece whose line continues in the next one. */
const GOES_ON = "\u0000";

const joined = (lines: readonly string[]): readonly string[] =>
  lines.join("\n").replaceAll(`${GOES_ON}\n`, "").replaceAll(GOES_ON, "").split("\n");

/** The lines, with long ones divided into sentences; those that continue are marked. */
function splitLines(text: string): readonly string[] {
  return text
    .replaceAll(GOES_ON, " ")
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .flatMap((line) => (line.length <= LONG_LINE ? [line] : pieces(line)));
}

function pieces(line: string): readonly string[] {
  const sentences = line.match(/[^.!?。！？]*(?:[.!?。！？]+(?!\s))*[.!?。！？]*\s*/gu) ?? [];
  const short = new RegExp(`[\\s\\S]{1,${LONG_LINE - 1}}(?:\\s|$)|[\\s\\S]{1,${LONG_LINE}}`, "gu");
  const all: string[] = [];
  for (const sentence of sentences.flatMap((one) => one.match(short) ?? [])) {
    const last = all.at(-1);
    if (last !== undefined && last.length + sentence.length <= LONG_LINE) all[all.length - 1] = last + sentence;
    else all.push(sentence);
  }
  return all.map((piece, at) => (at < all.length - 1 ? `${piece}${GOES_ON}` : piece));
}

function tellingIn(text: string): ReadonlySet<string> {
  return new Set(foldedWords(text).flatMap(({ word, terms }) => (STOP_WORDS.has(word) ? [] : terms)));
}

/** The terms of the last question: many texts are searched for the same one. */
let last: { readonly question: string; readonly terms: ReadonlySet<string> } = { question: "", terms: new Set() };

function questionTerms(question: string): ReadonlySet<string> {
  if (question !== last.question) last = { question, terms: tellingIn(question) };
  return last.terms;
}

interface TextSpan {
  readonly from: number;
  readonly to: number;
}

/** The consecutive lines with most of the question; the rarer a word is in the text, the more it counts. */
function best(lines: readonly string[], asked: ReadonlySet<string>, most: number): TextSpan {
  const terms = lines.map((line) => [...tellingIn(line)].filter((term) => asked.has(term)));
  const frequency = new Map<string, number>();
  for (const term of terms.flat()) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  let chosen: TextSpan & { readonly score: number } = { from: 0, to: fitting(lines, 0, most), score: 0 };
  for (const [at] of lines.entries()) {
    if (at > 0 && (terms[at]?.length ?? 0) === 0) continue;
    const from = at > 0 && HEADING.test(lines[at - 1] ?? "") ? at - 1 : at;
    const to = fitting(lines, from, most);
    const has = new Set(terms.slice(from, to).flat());
    const score = [...has].reduce((sum, term) => sum + 1 / Math.sqrt(frequency.get(term) ?? 1), 0);
    if (score > chosen.score + 1e-9) chosen = { from, to, score };
  }
  return chosen;
}

/** The end (exclusive) of the lines that fit. */
function fitting(lines: readonly string[], from: number, most: number): number {
  let room = most;
  for (let to = from; to < lines.length; to += 1) {
    room -= (lines[to]?.length ?? 0) + 1;
    if (room < 0 && to > from) return to;
  }
  return lines.length;
}

/** The line that opened the code block around a line. */
function fenceAt(lines: readonly string[], at: number): string | undefined {
  const fences = lines.slice(0, at).filter((line) => FENCE.test(line));
  return fences.length % 2 === 1 && !FENCE.test(lines[at] ?? "") ? fences.at(-1) : undefined;
}

function headingAbove(lines: readonly string[], from: number): number | undefined {
  if (HEADING.test(lines[from] ?? "")) return undefined;
  const above = lines.slice(1, from).findLastIndex((line) => HEADING.test(line));
  return above < 0 ? undefined : above + 1;
}

const cut = (whole: string): string => short(whole.replaceAll(GOES_ON, ""));
const short = (line: string): string =>
  line.length <= LONGEST_BELONGING
    ? line
    : `${[...line.slice(0, LONGEST_BELONGING - 1)].join("").toWellFormed()}${LEFT_OUT}`;
