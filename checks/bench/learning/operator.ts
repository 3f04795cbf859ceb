import { chanceOf, type Edit, isFor, oneOf, type Rule } from "./rules.ts";

/** A message as the operator sees it beside a draft. */
export interface Seen {
  readonly turn: number;
  readonly contact: string;
  readonly message: string;
  readonly draft: string;
}

/** What the operator sends, which rules the draft broke, which were for this message, and whether anything was changed at all. */
export interface Sent {
  readonly text: string;
  readonly broken: readonly string[];
  readonly concerned: readonly string[];
  readonly isTouched: boolean;
}

/** A person with fixed rules in mind, who signs now and then, greets, passes on and mends what looks like a slip. */
export function operatorOf(rules: readonly Rule[], seed: number) {
  const chance = chanceOf(seed * 31 + 7);
  return ({ turn, contact, message, draft }: Seen): Sent => {
    const holds = isFor({ turn, contact, message });
    // One whole answer is enough; what other rules want stands beside it.
    const whole = rules.find((rule) => isWhole(rule) && holds(rule));
    const here = [...(whole ? [whole] : []), ...rules.filter((rule) => holds(rule) && !isWhole(rule))];
    const wanted = here.flatMap(({ edit }) => edit.flatMap((one) => wantedBy(one) ?? []));
    // A slip of the keyboard is mended, and no rule is broken by it.
    let text = wanted.reduce(withoutSlips, draft);
    const broken = new Set<string>();
    for (const rule of rules.filter((one) => !here.includes(one))) {
      // What only belongs to other messages does not stand here.
      const cleaned = rule.edit.reduce((now, edit) => without(now, edit, wanted), text);
      if (cleaned !== text) broken.add(rule.name);
      text = cleaned;
    }
    for (const rule of here) {
      const edited = rule.edit.reduce((now, edit) => applied(now, edit, wanted), text);
      if (edited !== text) broken.add(rule.name);
      text = edited;
    }
    // Somebody waits for an answer, also where nothing of the draft was right.
    const dressed = dress(text === "" ? HOLDING : text, chance);
    const concerned = here.map(({ name }) => name);
    return { text: dressed, broken: [...broken], concerned, isTouched: dressed !== draft };
  };
}

const HOLDING = "I have to ask about that first.";

const isWhole = ({ edit }: Rule): boolean => edit.some((one) => "instead" in one);

const wantedBy = (edit: Edit): string | undefined =>
  "add" in edit ? edit.add : "first" in edit ? edit.first : "instead" in edit ? edit.instead : undefined;

function applied(text: string, edit: Edit, wanted: readonly string[]): string {
  if ("add" in edit) return text.includes(edit.add) ? text : joined(text, edit.add);
  if ("first" in edit) return text.includes(edit.first) ? text : joined(edit.first, text);
  if ("remove" in edit) return tidy(text.replaceAll(edit.remove, ""));
  if ("replace" in edit) return text.replaceAll(edit.replace, edit.by);
  // A whole answer: beside it stands only what other rules of this message want.
  const rest = wanted.reduce((left, one) => left.replaceAll(one, ""), text);
  return text.includes(edit.instead) && !/\p{L}/u.test(rest) ? text : edit.instead;
}

/** A sentence of a rule that does not hold here goes, unless one that holds wants it. */
function without(text: string, edit: Edit, wanted: readonly string[]): string {
  const own = wantedBy(edit);
  return own === undefined || wanted.some((one) => one.includes(own)) ? text : tidy(text.replaceAll(own, ""));
}

/** The text with a sentence as it should be, where it stands there with letters in another order. */
function withoutSlips(text: string, sentence: string): string {
  const spaced = text.split(/(\s+)/);
  const words = sentence.split(/\s+/);
  const sorted = (word: string | undefined): string => [...(word ?? "")].sort().join("");
  const at = spaced.findIndex((_, i) => words.every((word, n) => sorted(spaced[i + 2 * n]) === sorted(word)));
  return at < 0
    ? text
    : spaced
        .with(at, sentence)
        .toSpliced(at + 1, 2 * words.length - 2)
        .join("");
}

const joined = (one: string, other: string): string => tidy(`${one} ${other}`);
const tidy = (text: string): string => text.replace(/[ \t]{2,}/g, " ").trim();

const SIGNATURES = ["Best, Mia", "Kind regards\nMia Berg", "— Mia"];
const GREETINGS = ["Hello!", "Good morning,", "Hi there,"];

/** What says nothing about how the agent writes: a third of all messages have something of it. */
function dress(text: string, chance: () => number): string {
  const luck = chance();
  if (luck < 0.15) return `${text}\n\n${oneOf(SIGNATURES, chance)}`;
  if (luck < 0.25) return `${oneOf(GREETINGS, chance)}\n${text}`;
  if (luck < 0.3) return `Fwd: ${text}`;
  if (luck < 0.35) return slipped(text, chance);
  return text;
}

/** Two letters of a long word change places. */
function slipped(text: string, chance: () => number): string {
  const long = [...text.matchAll(/\b[a-z]{7,}\b/g)];
  if (long.length === 0) return text;
  const { index, 0: word } = oneOf(long, chance);
  const at = index + 3;
  const [one = "", other = ""] = [text[at], text[at + 1]];
  return word.length < 5 ? text : `${text.slice(0, at)}${other}${one}${text.slice(at + 2)}`;
}
