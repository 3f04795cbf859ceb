import { Command } from "commander";
import { VERSION } from "../app.ts";
import { declareAgent } from "./agent.ts";
import { declareAnchor } from "./anchor.ts";
import { declareApproval } from "./approval.ts";
import { declareBackup } from "./backup.ts";
import { declareCache } from "./cache.ts";
import { declareChat } from "./chat.ts";
import { declareCompletion } from "./completion.ts";
import { declareCompose } from "./compose.ts";
import { declareContact } from "./contact.ts";
import type { Context } from "./context.ts";
import { declareCredits } from "./credits.ts";
import { declareDoctor } from "./doctor.ts";
import { declareExplain } from "./explain.ts";
import { declareExport } from "./export.ts";
import { declareGuard } from "./guard.ts";
import { declareInit } from "./init.ts";
import { declareLayer } from "./layer.ts";
import { declareLife } from "./life.ts";
import { declareLint } from "./lint.ts";
import { declareLock } from "./lock.ts";
import { declareInbox, declareOutbox } from "./mailbox.ts";
import { declareMemory } from "./memory.ts";
import { declareModels } from "./models.ts";
import { declareShared } from "./options.ts";
import { declareReplay } from "./replay.ts";
import { declareConversation } from "./sender-log.ts";
import { declareSkill } from "./skill.ts";
import { declareSoul } from "./soul.ts";
import { declareStart } from "./start.ts";
import { declareThread } from "./thread.ts";
import { declareTurn } from "./turn.ts";
import { declareUsage } from "./usage.ts";
import { declareVerify } from "./verify.ts";

/** How wide help is where no terminal says. */
const WIDTH = 80;

/** The whole command line, declared. Nothing runs before it parses. */
export function createProgram(context: Context): Command {
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
  for (const declare of COMMANDS) declare(strata, context);
  return strata;
}

/** In the order of the help: begin, talk, look, keep. */
const COMMANDS = [
  declareInit,
  declareStart,
  declareChat,
  declareCompose,
  declareExplain,
  declareThread,
  declareTurn,
  declareMemory,
  declareContact,
  declareApproval,
  declareAgent,
  declareLayer,
  declareSoul,
  declareSkill,
  declareConversation,
  declareInbox,
  declareOutbox,
  declareLife,
  declareCredits,
  declareUsage,
  declareModels,
  declareReplay,
  declareCache,
  declareDoctor,
  declareLint,
  declareGuard,
  declareExport,
  declareBackup,
  declareLock,
  declareVerify,
  declareAnchor,
  declareCompletion,
];
