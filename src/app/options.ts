import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModel } from "../models/index.ts";
import { type ModelRef, type OwnSource, StrataError, type Tool } from "../protocol/index.ts";
import type { ConfigInput } from "./entry/agents.ts";

/** The folders of Strata, and a program's other options. */
export interface AppOptions {
  /** The folder with `strata.yaml`; without one there, the shipped blueprints are the agents. Left out, where the program runs. */
  readonly folder?: string;
  /**
   * A model as a provider package of the AI SDK makes it, `anthropic("claude-sonnet-5-5")`: it answers for every agent that
   * declares none.
   */
  readonly model?: LanguageModel;
  /** What strata.yaml would say, from a program that declares its agents itself: then no file is read, and there is no lock. */
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
   * True: the record alone is looked at or mended. No module is loaded, and a tool, a source or a secret that is missing is no
   * error; turns that need them cannot run.
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

const WANTED = {
  folder: { form: "string", next: "the folder with strata.yaml" },
  data: { form: "string", next: "the folder for the database and the workspaces, created if it is missing" },
  env: { form: "object", next: "the variables that secrets are read from, as process.env" },
} as const;

/** The options with the command line's defaults. @throws StrataError `invalid_input` for a value of the wrong type */
export function placed(options: AppOptions = {}): PlacedOptions {
  const given: Readonly<Record<string, unknown>> = { ...options };
  for (const [name, { form, next }] of Object.entries(WANTED)) {
    const value = given[name];
    if (value === undefined || (typeof value === form && value !== null && value !== "")) continue;
    const says = `openApp wants \`${name}\`, ${next}; it is ${JSON.stringify(value)}`;
    throw new StrataError("invalid_input", says, { option: name });
  }
  const { folder = process.cwd(), env = process.env } = options;
  return { ...options, folder, data: options.data ?? join(folder, ".strata"), env };
}

/**
 * Creates the data folder if it is missing, as one that git leaves out: it holds the operator's token and what people said.
 */
export function beginData(data: string): void {
  if (existsSync(data)) return;
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    writeFileSync(join(data, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // Whatever is stored there first fails with an error that names the place.
  }
}

/** The database of a data folder: where there is none, nothing was stored yet. */
export function recordFile(data: string): string {
  return join(data, "strata.db");
}

/** Where contacts' files are in it. */
export const workspacesIn = (data: string): string => join(data, "workspace");
