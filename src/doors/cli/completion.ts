import { Argument, type Command, Option } from "commander";
import { never } from "../../protocol/index.ts";
import type { Context } from "./shell/context.ts";

/** `strata completion SHELL`: a script that lets a shell complete commands and options. */
export function declareCompletion(program: Command, context: Context): void {
  program
    .command("completion")
    .description("print a script that lets a shell complete commands and options")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", `\nExamples:\n${SHELLS.map((shell) => `  $ ${installing(shell)}`).join("\n")}`)
    .action((shell: Shell) => context.say(completionScript(shell, collectWords(program))));
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
function collectWords(program: Command): readonly Words[] {
  const shared = optionsOf(program);
  const below = (command: Command, path: string): readonly Words[] => [
    {
      path,
      verbs: [
        ...command.commands.map((one) => ({ word: one.name(), description: one.summary() || one.description() })),
        ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
          argChoices.map((word) => ({ word, description })),
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
    description: option.description,
    takesValue: option.required,
  }));

/** The shells that can be taught. */
const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** A word to complete, and its description. */
interface Word {
  readonly word: string;
  readonly description: string;
  /** An option that a value follows. */
  readonly takesValue?: boolean;
}

/** What may follow a command. `path` is the command's words, empty for the program itself. */
interface Words {
  readonly path: string;
  readonly verbs: readonly Word[];
  readonly options: readonly Word[];
}

/** The script for a shell. Pure; it calls no program during typing. */
function completionScript(shell: Shell, all: readonly Words[]): string {
  switch (shell) {
    case "bash":
      return bash(all);
    case "zsh":
      return zsh(all);
    case "fish":
      return fish(all);
    default:
      return never(shell);
  }
}

const commandsOf = (all: readonly Words[]): string =>
  all
    .filter(({ path }) => path !== "")
    .map(({ path }) => JSON.stringify(path))
    .join("|");

/** Walks the words before the cursor: a subcommand of the command so far becomes part of it. */
function bash(all: readonly Words[]): string {
  const line = (words: readonly Word[]): string => JSON.stringify(words.map(({ word }) => word).join(" "));
  const cases = all.map(
    ({ path, verbs, options }) => `  ${JSON.stringify(path)}) verbs=${line(verbs)} options=${line(options)} ;;`,
  );
  return `# strata completion for bash
_strata() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word verbs="" options=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${commandsOf(all)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  [[ $current == -* ]] && verbs="$options"
  COMPREPLY=($(compgen -W "$verbs" -- "$current"))
}
complete -o default -F _strata strata`;
}

function zsh(all: readonly Words[]): string {
  const cases = all.map(({ path, verbs, options }) => {
    const described = [...verbs, ...options].map(({ word, description }) =>
      shellQuoted(`${word}:${description.replaceAll(":", "\\:")}`),
    );
    return `    ${JSON.stringify(path)}) found=(${described.join(" ")}) ;;`;
  });
  return `#compdef strata
# strata completion for zsh
_strata() {
  local path_so_far="" word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_so_far:+$path_so_far }$word" in
    ${commandsOf(all)}) path_so_far="\${path_so_far:+$path_so_far }$word" ;;
    esac
  done
  case "$path_so_far" in
${cases.join("\n")}
  esac
  _describe -t words strata found
  [[ $PREFIX == -* ]] || _files
}
compdef _strata strata`;
}

function fish(all: readonly Words[]): string {
  const lines = all.flatMap(({ path, verbs, options }) => {
    const when = shellQuoted(`test (__strata_path) = ${JSON.stringify(path)}`);
    return [
      ...verbs.map(
        ({ word, description }) => `complete -c strata -f -n ${when} -a ${word} -d ${shellQuoted(description)}`,
      ),
      ...options.map(
        ({ word, description, takesValue }) =>
          `complete -c strata -n ${when} -l ${word.slice(2)}${takesValue === true ? " -r" : ""} -d ${shellQuoted(description)}`,
      ),
    ];
  });
  const commands = all.filter(({ path }) => path !== "").map(({ path }) => shellQuoted(path));
  return `# strata completion for fish
function __strata_path
  set -l found ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$found $word")
    if contains -- "$next" ${commands.join(" ")}
      set found $next
    end
  end
  echo "$found"
end
${lines.join("\n")}`;
}

/** In single quotes, as all three shells read them: an apostrophe inside becomes a typographic one. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", "’")}'`;
