import { Command, CommanderError } from "commander";
import { VERSION } from "../app.ts";
import { asStrataError } from "../protocol/index.ts";
import { declareAnchor } from "./anchor.ts";
import { declareChat } from "./chat.ts";
import { declareCompose } from "./compose.ts";
import { type Context, createContext } from "./context.ts";
import { declareExplain } from "./explain.ts";
import { declareLock } from "./lock.ts";
import { declareShared } from "./options.ts";
import { declareReplay } from "./replay.ts";
import { declareStart } from "./start.ts";
import type { Terminal } from "./terminal.ts";
import { declareTurn } from "./turn.ts";
import { declareVerify } from "./verify.ts";

/** Misuse of the command line, where the error table has no say. */
const USAGE = 2;

/** Runs one command line (without `node` and the script) and gives the exit code. Never throws. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const context = createContext(terminal);
  try {
    await program(context).parseAsync([...argv], { from: "user" });
  } catch (thrown) {
    // Help, version and misuse: commander has said all there is to say.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    context.fail(asStrataError(thrown));
  }
  return context.exitCode();
}

function program(context: Context): Command {
  const { stdout, stderr } = context.terminal;
  const strata = new Command("strata")
    .description(
      "The layer between agents and language models: governed, cache-stable, budgeted and explained requests.",
    )
    .version(VERSION, "--version", "print the version")
    .helpOption("--help", "print help")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, "strata:")),
    })
    .exitOverride()
    .showHelpAfterError("(--help tells more)")
    .addHelpText("after", "\nExample:\n  $ strata chat companion");
  declareShared(strata);
  for (const declare of COMMANDS) declare(strata, context);
  return strata;
}

/** In the order of the help: talk, look, keep. */
const COMMANDS = [
  declareStart,
  declareChat,
  declareCompose,
  declareExplain,
  declareTurn,
  declareReplay,
  declareLock,
  declareVerify,
  declareAnchor,
];
