import { availableParallelism } from "node:os";
import { z } from "zod";
import {
  asStrataError,
  digestOf,
  type Layer,
  layerHeading,
  type StrataError,
  untrusted,
} from "../../protocol/index.ts";
import {
  type Answer,
  cageMissing,
  DEFAULT_LIMITS,
  type Level,
  lineIn,
  mappedStack,
  type Outcome,
  openCage,
  type Pool,
  type SliceLimits,
  type Task,
  withPlaces,
} from "../../sandbox/index.ts";
import { isTooDear, type ModelCall, type RunningTurn, type StepAnswer } from "../../turn/index.ts";
import type { Handler } from "./config.ts";
import { CAGE_MISSING, HANDLER_FAILED } from "./errors.ts";
import { answerOf, inputOf } from "./shape.ts";
import { LOGGED } from "./store.ts";

/** Slices that run at the same time, at each level. */
const SEATS = Math.max(1, Math.min(4, availableParallelism()));

const MEGABYTE = 1024 * 1024;

const poolsByLevel = new Map<Level, Pool>();

/** This program's cage at a level; opened once, because a waiting handler occupies none of it. */
function cageOf(level: Level): Pool {
  const known = poolsByLevel.get(level);
  if (known !== undefined) return known;
  const missing = cageMissing(level);
  if (missing !== undefined) throw CAGE_MISSING.of(missing, { level });
  const cage = openCage(level, { seats: SEATS });
  poolsByLevel.set(level, cage);
  return cage;
}

/**
 * Runs one slice at this level.
 * @throws StrataError `cage_missing`
 */
export async function runSlice(level: Level, task: Task): Promise<Outcome> {
  const cage = cageOf(level);
  try {
    return await cage.run(task);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `the cage's level \`${level}\` could not run the handler: ${why}; \`strata doctor\` checks what it needs`;
    throw CAGE_MISSING.of(message, { level }, thrown);
  }
}

/** How the record names what answered. */
export const RAN_IN = { thread: "handler in a thread", process: "handler in a separate process" } as const;

/**
 * Runs an agent's handler to its end. Its requests are answered between its slices, and are journaled.
 * @throws StrataError `handler_failed`, `cage_missing`
 */
export async function handle(turn: RunningTurn, call: ModelCall, handler: Handler): Promise<StepAnswer> {
  try {
    return await runToEnd(turn, call, handler);
  } catch (thrown) {
    throw recordedFailure(thrown, turn);
  }
}

/**
 * What is recorded of a failed handler, without secrets. The same message fails again in the same way; one that another agent sent is
 * answered for it instead, and does not wait.
 */
function recordedFailure(thrown: unknown, { parts, lease }: RunningTurn): unknown {
  if (!HANDLER_FAILED.is(thrown)) return thrown;
  const { message, details } = asStrataError(thrown);
  const { id, caller } = lease.claim.thread;
  const hide = (value: unknown): unknown =>
    typeof value === "string" ? parts.vault.hide(value) : Array.isArray(value) ? value.map(hide) : value;
  const shown = Object.fromEntries(Object.entries(details).map(([key, value]) => [key, hide(value)]));
  const waits = caller === undefined && details["reason"] !== "busy";
  const next = `; the message waits, and fails again until the code is corrected and \`strata thread migrate ${id}\` moves the conversation to it`;
  return HANDLER_FAILED.of(`${hide(message)}${waits ? next : ""}`, shown);
}

async function runToEnd(turn: RunningTurn, call: ModelCall, handler: Handler): Promise<StepAnswer> {
  const { agent } = turn.setup;
  const { level } = handler;
  const task = taskOf(handler, JSON.stringify(await inputOf(turn, call)), call);
  const answers: Answer[] = [];
  for (;;) {
    turn.lease.signal.throwIfAborted();
    const outcome = await runSlice(level, { ...task, answers });
    if (outcome.kind === "returned") {
      if (outcome.logs.length > 0) LOGGED.put(turn.extras, loggedIn(turn, outcome.logs));
      return await answerOf(agent, outcome.value);
    }
    if (outcome.kind === "failed") {
      // Before the error cuts it.
      const logs = outcome.logs.map((line) => turn.parts.vault.hide(line));
      throw failed(agent.name, handler, { ...(await located({ ...task, answers }, handler, outcome)), logs });
    }
    for (const ask of outcome.asks) answers.push(await answerComplete(turn, call, ask));
  }
}

/** Characters of its log that are kept with a turn: the last ones. */
const MOST_KEPT = 8_000;

function loggedIn({ parts }: RunningTurn, logs: readonly string[]): string {
  const all = parts.vault.hide(logs.join("\n"));
  return all.length <= MOST_KEPT ? all : `…${all.slice(-MOST_KEPT)}`;
}

/** The limits of strata.yaml as those of a slice; what is missing has its default. */
export const sliceLimits = ({ memoryMb, calls, ...limits }: Partial<Handler["limits"]>): SliceLimits => ({
  ...DEFAULT_LIMITS,
  ...limits,
  ...(memoryMb !== undefined && { memory: memoryMb * MEGABYTE }),
  ...(calls !== undefined && { asks: calls }),
});

