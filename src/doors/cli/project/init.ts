import { relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { agentName } from "../../../protocol/index.ts";
import { asCalledHere, type Context } from "../shell/context.ts";
import { isInteractive } from "../shell/terminal.ts";
import type { Made } from "./blueprint-copy.ts";

interface InitOptions {
  readonly name?: string;
  readonly from?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** The default blueprint. */
const USUAL = "companion";

/** `strata init [BLUEPRINT]`: creates a folder from a shipped blueprint or from another folder. */
export function declareInit(program: Command, context: Context): void {
  program
    .command("init")
    .description(
      "create a folder with an agent of your own from a blueprint, or add the blueprint's agent to the strata.yaml of a folder; nothing is overwritten",
    )
    .argument(
      "[blueprint]",
      `a shipped blueprint, or a folder with a strata.yaml; in a terminal, you are asked for it (default: ${USUAL})`,
    )
    .option("--name <agent>", "the agent's name (default: as in the blueprint)")
    .option(
      "--from <file>",
      "translate a config.yaml of DevClaw into the blueprint workbench, or an organism.yaml into organism; says what becomes of each key",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata init companion --folder my-agent --name clerk\n  $ strata init ../our-blueprint\n  $ strata init workbench --from devclaw.yaml\n  $ strata init organism --from organism.yaml",
    )
    .action(async (given: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<InitOptions>();
      const name = options.name === undefined ? undefined : agentName(options.name);
      const folder = resolve(context.terminal.cwd, options.folder ?? ".");
      const { copyBlueprint, TRANSLATED } = await import("./blueprint-copy.ts");
      const { from } = options;
      const blueprint = given ?? (from === undefined ? await chooseBlueprint(context) : TRANSLATED);
      const made = copyBlueprint(context.terminal, folder, { blueprint, name, from });
      if (options.json === true) return context.json({ blueprint, folder, ...made });
      context.say(...reportInit(folder, context.terminal, made));
    });
}

/** Asks, if there is a person at the terminal. An empty answer means the default. */
async function chooseBlueprint({ terminal }: Context): Promise<string> {
  if (!isInteractive(terminal)) return USUAL;
  const { stdin, stdout, signal } = terminal;
  const { blueprintNames } = await import("../../../app/entry/projects.ts");
  const question = createInterface({ input: stdin, output: stdout, terminal: true });
  try {
    const names = blueprintNames().join(", ");
    return (await question.question(`Which blueprint: ${names}? (${USUAL}) `, { signal })).trim() || USUAL;
  } finally {
    question.close();
  }
}

function reportInit(folder: string, { cwd, env }: Context["terminal"], made: Made): readonly string[] {
  const { from, files, leftOut, agents, first: agent = USUAL, payments, variables, keys = [] } = made;
  const where = relative(cwd, folder);
  const flag = where === "" ? "" : ` --folder ${/^[\w./-]+$/.test(where) ? where : JSON.stringify(where)}`;
  const payment = payments[agent];
  const lives = payment !== undefined;
  const unset = variables.filter((name) => !env[name]);
  const change = `You may change the texts${from === undefined ? " in layers/" : ""}; \`strata lock\` accepts a change.`;
  return [
    `${folder} holds ${agents.length > 1 ? `${agents.length} agents` : "an agent"} now${from === undefined ? "" : `, copied from ${from}`}:`,
    ...files.map((file) => `  ${file}`),
    ...(leftOut.length > 0 ? [`Not copied: ${leftOut.join(", ")}`] : []),
    ...translation(keys),
    ...(unset.length > 0 ? ["", `Before it starts, put ${unset.join(", ")} into .env (see .env.example).`] : []),
    "",
    `See what it would send, ${lives ? "give it credits, " : ""}then talk to it:`,
    `  strata compose ${agent}${flag} --message "Hello"`,
    ...(lives ? [`  strata credits add ${payment} ${agent}${flag}`] : []),
    `  strata chat ${agent}${flag}`,
    "",
    ...(unset.length > 0
      ? [change]
      : [
          `${change} A key of your own`,
          "goes into .env (see .env.example); without one, the built-in rehearsal answers.",
        ]),
  ].map((line) => asCalledHere(line, env));
}

/** What happened to each key: its new place, or the next step. */
function translation(keys: NonNullable<Made["keys"]>): readonly string[] {
  const lines = (title: string, shown: readonly (readonly [string, string])[]) => {
    const width = Math.max(...shown.map(([key]) => key.length));
    return shown.length === 0 ? [] : ["", title, ...shown.map(([key, text]) => `  ${key.padEnd(width)}  ${text}`)];
  };
  return [
    ...lines(
      "Translated:",
      keys.flatMap((one) => ("to" in one ? [[one.key, one.to] as const] : [])),
    ),
    ...lines(
      "Not translated:",
      keys.flatMap((one) => ("next" in one ? [[`${one.key} (line ${one.line})`, one.next] as const] : [])),
    ),
  ];
}
