import {
  inPlace,
  type Layer,
  type LayerId,
  looksLikeOurs,
  TEXT_LIMITS,
  type TextLimits,
  type TextVerdict,
  type TextVersion,
  type Trusted,
  trusted,
} from "../protocol/index.ts";
import { oneLineBreak, withoutHidden } from "./clean.ts";
import type { GuardFinding, GuardVerdict } from "./override/verdict.ts";
import { truncateText } from "./truncate-text.ts";
import {
  BROKEN_LINE,
  blockTooLong,
  controlCharacter,
  EMPTY,
  EMPTY_LINE,
  emptyRule,
  halfCharacter,
  LINE_LIKE_THE_PLATFORM,
  layerTooLong,
  likeThePlatform,
  lineTooLong,
  NO_WORDS,
  noRoomBeside,
  noRoomToGrow,
  rejected,
  skillTooLong,
  soulForm,
  tooManySkills,
} from "./wording.ts";

/** A text that is to be in the prompt from some turn on, or that a tool shows, and the limits for its size. */
export type GivenText =
  | ({ readonly kind: "layer"; readonly text: string; readonly line?: string | undefined } & PrefixSize)
  | { readonly kind: "soul"; readonly text: string }
  | {
      readonly kind: "skill";
      readonly text: string;
      /** How many other skills are enabled. */
      readonly enabled: number;
      /** The maximum number of characters; if omitted, that of an edit. */
      readonly longest?: number;
    }
  | {
      readonly kind: "block";
      readonly text: string;
      /** Characters that it may have. */
      readonly longest: number;
    };

/** The problem, as the end of a sentence about the text; or the text as it will be sent, with the guard's findings. */
export type CheckedText =
  | { readonly problem: string }
  | {
      readonly problem?: never;
      readonly text: Trusted;
      readonly line?: Trusted;
      /** `pass`, or `review`: the agent's own words then wait for an operator. */
      readonly verdict: TextVerdict;
    };

/**
 * Whether a text may replace a layer's, of the soul, of a skill or of a memory block: its size, its form and the guard. For the agent's edits
 * and for an operator's alike. Pure.
 */
export async function checkNewText(given: GivenText): Promise<CheckedText> {
  const text = normal(given.text);
  const line = given.kind === "layer" && given.line !== undefined ? normal(given.line) : undefined;
  const problem = formProblem(text) ?? ruleProblem(text) ?? sizeProblem({ ...given, text }) ?? lineProblem(line);
  if (problem !== undefined) return { problem };
  const read = given.kind === "soul" ? spelledOut(text) : text;
  const verdict = await judged([read, ...(line === undefined ? [] : [line])]);
  if (verdict.verdict === "reject") return { problem: rejected(verdict.findings) };
  // It passed the guard; whether an operator's word is needed besides, its writer's taint and the verdict say.
  return { text: trusted(text), ...(line !== undefined && { line: trusted(line) }), verdict };
}

const normal = (text: string): string => text.replace(/\r\n?/g, "\n").trimEnd();

function sizeProblem(given: GivenText): string | undefined {
  const { length } = given.text;
  switch (given.kind) {
    case "block":
      return length > given.longest ? blockTooLong(length, given.longest) : undefined;
    case "layer":
      return layerSizeProblem(length, given);
    case "soul":
      if (SLUG.test(given.text)) return undefined;
      return soulForm(TEXT_LIMITS.soul);
    case "skill":
      if (length > (given.longest ?? TEXT_LIMITS.skill))
        return skillTooLong(length, given.longest ?? TEXT_LIMITS.skill);
      if (given.enabled < TEXT_LIMITS.skills) return undefined;
      return tooManySkills(given.enabled, TEXT_LIMITS.skills);
  }
}

/** 64 characters at most. */
const SLUG = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/** C0 and C1 except the tab and the line break: they are invisible, and a terminal obeys some. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;

/** One of two that make a character together, without the other. */
const HALF = /\p{Surrogate}/u;

function characterProblem(text: string, of: string): string | undefined {
  const half = codeOf(HALF.exec(text));
  if (half !== undefined) return halfCharacter(of, half);
  const control = codeOf(CONTROL.exec(text));
  return control === undefined ? undefined : controlCharacter(of, control);
}

const codeOf = (found: RegExpExecArray | null): string | undefined =>
  found?.[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0").replace(/^/, "U+");

/** How much of a line is quoted that may not be there. */
const QUOTED = 80;

/**
 * Why a text can never be in the prompt, whatever its size, as the end of a sentence about it: it is empty, it contains non-text, or a line
 * that reads as the platform's own.
 */
export function formProblem(given: string): string | undefined {
  const text = normal(given);
  if (text.trim() === "") return EMPTY;
  const problem = characterProblem(text, "it");
  if (problem !== undefined) return problem;
  const ours = oneLineBreak(text).split("\n").find(readsAsOurs);
  return ours === undefined ? undefined : likeThePlatform(JSON.stringify(truncateText(ours.trim(), QUOTED, "…")));
}

/** A mark of a list with nothing behind it. */
const BARE_MARK = /^(?:[-*+•–]|\d{1,3}[.)]|\[[ x]?\])\s*$/u;

