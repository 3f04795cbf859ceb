import { setImmediate } from "node:timers/promises";
import {
  type CacheRules,
  type ModelCard,
  rulesOf,
  type SeenRequest,
  seenOf,
  seenOfBody,
} from "../../../app/doors/costs.ts";
import type { App, Thread } from "../../../app.ts";
import {
  agentName,
  asStrataError,
  type CountTokens,
  StrataError,
  type ThreadId,
  type TurnId,
  threadId,
} from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readInput } from "../shell/files.ts";
import { showProgress } from "../shell/progress.ts";
import { number } from "../shell/style.ts";

/** The requests of a thread, and by which rules they are billed. */
export interface SeenThread {
  readonly thread: string;
  readonly model: string;
  readonly rules: CacheRules;
  readonly requests: readonly SeenRequest[];
}

/** How requests are to be seen other than as they were made. */
export interface Seeing {
  readonly cardOf: (model: string) => ModelCard;
  readonly model?: string;
  /** Milliseconds between two requests of a thread. */
  readonly gap?: number;
}

/** Of an agent, so many threads at most. */
const MOST_THREADS = 1_000;

/**
 * The threads of a dump. Each has the cache for itself.
 * @throws StrataError `file_not_found`; `invalid_line` with the line's number; `invalid_input` where there is none; `turn_cancelled`
 */
export async function dumpedThreads(context: Context, name: string, seeing: Seeing): Promise<readonly SeenThread[]> {
  const { text } = readInput(name, context.terminal.cwd);
  const gathering = gather(seeing);
  const lines = text
    .split("\n")
    .map((line, at) => ({ line, where: `${name}:${at + 1}` }))
    .filter(({ line }) => line.trim() !== "");
  const progress = showProgress(context, name);
  try {
    for (const [at, { line, where }] of lines.entries()) {
      await gathering.add(readLine(line, where));
      await goOn(context);
      progress.show(`${number(at + 1)} of ${number(lines.length)} lines`, (at + 1) / lines.length);
    }
  } finally {
    progress.end();
  }
  return gathering.end(`${name} holds no request; \`strata replay … --dump FILE\` makes such a file`);
}

/**
 * The recorded requests of a thread, or of all threads of an agent, as they were compiled.
 * @throws StrataError `thread_not_found`, `agent_not_found`, `invalid_id`; `invalid_input` where nothing was sent; `turn_cancelled`
 */
export async function recordedThreads(
  context: Context,
  what: string,
  { app, ...rest }: Omit<Seeing, "cardOf"> & { readonly app: App },
): Promise<readonly SeenThread[]> {
  const threads = await threadsNamed(app, what);
  const gathering = gather({ ...rest, cardOf: app.cardOf });
  const progress = showProgress(context, what);
  try {
    for (const [n, { id }] of threads.entries()) {
      for (const turn of await app.runtime.turns(app.operator, id)) {
        for (const request of turn.requests) {
          await gathering.add(await recorded(app, { thread: id, turn: turn.id, ...request }, rest.model));
          await goOn(context);
        }
      }
      progress.show(`${number(n + 1)} of ${number(threads.length)} threads`, (n + 1) / threads.length);
    }
  } finally {
    progress.end();
  }
  return gathering.end(`${what} has sent no request yet; \`strata chat\` or \`strata replay\` makes some`);
}

async function threadsNamed(app: App, what: string): Promise<readonly Thread[]> {
  if (what.startsWith("thr_")) return [await app.runtime.thread(app.operator, threadId(what))];
  return app.runtime.newestThreads(app.operator, { agent: agentName(what), limit: MOST_THREADS });
}

/** A long work lets others in, and ends when it is asked to. */
async function goOn({ terminal: { signal } }: Context): Promise<void> {
  await setImmediate();
  if (signal.aborted) throw new StrataError("turn_cancelled", "stopped before all requests were read");
}

/** One request on its way to be seen. */
interface Found {
  readonly thread: string;
  readonly model: string;
  readonly at: number;
  readonly see: (count: CountTokens, at: number) => SeenRequest;
}

async function counterWith(factor: number): Promise<CountTokens> {
  const { tokenCounter } = await import("../../../app/doors/dumps.ts");
  return tokenCounter({ factor });
}

/** Puts requests to their threads, in the order in which they come. */
function gather({ model, gap, cardOf }: Seeing) {
  const threads = new Map<string, { model: string; requests: SeenRequest[] }>();
  const counters = new Map<string, Promise<CountTokens>>();
  const counterOf = (ref: string): Promise<CountTokens> => {
    const counter = counters.get(ref) ?? counterWith(cardOf(ref).tokenFactor);
    counters.set(ref, counter);
    return counter;
  };
  return {
    add: async (found: Found): Promise<void> => {
      const thread = threads.get(found.thread) ?? { model: model ?? found.model, requests: [] };
      threads.set(found.thread, thread);
      const at = gap === undefined ? found.at : thread.requests.length * gap;
      thread.requests.push(found.see(await counterOf(thread.model), at));
    },
    end: (otherwise: string): readonly SeenThread[] => {
      if (threads.size === 0) throw new StrataError("invalid_input", otherwise);
      return [...threads].map(([thread, { model: ref, requests }]) => ({
        thread,
        model: ref,
        rules: rulesOf(cardOf(ref)),
        requests,
      }));
    },
  };
}

/** Which recorded request is meant. */
interface Recorded {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly n: number;
  readonly at: number;
}

/** Where marks stay in earlier messages, only the body shows them. */
async function recorded(app: App, { thread, turn, n, at }: Recorded, model: string | undefined): Promise<Found> {
  const { request, wire } = await app.runtime.rebuilt(app.operator, turn, n);
  const ref = model ?? wire;
  if (rulesOf(app.cardOf(ref)).kind !== "exact") {
    return { thread, model: ref, at, see: (count, when) => seenOf(request, count, { at: when, model: ref }) };
  }
  const body: unknown = JSON.parse(await app.bodyOf(request, ref));
  return { thread, model: ref, at, see: (count, when) => seenOfBody(body, count, { at: when }) };
}

/** A line of a dump, checked. */
function readLine(line: string, where: string): Found {
  const { thread, at, provider, body } = fieldsOf(parsed(line, where), where);
  const whole: unknown = typeof body === "string" ? parsed(body, `${where}: its body`) : body;
  const name = typeof whole === "object" && whole !== null ? Reflect.get(whole, "model") : undefined;
  return {
    thread: typeof thread === "string" ? thread : "",
    model: `${typeof provider === "string" ? provider : "unknown"}:${typeof name === "string" ? name : "unknown"}`,
    at: typeof at === "string" ? Date.parse(at) || 0 : 0,
    see: (count, when) => {
      try {
        return seenOfBody(whole, count, { at: when });
      } catch (thrown) {
        throw new StrataError("invalid_line", `${where}: ${asStrataError(thrown).message}`, {}, thrown);
      }
    },
  };
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StrataError("invalid_line", `${where} is not JSON: ${why}`, {}, cause);
  }
}

function fieldsOf(line: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof line === "object" && line !== null && "body" in line) return { ...line };
  const isTalk = typeof line === "object" && line !== null && "from" in line;
  const next = isTalk
    ? "this is a recording; `strata replay FILE --agent NAME --replies recorded --dump requests.jsonl` makes requests of it"
    : "a line of a dump is {thread, turn, request, at, provider, body}; `strata replay --dump` writes them";
  throw new StrataError("invalid_line", `${where} holds no request: ${next}`);
}
