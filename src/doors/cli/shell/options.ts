import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { StrataError } from "../../../protocol/index.ts";
import type { Terminal } from "./terminal.ts";

/** The options of every command. */
export interface Shared {
  /** Absolute. */
  readonly data: string;
  /** Absolute. */
  readonly folder: string;
  /** Whether the folder was named: if so, no blueprint replaces a missing strata.yaml. */
  readonly named: boolean;
  readonly json: boolean;
}

interface OptionValues {
  readonly data?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** Declares the options that every command has; they may come before or after the command's name. */
export function declareShared(program: Command): void {
  program
    .option(
      "--data <dir>",
      "the data folder: database and workspaces (default: $STRATA_DATA, otherwise .strata in the folder with strata.yaml)",
    )
    .option(
      "--folder <dir>",
      "the folder with strata.yaml (default: the current one, or the blueprints if it has none)",
    )
    .option("--json", "print JSON for programs");
}

/** @throws StrataError `file_not_found` for a folder that does not exist, or data that is not a folder */
export function readShared(command: Command, terminal: Pick<Terminal, "env" | "cwd">): Shared {
  const shared = readPlaces(command, terminal);
  const { data } = shared;
  if (statSync(data, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new StrataError("file_not_found", `${data} is a file, not a folder; name the data folder with --data`, {
      data,
    });
  return shared;
}

/** The same for who looks at the data folder for itself. @throws StrataError `file_not_found` */
export function readPlaces(command: Command, { env, cwd }: Pick<Terminal, "env" | "cwd">): Shared {
  const given = command.optsWithGlobals<OptionValues>();
  const folder = resolve(cwd, given.folder ?? ".");
  // Without this, a mistyped folder would silently serve the blueprints.
  if (!existsSync(folder))
    throw new StrataError("file_not_found", `the folder ${folder} does not exist; check --folder`, { folder });
  const data = resolve(cwd, given.data ?? (env["STRATA_DATA"] || join(folder, ".strata")));
  return { data, folder, named: given.folder !== undefined, json: given.json ?? false };
}

/** Why a `.env` in the current folder is not read; undefined if there is none, or if it is read. */
export function unreadEnvFile({ folder }: Pick<Shared, "folder">, { cwd }: Pick<Terminal, "cwd">): string | undefined {
  const file = join(cwd, ".env");
  if (resolve(cwd) === folder || !existsSync(file)) return undefined;
  return `${file} is not read, because the project is in ${folder}; put it there, or export what it sets`;
}

/** Reads a whole number of a range, or says which. */
export function wholeNumber(from: number, to = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    const range = to === Number.MAX_SAFE_INTEGER ? `${from} or more` : `from ${from} to ${to}`;
    throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
  };
}

/** Reads seconds, also parts of one, as milliseconds. */
export function seconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Number.NaN;
  if (value <= 31_536_000_000) return Math.round(value);
  throw new InvalidArgumentError("It must be a number of seconds, 0 or more.");
}
