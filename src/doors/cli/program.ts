import { Command, Help } from "commander";
import { FEATURES, VERSION } from "../../app.ts";
import type { Context } from "./shell/context.ts";
import { declareShared } from "./shell/options.ts";

/** The width of help without a terminal. */
const WIDTH = 80;

/**
 * The command line, declared; nothing runs before it parses. Without `argv` it is complete; otherwise only the command that the line names
 * is loaded, and the others are known by name.
 */
export async function createProgram(context: Context, argv?: readonly string[]): Promise<Command> {
  const { stdout, stderr } = context.terminal;
  const strata = new Command("strata")
    .description(
      "The layer between agents and language models: governed, cache-stable, budgeted and explained requests.",
    )
    .version(VERSION, "--version", "print the version")
    .helpOption("--help", "print help")
    .configureHelp({ showGlobalOptions: true, formatHelp, minWidthToWrap: 30 })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      // `run` reports errors in the command line to programs, like every other error.
      writeErr: (text) => void (context.inJson || stderr.write(text)),
      getOutHelpWidth: () => stdout.columns ?? WIDTH,
      getErrHelpWidth: () => stderr.columns ?? WIDTH,
      outputError: (text, write) => write(text.replace(/^error:/, "strata:")),
    })
    .exitOverride()
    .showHelpAfterError("(--help tells more)");
  declareShared(strata);
  const declares = Object.entries(allCommands()).map(([name, load]) =>
    isNeeded(name, argv) ? load() : nameOnly(name),
  );
  for (const declare of await Promise.all(declares)) declare(strata, context);
  return strata;
}

/** A command's own help is commander's; that of the whole program fits one screen. */
function formatHelp(command: Command, helper: Help): string {
  return command.parent === null ? overview(command, helper) : Help.prototype.formatHelp.call(helper, command, helper);
}

function overview(strata: Command, helper: Help): string {
  const options = helper.visibleOptions(strata).map((one) => [helper.optionTerm(one), one.description] as const);
  const lines = (rows: readonly (readonly [string, string])[], width: number): readonly string[] =>
    rows.map(([term, sentence]) => helper.formatItem(term, width, sentence, helper));
  return [
    "Usage: strata [options] COMMAND",
    "",
    helper.boxWrap(strata.description(), helper.helpWidth ?? WIDTH),
    "",
    "The first week:",
    ...lines(FIRST, 8),
    "",
    "More commands, each with verbs or options of its own:",
    ...lines(groups(), 8),
    "",
    "Options:",
    ...lines(options, 14),
    "",
    "`strata COMMAND --help` describes each.",
    "",
    "Example:",
    "  $ strata chat companion",
    "",
  ].join("\n");
}

/** Everyday commands, in the order in which a user meets them. */
const FIRST = [
  ["init", "copy a blueprint into this folder: strata.yaml, its layers and its lock"],
  ["start", "serve the REST API, and in a terminal open a chat"],
  ["chat", "talk to an agent"],
  ["compose", "show the request that a message would cause; nothing is sent"],
  ["explain", "show what was sent, piece by piece, and why"],
  ["agent", "list the agents, and show one in detail"],
  ["memory", "list, search, save and forget memories; import and export"],
  ["thread", "list the conversations, read one, fork it, cancel its turn"],
  ["usage", "add up tokens and dollars"],
  ["doctor", "check what works here, what is missing, and how to get it"],
] as const;

const MORE = [
  ["people", "message, ask, contact, log, setting, inbox, outbox, approval"],
  ["texts", "layer, soul, skill, file, lock, guard"],
  ["living", "life, credits, schedule, subagent, peer"],
  ["record", "turn, verify, anchor, export, backup, store, replay"],
  ["project", "models, lint, cache, completion"],
] as const;

const NOUNS = FEATURES.flatMap(({ nouns }) => Object.keys(nouns));

