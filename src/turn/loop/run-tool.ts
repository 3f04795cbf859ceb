import { setImmediate } from "node:timers/promises";
import { truncateText, withoutSecrets } from "../../guard/index.ts";
import {
  type Agent,
  type AgentState,
  type Json,
  spoken,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  type Trust,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import { INSIDE_TURN } from "../intake/turn-queue.ts";
import type { Parts } from "../parts.ts";
import { checkedWrites } from "../tools/index.ts";
import { abandoned, failed, STOPPED, stoppedBefore, tookTooLong, wrongState } from "../wording.ts";
import type { LaterAnswer, RunningTurn } from "./steps.ts";
import { checkLater, laterIn } from "./waits.ts";

/** How far an agent may go with a tool in one turn: the stricter of what the tool and the declaration say. No limit is `Infinity`. */
export function limitsOf({ rules = [] }: Agent, tool: Tool): { readonly calls: number; readonly seconds: number } {
  const rule = rules.find((one) => one.tool === tool.schema.name);
  const stricter = (key: "calls" | "seconds"): number =>
    Math.min(rule?.[key] ?? Number.POSITIVE_INFINITY, tool.limits?.[key] ?? Number.POSITIVE_INFINITY);
  return { calls: stricter("calls"), seconds: stricter("seconds") };
}

/** The turns of running calls, each by what its tool is given. */
const callers = new WeakMap<ToolContext, RunningTurn>();

/** The turn that makes a call; nothing for one that runs between two turns. */
export const callerOf = (context: ToolContext): RunningTurn | undefined => callers.get(context);

/** The inputs of a run, and what ends it. */
export interface Running {
  /** The turn that makes the call; if omitted, it runs between two turns. */
  readonly caller?: RunningTurn;
  readonly context: Omit<ToolContext, "signal" | "secret" | "progress">;
  /** Receives progress; optional. */
  readonly progress?: (message: Untrusted) => void;
  /** `Infinity` for no limit. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** How a run ended. Not known: a tool that acts outside was left in the middle, and may still act. */
export interface ToolRun {
  readonly outcome: ToolOutcome;
  readonly isKnown: boolean;
  /** Its answer comes later. */
  readonly later?: LaterAnswer;
}

/**
 * Runs a tool on checked input. If it throws or runs out of time, the result says so; a tool that ignores its signal is abandoned.
 * Values of secrets in its output are replaced by their names.
 */
export async function runTool(
  parts: Parts,
  tool: Tool,
  input: Json,
  { caller, context, seconds, signal, progress }: Running,
): Promise<ToolRun> {
  const { vault } = parts;
  const timeout = Number.isFinite(seconds) ? [AbortSignal.timeout(seconds * 1_000)] : [];
  const ends = AbortSignal.any([signal, ...timeout]);
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(ends.reason);
  ends.addEventListener("abort", stop, { once: true });
  try {
    if (ends.aborted) return failedRun(stoppedBefore(tool.schema.name));
    const tell = (message: string): void => {
      if (!ends.aborted) progress?.(untrusted(truncateText(vault.hide(String(message)), MOST_SAID, "…")));
    };
    const given = { ...context, signal: ends, secret: vault.secret, progress: tell };
    if (caller !== undefined) callers.set(given, caller);
    const asked = tool.hidesSecrets ? hiddenInput(vault, input) : input;
    const said = await Promise.race([acted(parts, tool, asked, given), stopped.promise]);
    const later = laterIn(given);
    if (later !== undefined) checkLater(tool);
    const outcome = hidden(parts, checkedWrites(tool.schema.name, said, parts.store.writes, given));
    const text = await redacted(outcome.text);
    return {
      outcome: limited(parts, { ...outcome, text }, [tool.trust, context.taint]),
      isKnown: true,
      ...(later && { later }),
    };
  } catch (thrown) {
    if (!ends.aborted)
      return failedRun(await redacted(untrusted(vault.hide(failed(tool.schema.name, thrownMessage(thrown))))));
    return left(tool, signal.aborted ? STOPPED : tookTooLong(seconds));
  } finally {
    ends.removeEventListener("abort", stop);
  }
}

/**
 * Runs it to its end, whether or not a caller still waits. If its contact was erased in the meantime, a file that it wrote would stay, so
 * the contact's files are deleted again.
 */
async function acted(
  { store, removeFiles }: Parts,
  tool: Tool,
  input: Json,
  context: ToolContext,
): Promise<ToolOutcome> {
  try {
    return await INSIDE_TURN.run(true, () => tool.run(input, context));
  } finally {
    const { scope, thread } = context;
    if (tool.effect === "external" && (await store.thread(scope, thread)) === undefined) await removeFiles(scope);
  }
}

/** What a tool writes comes from its own words and from what the model was shown, and has the lowest trust of both (law 6). */
function limited({ store }: Parts, { writes, ...rest }: ToolOutcome, most: readonly Trust[]): ToolOutcome {
  if (writes === undefined) return rest;
  return { ...rest, writes: writes.map((write) => store.writes.of(write).limited(write, most)) };
}

function failedRun(message: string): ToolRun {
  return { outcome: { text: untrusted(message), failed: true }, isKnown: true };
}

function left({ schema, effect }: Tool, ending: string): ToolRun {
  if (effect !== "external") return failedRun(failed(schema.name, `it ${ending}`));
  return { ...failedRun(abandoned(schema.name, ending)), isKnown: false };
}

/** Characters of one sign of life. */
const MOST_SAID = 200;

const thrownMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

function hiddenInput(vault: Parts["vault"], input: Json): Json {
  if (typeof input === "string") return vault.hide(input);
  if (input === null || typeof input !== "object") return input;
  if (isList(input)) return input.map((one) => hiddenInput(vault, one));
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, hiddenInput(vault, value)]));
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** How many characters are checked before other turns get a chance to run. */
const SLICE = 64_000;

/**
 * A result without what looks like a secret: it would stay in the transcript and go to the provider with every request. A value after
 * the word "token" alone is kept: tools call their page cursors that.
 */
export async function redacted(text: Untrusted): Promise<Untrusted> {
  let kept = "";
  for (let from = 0; from < text.length; ) {
    const line = text.lastIndexOf("\n", from + SLICE);
    const to = text.length - from <= SLICE ? text.length : line > from ? line + 1 : from + SLICE;
    kept += withoutSecrets(text.slice(from, to), ["secret value"]);
    from = to;
    if (from < text.length) await setImmediate();
  }
  return untrusted(kept);
}

/** The outcome of a call, with secrets' values replaced by their names. */
export function hidden(
  { vault, store }: Pick<Parts, "vault" | "store">,
  { text, failed, media, writes, trust, reply, loads }: ToolOutcome,
): ToolOutcome {
  return {
    text: untrusted(vault.hide(text)),
    failed,
    ...(media !== undefined && { media }),
    ...(loads !== undefined && { loads }),
    ...(writes !== undefined && {
      writes: writes.map((write) => store.writes.of(write).hidden(write, vault.hide)),
    }),
    ...(trust !== undefined && { trust }),
    ...(reply && { reply: { ...reply, text: spoken(vault.hide(reply.text)) } }),
  };
}

/** The agent's state while a turn's call runs, and while a call runs between two turns. */
export const IN_TURN: AgentState = "executing actions";
export const BETWEEN_TURNS: AgentState = "idle";

/** Why a tool may not be called in a state, as the end of a sentence about it; undefined if it may. */
export function outOfState({ states }: Tool, state: AgentState): string | undefined {
  if (states === undefined || states.includes(state)) return undefined;
  return wrongState(states, state);
}
