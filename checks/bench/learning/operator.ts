import { chanceOf, type Edit, oneOf, type Rule } from "./rules.ts";

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
    const words = new Set(message.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
    const holds = ({ when, contact: only, from, until }: Rule): boolean =>
      turn >= from &&
      turn <= until &&
      (only === undefined || only === contact) &&
      (when?.some((word) => words.has(word)) ?? true);
    let text = draft;
    const broken: string[] = [];
    for (const rule of rules.filter((one) => !holds(one))) {
      // What only belongs to other messages does not stand here.
      const cleaned = rule.edit.reduce((now, edit) => without(now, edit, rules.filter(holds)), text);
      if (cleaned !== text) broken.push(rule.name);
      text = cleaned;
    }
    for (const rule of rules.filter(holds)) {
      const edited = rule.edit.reduce(applied, text);
      if (edited !== text) broken.push(rule.name);
      text = edited;
    }
    const dressed = dress(text, chance);
    const concerned = rules.filter(holds).map(({ name }) => name);
    return { text: dressed, broken: [...new Set(broken)], concerned, isTouched: dressed !== draft };
  };
}

function applied(text: string, edit: Edit): string {
  if ("add" in edit) return text.includes(edit.add) ? text : joined(text, edit.add);
  if ("first" in edit) return text.includes(edit.first) ? text : joined(edit.first, text);
  if ("remove" in edit) return tidy(text.replaceAll(edit.remove, ""));
  if ("replace" in edit) return text.replaceAll(edit.replace, edit.by);
  return text.trim() === edit.instead ? text : edit.instead;
}

/** A sentence of a rule that does not hold here goes, unless one that holds wants it. */
function without(text: string, edit: Edit, others: readonly Rule[]): string {
  const own = "add" in edit ? edit.add : "first" in edit ? edit.first : "instead" in edit ? edit.instead : undefined;
  const isWanted = others.some((rule) => rule.edit.some((one) => Object.values(one).some((said) => said === own)));
  return own === undefined || isWanted ? text : tidy(text.replaceAll(own, ""));
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
