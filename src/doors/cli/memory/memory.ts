import { type Command, Option } from "commander";
import { passageOf } from "../../../app/doors/passages.ts";
import type { App } from "../../../app.ts";
import { isoSecond, memoryId, type Scope, StrataError, untrusted } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { shortTerms, withName } from "../shell/on-agent.ts";
import { inRecord, inSession } from "../shell/session.ts";
import { count, number, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { declareConsolidate } from "./memory-consolidate.ts";
import { declareEmbed, noteTrouble } from "./memory-embed.ts";
import { declareExport, declareImport } from "./memory-files.ts";
import { memoryLines, memoryView } from "./memory-lines.ts";
import {
  about,
  type Filtered,
  filtered,
  filterOf,
  instant,
  limited,
  scopeOf,
  searching,
  tags,
  unknownMemory,
  type Whose,
  whose,
} from "./memory-options.ts";
import { declareWhy } from "./memory-why.ts";

type Saved = Awaited<ReturnType<App["runtime"]["remember"]>>;
type Stats = Awaited<ReturnType<App["runtime"]["memoryStats"]>>;

interface Many extends Filtered {
  readonly limit: number;
  readonly superseded?: true;
  readonly invalid?: true;
}

interface Saving extends Whose {
  readonly tag?: readonly string[];
  readonly kind?: "fact" | "block";
  readonly supersedes?: string;
  readonly from?: number;
  readonly until?: number;
}

/** As many characters as `memory_save` takes. */
const LONGEST = 4_000;

/** `strata memory …`: what an agent remembers about a contact. */
export function declareMemory(program: Command, context: Context): void {
  const memory = program
    .command("memory")
    .description("list, show, save, search, explain, forget, import and export what an agent remembers about a contact")
    .addHelpText("after", "\nExample:\n  $ strata memory list --as ann");
  shortTerms(memory);
  declareList(memory, context);
  declareShow(memory, context);
  declareSave(memory, context);
  declareSearch(memory, context);
  declareWhy(memory, context);
  declareForget(memory, context);
  declareImport(memory, context);
  declareExport(memory, context);
  declareStats(memory, context);
  declareEmbed(memory, context);
  declareConsolidate(memory, context);
}

function declareList(memory: Command, context: Context): void {
  limited(filtered(memory.command("list")))
    .description("list the newest memories; what was said as a message only with `--kind message`")
    .option("--superseded", "also what another memory took the place of")
    .addHelpText("after", "\nExample:\n  $ strata memory list companion --as ann --limit 5")
    .action((named: string | undefined, given: Many, command: Command) => {
      const options = withName(named, given);
      return inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const scope = scopeOf(session, options);
        const listing = { ...filterOf(options), ...(options.superseded && { superseded: options.superseded }) };
        const found = await runtime.memories(operator, scope, options.limit, listing);
        if (session.json) return context.json(found);
        context.say(...memoryLines(found, context.style, nothing(scope, Object.keys(filterOf(options)).length > 0)));
      });
    });
}

const nothing = (scope: Scope, isFiltered: boolean): string =>
  isFiltered ? `No memory ${about(scope)} is of that kind.` : `Nothing is remembered ${about(scope)} yet.`;

/** The argument that names a memory. */
const MEMORY = ["<id>", "the memory, mem_…"] as const;

function declareShow(memory: Command, context: Context): void {
  whose(memory.command("show").argument(...MEMORY))
    .description("show all that is kept of one memory: whose word it is, where it comes from, what took its place")
    .addHelpText("after", "\nExample:\n  $ strata memory show mem_01jd8k3v5x9m2q7r4t6w8y0zab --as ann")
    .action((text: string, named: string | undefined, given: Whose, command: Command) => {
      const id = memoryId(text);
      const options = withName(named, given);
      return inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const scope = scopeOf(session, options);
        const found = await runtime.memory(operator, scope, id);
        if (found === undefined) throw unknownMemory(id, scope);
        if (session.json) context.json(found);
        else context.say(...memoryView(found, context.style));
      });
    });
}

function declareSearch(memory: Command, context: Context): void {
  limited(searching(memory.command("search"), "the words to look for"))
    .description("search the memories by words, best first; the same search that recall uses")
    .option("--invalid", "also what is no longer so, or not yet, by its dates")
    .addHelpText("after", "\nExample:\n  $ strata memory search green bicycle")
    .action((words: readonly string[], options: Many, command: Command) =>
      inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const scope = scopeOf(session, options);
        const query = words.join(" ");
        const found = await runtime.searchMemories(operator, scope, {
          query,
          limit: options.limit,
          ...filterOf(options),
          ...(options.invalid && { invalid: options.invalid }),
        });
        noteTrouble(context, session, scope);
        if (session.json) return context.json(found);
        const none = `No memory ${about(scope)} matches ${JSON.stringify(query)}; try other or fewer words.`;
        const fitting = found.map((hit) => ({ ...hit, content: untrusted(passageOf(hit.content, query, PASSAGE)) }));
        context.say(...memoryLines(fitting, context.style, none));
      }),
    );
}

