import { Readable } from "node:stream";
import { printable, type Style, styleOf } from "../../../print/index.ts";
import type { StrataError } from "../../../protocol/index.ts";
import type { Terminal } from "./terminal.ts";

/** What every command gets: its process, and functions for output. Results go to stdout, everything else to stderr. */
export interface Context {
  readonly terminal: Terminal;
  /** Whether a program reads: errors are JSON then. */
  readonly inJson: boolean;
  /** The colours of stdout. */
  readonly style: Style;
  /** Lines of a result. */
  readonly say: (...lines: readonly string[]) => void;
  /** Unchanged bytes: only a terminal gets a line end after them. */
  readonly exact: (text: string) => void;
  /** One value on one line, for programs. */
  readonly json: (value: unknown) => void;
  /** Progress and remarks, dim. */
  readonly note: (...lines: readonly string[]) => void;
  /** Prints an error. */
  readonly complain: (error: StrataError) => void;
  /** The same, and the program will exit with the error's code; the first one decides. */
  readonly fail: (error: StrataError) => void;
  /** Prints when possible: at once without a chat, otherwise never into a reply or after a prompt. */
  readonly whenFree: (write: () => void) => void;
  /** Set by a chat while it runs; `undefined` when it has ended. */
  readonly letWrite: (how: ((write: () => void) => void) | undefined) => void;
  /** From now on, advised commands are shown with a slash before them: so they are typed in a chat. */
  readonly adviseInChat: () => void;
  /** Runs another command line over the same data, without a terminal's input; returns its exit code. */
  readonly runLine: (argv: readonly string[], signal: AbortSignal) => Promise<number>;
  readonly exitCode: () => number;
  /** From now on, errors are printed without secrets: an unhandled error may quote one. */
  readonly hideWith: (hide: (text: string) => string) => void;
}

/** Runs a command line. */
type RunLine = (argv: readonly string[], terminal: Terminal) => Promise<number>;

/** @param inJson errors are for programs too: one JSON object a line */
export function createContext(terminal: Terminal, inJson = false, run: RunLine = async () => 0): Context {
  const { stdout, stderr, env } = terminal;
  const style = styleOf(stdout, terminal);
  const aside = styleOf(stderr, terminal);
  let slash = "";
  const called = (text: string): string => asCalledHere(text, env, slash);
  let exit = 0;
  let hide = (text: string): string => text;
  const complain = (error: StrataError): void => {
    if (inJson) return void stderr.write(`${hide(JSON.stringify({ error: forPrograms(error) }))}\n`);
    stderr.write(`${aside.red("strata:")} ${hide(called(printableError(error)))}\n`);
    if (env["STRATA_DEBUG"] === "1") stderr.write(`${aside.dim(hide(trace(error)))}\n`);
  };
  let how = (write: () => void): void => write();
  return {
    terminal,
    inJson,
    style,
    hideWith: (by) => {
      hide = by;
    },
    // Output to a pipe may be a message's text, which must not be changed.
    say: (...lines) =>
      void stdout.write(lines.map((line) => `${stdout.isTTY === true ? called(line) : line}\n`).join("")),
    exact: (text) => void stdout.write(stdout.isTTY === true ? `${text}\n` : text),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note: (...lines) => void stderr.write(lines.map((line) => `${aside.dim(called(line))}\n`).join("")),
    complain,
    fail: (error) => {
      complain(error);
      exit ||= error.traits.exit;
    },
    whenFree: (write) => how(write),
    letWrite: (given) => {
      how = given ?? ((write) => write());
    },
    adviseInChat: () => {
      slash = "/";
    },
    runLine: (argv, signal) => run(argv, { ...terminal, stdin: Readable.from([]), signal }),
    exitCode: () => exit,
  };
}

/** The same functions for background work of a chat. */
export const behindChat = (context: Context): Context => ({
  ...context,
  note: (...lines) => context.whenFree(() => context.note(...lines)),
  complain: (error) => context.whenFree(() => context.complain(error)),
});

const forPrograms = ({ code, message, details }: StrataError) => ({ code, message, details });

/**
 * If the source runs with npm, or the package with npx or from a script, `strata` is not on the path: suggested commands, in backticks or
 * indented on a separate line, are shown in a form that works there. In a chat, that is a command of the chat.
 */
export function asCalledHere(text: string, env: Terminal["env"], slash = ""): string {
  const called = slash === "" ? calledBy(env) : `${slash}strata`;
  return called === "strata" ? text : text.replace(/(`|^ {2})strata (?=\S)/gm, `$1${called} `);
}

function calledBy({ npm_lifecycle_event: script, npm_package_name: owner }: Terminal["env"]): string {
  if (script === undefined) return "strata";
  return owner === "strata" && script !== "npx" ? "npm run -s strata --" : "npx strata";
}

function printableError({ code, message }: StrataError): string {
  if (code !== "unexpected") return printable(message);
  return `${printable(message)} (an unexpected error; STRATA_DEBUG=1 shows where it happened)`;
}

function trace(error: Error): string {
  const { cause } = error;
  return `${error.stack ?? error.message}${cause instanceof Error ? `\ncaused by ${trace(cause)}` : ""}`;
}
