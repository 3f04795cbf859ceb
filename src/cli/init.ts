import { relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { blueprintNames, projectLock } from "../app.ts";
import { type AgentName, agentName } from "../protocol/index.ts";
import { blueprintFiles, ignoreLines, writeNew } from "./blueprint-copy.ts";
import type { Context } from "./context.ts";
import { isInteractive } from "./terminal.ts";

interface Options {
  readonly name?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** What is copied where nothing is said. */
const USUAL = "companion";

/** `strata init [BLUEPRINT]`: a folder of one's own, made from a shipped blueprint. */
export function declareInit(program: Command, context: Context): void {
  program
    .command("init")
    .description("make a folder with an agent of your own from a shipped blueprint; nothing is overwritten")
    .argument("[blueprint]", `which blueprint; in a terminal it is asked for (default: ${USUAL})`)
    .option("--name <agent>", "what the agent shall be called (default: as in the blueprint)")
    .addHelpText("after", "\nExample:\n  $ strata init companion --folder my-agent --name clerk")
    .action(async (given: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const name = options.name === undefined ? undefined : agentName(options.name);
      const folder = resolve(context.terminal.cwd, options.folder ?? ".");
      const blueprint = given ?? (await chooseBlueprint(context));
      const made = make(context, folder, { blueprint, name });
      if (options.json === true) return context.json({ blueprint, folder, ...made });
      context.say(...report(folder, context.terminal.cwd, made));
    });
}

/** Asks, where somebody is there to answer. An empty answer takes the usual one. */
async function chooseBlueprint({ terminal }: Context): Promise<string> {
  if (!isInteractive(terminal)) return USUAL;
  const { stdin, stdout, signal } = terminal;
  const question = createInterface({ input: stdin, output: stdout, terminal: true });
  try {
    const names = blueprintNames().join(", ");
    return (await question.question(`Which blueprint: ${names}? (${USUAL}) `, { signal })).trim() || USUAL;
  } finally {
    question.close();
  }
}

interface Made {
  readonly files: readonly string[];
  readonly agents: readonly string[];
}

/** Copies, and proves that what was made can start: its lock is checked as the start will check it. */
function make(
  { terminal: { env } }: Context,
  folder: string,
  wanted: { readonly blueprint: string; readonly name: AgentName | undefined },
): Made {
  const written = writeNew(folder, blueprintFiles(wanted.blueprint, wanted.name));
  const lock = projectLock({ folder, env });
  // The lock names the agents; what it locks is the blueprint's, word for word.
  if (wanted.name !== undefined) lock.write();
  lock.check();
  return { files: [...written, ...ignoreLines(folder)], agents: [...lock.layers.keys()] };
}

function report(folder: string, cwd: string, { files, agents }: Made): readonly string[] {
  const where = relative(cwd, folder);
  const flag = where === "" ? "" : ` --folder ${/^[\w./-]+$/.test(where) ? where : JSON.stringify(where)}`;
  const [agent = USUAL] = agents;
  return [
    `${folder} holds an agent now:`,
    ...files.map((file) => `  ${file}`),
    "",
    "See what it would send, then talk to it:",
    `  strata compose ${agent}${flag} --message "Hello"`,
    `  strata chat ${agent}${flag}`,
    "",
    "The texts in layers/ are yours to change; `strata lock` accepts a change. A key of your own",
    "goes into .env (see .env.example); without one, the built-in rehearsal answers.",
  ];
}