/** Of a longer memory a search shows the passage that fits, in characters; `strata memory show` shows all. */
const PASSAGE = 800;

function declareSave(memory: Command, context: Context): void {
  whose(memory.command("save").argument("<text>", "what is to be remembered"))
    .description("save a memory yourself, with the trust of an operator; secrets are refused")
    .option("--tag <word>", "a word to find it by; may be given several times", tags)
    .addOption(new Option("--kind <kind>", "a fact, or a longer text kept whole").choices(["fact", "block"]))
    .option("--supersedes <id>", "the memory it takes the place of: that one stays in the record and is found no more")
    .option("--from <date>", "it was so from then on", instant)
    .option("--until <date>", "it was so until then", instant)
    .addHelpText("after", "\nExample:\n  $ strata memory save 'The bicycle is green.' --tag bicycle")
    .action((text: string, named: string | undefined, given: Saving, command: Command) => {
      const options = withName(named, given);
      const note = noteOf(text, options);
      return inSession(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const scope = scopeOf(session, options);
        const saved = await runtime.remember(operator, scope, note);
        const { memory: kept, ...rest } = saved;
        if (session.json) context.json({ ...kept, ...rest });
        else context.say(...savedLines(saved, note.supersedes, whoseWords(scope, options)));
      });
    });
}

function noteOf(text: string, { tag = [], kind, supersedes, from, until }: Saving) {
  const { length } = text.trim();
  if (kind !== "block" && (length === 0 || length > LONGEST)) {
    const message = `a memory has 1 to ${LONGEST} characters; this one has ${length}`;
    throw new StrataError("invalid_input", message, { length });
  }
  return {
    content: untrusted(text.trim()),
    tags: [...new Set(tag)],
    ...(kind !== undefined && { kind }),
    ...(supersedes !== undefined && { supersedes: memoryId(supersedes) }),
    ...(from !== undefined && { validFrom: from }),
    ...(until !== undefined && { validUntil: until }),
  };
}

/** The options that say whose memory it is, as the next command needs them. */
function whoseWords({ contact }: Scope, { agent }: Whose): string {
  const owner = contact === null ? "--agent-own" : `--as ${shellWord(contact)}`;
  return agent === undefined ? owner : `--agent ${agent} ${owner}`;
}

const shellWord = (word: string): string => (/^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

function savedLines(
  { memory, merged, evicted }: Saved,
  supersedes: string | undefined,
  whoseIs: string,
): readonly string[] {
  const { id, support } = memory;
  const first = merged
    ? `${id} says the same already: it counts as said ${count(support, "time")} now.`
    : `${id} is saved; \`strata memory forget ${id} ${whoseIs}\` takes it back.`;
  const gone = `${count(evicted.length, "less useful memory", "less useful memories")} had to go for it`;
  return [
    first,
    ...(supersedes === undefined ? [] : [`It takes the place of ${supersedes}, which is found no more.`]),
    ...(evicted.length === 0 ? [] : [`${gone}: ${evicted.join(", ")}.`]),
  ];
}

function declareForget(memory: Command, context: Context): void {
  whose(memory.command("forget").argument(...MEMORY))
    .description("forget one memory; what was sent of it before stays in the record")
    .addHelpText("after", "\nExample:\n  $ strata memory forget mem_01jd8k3v5x9m2q7r4t6w8y0zab --as ann")
    .action((text: string, named: string | undefined, given: Whose, command: Command) => {
      const id = memoryId(text);
      const options = withName(named, given);
      return inRecord(context, command, async (session) => {
        const { app, json } = session;
        const scope = scopeOf(session, options);
        if (!(await app.runtime.forget(app.operator, scope, id))) throw unknownMemory(id, scope);
        if (json) context.json({ id, forgotten: true });
        else context.say(`${id} is forgotten.`);
      });
    });
}

function declareStats(memory: Command, context: Context): void {
  whose(memory.command("stats"))
    .description("count what is remembered about a contact, by kind")
    .addHelpText("after", "\nExample:\n  $ strata memory stats --as ann")
    .action((named: string | undefined, options: Whose, command: Command) => {
      const whom = withName(named, options);
      return inRecord(context, command, async (session) => {
        const scope = scopeOf(session, whom);
        const stats = await session.app.runtime.memoryStats(session.app.operator, scope);
        if (session.json) context.json(stats);
        else context.say(...(stats.length === 0 ? [nothing(scope, false)] : statsLines(stats, context.style)));
      });
    });
}

const COLUMNS = [
  { head: "kind" },
  { head: "memories", right: true },
  { head: "characters", right: true },
  { head: "newest" },
] as const;

function statsLines(stats: Stats, style: Style): readonly string[] {
  const rows = stats.map(({ kind, memories, characters, newest }) => [
    kind,
    number(memories),
    number(characters),
    isoSecond(newest),
  ]);
  return table(COLUMNS, rows, style);
}
