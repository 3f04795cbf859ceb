import { z } from "zod";
import {
  asStrataError,
  contactId,
  type Json,
  type NewEvent,
  StrataError,
  type ToolName,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import type { RecordedResult } from "../runtime.ts";
import { BEGIN } from "../wording.ts";

/** A longer pause begins a new stretch of talk, as in search and recall. */
const PAUSE = 30 * 60_000;

/** The channel of recordings: their replies were sent in the past, and replies there now are not sent to anyone. */
export const REPLAY = "replay";

/**
 * Prevents others from opening a conversation on the channel of recordings, because nothing said there is sent to anybody.
 * @throws StrataError `invalid_input`
 */
export function checkRecorded({ channel, recorded }: { readonly channel: string; readonly recorded?: true }): void {
  if (channel !== REPLAY || recorded === true) return;
  const sentence = `the channel ${JSON.stringify(channel)} holds recordings, and nothing said there is sent to anybody; name another channel`;
  throw new StrataError("invalid_input", sentence, { channel });
}

/** Whose the conversation is, and whether it continues from another. */
type RecordedThread = Pick<Thread, "id" | "channel" | "key" | "forkedFrom">;

/**
 * Prevents messages in a recording's conversation that are not from the recording; a fork can continue from there.
 * @throws StrataError `invalid_input`
 */
export function checkOfRecording({ id, channel, key, forkedFrom }: RecordedThread, events: readonly NewEvent[]): void {
  if (channel !== REPLAY || forkedFrom !== undefined) return;
  const recording = key.slice(0, key.indexOf(":") + 1);
  if (events.every(({ externalId = "" }) => recording !== "" && externalId.startsWith(recording))) return;
  const sentence = `${id} holds a recording, and nothing said there is sent to anybody; fork it to continue from there, or name another thread`;
  throw new StrataError("invalid_input", sentence, { thread: id });
}

/** One answer of the recorded agent: a run of its messages, and the calls it made in them. */
export interface RecordedReply {
  readonly texts: readonly string[];
  readonly calls: readonly { readonly id: string; readonly tool: ToolName; readonly input: Json }[];
  /** When it was asked for: the time of the line before it. */
  readonly at: number;
  /** When the last of it was said. */
  readonly saidAt: number;
}

/** What becomes one turn: a run of contact messages and all that the recorded agent did about them. */
export interface Exchange {
  /** The recording's own name of the thread. */
  readonly thread: string;
  /** Whose it is: what its first line says, else the thread itself. */
  readonly contact: string;
  readonly events: readonly NewEvent[];
  readonly replies: readonly RecordedReply[];
  readonly results: ReadonlyMap<string, RecordedResult>;
  readonly at: number;
}

/** Reports an id maker's error as the schema's own problem: the sentence then names file and line. */
const accepted = (make: (text: string) => unknown) => (text: string, context: z.RefinementCtx) => {
  try {
    make(text);
  } catch (thrown) {
    context.addIssue({ code: "custom", message: asStrataError(thrown).message });
  }
};

const LINE = z.strictObject({
  // If nothing names the contact, each thread of a recording becomes one.
  thread: z.string().superRefine(accepted(contactId)),
  contact: z.string().superRefine(accepted(contactId)).optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  from: z.enum(["contact", "agent", "tool"]),
  name: z.string().max(200).optional(),
  text: z.string(),
  id: z.string().min(1).optional(),
  calls: z
    .array(z.strictObject({ id: z.string().min(1), tool: z.string().superRefine(accepted(toolName)), input: z.json() }))
    .optional(),
});
type Line = Omit<z.infer<typeof LINE>, "at"> & { readonly n: number; readonly at: number };

/** Where the virtual clock of a recording without times starts. */
const START = Date.UTC(2024, 0, 1);

interface ExchangeDraft {
  readonly thread: string;
  readonly contact: string;
  readonly events: NewEvent[];
  readonly replies: {
    texts: string[];
    calls: { id: string; tool: ToolName; input: Json }[];
    at: number;
    saidAt: number;
  }[];
  readonly results: Map<string, RecordedResult>;
  readonly open: Set<string>;
  /** When the turn begins: the last of the contact's lines. */
  at: number;
  last: Pick<Line, "from" | "at">;
}

/**
 * Reads a recorded conversation: JSON lines `{thread, at?, from, name?, text, calls?, id?}`. A run of contact lines begins an exchange, a
 * run of agent lines is one reply; after a long pause the agent has begun a new exchange. All of it is read before anything is done with
 * it.
 * @param options.digest names the file in the events' external ids, so that a file given twice does nothing twice
 * @param options.gap milliseconds between lines that carry no time
 * @throws StrataError `invalid_line` with file, line, value and what was expected
 */
export function readRecording(
  text: string,
  options: { readonly file: string; readonly digest: string; readonly gap: number },
): readonly Exchange[] {
  const exchanges: ExchangeDraft[] = [];
  const current = new Map<string, ExchangeDraft>();
  for (const line of timed(parseLines(text, options.file), options.gap)) {
    const running = current.get(line.thread);
    const draft = running === undefined || begins(line, running) ? newExchange(line) : running;
    if (draft !== running) exchanges.push(draft);
    current.set(line.thread, draft);
    takeLine(draft, line, options);
  }
  return exchanges;
}

/** The agent's next line after a long pause is not part of its reply: it starts a new exchange. */
function begins(line: Line, { last, open }: ExchangeDraft): boolean {
  if (line.from === "contact") return last.from !== "contact";
  return line.from === "agent" && last.from === "agent" && open.size === 0 && line.at - last.at > PAUSE;
}

function parseLines(text: string, file: string): Omit<Line, "at">[] & { at?: number }[] {
  return text.split("\n").flatMap((raw, i) => (raw.trim() === "" ? [] : [parseLine(raw, i + 1, file)]));
}

function parseLine(raw: string, n: number, file: string): Omit<Line, "at"> & { at?: number } {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (cause) {
    throw brokenLine(file, n, `${JSON.stringify(raw.slice(0, 80))} is not JSON`, cause);
  }
  const parsed = LINE.safeParse(value);
  if (!parsed.success) {
    const { path = [], message = "it has another form" } = parsed.error.issues[0] ?? {};
    throw brokenLine(file, n, `${path.join(".") || "the line"}: ${message}${insteadOf(value, path)}`);
  }
  const { at, ...line } = parsed.data;
  if (line.from === "tool" && line.id === undefined)
    throw brokenLine(file, n, "a tool line needs the id of the call it answers");
  return { ...line, n, ...(at === undefined ? {} : { at: Date.parse(at) }) };
}

/** The value at the path, as the end of a sentence; empty for a line as a whole and for a missing value. */
function insteadOf(line: unknown, path: readonly PropertyKey[]): string {
  const found = path.reduce<unknown>(
    (inside, key) => (typeof inside === "object" && inside !== null ? Reflect.get(inside, key) : undefined),
    line,
  );
  return path.length === 0 || found === undefined ? "" : `, not ${JSON.stringify(found).slice(0, 80)}`;
}

function brokenLine(file: string, line: number, what: string, cause?: unknown): StrataError {
  const expected =
    '{"thread", "from": "contact" | "agent" | "tool", "text", "at"?, "contact"?, "name"?, "calls"?, "id"?}';
  return new StrataError(
    "invalid_line",
    `${file}:${line}: ${what}; a line is ${expected}. Nothing was replayed; fix the line and run it again`,
    { file, line },
    cause,
  );
}

/** Gives every line a time: its own, or one step after the line before it in its thread. */
function timed(lines: readonly (Omit<Line, "at"> & { at?: number })[], gap: number): Line[] {
  const last = new Map<string, number>();
  return lines.map((line) => {
    const at = line.at ?? (last.get(line.thread) ?? START - gap) + gap;
    last.set(line.thread, at);
    return { ...line, at };
  });
}

function newExchange(line: Line): ExchangeDraft {
  const { thread, contact = thread } = line;
  return { thread, contact, events: [], replies: [], results: new Map(), open: new Set(), at: line.at, last: line };
}

function takeLine(
  draft: ExchangeDraft,
  line: Line,
  { file, digest }: { readonly file: string; readonly digest: string },
): void {
  switch (line.from) {
    case "contact":
      draft.events.push(eventOf(line, digest));
      draft.at = line.at;
      break;
    case "agent":
      takeReply(draft, line, file, digest);
      break;
    case "tool":
      if (line.id === undefined || !draft.open.delete(line.id))
        throw brokenLine(file, line.n, `no call ${JSON.stringify(line.id)} is open`);
      draft.results.set(line.id, { text: untrusted(line.text), failed: false });
      break;
  }
  draft.last = line;
}

function takeReply(draft: ExchangeDraft, line: Line, file: string, digest: string): void {
  // If the agent speaks first, the recording has no question: the platform asks it to begin.
  if (draft.events.length === 0) draft.events.push(opening(line, digest));
  if (draft.last.from !== "agent" || draft.replies.length === 0)
    draft.replies.push({ texts: [], calls: [], at: draft.last.at, saidAt: line.at });
  const reply = draft.replies.at(-1);
  if (reply !== undefined) reply.saidAt = line.at;
  if (line.text !== "") reply?.texts.push(line.text);
  for (const { id, tool, input } of line.calls ?? []) {
    if (draft.open.has(id) || draft.results.has(id))
      throw brokenLine(file, line.n, `the call id ${JSON.stringify(id)} is used twice`);
    draft.open.add(id);
    reply?.calls.push({ id, tool: toolName(tool), input });
  }
}

const eventOf = (line: Line, digest: string): NewEvent => ({
  kind: "message",
  trust: "contact",
  channel: REPLAY,
  externalId: `${digest}:${line.n}`,
  ...(line.name === undefined ? {} : { name: untrusted(line.name) }),
  content: [{ type: "text", text: untrusted(line.text) }],
  at: line.at,
});

const opening = (line: Line, digest: string): NewEvent => ({
  kind: "scheduled",
  trust: "operator",
  channel: REPLAY,
  externalId: `${digest}:${line.n}:opening`,
  content: [{ type: "text", text: untrusted(BEGIN) }],
  at: line.at,
});
