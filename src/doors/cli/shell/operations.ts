import { readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import { Argument, type Command, Option } from "commander";
import { type FieldShape, fieldsOf, type Naming, type Operation, replacedBy } from "../../../features/index.ts";
import { agentName, StrataError } from "../../../protocol/index.ts";
import type { Context } from "./context.ts";
import { readInput } from "./files.ts";
import { type Performed, perform, type Verb } from "./perform.ts";
import { allOfStdin } from "./terminal.ts";

/** A noun of the command line: its help, and its operations. */
export interface Noun {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/**
 * Declares the commands of a noun: `strata NOUN VERB`, one for each operation that has a command; an operation of a single word is a
 * top-level command.
 */
export function declareNoun(program: Command, context: Context, { name, description: says, operations }: Noun): void {
  const verbs = operations.flatMap((operation): readonly Verb[] => {
    const { command: part, takes } = operation;
    if (part === undefined) return [];
    const fields = fieldsOf(takes).filter((field) => part.without?.includes(field.name) !== true);
    return [{ operation, part, fields }];
  });
  const own = verbs.filter(({ part }) => part.optionOf === undefined);
  const optionsFor = ({ operation }: Verb) => verbs.filter(({ part }) => part.optionOf?.operation === operation.name);
  const single = own.find(({ operation, part }) => operation.name === name || part.alias === name);
  if (single !== undefined) {
    declareVerb(program, context, { verb: single, more: optionsFor(single), alone: name });
    return;
  }
  const group = program.command(name).description(says);
  shortTerms(group);
  for (const verb of own) declareVerb(group, context, { verb, more: optionsFor(verb) });
  const [first] = operations.flatMap(({ command }) => command?.examples ?? []);
  if (first !== undefined) group.addHelpText("after", `\nExample:\n  $ strata ${first}`);
}

/** Lists a group's commands without `[options]`, so that what each does has room beside it in a small terminal. */
function shortTerms(group: Command): void {
  group.configureHelp({ ...group.configureHelp(), subcommandTerm: shortTerm });
}

const shortTerm = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" ");

function argumentTerm(one: Argument): string {
  const says = `${one.name()}${one.variadic ? "..." : ""}`;
  return one.required ? `<${says}>` : `[${says}]`;
}

/** A verb, and the operations that are options of its command. */
interface Declaring {
  readonly verb: Verb;
  readonly more: readonly Verb[];
  /** The word by which the verb is a top-level command. */
  readonly alone?: string;
}

function declareVerb(group: Command, context: Context, { verb, more, alone }: Declaring): void {
  const { operation, part, fields } = verb;
  const [noun = "", name = alone ?? noun] = alone === undefined ? operation.name.split(".") : [];
  const [summary = ""] = operation.does.split(/(?<=\.) /);
  const command = group
    .command(name, { isDefault: part.isUsual === true })
    .summary(lowered(summary))
    .description(operation.does);
  const inWords = [...(part.words ?? []), ...(part.rest === undefined ? [] : [part.rest])];
  for (const field of fields.filter((one) => inWords.includes(one.name)).sort(byPlace(inWords)))
    command.addArgument(wordOf(field, part));
  const agent = fields.find((field) => field.name === "agent");
  if (agent !== undefined && !inWords.includes("agent")) declareAgent(command, agent, part);
  for (const field of fields) {
    const isRead = field.name === part.fileName || field.name === part.folder?.others;
    if (inWords.includes(field.name) || field.name === "agent" || isRead) continue;
    command.addOption(optionOf(field, part));
    if (field.name === "contact" && part.contact === "me or own") command.addOption(ownOption());
  }
  for (const other of more) {
    command.option(`--${other.part.optionOf?.option}`, other.part.optionOf?.description);
    for (const field of onlyOf(other, verb)) command.addOption(optionOf(field, other.part));
  }
  if (part.file !== undefined && !inWords.includes(part.file))
    command.option("--file <file>", `the file with the ${part.file}; - reads stdin`);
  if (part.confirm !== undefined) command.option("--yes", "confirm it: without this nothing is done");
  if (operation.kind === "file")
    command
      .option("--out <file>", "the new file to write (default: stdout)")
      .option("--force", "let --out replace an existing file");
  const examples = part.examples.map((line) => `  $ strata ${line}`).join("\n");
  command.addHelpText("after", `\nExample${part.examples.length === 1 ? "" : "s"}:\n${examples}`).action(async () => {
    const wanted = chooseVerb(command, { verb, more });
    const given = await readWords(context, command, wanted);
    await perform(context, { command, verb: wanted, given, naming: namingOf(wanted) });
  });
}

/** The fields that one of two operations on the same command takes and the other does not. */
const onlyOf = (one: Verb, other: Verb): readonly FieldShape[] =>
  one.fields.filter(({ name }) => !other.fields.some((field) => field.name === name));

/**
 * The operation to perform: an option may select another one. @throws StrataError `invalid_input` for input that belongs only to that one
 */
function chooseVerb(command: Command, { verb, more }: Declaring): Verb {
  const options = command.opts();
  for (const other of more) {
    const { option = "" } = other.part.optionOf ?? {};
    if (options[option] === true) return other;
    const alone = onlyOf(other, verb).find((field) => options[attributeOf(field, other.part)] !== undefined);
    if (alone === undefined) continue;
    const message = `${flagOf(alone, other.part)} belongs to --${option}: add --${option}, or leave it out`;
    throw new StrataError("invalid_input", message);
  }
  return verb;
}

const ownOption = (): Option =>
  new Option("--agent-own", "the agent's own, which all its contacts may see").conflicts("as");

/** A sentence in the form of lists of commands: in lower case, without a period. */
const lowered = (sentence: string): string =>
  sentence.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()).replace(/\.$/, "");

