import type { z } from "zod";
import { truncateText } from "../../guard/index.ts";
import { isMissing, mustBe, mustHaveSize, noArgument, notAllowed, notRunBecause, unknownKeys } from "./wording.ts";

/** How much of a wrong value is shown back to the model. */
const SHOWN = 60;

/** One sentence that names the argument, its value and what it must be. */
export function argumentProblem(
  tool: string,
  problem: z.core.$ZodIssue,
  input: unknown,
  known: readonly string[],
): string {
  const message =
    problem.code === "unrecognized_keys"
      ? noArgument(listed(problem.keys), listed(known))
      : valueProblem(problem, input, "its input");
  return notRunBecause(tool, message);
}

/** The part of a sentence that names the value, and what it must be; `called` is the name of the outermost value. */
export function valueProblem(problem: z.core.$ZodIssue, whole: unknown, called: string): string {
  const name = problem.path.length === 0 ? called : quoteShort(problem.path.join("."));
  const value = problem.path.reduce<unknown>(member, whole);
  switch (problem.code) {
    case "unrecognized_keys":
      return unknownKeys(name, listed(problem.keys));
    case "invalid_type":
      if (value === undefined) return isMissing(name, kind(problem.expected));
      return mustBe(name, shown(value), kind(problem.expected));
    case "too_small":
    case "too_big":
      return mustHaveSize(name, size(value), bound(problem));
    case "invalid_value":
      return mustBe(name, shown(value), `one of ${listed(problem.values.map(String))}`);
    default:
      return notAllowed(name, shown(value), problem.message);
  }
}

function member(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function size(value: unknown): string {
  if (typeof value === "string") return `has ${value.length} characters`;
  if (Array.isArray(value)) return `has ${value.length} entries`;
  return `is ${shown(value)}`;
}

function bound(problem: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const verb = problem.origin === "string" || problem.origin === "array" ? "have" : "be";
  return problem.code === "too_big" ? `${verb} at most ${problem.maximum}` : `${verb} at least ${problem.minimum}`;
}

function kind(expected: string): string {
  if (expected === "int") return "a whole number";
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

export function listed(words: readonly string[]): string {
  return words.length === 0 ? "none" : words.map(quoteShort).join(", ");
}

/** Objects are named and not printed: a value of a hundred thousand levels cannot be. */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "string" ? quoteShort(value) : String(value);
}

function quoteShort(text: string): string {
  return JSON.stringify(truncateText(text, SHOWN, "…"));
}