function taskOf({ code, limits }: Handler, input: string, { events }: ModelCall): Omit<Task, "answers"> {
  return {
    code,
    input,
    // The same for a turn that is run again.
    seed: Number.parseInt(digestOf(events.map(({ id }) => id).join()).slice(0, 8), 16),
    now: events.at(-1)?.at ?? 0,
    limits: sliceLimits(limits),
  };
}

type Failed = Extract<Outcome, { kind: "failed" }>;

/** The failure with the line where it happened: the engine may name an earlier one. The same task fails in the same way again. */
export async function located(
  task: Task,
  { code, map, level }: Pick<Handler, "code" | "map" | "level">,
  outcome: Failed,
): Promise<Failed> {
  if (outcome.reason !== "threw" || lineIn(outcome.stack) === undefined) return outcome;
  const again = await runSlice(level, { ...task, code: withPlaces({ code, map }) });
  const isSame = again.kind === "failed" && again.reason === "threw" && again.message === outcome.message;
  return isSame && lineIn(again.stack) !== lineIn(outcome.stack) ? { ...outcome, stack: again.stack } : outcome;
}

/** Characters of its log that the error of a handler shows: the last ones. */
const MOST_LOGGED = 500;

/** What the record and the author read about a failed handler. */
export function failed(
  agent: string | undefined,
  { file, map }: Pick<Handler, "file" | "map">,
  outcome: Failed,
): StrataError {
  const { reason, message, stack, logs } = outcome;
  const lines = mappedStack(stack, map).trim();
  // Not a place in a text that was parsed.
  const place = /\(?([^\s()<>]+:\d+:\d+)\)?/.exec(lines)?.[1] ?? file;
  const logged = logs.length === 0 ? "" : `; it logged ${JSON.stringify(logs.join("\n").slice(-MOST_LOGGED))}`;
  const sentence = `${agent === undefined ? "the" : `${agent}'s`} handler failed at ${place} (${reason}): ${message}${logged}`;
  return HANDLER_FAILED.of(sentence, { ...(agent !== undefined && { agent }), reason, stack: lines, logs });
}

const ASKED = z.strictObject({
  port: z.literal("complete"),
  request: z.strictObject({
    message: z.string().min(1),
    temperature: z.exactOptional(z.number().min(0).max(2)),
    maxTokens: z.exactOptional(z.int().min(1).max(1_000_000)),
  }),
});

/** What a handler asks of its model, or the error that it reads. */
export function requestIn(ask: string): z.output<typeof ASKED>["request"] | { readonly error: string } {
  const { data } = ASKED.safeParse(JSON.parse(ask));
  const takes = "complete takes { message, temperature, maxTokens }: a text and, optionally, two numbers";
  return data?.request ?? { error: takes };
}

/** What a handler reads of errors that its author can act on. All others are internal, and are not shown in the cage. */
const ERRORS_IN_CAGE: Readonly<Record<string, string>> = {
  rate_limited: "too many calls of `complete`; try again later",
  limit_reached: "a limit of calls or money is reached; try again later",
  spend_limit: "the limit of what may be spent is reached",
  budget_too_small: "the message is too long",
};

const NO_ANSWER = "there is no answer; the platform's record says why";

/** Replaces the headings of layers, and whole texts of two words or more that are too short for the reply guard. */
function withoutLayers(said: string, layers: readonly Layer[]): string {
  const texts = layers.flatMap(({ source }) => (source.kind === "text" ? [source.text.trim()] : []));
  const hidden = [...layers.map(layerHeading), ...texts.filter((text) => /\s/.test(text))];
  return hidden.toSorted((a, b) => b.length - a.length).reduce((text, one) => text.replaceAll(one, "[…]"), said);
}

/** The result of a call of `complete`. Nothing that its handler reads names a layer, a model, a size or a time. */
async function answerComplete(turn: RunningTurn, call: ModelCall, ask: string): Promise<Answer> {
  const request = requestIn(ask);
  if ("error" in request) return request;
  const { name, layers } = turn.setup.agent;
  if (layers.length === 0) {
    const sentence = `${name}'s handler calls \`complete\`, but ${name} has no layers, so there is no prompt to ask its model with; declare \`layers\` in strata.yaml, or leave the call out`;
    throw HANDLER_FAILED.of(sentence, { agent: name, reason: "complete" });
  }
  if (turn.limitsLeft().modelCalls <= 0) return { error: "the turn may not call `complete` again" };
  try {
    const text = await call.ask({ ...request, message: untrusted(request.message) });
    return { value: JSON.stringify({ text: withoutLayers(text, layers) }) };
  } catch (thrown) {
    turn.lease.signal.throwIfAborted();
    const error = asStrataError(thrown);
    return { error: ERRORS_IN_CAGE[isTooDear(error) ? "spend_limit" : error.code] ?? NO_ANSWER };
  }
}
