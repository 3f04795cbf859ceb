import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { App, Slot, Thread } from "../../../app.ts";
import { type AgentName, agentName, StrataError, type ThreadId, threadId } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { writeOutput } from "../shell/files.ts";
import { inRecord } from "../shell/session.ts";
import { count } from "../shell/style.ts";

interface Options {
  readonly thread?: string;
  readonly agent?: string;
  readonly out?: string;
  readonly force?: true;
}

/** More threads than one export will meet. */
const ALL = 1_000_000;

/** `strata export`: what was said, as a recording that `strata replay` reads. */
export function declareExport(program: Command, context: Context): void {
  program
    .command("export")
    .description("write what was said as JSON lines {thread, at, from, name, text}, which `strata replay` reads")
    .option("--thread <id>", "this thread only (default: all threads)")
    .option("--agent <name>", "the threads of this agent only")
    .option("--out <file>", "write to a new file instead of the screen")
    .option("--force", "let --out take the place of a file that exists")
    .addHelpText(
      "after",
      "\nExample:\n  $ strata export --out talks.jsonl && strata replay talks.jsonl --agent companion --replies recorded --data copy",
    )
    .action((options: Options, command: Command) => {
      const id = options.thread === undefined ? undefined : threadId(options.thread);
      const agent = options.agent === undefined ? undefined : agentName(options.agent);
      checkOut(options, context.terminal.cwd);
      return inRecord(context, command, async ({ app }) => {
        const threads = await wanted(app, id, agent);
        const tally = { lines: 0, left: 0 };
        const lines = linesOf(app, threads, tally);
        if (options.out === undefined) for await (const line of lines) context.terminal.stdout.write(line);
        else await writeOutput(options.out, context.terminal.cwd, lines);
        context.note(...summary(tally, threads.length, options.out));
      });
    });
}

/** @throws StrataError `invalid_input` for a file that would be lost */
function checkOut({ out, force }: Options, cwd: string): void {
  if (out === undefined || force === true || !existsSync(resolve(cwd, out))) return;
  throw new StrataError("invalid_input", `${out} exists already; name another file, or add --force to replace it`, {
    file: out,
  });
}

/** In the order they began. */
async function wanted(app: App, id: ThreadId | undefined, agent: AgentName | undefined): Promise<readonly Thread[]> {
  if (id !== undefined) return [await app.runtime.thread(app.operator, id)];
  const found = await app.runtime.newestThreads(app.operator, { agent, limit: ALL });
  return found.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** How many lines were written, and how many entries have no line in a recording. */
interface Written {
  lines: number;
  left: number;
}

async function* linesOf(app: App, threads: readonly Thread[], tally: Written): AsyncGenerator<string> {
  for (const thread of threads) {
    for (const slot of await app.runtime.slots(app.operator, thread.id)) {
      const line = lineOf(thread, slot);
      tally[line === undefined ? "left" : "lines"]++;
      if (line !== undefined) yield `${JSON.stringify(line)}\n`;
    }
  }
}

/** A recording knows what a contact and the agent said, and nothing of what others asked for. */
function lineOf({ id, scope }: Thread, { kind, from, at, text }: Slot) {
  const when = new Date(at).toISOString();
  if (kind === "reply") return { thread: id, at: when, from: "agent", text } as const;
  if (kind !== "message" || from !== scope.contact) return undefined;
  return { thread: id, at: when, from: "contact", name: scope.contact, text } as const;
}

function summary({ lines, left }: Written, threads: number, out: string | undefined): readonly string[] {
  const where = out === undefined ? "" : ` to ${out}`;
  const others = `${count(left, "entry", "entries")} that neither a contact nor the agent said cannot stand in a recording and ${left === 1 ? "is" : "are"} left out.`;
  return [`${count(lines, "line")} of ${count(threads, "thread")} written${where}.`, ...(left === 0 ? [] : [others])];
}