/** Why a text has no rules, as the end of a sentence about it: nothing in it is a word, or one of its rules is empty. */
function ruleProblem(text: string): string | undefined {
  if (!/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text)) return NO_WORDS;
  const bare = text.split("\n").find((line) => BARE_MARK.test(line.trim()));
  return bare === undefined ? undefined : emptyRule(JSON.stringify(bare.trim()));
}

/** The heading of a project's file in the prompt, and what would pass for one of a skill. `## File layout` is a heading like any other. */
const PART_HEADING = /^#{1,6}\s*(?:File\s+\S*[./]\S*|Skill\s+\S*[-:/.]\S*)\s*#*$/i;

/** Marks, quotes and blanks of any kind before a header, or inside it, do not keep a model from reading it as one. */
export function readsAsOurs(line: string): boolean {
  const bare = withoutHidden(line)
    .normalize("NFD")
    .replaceAll(/\p{M}+/gu, "")
    .replace(/\s+/gu, " ")
    .trim();
  const unmarked = bare.replace(/^[^\p{L}\p{N}[#]+/u, "");
  return looksLikeOurs(bare) || looksLikeOurs(unmarked) || PART_HEADING.test(unmarked.normalize("NFKC"));
}

function lineProblem(line: string | undefined): string | undefined {
  if (line === undefined) return undefined;
  if (line.trim() === "") return EMPTY_LINE;
  if (line.includes("\n")) return BROKEN_LINE;
  if (line.length > TEXT_LIMITS.line) return lineTooLong(line.length, TEXT_LIMITS.line);
  const problem = characterProblem(line, "its line");
  if (problem !== undefined) return problem;
  return readsAsOurs(line) ? LINE_LIKE_THE_PLATFORM : undefined;
}

/** A name may say a sentence. */
const spelledOut = (soul: string): string => soul.replaceAll(/[._-]+/g, " ");

const WORST = ["reject", "review", "pass"] as const;

async function judged(texts: readonly string[]): Promise<TextVerdict> {
  const judge = await layerJudge();
  const verdicts = texts.map(judge);
  return {
    verdict: WORST.find((word) => verdicts.some(({ verdict }) => verdict === word)) ?? "pass",
    findings: verdicts.flatMap(({ findings }) => findings.map(findingSentence)),
  };
}

const findingSentence = ({ message, words }: GuardFinding): string => `${message}: ${JSON.stringify(words)}`;

/** Who judges texts for layers: loaded with the first call, for its patterns take a moment and few programs judge a text. */
export async function layerJudge(): Promise<(text: string) => GuardVerdict> {
  const { judgeLayerText } = await import("./override/override.ts");
  return judgeLayerText;
}

/** The current or planned place of a layer's text. */
export interface LayerPlace {
  readonly layers: readonly Layer[];
  readonly limits: TextLimits;
  readonly active: readonly Pick<TextVersion, "layer" | "part" | "text" | "place">[];
  readonly layer: LayerId;
}

/** Characters of a layer's current text, and of all others of the prefix; and how many there may be. */
export interface PrefixSize {
  readonly limits: TextLimits;
  readonly now: number;
  readonly beside: number;
}

/** The immutable texts and of the others what is active, without soul, skills and what is live. A text of the tail has the room to itself. */
export function prefixSize({ layers, limits, active, layer }: LayerPlace): PrefixSize {
  if (layers.some(({ id, scope }) => id === layer && scope === "turn")) return { limits, now: 0, beside: 0 };
  const standing = inPlace(layers, active).filter(({ part }) => part === undefined);
  const edited = new Map(standing.map((one) => [one.layer, one.text]));
  const size = { now: 0, beside: 0 };
  for (const { id, source } of layers) {
    if (source.kind === "text") size[id === layer ? "now" : "beside"] += (edited.get(id) ?? source.text).length;
  }
  return { limits, ...size };
}

/** Why a layer's text may not be so long after an edit, as the rest of a sentence about it. */
export function layerSizeProblem(length: number, size: PrefixSize): string | undefined {
  const most = size.limits.layer;
  return length > most && roomFor(size) >= most ? layerTooLong(length, most) : sumProblem(length, size);
}

/**
 * Why all texts would be too long together with one of this length. Where more are declared than edits may leave, no edit may make the
 * sum larger, and one that does not is never refused for it.
 */
export function sumProblem(length: number, size: PrefixSize): string | undefined {
  const room = roomFor(size);
  if (length <= room) return undefined;
  const { now, beside, limits } = size;
  const all = { most: limits.total, sum: now + beside, others: beside };
  return all.sum > all.most ? noRoomToGrow(length, room, all) : noRoomBeside(length, room, all);
}

const roomFor = ({ now, beside, limits }: PrefixSize): number => Math.max(limits.total - beside, now);
