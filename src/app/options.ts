import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Judge } from "../features/learning/index.ts";
import type { LanguageModel } from "../models/index.ts";
import { type ModelRef, never, type OwnSource, StrataError, suggestion, type Tool } from "../protocol/index.ts";
import type { ConfigInput } from "./entry/agents.ts";

/** The folders of Strata, and a program's other options. */
export interface AppOptions {
  /** The folder with `strata.yaml`; without one there, the shipped blueprints are the agents. By default the current folder. */
  readonly folder?: string;
  /**
   * A model as a provider package of the AI SDK makes it, `anthropic("claude-sonnet-5-5")`: it answers for every agent that
   * declares none.
   */
  readonly model?: LanguageModel;
  /** Compares the replies of a trial of a learning text, for agents whose `learning` names no `judge`. It decides nothing. */
  readonly judge?: Judge;
  /** The content of strata.yaml, from a program that declares its agents itself: then no file is read, and there is no lock. */
  readonly config?: ConfigInput;
  /** The program's own tools and sources, in addition to those of `modules`. */
  readonly tools?: readonly Tool[];
  readonly sources?: readonly OwnSource[];
  /** True: do not use the shipped blueprints if the folder has no `strata.yaml`. */
  readonly mustDeclare?: boolean;
  /** The data folder: database and workspaces. Created if it is missing. Left out: `.strata` in the folder. */
  readonly data?: string;
  /** The environment variables for secrets. Left out: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Tools that a recording answers, as the parsed JSON of their schema file; every agent gets them. */
  readonly recordedTools?: unknown;
  /**
   * True: only the record is read or repaired. No module is loaded, and a missing tool, source or secret is not an error; turns that need
   * them cannot run.
   */
  readonly recordOnly?: boolean;
  /** Whose request shape is shown and dumped instead of the model's own: `provider:name`. */
  readonly wire?: ModelRef;
}

/** The same with every place known. */
export interface PlacedOptions extends AppOptions {
  readonly folder: string;
  readonly data: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What each option must be, and its purpose. */
const OPTIONS: Readonly<Record<keyof AppOptions, Wanted>> = {
  folder: { form: "text", next: "the folder with strata.yaml" },
  data: { form: "text", next: "the folder for the database and the workspaces, created if it is missing" },
  env: { form: "object", next: "the variables that secrets are read from, as process.env" },
  // A model is checked when it is opened.
  model: { form: "any", next: "a model of a provider package of the AI SDK" },
  judge: { form: "function", next: "a function that compares two replies" },
  config: { form: "object", next: "what strata.yaml would say" },
  tools: { form: "list", next: "a list of tools, each made by `defineTool`" },
  sources: { form: "list", next: "a list of sources, each made by `defineSource`" },
  mustDeclare: { form: "boolean", next: "true or false" },
  recordOnly: { form: "boolean", next: "true or false" },
  recordedTools: { form: "any", next: "the parsed JSON of a recording's tools" },
  wire: { form: "text", next: "`provider:name`" },
};

/** The options with the command line's defaults. @throws StrataError `invalid_input` for an unknown option, or a value of the wrong type */
export function placed(options: AppOptions = {}): PlacedOptions {
  checkGiven("openApp", { ...options }, OPTIONS);
  const { folder = process.cwd(), env = process.env } = options;
  return { ...options, folder, data: options.data ?? join(folder, ".strata"), env };
}

/** A value given by a program: its form, and its purpose. */
export interface Wanted {
  readonly form: "text" | "object" | "list" | "boolean" | "function" | "any";
  readonly next: string;
  readonly required?: true;
}

/**
 * Checks what a program without types, or with wrong ones, gives to a function of ours, as strictly as strata.yaml is read.
 * @throws StrataError `invalid_input` with the name, the value and what is expected
 */
export function checkGiven(
  to: string,
  given: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, Wanted>>,
): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(wanted, name)) continue;
    const message = `${to} has no option ${JSON.stringify(name)}${suggestion(name, Object.keys(wanted))}`;
    throw new StrataError("invalid_input", message, { option: name });
  }
  for (const [name, { form, next, required }] of Object.entries(wanted)) {
    const value = given[name];
    if (value === undefined ? required !== true : isOf(form, value)) continue;
    const message = `${to} wants \`${name}\`, ${next}; it is ${value === undefined ? "missing" : showValue(value)}`;
    throw new StrataError("invalid_input", message, { option: name });
  }
}

function isOf(form: Wanted["form"], value: unknown): boolean {
  switch (form) {
    case "text":
      return typeof value === "string" && value.trim() !== "";
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "list":
      return Array.isArray(value);
    case "boolean":
      return typeof value === "boolean";
    case "function":
      return typeof value === "function";
    case "any":
      return true;
    default:
      return never(form);
  }
}

/** Any value, including those that JSON cannot express. */
const showValue = (value: unknown): string =>
  typeof value === "object" || typeof value === "string" ? JSON.stringify(value).slice(0, 200) : String(value);

/** Creates the data folder if it is missing, with a `.gitignore` that excludes all of it: it holds the operator's token and conversations. */
export function beginData(data: string): void {
  if (existsSync(data)) return;
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    writeFileSync(join(data, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // Whatever is stored there first fails with an error that names the place.
  }
}

/** The database of a data folder: if it does not exist, nothing was stored yet. */
export function recordFile(data: string): string {
  return join(data, "strata.db");
}

/** Where contacts' files are in it. */
export const workspacesIn = (data: string): string => join(data, "workspace");