const byPlace = (order: readonly string[]) => (one: FieldShape, other: FieldShape) =>
  order.indexOf(one.name) - order.indexOf(other.name);

/** The possible values, for the help. Any other value is refused, with the nearest one. */
const among = (choices: readonly string[] | undefined): string =>
  choices === undefined ? "" : `: ${choices.join(", ")}`;

function wordOf(
  { name, message: says, required: needed, choices }: FieldShape,
  { rest, stdin, file }: Verb["part"],
): Argument {
  const required = needed && stdin !== name;
  const word = file === name ? "file" : `${name}${rest === name ? "..." : ""}`;
  return new Argument(required ? `<${word}>` : `[${word}]`, says + among(choices));
}

/** The agent may be named after all other arguments, or by an option. */
function declareAgent(command: Command, { required }: FieldShape, { rest }: Verb["part"]): void {
  const otherwise = `which agent (default: ${required ? "the first agent" : "all agents"})`;
  if (rest !== undefined) return void command.option("--agent <name>", otherwise);
  command.argument("[agent]", otherwise).option("--agent <name>", "the same, as an option");
}

function optionOf(field: FieldShape, part: Verb["part"]): Option {
  const { message: says, type, choices } = field;
  const flag = flagOf(field, part);
  const otherwise = part.usual?.[field.name] ?? field.default;
  const isNone = otherwise === undefined || /^[[{][\]}]$/.test(JSON.stringify(otherwise));
  const usual = isNone ? "" : ` (default: ${JSON.stringify(otherwise).replaceAll('"', "")})`;
  const about = part.contact !== undefined && field.name === "contact" ? " (default: you, as in `strata chat`)" : usual;
  const often = type === "list" ? "; may be given several times" : "";
  const option = new Option(
    type === "flag" ? flag : `${flag} <${placeholderFor(field)}>`,
    says + often + among(choices) + about,
  );
  if (field.required && !isSupplied(field, part)) option.makeOptionMandatory();
  return type === "list"
    ? option.argParser((word: string, before?: readonly string[]) => [...(before ?? []), word])
    : option;
}

/** Whether a required field gets its value elsewhere if its option is omitted. */
const isSupplied = ({ name }: FieldShape, { file, usual, contact }: Verb["part"]): boolean =>
  file === name || usual?.[name] !== undefined || (name === "contact" && contact !== undefined);

/** The placeholder for an option's value in the help. */
function placeholderFor({ name, type, choices, place, isJson }: FieldShape): string {
  if (place !== undefined) return place;
  if (isJson) return "json";
  if (choices !== undefined || name === "contact") return type === "list" ? name.replace(/s$/, "") : name;
  return type === "number" ? "n" : type === "list" ? "word" : "text";
}

