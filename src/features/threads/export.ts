import { z } from "zod";
import { count, shellWord } from "../../print/index.ts";
import {
  type AgentName,
  type Allowed,
  type ContactId,
  isAllowed,
  type ResultPart,
  readFrames,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import { FIELDS } from "../fields.ts";
import { type Call, fileOperation, type OperationContext, type Thread } from "../operation.ts";

/** More threads than one export will meet. */
const ALL = 1_000_000;

/** The conversation, as a recording that `strata replay` reads. */
export const EXPORT = fileOperation({
  name: "export",
  does: "Write what was said, and what was called on the way, as JSON lines {thread, contact, at, from, name, text, calls, id}, which `strata replay` reads. Memories have an export of their own.",
  may: "read",
  at: "GET /v1/export",
  takes: z.strictObject({
    thread: FIELDS.thread.optional().describe("this thread only (default: all threads)"),
    agent: FIELDS.agent.optional().describe("the threads of this agent only"),
    contact: FIELDS.contact
      .optional()
      .describe("the threads of this contact only, with every agent unless one is named"),
  }),
  types: ["application/jsonl"],
  command: {
    examples: [
      "export --as ann --out ann.jsonl",
      "export --out talks.jsonl && strata replay talks.jsonl --agent companion --replies recorded --data copy",
    ],
    opens: "record",
  },
  write: async (world, { thread, agent, contact }, call) => {
    const threads = await wanted(world, { thread, agent, contact }, call);
    const tally = { lines: 0, left: 0 };
    return {
      type: "application/jsonl",
      text: exportLines(world.runtime, { threads, tally }, call.actor),
      summary: (file) => [...summary(tally, threads.length, file), ...memoriesToo({ agent, contact })],
    };
  },
});

interface ExportChoice {
  readonly thread: ThreadId | undefined;
  readonly agent: AgentName | undefined;
  readonly contact: ContactId | undefined;
}

/** In the order they began. For one contact, no other's thread: the export is handed to them. */
async function wanted(
  { runtime }: OperationContext,
  { thread, agent, contact }: ExportChoice,
  { actor }: Call<"read">,
): Promise<readonly Thread[]> {
  if (thread !== undefined) {
    const one = await runtime.thread(actor, thread);
    if (contact === undefined || one.scope.contact === contact) return [one];
    const message = `${thread} is no thread of ${JSON.stringify(contact)}; leave out one of the two`;
    throw new StrataError("thread_not_found", message, { thread, contact });
  }
  const found = await runtime.newestThreads(actor, { agent, contact, limit: ALL });
  return found.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** How many lines were written, and how many entries have no line in a recording. */
interface ExportTally {
  lines: number;
  left: number;
}

/** A thread as the lines that `readRecording` reads. */
export const recordingOf = (
  runtime: OperationContext["runtime"],
  actor: Allowed<"read">,
  thread: Thread,
): AsyncGenerator<string> => exportLines(runtime, { threads: [thread], tally: { lines: 0, left: 0 } }, actor);

async function* exportLines(
  runtime: OperationContext["runtime"],
  { threads, tally }: { readonly threads: readonly Thread[]; readonly tally: ExportTally },
  actor: Allowed<"read">,
): AsyncGenerator<string> {
  for (const thread of threads) {
    const slots = await runtime.slots(actor, thread.id);
    for (const [turn, said] of Map.groupBy(slots, (slot) => slot.turn)) {
      const messageLines = said.filter(({ kind }) => kind !== "reply").map((slot) => recordingLine(thread, slot));
      const replies = said.filter(({ kind }) => kind === "reply").map((slot) => recordingLine(thread, slot));
      for (const line of [...messageLines, ...(await callsOf(runtime, { thread, turn }, actor)), ...replies]) {
        tally[line === undefined ? "left" : "lines"]++;
        if (line !== undefined) yield `${JSON.stringify(line)}\n`;
      }
    }
  }
}

type Slot = Awaited<ReturnType<OperationContext["runtime"]["slots"]>>[number];

/** What every line of a thread says. */
const lineAt = ({ id, scope }: Thread, at: number) =>
  ({ thread: id, contact: scope.contact, at: new Date(at).toISOString() }) as const;

/** A recording contains the contact's and the agent's messages, and nothing that others asked for. */
function recordingLine(thread: Thread, { kind, role, at, text }: Slot) {
  const { contact } = thread.scope;
  if (kind === "reply") return { ...lineAt(thread, at), from: "agent", text } as const;
  if (kind !== "message" || role !== "contact") return undefined;
  return { ...lineAt(thread, at), from: "contact", name: contact, text } as const;
}

/**
 * A turn's calls and their results, for actors who may see what was sent: the turn's last request holds all answers except those to its
 * final calls. Text between them is in its reply.
 */
async function callsOf(
  runtime: OperationContext["runtime"],
  { thread, turn }: { readonly thread: Thread; readonly turn: TurnId },
  actor: Allowed<"read">,
) {
  if (!isAllowed(actor, "explain")) return [];
  const { requests } = await runtime.turn(actor, turn);
  const asked = requests.map(({ at, reply }, i) => ({
    at: requests[i + 1]?.at ?? at,
    calls: (reply?.parts ?? []).flatMap((part) =>
      part.type === "call" ? [{ id: part.id, tool: part.tool, input: part.input }] : [],
    ),
  }));
  if (asked.every(({ calls }) => calls.length === 0)) return [];
  const last = await runtime.rebuilt(actor, turn, requests.length);
  const answers = new Map(
    last.request.messages.flatMap(({ role, parts }) => (role === "tool" ? parts.map((part) => [part.id, part]) : [])),
  );
  return asked.flatMap(({ at, calls }) => {
    if (calls.length === 0) return [];
    const results = calls.flatMap(({ id }) => answers.get(id) ?? []);
    return [
      { ...lineAt(thread, at), from: "agent", text: "", calls } as const,
      ...results.map((part) => ({ ...lineAt(thread, at), from: "tool", id: part.id, text: answerOf(part) }) as const),
    ];
  });
}

/** The tool's own words, without the frame in which the model read them. */
const answerOf = ({ text }: ResultPart): string => readFrames(text)[0]?.text ?? text;

/** Everything kept about a contact is more than the conversation. */
const memoriesToo = ({ agent, contact }: Omit<ExportChoice, "thread">): readonly string[] =>
  contact === undefined
    ? []
    : [
        `\`strata contact export ${shellWord(contact)}${agent === undefined ? "" : ` ${agent}`}\` writes everything that is kept, memories, settings and approvals too.`,
      ];

function summary({ lines, left }: ExportTally, threads: number, out: string | undefined): readonly string[] {
  const where = out === undefined ? "" : ` to ${out}`;
  const others = `${count(left, "entry", "entries")} that neither a contact nor the agent said cannot be part of a recording and ${left === 1 ? "is" : "are"} left out.`;
  return [`${count(lines, "line")} of ${count(threads, "thread")} written${where}.`, ...(left === 0 ? [] : [others])];
}