/** The rest, in groups; a feature's command that no group names is among the others. */
function groups(): readonly (readonly [string, string])[] {
  const grouped = new Set<string>([...FIRST.map(([name]) => name), ...MORE.flatMap(([, names]) => names.split(", "))]);
  const others = NOUNS.filter((noun) => !grouped.has(noun));
  return others.length === 0 ? MORE : [...MORE, ["others", others.join(", ")]];
}

type Declare = (program: Command, context: Context) => void;

/** What declares each command, in the order of the help: begin, talk, look, keep. It is loaded with its command and not before. */
const COMMANDS: Readonly<Record<string, () => Promise<Declare>>> = {
  init: async () => (await import("./project/init.ts")).declareInit,
  start: async () => (await import("./start/start.ts")).declareStart,
  chat: async () => (await import("./chat/chat.ts")).declareChat,
  ask: nounOf("ask"),
  message: nounOf("message"),
  compose: async () => (await import("./turn/compose.ts")).declareCompose,
  explain: nounOf("explain"),
  thread: nounOf("thread"),
  setting: nounOf("setting"),
  turn: nounOf("turn"),
  memory: nounOf("memory"),
  contact: nounOf("contact"),
  approval: nounOf("approval"),
  agent: nounOf("agent"),
  layer: nounOf("layer"),
  soul: nounOf("soul"),
  skill: nounOf("skill"),
  file: nounOf("file"),
  log: nounOf("log"),
  inbox: nounOf("inbox"),
  outbox: nounOf("outbox"),
  life: nounOf("life"),
  schedule: nounOf("schedule"),
  credits: nounOf("credits"),
  usage: nounOf("usage"),
  models: async () => (await import("./project/models.ts")).declareModels,
  replay: async () => (await import("./turn/replay.ts")).declareReplay,
  cache: async () => (await import("./cache/cache.ts")).declareCache,
  doctor: async () => (await import("./project/doctor.ts")).declareDoctor,
  lint: async () => (await import("./project/lint.ts")).declareLint,
  guard: async () => (await import("./layer/guard.ts")).declareGuard,
  export: nounOf("export"),
  backup: async () => (await import("./record/store.ts")).declareBackup,
  store: async () => (await import("./record/store.ts")).declareStore,
  lock: async () => (await import("./layer/lock.ts")).declareLock,
  verify: async () => (await import("./record/verify.ts")).declareVerify,
  anchor: async () => (await import("./record/verify.ts")).declareAnchor,
  completion: async () => (await import("./completion.ts")).declareCompletion,
};

/** Commands of features without a place of their own come last. */
function allCommands(): Readonly<Record<string, () => Promise<Declare>>> {
  const others = NOUNS.filter((noun) => !Object.hasOwn(COMMANDS, noun));
  return { ...COMMANDS, ...Object.fromEntries(others.map((noun) => [noun, nounOf(noun)])) };
}

/** A noun that a feature declares. */
function nounOf(noun: string): () => Promise<Declare> {
  return async () => {
    const { declareNoun } = await import("./shell/operations.ts");
    const listed = FEATURES.find(({ nouns }) => Object.hasOwn(nouns, noun));
    const { operations = [] } = (await listed?.load()) ?? {};
    const sentence = listed?.nouns[noun] ?? "";
    const own = operations.filter(
      ({ name, command }) => name === noun || name.startsWith(`${noun}.`) || command?.alias === noun,
    );
    return (program, context) => declareNoun(program, context, { name: noun, description: sentence, operations: own });
  };
}

/** A line needs the command that it begins with. */
function isNeeded(name: string, argv: readonly string[] | undefined): boolean {
  if (argv === undefined || argv[0] === "completion") return true;
  return argv.find((word) => !word.startsWith("-")) === name || argv.includes(name);
}

/** A command that is not loaded; its name is needed for suggestions. */
const nameOnly =
  (name: string): Declare =>
  (program) =>
    void program.command(name);
