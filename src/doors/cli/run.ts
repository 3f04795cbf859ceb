import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { type Command, CommanderError } from "commander";
import { asStrataError, StrataError } from "../../protocol/index.ts";
import { createProgram } from "./program.ts";
import { behindChat, createContext } from "./shell/context.ts";
import type { Terminal } from "./shell/terminal.ts";

/** The exit code for wrong usage, which is not in the error table. */
const USAGE = 2;

/** What serves others continues after a stray error; every other command ends with it. */
const GOES_ON = ["start", "chat"];

/** Reports stray errors: thrown by a timer, or in a promise that is never awaited. Only a process knows of them. */
export type Strays = (hear: (thrown: unknown) => void) => void;

/** Runs one command line (without `node` and the script) and returns the exit code. Never throws. */
export async function run(argv: readonly string[], terminal: Terminal, strays: Strays = () => {}): Promise<number> {
  let places: readonly string[] = [];
  const context = createContext(terminal, argv.includes("--json"), async (line, inside) => {
    if (GOES_ON.includes(line[0] ?? ""))
      throw new StrataError("invalid_input", `${line[0]} does not run inside a chat`);
    return run([...line, ...places], inside);
  });
  const ends = Promise.withResolvers<never>();
  let goesOn = false;
  strays((thrown) =>
    goesOn ? behindChat(context).complain(strayError(thrown, true)) : ends.reject(strayError(thrown, false)),
  );
  try {
    const program = await createProgram(context, argv);
    program.hook("preAction", (_, command) => {
      places = placesGiven(command);
      goesOn = command.parent === program && GOES_ON.includes(command.name());
    });
    await Promise.race([ends.promise, program.parseAsync([...argv], { from: "user" })]);
  } catch (thrown) {
    // Help, version and misuse: commander has said all there is to say to a person.
    if (!(thrown instanceof CommanderError)) context.fail(asStrataError(thrown));
    else if (thrown.exitCode === 0) return 0;
    else if (context.inJson) context.fail(misuse(thrown));
    else return USAGE;
  }
  return context.exitCode();
}

/** The options that say where the project and its data are. */
function placesGiven(command: Command): readonly string[] {
  const { folder, data } = command.optsWithGlobals<{ readonly folder?: string; readonly data?: string }>();
  return [...(folder === undefined ? [] : ["--folder", folder]), ...(data === undefined ? [] : ["--data", data])];
}

/** The error for wrong usage, for programs. */
function misuse({ code, message }: CommanderError): StrataError {
  const sentence =
    code === "commander.help" ? "no command was named" : message.replace(/^error: /, "").replace(/\s+/g, " ");
  return new StrataError("invalid_input", `${sentence}; --help tells more`, { usage: code });
}

/** Usually it comes from an operator's module, and then its file is named; otherwise the error may be ours. */
function strayError(thrown: unknown, goesOn: boolean): StrataError {
  const place = locateCaller(thrown);
  const what = thrown instanceof Error ? thrown.message || thrown.name : `it threw ${inspect(thrown, { depth: 0 })}`;
  const where = place === undefined ? ", and its stack names no file outside Strata" : ` in ${place}`;
  const next = place === undefined ? "" : "; await what may fail there, or catch it";
  const rest = goesOn ? "; everything else continues" : "";
  return new StrataError("unexpected", `an unhandled error${where}: ${what}${next}${rest}`, {}, thrown);
}

/** Where Strata's own files are, built or not. */
const OURS = fileURLToPath(new URL("../..", import.meta.url));

/** `file:line` of the innermost call that is neither Node's, nor a package's, nor ours. */
function locateCaller(thrown: unknown): string | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  for (const call of stack.split("\n")) {
    // A module's address ends in the time of its file, as `?at=…`.
    const [, address = "", line = ""] =
      /^\s+at (?!.*node:).*?((?:file:\/)?\/.*?)(?:\?[^:]*)?:(\d+):\d+\)?$/.exec(call) ?? [];
    const file = address.startsWith("file:") ? fileURLToPath(address) : address;
    if (file !== "" && !file.startsWith(OURS) && !file.includes("/node_modules/")) return `${file}:${line}`;
  }
  return undefined;
}
