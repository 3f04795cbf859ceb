import { Argument, type Command, Option } from "commander";
import { never } from "../../protocol/index.ts";
import { completionScript, SHELLS, type Shell, type Words } from "./completion-script.ts";
import type { Context } from "./shell/context.ts";

/** `strata completion SHELL`: a script that lets a shell complete commands and options. */
export function declareCompletion(program: Command, context: Context): void {
  program
    .command("completion")
    .description("print a script that lets a shell complete commands and options")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", `\nExamples:\n${SHELLS.map((shell) => `  $ ${installing(shell)}`).join("\n")}`)
    .action((shell: Shell) => context.say(completionScript(shell, wordsOf(program))));
}

function installing(shell: Shell): string {
  switch (shell) {
    case "bash":
      return "strata completion bash >> ~/.bashrc";
    case "zsh":
      return "strata completion zsh >> ~/.zshrc";
    case "fish":
      return "strata completion fish > ~/.config/fish/completions/strata.fish";
    default:
      return never(shell);
  }
}

/** What may follow each command: its own commands and options, and the options that every command has. */
function wordsOf(program: Command): readonly Words[] {
  const shared = optionsOf(program);
  const below = (command: Command, path: string): readonly Words[] => [
    {
      path,
      verbs: [
        ...command.commands.map((one) => ({ word: one.name(), says: one.summary() || one.description() })),
        ...command.registeredArguments.flatMap(({ argChoices = [], description: says }) =>
          argChoices.map((word) => ({ word, says })),
        ),
      ],
      options:
        command === program ? shared : [...optionsOf(command), ...shared.filter(({ word }) => word !== "--version")],
    },
    ...command.commands.flatMap((one) => below(one, `${path} ${one.name()}`.trim())),
  ];
  return below(program, "");
}

const HELP = new Option("--help", "print help");

const optionsOf = ({ options, parent }: Command) =>
  [...options, ...(parent === null ? [HELP] : [])].map((option) => ({
    word: option.long ?? "",
    says: option.description,
    takesValue: option.required,
  }));
