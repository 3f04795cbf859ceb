import { isDeepStrictEqual } from "node:util";
import { type CoreErrorCode, StrataError } from "../protocol/index.ts";
import { type Path, type Position, show, valueAt, writePath, type YamlSource } from "./path.ts";

/** One problem: its place, the text there, and what is expected. */
export interface Problem extends Position {
  readonly file: string;
  readonly path: string;
  readonly value: string;
  readonly expected: string;
}

/** How a problem differs from the usual: another file, the key meant instead of the value, another code or value. */
export interface ProblemOptions {
  readonly place?: Position & { readonly file: string };
  readonly key?: boolean;
  readonly code?: CoreErrorCode;
  readonly value?: string;
}

/** Collects all problems of one project, so that a person mends them in one go. */
export interface Report {
  readonly source: YamlSource;
  add(path: Path, expected: string, options?: ProblemOptions): void;
  /** All that was added, as one error. */
  error(): StrataError;
  /** @throws StrataError when anything was added */
  end(): void;
}

const SHOWN = 10;
/** More than this many problems are not looked at one by one: a file of noise must not cost minutes. */
export const MOST_PROBLEMS = 100;

/** An empty report on one file. */
export function reportOn(source: YamlSource): Report {
  const problems: Problem[] = [];
  const codes = new Set<CoreErrorCode>();
  return {
    source,
    add(path, expected, options = {}) {
      if (problems.length >= MOST_PROBLEMS) return;
      codes.add(options.code ?? "config_invalid");
      const place = options.place ?? { file: source.file, ...source.locate(path, options.key ?? false) };
      const value = options.value ?? shownAt(source, path);
      const problem = { ...place, path: writePath(path), value, expected };
      // A value at the top is checked once for each agent.
      if (!problems.some((one) => isDeepStrictEqual(one, problem))) problems.push(problem);
    },
    error: () => refusal(codes, problems),
    end() {
      if (problems.length > 0) throw refusal(codes, problems);
    },
  };
}

/** The error for problems found. Invalid values come before missing ones. */
export function refusal(codes: ReadonlySet<CoreErrorCode>, found: readonly Problem[]): StrataError {
  const [first = "config_invalid"] = codes;
  const code = codes.has("config_invalid") ? "config_invalid" : first;
  const problems = [...found].sort((a, b) => a.line - b.line || a.column - b.column);
  const lines = problems.slice(0, SHOWN).map(writeProblem);
  if (found.length > SHOWN) lines.push(`… and ${found.length - SHOWN} more; fix these first`);
  const count = found.length < MOST_PROBLEMS ? found.length : `at least ${MOST_PROBLEMS}`;
  const message = lines.length === 1 ? lines.join() : `${count} problems:\n${lines.join("\n")}`;
  return new StrataError(code, message, { problems });
}

function writeProblem({ file, line, column, path, value, expected }: Problem): string {
  const what = [path, value].filter((part) => part !== "").join(": ");
  // A value that a program hands in has no lines.
  const place = line === 0 ? `${file}:` : `${file}:${line}:${column}`;
  return `${place} ${what === "" ? "" : `${what} — `}${expected}`;
}

/** The value at a path, in short. Below `providers` and `secrets` a key may have been pasted: only what cannot be one is shown. */
function shownAt(source: YamlSource, path: Path): string {
  const value = valueAt(source.value, path);
  const mayBeSecret = path[0] === "providers" || path[0] === "secrets";
  if (!mayBeSecret || typeof value !== "string" || isHarmlessValue(path, value)) return show(value);
  return "(hidden)";
}

/** A provider's kind, region or address in a form that no key has: words without digits, a place, an address without a query. */
function isHarmlessValue([top, , key, ...deeper]: Path, value: string): boolean {
  if (top !== "providers" || typeof key !== "string" || deeper.length > 0) return false;
  return PLAIN.get(key)?.test(value) ?? false;
}

const PLAIN: ReadonlyMap<string, RegExp> = new Map([
  ["kind", /^[A-Za-z_-]{1,30}$/],
  ["region", /^[A-Za-z]{2,12}(?:[-_][A-Za-z]{2,12}){0,3}(?:[-_]\d)?$/],
  ["url", /^(?:[a-z]{2,6}:\/\/[\w.-]+(?::\d{1,5})?|[\w.-]+:\d{1,5})(?:\/[a-z]{1,12}\d?){0,4}\/?$/i],
]);