/** `contact` is `--as`; a list is named for one of its values; `validFrom` is `--valid-from`. */
function flagOf({ name, type }: FieldShape, { names }: Verb["part"]): string {
  const own = names?.[name] ?? (name === "contact" ? "as" : type === "list" ? name.replace(/s$/, "") : name);
  return `--${own.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The words and options that were given, under the names of their fields. */
async function readWords(context: Context, command: Command, { part, fields }: Verb): Promise<Performed["given"]> {
  const inWords = [...(part.words ?? []), ...(part.rest === undefined ? [] : [part.rest])];
  const words = command.processedArgs.map((word: unknown) => (Array.isArray(word) ? word.join(" ") : word));
  const options = command.opts();
  const named = fields.flatMap((field) => {
    const at = inWords.indexOf(field.name);
    const value = at >= 0 ? words[at] : options[attributeOf(field, part)];
    const pair = part.pairs?.[field.name];
    const meant =
      pair && Array.isArray(value) ? value.map((one) => pairOf(flagOf(field, part), String(one), pair)) : value;
    return value === undefined ? [] : [[field.name, meant] as const];
  });
  const agent = fields.some(({ name }) => name === "agent") && !inWords.includes("agent");
  const typed = part.stdin === undefined ? undefined : words[inWords.indexOf(part.stdin)];
  const replaced = replacedBy(part, Object.fromEntries(named));
  const isOptional =
    named.some(([name]) => part.pairs?.[name] !== undefined) || replaced.some((name) => name === part.stdin);
  // If the text may be omitted, a single word is the agent's name.
  const namesNone = words[inWords.length] === undefined && options["agent"] === undefined;
  const isAgents = isOptional && agent && typed !== undefined && namesNone;
  const fromStdin = part.stdin !== undefined && ((typed === undefined && !isOptional) || typed === "-");
  const isRequired = fields.some(({ name, required }) => name === part.file && required);
  const word = part.file !== undefined && inWords.includes(part.file) ? words[inWords.indexOf(part.file)] : undefined;
  const file = word === undefined ? undefined : fileMeant(context, String(word), part);
  const text =
    file === undefined
      ? await readTextArgument(context, options, { part, isRequired })
      : await textIn(context.terminal, String(file));
  return {
    ...Object.fromEntries(Object.entries(part.usual ?? {}).filter(([name]) => !replaced.includes(name))),
    ...part.endings?.[
      extname(String(options["out"] ?? ""))
        .slice(1)
        .toLowerCase()
    ],
    ...Object.fromEntries(isAgents ? named.filter(([name]) => name !== part.stdin) : named),
    ...(agent && oneAgent(isAgents ? typed : words[inWords.length], options["agent"])),
    ...(part.file !== undefined && text !== undefined && { [part.file]: text }),
    ...(part.fileName !== undefined && { [part.fileName]: file === "-" ? "stdin" : file }),
    ...(part.folder?.others !== undefined &&
      file !== word && { [part.folder.others]: othersBeside(context, String(file)) }),
    ...(fromStdin && { [String(part.stdin)]: (await allOfStdin(context.terminal)).replace(/\r?\n$/, "") }),
  };
}

/** @throws StrataError `invalid_input` for a word that is not a pair */
function pairOf(flag: string, word: string, pair: (name: string, text: string) => unknown): unknown {
  const at = word.indexOf("=");
  if (at > 0) return pair(word.slice(0, at), word.slice(at + 1));
  throw new StrataError("invalid_input", `${flag} is NAME=TEXT; ${JSON.stringify(word)} has no name before a \`=\``);
}

/** The file that a word names; of a folder, the one that the command is about. */
function fileMeant({ terminal }: Context, word: string, { folder }: Verb["part"]): string {
  const isFolder = statSync(resolve(terminal.cwd, word), { throwIfNoEntry: false })?.isDirectory() === true;
  return folder !== undefined && isFolder ? join(word, folder.main) : word;
}

/** The texts of a folder's other files, by path: no links, and nothing that begins with a dot. @throws StrataError `invalid_input` if one is not text */
function othersBeside({ terminal }: Context, file: string): Readonly<Record<string, string>> {
  const folder = dirname(resolve(terminal.cwd, file));
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join("/"))
    .filter((path) => path !== basename(file) && !path.split("/").some((part) => part.startsWith(".")));
  return Object.fromEntries(all.sort().map((path) => [path, readInput(join(folder, path), terminal.cwd).text]));
}

/** How commander calls an option's value. */
const attributeOf = (field: FieldShape, part: Verb["part"]): string => optionOf(field, part).attributeName();

/** The one name that was given, in whichever way. @throws StrataError `invalid_input` for two */
function oneAgent(word: unknown, option: unknown): { readonly agent?: unknown } {
  if (word !== undefined && option !== undefined && word !== option) {
    const message = `two agents were named: ${JSON.stringify(word)} and --agent ${JSON.stringify(option)}; name only one`;
    throw new StrataError("invalid_input", message, { agents: [word, option] });
  }
  const agent = word ?? option;
  return agent === undefined ? {} : { agent: agentName(String(agent)) };
}

/** A text that was written on the command line, or read from a file or stdin. @throws StrataError `invalid_input` for two, `file_not_found` */
async function readTextArgument(
  { terminal }: Context,
  options: Performed["given"],
  { part: { file: field }, isRequired }: { readonly part: Verb["part"]; readonly isRequired: boolean },
) {
  if (field === undefined) return undefined;
  const file = options["file"];
  const typed = options[field];
  if (file !== undefined && typed !== undefined)
    throw new StrataError("invalid_input", `two texts were given: use either --file or --${field}`);
  if (file === undefined && typed === undefined && isRequired)
    throw new StrataError(
      "invalid_input",
      `no text was given: name a file with --file, or write the text after --${field}`,
    );
  return file === undefined ? typed : textIn(terminal, String(file));
}

/** @throws StrataError `file_not_found`, and `invalid_input` if it is not text */
const textIn = async (terminal: Context["terminal"], file: string): Promise<string> =>
  file === "-" ? allOfStdin(terminal) : readInput(file, terminal.cwd).text;

function namingOf({ part, fields }: Verb): Naming {
  const inWords = [...(part.words ?? []), ...(part.rest === undefined ? [] : [part.rest])];
  const named = new Map(
    fields.map((field) => [field.name, inWords.includes(field.name) ? `<${field.name}>` : flagOf(field, part)]),
  );
  const field: Naming["field"] = (name) => {
    const [first = "", ...within] = name.split(".");
    const inner = within.filter((step) => !/^\d+$/.test(step)).join(".");
    return `${inner === "" ? "" : `\`${inner}\` of `}\`${named.get(first) ?? name}\``;
  };
  return { whole: "the command", field };
}
