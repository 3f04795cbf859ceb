import { z } from "zod";
import { count } from "../../print/index.ts";
import type { AgentName, ThreadId } from "../../protocol/index.ts";
import { FIELDS } from "../fields.ts";
import { type Call, fileOperation, type Thread, type World } from "../operation.ts";

/** More threads than one export will meet. */
const ALL = 1_000_000;

/** What was said, as a recording that `strata replay` reads. */
export const EXPORT = fileOperation({
  name: "export",
  does: "Write what was said as JSON lines {thread, contact, at, from, name, text}, which `strata replay` reads.",
  may: "read",
  at: "GET /v1/export",
  takes: z.strictObject({
    thread: FIELDS.thread.optional().describe("this thread only (default: all threads)"),
    agent: FIELDS.agent.optional().describe("the threads of this agent only"),
  }),
  types: ["application/jsonl"],
  command: {
    examples: [
      "export --out talks.jsonl && strata replay talks.jsonl --agent companion --replies recorded --data copy",
    ],
    opens: "record",
  },
  write: async (world, { thread, agent }, call) => {
    const threads = await wanted(world, { thread, agent }, call);
    const tally = { lines: 0, left: 0 };
    return {
      type: "application/jsonl",
      text: linesOf(world, { threads, tally }, call),
      told: (file) => summary(tally, threads.length, file),
    };
  },
});

interface Choice {
  readonly thread: ThreadId | undefined;
  readonly agent: AgentName | undefined;
}

/** In the order they began. */
async function wanted({ runtime }: World, { thread, agent }: Choice, { actor }: Call): Promise<readonly Thread[]> {
  if (thread !== undefined) return [await runtime.thread(actor, thread)];
  const found = await runtime.newestThreads(actor, { agent, limit: ALL });
  return found.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** How many lines were written, and how many entries have no line in a recording. */
interface Tally {
  lines: number;
  left: number;
}

async function* linesOf(
  { runtime }: World,
  { threads, tally }: { readonly threads: readonly Thread[]; readonly tally: Tally },
  { actor }: Call,
): AsyncGenerator<string> {
  for (const thread of threads) {
    for (const slot of await runtime.slots(actor, thread.id)) {
      const line = lineOf(thread, slot);
      tally[line === undefined ? "left" : "lines"]++;
      if (line !== undefined) yield `${JSON.stringify(line)}\n`;
    }
  }
}

type Slot = Awaited<ReturnType<World["runtime"]["slots"]>>[number];

/** A recording knows what a contact and the agent said, and nothing of what others asked for. */
function lineOf({ id, scope }: Thread, { kind, from, at, text }: Slot) {
  const when = new Date(at).toISOString();
  const line = { thread: id, contact: scope.contact, at: when } as const;
  if (kind === "reply") return { ...line, from: "agent", text } as const;
  if (kind !== "message" || from !== scope.contact) return undefined;
  return { ...line, from: "contact", name: scope.contact, text } as const;
}

function summary({ lines, left }: Tally, threads: number, out: string | undefined): readonly string[] {
  const where = out === undefined ? "" : ` to ${out}`;
  const others = `${count(left, "entry", "entries")} that neither a contact nor the agent said cannot stand in a recording and ${left === 1 ? "is" : "are"} left out.`;
  return [`${count(lines, "line")} of ${count(threads, "thread")} written${where}.`, ...(left === 0 ? [] : [others])];
}
