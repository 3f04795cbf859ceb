import { CommanderError } from "commander";
import { asStrataError } from "../protocol/index.ts";
import { createContext } from "./context.ts";
import { createProgram } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Misuse of the command line, where the error table has no say. */
const USAGE = 2;

/** Runs one command line (without `node` and the script) and gives the exit code. Never throws. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const context = createContext(terminal, argv.includes("--json"));
  try {
    await createProgram(context).parseAsync([...argv], { from: "user" });
  } catch (thrown) {
    // Help, version and misuse: commander has said all there is to say.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    context.fail(asStrataError(thrown));
  }
  return context.exitCode();
}
