import { Command } from "commander";
import { VERSION } from "../app.ts";
import type { Context } from "./shell/context.ts";
import { declareShared } from "./shell/options.ts";

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
  init: async () => (await import("./project/init.ts")).declareInit,
  start: async () => (await import("./start/start.ts")).declareStart,
  chat: async () => (await import("./chat/chat.ts")).declareChat,
  compose: async () => (await import("./turn/compose.ts")).declareCompose,
  explain: async () => (await import("./turn/explain.ts")).declareExplain,
  thread: async () => (await import("./turn/thread.ts")).declareThread,
  turn: async () => (await import("./turn/turn.ts")).declareTurn,
  memory: async () => (await import("./memory/memory.ts")).declareMemory,
  contact: async () => (await import("./agent/contact.ts")).declareContact,
  approval: async () => (await import("./turn/approval.ts")).declareApproval,
  agent: async () => (await import("./agent/agent.ts")).declareAgent,
  layer: async () => (await import("./layer/layer.ts")).declareLayer,
  soul: async () => (await import("./layer/soul.ts")).declareSoul,
  skill: async () => (await import("./layer/skill.ts")).declareSkill,
  conversation: async () => (await import("./agent/sender-log.ts")).declareConversation,
  inbox: async () => (await import("./agent/mailbox.ts")).declareInbox,
  outbox: async () => (await import("./agent/mailbox.ts")).declareOutbox,
  life: async () => (await import("./agent/life.ts")).declareLife,
  credits: async () => (await import("./agent/credits.ts")).declareCredits,
  usage: async () => (await import("./turn/usage.ts")).declareUsage,
  models: async () => (await import("./project/models.ts")).declareModels,
  replay: async () => (await import("./turn/replay.ts")).declareReplay,
  cache: async () => (await import("./cache/cache.ts")).declareCache,
  doctor: async () => (await import("./project/doctor.ts")).declareDoctor,
  lint: async () => (await import("./project/lint.ts")).declareLint,
  guard: async () => (await import("./layer/guard.ts")).declareGuard,
  export: async () => (await import("./record/export.ts")).declareExport,
  backup: async () => (await import("./record/backup.ts")).declareBackup,
  lock: async () => (await import("./layer/lock.ts")).declareLock,
  verify: async () => (await import("./record/verify.ts")).declareVerify,
  anchor: async () => (await import("./record/anchor.ts")).declareAnchor,
  completion: async () => (await import("./completion.ts")).declareCompletion,
};

/** A line that begins with a command needs that one alone, but where it tells of the others; all that is unclear is told by the whole. */
function needed([first = ""]: readonly string[]): readonly (() => Promise<Declare>)[] {
  if (first === "--version") return [];
  const named = Object.hasOwn(COMMANDS, first) && first !== "completion" ? COMMANDS[first] : undefined;
  return named === undefined ? Object.values(COMMANDS) : [named];
}
