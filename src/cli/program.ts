import { Command } from "commander";
import { VERSION } from "../app.ts";
import type { Context } from "./context.ts";
import { declareShared } from "./options.ts";

/** How wide help is where no terminal says. */
const WIDTH = 80;

/**
 * The command line, declared; nothing runs before it parses. Without `argv` it is the whole one, else as much of it as that line needs.
 */
export async function createProgram(context: Context, argv: readonly string[] = []): Promise<Command> {
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
      // What is wrong with a command line is told to programs by `run`, as every other error is.
      writeErr: (text) => void (context.inJson || stderr.write(text)),
      getOutHelpWidth: () => stdout.columns ?? WIDTH,
      getErrHelpWidth: () => stderr.columns ?? WIDTH,
      outputError: (text, write) => write(text.replace(/^error:/, "strata:")),
    })
    .exitOverride()
    .showHelpAfterError("(--help tells more)")
    .addHelpText("after", "\nExample:\n  $ strata chat companion");
  declareShared(strata);
  const declares = await Promise.all(needed(argv).map((load) => load()));
  for (const declare of declares) declare(strata, context);
  return strata;
}

type Declare = (program: Command, context: Context) => void;

/** What declares each command, in the order of the help: begin, talk, look, keep. It is loaded with its command and not before. */
const COMMANDS: Readonly<Record<string, () => Promise<Declare>>> = {
  init: async () => (await import("./init.ts")).declareInit,
  start: async () => (await import("./start.ts")).declareStart,
  chat: async () => (await import("./chat.ts")).declareChat,
  compose: async () => (await import("./compose.ts")).declareCompose,
  explain: async () => (await import("./explain.ts")).declareExplain,
  thread: async () => (await import("./thread.ts")).declareThread,
  turn: async () => (await import("./turn.ts")).declareTurn,
  memory: async () => (await import("./memory.ts")).declareMemory,
  contact: async () => (await import("./contact.ts")).declareContact,
  approval: async () => (await import("./approval.ts")).declareApproval,
  agent: async () => (await import("./agent.ts")).declareAgent,
  layer: async () => (await import("./layer.ts")).declareLayer,
  soul: async () => (await import("./soul.ts")).declareSoul,
  skill: async () => (await import("./skill.ts")).declareSkill,
  conversation: async () => (await import("./sender-log.ts")).declareConversation,
  inbox: async () => (await import("./mailbox.ts")).declareInbox,
  outbox: async () => (await import("./mailbox.ts")).declareOutbox,
  life: async () => (await import("./life.ts")).declareLife,
  credits: async () => (await import("./credits.ts")).declareCredits,
  usage: async () => (await import("./usage.ts")).declareUsage,
  models: async () => (await import("./models.ts")).declareModels,
  replay: async () => (await import("./replay.ts")).declareReplay,
  cache: async () => (await import("./cache.ts")).declareCache,
  doctor: async () => (await import("./doctor.ts")).declareDoctor,
  lint: async () => (await import("./lint.ts")).declareLint,
  guard: async () => (await import("./guard.ts")).declareGuard,
  export: async () => (await import("./export.ts")).declareExport,
  backup: async () => (await import("./backup.ts")).declareBackup,
  lock: async () => (await import("./lock.ts")).declareLock,
  verify: async () => (await import("./verify.ts")).declareVerify,
  anchor: async () => (await import("./anchor.ts")).declareAnchor,
  completion: async () => (await import("./completion.ts")).declareCompletion,
};

/** A line that begins with a command needs that one alone, but where it tells of the others; all that is unclear is told by the whole. */
function needed([first = ""]: readonly string[]): readonly (() => Promise<Declare>)[] {
  if (first === "--version") return [];
  const named = Object.hasOwn(COMMANDS, first) && first !== "completion" ? COMMANDS[first] : undefined;
  return named === undefined ? Object.values(COMMANDS) : [named];
}
