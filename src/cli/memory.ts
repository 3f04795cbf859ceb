import { type Command, InvalidArgumentError } from "commander";
import { contactId, isoSecond, type Memory, memoryId, type Scope, StrataError, untrusted } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { collect, wholeNumber } from "./options.ts";
import { chosenAgent, inRecord, inSession, type Session } from "./session.ts";
import { count, printable, type Style } from "./style.ts";

interface Whose {
  readonly agent?: string;
  readonly as: string;
}

interface Many extends Whose {
  readonly limit: number;
}

interface Saving extends Whose {
  readonly tag?: readonly string[];
}

/** As many characters as `memory_save` takes, and as many tags. */
const LONGEST = 4_000;
const MOST_TAGS = 8;

/** `strata memory …`: what an agent remembers about a contact. */
export function declareMemory(program: Command, context: Context): void {
  const memory = program
    .command("memory")
    .description("list, save, search and forget what an agent remembers about a contact")
    .addHelpText("after", "\nExample:\n  $ strata memory list --as ann");
  declareList(memory, context);
  declareSearch(memory, context);
  declareSave(memory, context);
  declareForget(memory, context);
}

const whose = (command: Command): Command =>
  command
    .option("--agent <name>", "whose memories (default: the first agent)")
    .option("--as <contact>", "about which contact", "me");

const limited = (command: Command): Command =>
  whose(command).option("--limit <n>", "at most so many", wholeNumber(1, 1_000), 20);

function declareList(memory: Command, context: Context): void {
  limited(memory.command("list"))
    .description("list the newest memories")
    .addHelpText("after", "\nExample:\n  $ strata memory list --agent companion --as ann --limit 5")
    .action((options: Many, command: Command) =>
      inRecord(context, command, async (session) => {
        const { app, json } = session;
        const found = await app.runtime.memories(app.operator, scopeOf(session, options), options.limit);
        if (json) return context.json(found);
        context.say(...memoryLines(found, context.style, `Nothing is remembered about ${options.as} yet.`));
      }),
    );
}

function declareSearch(memory: Command, context: Context): void {
  limited(memory.command("search"))
    .description("search the memories by words, best first; the same search that recall uses")
    .argument("<words...>", "the words to look for")
    .addHelpText("after", "\nExample:\n  $ strata memory search green bicycle")
    .action((words: readonly string[], options: Many, command: Command) =>
      inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const text = words.join(" ");
        const found = await runtime.searchMemories(operator, scopeOf(session, options), {
          query: text,
          limit: options.limit,
        });
        if (session.json) return context.json(found);
        const none = `No memory about ${options.as} matches ${JSON.stringify(text)}; try other or fewer words.`;
        context.say(...memoryLines(found, context.style, none));
      }),
    );
}

function declareSave(memory: Command, context: Context): void {
  whose(memory.command("save"))
    .description("save a memory yourself, with the trust of an operator")
    .argument("<text>", "what is to be remembered")
    .option("--tag <word>", "a word to find it by; may be given several times", tags)
    .addHelpText("after", "\nExample:\n  $ strata memory save 'The bicycle is green.' --tag bicycle")
    .action((text: string, options: Saving, command: Command) => {
      checkLength(text);
      return inSession(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const content = { content: untrusted(text.trim()), tags: [...new Set(options.tag ?? [])] };
        const saved = await runtime.remember(operator, scopeOf(session, options), content);
        if (session.json) context.json(saved);
        else context.say(`${saved.memory.id} is saved; \`strata memory forget ${saved.memory.id}\` takes it back.`);
      });
    });
}

function declareForget(memory: Command, context: Context): void {
  whose(memory.command("forget"))
    .description("forget one memory; what was sent of it before stays in the record")
    .argument("<id>", "the memory, mem_…")
    .addHelpText("after", "\nExample:\n  $ strata memory forget mem_01jd8k3v5x9m2q7r4t6w8y0zab --as ann")
    .action((text: string, options: Whose, command: Command) => {
      const id = memoryId(text);
      return inRecord(context, command, async (session) => {
        const { app, json } = session;
        const scope = scopeOf(session, options);
        if (!(await app.runtime.forget(app.operator, scope, id))) throw unknown(id, scope);
        if (json) context.json({ id, forgotten: true });
        else context.say(`${id} is forgotten.`);
      });
    });
}

function scopeOf({ app }: Session, { agent, as }: Whose): Scope {
  const { org, name } = chosenAgent(app, agent);
  return { org, agent: name, contact: contactId(as) };
}

function unknown(id: string, { agent, contact }: Scope): StrataError {
  const next = "`strata memory list` shows them; --agent and --as choose whose";
  return new StrataError("memory_not_found", `${agent} has no memory ${id} about ${contact}: ${next}`, { id });
}

function checkLength(text: string): void {
  const { length } = text.trim();
  if (length > 0 && length <= LONGEST) return;
  throw new StrataError("invalid_input", `a memory has 1 to ${LONGEST} characters; this one has ${length}`, { length });
}

function tags(word: string, before?: readonly string[]): readonly string[] {
  if (!/^[\p{L}\p{N}][\p{L}\p{N} _-]{0,39}$/u.test(word))
    throw new InvalidArgumentError("A tag is 1 to 40 letters, digits, blanks, '-' and '_'.");
  const all = collect(word, before);
  if (all.length > MOST_TAGS) throw new InvalidArgumentError(`A memory has at most ${MOST_TAGS} tags.`);
  return all;
}

/** Memories for a person: a line of what is known about each, then its text. */
export function memoryLines(memories: readonly Memory[], style: Style, none: string): readonly string[] {
  if (memories.length === 0) return [none];
  return [
    ...memories.flatMap(({ id, at, tags: words, trust, content }) => {
      const labels = words.length === 0 ? "" : ` · ${printable(words.join(", "))}`;
      return [style.dim(`${id} · ${isoSecond(at)} · ${trust}${labels}`), `  ${indented(content)}`];
    }),
    style.dim(count(memories.length, "memory", "memories")),
  ];
}

const indented = (text: string): string => printable(text).split("\n").join("\n  ");
