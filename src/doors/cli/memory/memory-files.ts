import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { App } from "../../../app.ts";
import { type MemoryKind, type Scope, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readInput, writeOutput } from "../shell/files.ts";
import { withName } from "../shell/on-agent.ts";
import { showProgress } from "../shell/progress.ts";
import { inRecord, inSession } from "../shell/session.ts";
import { count, number } from "../shell/style.ts";
import { about, type Filtered, filtered, filterOf, kinds, scopeOf, type Whose, whose } from "./memory-options.ts";

type Import = Parameters<App["runtime"]["importMemories"]>[2];
type Step = Awaited<ReturnType<ReturnType<App["runtime"]["importMemories"]>["next"]>>;
type Report = Extract<Step, { done: true }>["value"];

interface Importing extends Whose {
  readonly format?: NonNullable<Import["format"]>;
  readonly kind?: readonly MemoryKind[];
  readonly user?: string;
  readonly check?: true;
}

/** `strata memory import`: what other systems, or Strata, wrote down. */
export function declareImport(memory: Command, context: Context): void {
  whose(memory.command("import").argument("<file>", "JSON lines, JSON or Markdown"))
    .description("save the memories of a file: of `memory export`, Markdown, mem0 or ChatGPT; once, however often")
    .addOption(
      new Option("--format <format>", "how it is written (default: as it looks)").choices([
        "jsonl",
        "json",
        "markdown",
      ]),
    )
    .addOption(kinds("only of this kind, such as `fact` without the conversations; may be given several times"))
    .option("--user <id>", "only what belongs to this user of the system it comes from")
    .option("--check", "read and check the file, and save nothing")
    .addHelpText("after", "\nExample:\n  $ strata memory import conversations.json --as ann --kind fact")
    .action((file: string, named: string | undefined, given: Importing, command: Command) => {
      const options = withName(named, given);
      const { text } = readInput(file, context.terminal.cwd);
      return inSession(context, command, async (session) => {
        const scope = scopeOf(session, options);
        const { format, kind, user, check } = options;
        const report = await load(context, session.app, scope, {
          ...{ name: file, text },
          ...(format !== undefined && { format }),
          ...(kind !== undefined && { kinds: kind }),
          ...(user !== undefined && { user }),
          ...(check !== undefined && { check }),
        });
        if (session.json) context.json({ file, ...report });
        else context.say(summary(file, report, { about: about(scope), isCheck: check === true }));
        for (const note of report.notes ?? []) context.note(`${file}: ${note}.`);
        tellRefused(context, file, report);
      });
    });
}

async function load(context: Context, { runtime, operator }: App, scope: Scope, file: Import): Promise<Report> {
  const progress = showProgress(context, "importing");
  const work = runtime.importMemories(operator, scope, file);
  try {
    for (;;) {
      const step = await work.next();
      if (step.done === true) return step.value;
      const { done, total } = step.value;
      if (context.terminal.signal.aborted) throw stopped(file.name, done, total);
      progress.show(`${number(done)} of ${count(total, "memory", "memories")}`, total === 0 ? 1 : done / total);
      // Others get their turn, and so does whoever wants it stopped.
      await new Promise(setImmediate);
    }
  } finally {
    progress.end();
  }
}

function stopped(file: string, done: number, total: number): StrataError {
  const message = `stopped after ${number(done)} of ${count(total, "memory", "memories")} of ${file}; import it again to go on, nothing is saved twice`;
  return new StrataError("turn_cancelled", message, { file, done, total });
}

interface Told {
  readonly about: string;
  readonly isCheck: boolean;
}

function summary(file: string, { saved, known, evicted }: Report, { about: whom, isCheck }: Told): string {
  const first = `${count(saved, "memory", "memories")} ${whom} ${isCheck ? "would be" : saved === 1 ? "is" : "are"} saved`;
  const rest = [
    ...(known > 0 ? [`${number(known)} known already`] : []),
    ...(evicted > 0 ? [`${number(evicted)} less useful had to go for them`] : []),
  ];
  return `${file}: ${[first, ...rest].join(", ")}.`;
}

/** As many entries are told one by one. */
const TOLD = 20;

/** What is wrong is told where it stands; the rest of the file is saved, and the program still ends with the error's code. */
function tellRefused(context: Context, file: string, { refused }: Report): void {
  if (refused.length === 0) return;
  for (const { where, says } of refused.slice(0, TOLD)) {
    context.complain(new StrataError("invalid_line", `${file}: ${where} ${says}`, { file, where }));
  }
  const message = `${file}: ${count(refused.length, "entry was", "entries were")} refused, the rest was taken; mend what is told and import the file again`;
  context.fail(new StrataError("invalid_line", message, { file, refused: refused.length }));
}

interface Exporting extends Filtered {
  readonly format?: "jsonl" | "markdown";
  readonly out?: string;
  readonly force?: true;
}

/** `strata memory export`: a contact's memories as a file. */
export function declareExport(memory: Command, context: Context): void {
  filtered(memory.command("export"))
    .description("write memories down: as JSON lines, which lose nothing and can be imported, or as Markdown")
    .addOption(
      new Option("--format <format>", "how (default: by the name of --out, else jsonl)").choices(["jsonl", "markdown"]),
    )
    .option("--out <file>", "write to a new file instead of the screen")
    .option("--force", "let --out take the place of a file that exists")
    .addHelpText(
      "after",
      "\nWhat was said as a message is written only with `--kind message`;\n`strata export` writes conversations.\n\nExample:\n  $ strata memory export --as ann --out ann.jsonl",
    )
    .action((named: string | undefined, given: Exporting, command: Command) => {
      const options = withName(named, given);
      const { out, force, format = /\.(?:md|markdown)$/i.test(options.out ?? "") ? "markdown" : "jsonl" } = options;
      const { cwd } = context.terminal;
      if (out !== undefined && force !== true && existsSync(resolve(cwd, out))) throw exists(out);
      return inRecord(context, command, async (session) => {
        const { runtime, operator } = session.app;
        const scope = scopeOf(session, options);
        const texts = runtime.exportMemories(operator, scope, { format, ...filterOf(options) });
        if (out === undefined) for await (const text of texts) context.terminal.stdout.write(text);
        else await writeOutput(out, cwd, texts);
        if (out !== undefined) context.note(`The memories ${about(scope)} are in ${out}.`);
      });
    });
}

function exists(out: string): StrataError {
  const message = `${out} exists already; name another file, or add --force to replace it`;
  return new StrataError("invalid_input", message, { file: out });
}
