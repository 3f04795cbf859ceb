import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { createProgram } from "./program.ts";
import { createContext } from "./shell/context.ts";

const HEAD = `# The commands

This page is what \`strata COMMAND --help\` prints; \`npm run fix\` writes it anew. In a checkout, \`strata\` is \`npm run -s strata --\`.

A noun with verbs (\`memory list\`), or a single word for what is done every day (\`chat\`). Results go to stdout, all else to
stderr; \`--json\` prints one JSON value a line, for programs; colours appear in a terminal only, and not where \`NO_COLOR\` is
set. A command that fails says so in a sentence with the next step, and leaves with the code of the error; misuse is 2.`;

/** How wide the help is on the page. */
const WIDTH = 100;

/** The page of all commands, from the program's own help. The same program gives the same bytes on every machine. */
export async function commandsPage(): Promise<string> {
  const program = await createProgram(createContext(nowhere()));
  return `${[HEAD, ...sections(program)].join("\n\n")}\n`;
}

/** A command's own help, then those of its subcommands. Options of every command are listed once, with the program. */
function sections(command: Command): readonly string[] {
  let help = "";
  command.configureHelp({ ...command.configureHelp(), showGlobalOptions: false }).configureOutput({
    writeOut: (text) => {
      help += text;
    },
    getOutHelpWidth: () => WIDTH,
  });
  command.outputHelp();
  const depth = pathOf(command).length;
  const heading = `${"#".repeat(Math.min(depth + 1, 3))} ${pathOf(command).join(" ")}`;
  const below = command.commands.flatMap(sections);
  return [heading, `\`\`\`text\n${help.trimEnd()}\n\`\`\``, ...below];
}

const pathOf = (command: Command): readonly string[] =>
  command.parent === null ? [command.name()] : [...pathOf(command.parent), command.name()];

/** A dummy terminal: nothing runs, only help is printed. */
function nowhere() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return { stdin, stdout, stderr, env: {}, cwd: "/", signal: new AbortController().signal };
}
