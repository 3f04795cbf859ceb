import { roomIn } from "../../compiler/index.ts";
import {
  type Agent,
  type AgentName,
  type Ledger,
  type Mode,
  type Model,
  type Parameters,
  StrataError,
  type ToolName,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { guessedWindow, samplingFor } from "../../wire/index.ts";
import { answersCall } from "../intake/own-channels.ts";
import type { Parts } from "../parts.ts";
import type { RunOptions } from "../runtime.ts";
import type { Pinned, Steps, TurnParts, TurnSetup } from "./steps.ts";
import { turnBefore } from "./waits.ts";

/** @throws StrataError `agent_not_found`, `model_unknown`, `invalid_input` for a model without a price under a limit in dollars */
export async function setupOf(parts: TurnParts, thread: Pinned, options: RunOptions): Promise<TurnSetup> {
  const pinned = await agentAt(parts, thread);
  const agent = options.mode === undefined ? pinned : { ...pinned, mode: options.mode };
  const none = modelless(parts.steps, agent);
  const model = (options.recorded === undefined ? none : undefined) ?? options.model ?? (await parts.modelOf(agent));
  const prices = parts.cardOf(model.ref);
  checkPrice(parts, { agent, model, prices });
  const count = await parts.counterOf(model.wire);
  const limits = options.limits ?? agent.budgets.turn;
  const { parameters } = options;
  const card = parts.cardOf(model.wire);
  const setup = {
    agent,
    model,
    card,
    prices,
    count,
    limits,
    tier: "Normal",
    ...(parameters && { parameters }),
  } as const;
  const made = await parts.steps.setup(parts, setup, { options, thread });
  const withoutTools = (names: readonly ToolName[]): Promise<TurnSetup> => {
    const tools = agent.tools.filter((name) => !names.includes(name));
    return parts.steps.setup(parts, { ...setup, agent: { ...agent, tools } }, { options, thread });
  };
  return { ...made, withoutTools };
}

/**
 * The same for a turn on this thread: a run that goes on keeps the model, the mode and the parameters that it began with, and one that
 * answers a call goes no further than what was reserved for it.
 */
export async function runningSetup(parts: TurnParts, thread: Thread, given: RunOptions): Promise<TurnSetup> {
  const limits = await limitsForCall(parts, thread, given);
  const options = { ...given, ...(limits && { limits }) };
  const began = await turnBefore(parts, thread, thread.turns);
  if (began === undefined) return setupOf(parts, thread, options);
  const { mode, model: ref } = began;
  const named = ref === NO_MODEL.ref ? undefined : ref;
  const model = options.model ?? (named && (await parts.modelOf({ ...(await agentAt(parts, thread)), model: named })));
  const { maxTokens, temperature, topP, tools } = began.requests.at(-1)?.parameters ?? {};
  const parameters = {
    ...(tools !== undefined && { tools }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  };
  return setupOf(parts, thread, { ...options, parameters, ...(mode && { mode }), ...(model && { model }) });
}

/** The stricter of both, limit by limit: what a tree of calls spends is at most what its root may. */
async function limitsForCall(parts: TurnParts, thread: Thread, { limits }: RunOptions): Promise<RunOptions["limits"]> {
  const { caller, scope } = thread;
  const call =
    caller && (await parts.store.callLeftOpen({ ...scope, agent: caller.agent }, caller.thread, caller.call));
  if (call?.reserved === undefined) return limits;
  const {
    modelCalls,
    toolCalls,
    dollars = Number.POSITIVE_INFINITY,
    seconds = Number.POSITIVE_INFINITY,
  } = call.reserved;
  const own = limits ?? (await agentAt(parts, thread)).budgets.turn;
  const maxCost = Math.min(own.maxCost ?? Number.POSITIVE_INFINITY, dollars);
  return {
    modelCalls: Math.min(own.modelCalls, modelCalls),
    toolCalls: Math.min(own.toolCalls, toolCalls),
    seconds: Math.min(own.seconds, seconds),
    ...(Number.isFinite(maxCost) && { maxCost }),
  };
}

/** For an agent that a feature answers alone: it is never asked. */
export const NO_MODEL: Model = {
  ref: "none",
  wire: "none",
  send: () => {
    throw new StrataError("model_failed", "this agent has no model, and no feature has answered for it; name a model");
  },
};

/**
 * The model of an agent for which a feature answers alone. An agent without layers needs such a feature.
 * @throws StrataError `config_invalid` for an agent without layers that none answers for
 */
function modelless({ answers }: Pick<Steps, "answers">, agent: Agent): Model | undefined {
  if (answers.some(({ alone }) => alone?.(agent))) return NO_MODEL;
  if (agent.layers.length > 0) return undefined;
  const sentence = `${agent.name} declares no layers, and no feature answers in place of its model: add \`layers\` in strata.yaml`;
  throw new StrataError("config_invalid", sentence, { agent: agent.name });
}

/** A spending limit without a known price would have no effect. */
function checkPrice(
  parts: TurnParts,
  { agent, model: { ref }, prices }: Pick<TurnSetup, "agent" | "model" | "prices">,
): void {
  const {
    name,
    budgets: { spend, turn },
  } = agent;
  const isCounted =
    spend !== undefined ||
    turn.maxCost !== undefined ||
    parts.steps.funds.some(({ holds }) => holds(agent)) ||
    parts.steps.allowances.some(({ countsMoney }) => countsMoney(parts, agent));
  if (prices.priced || !isCounted || ref === NO_MODEL.ref) return;
  throw unpriced(name, ref);
}

/** Money is limited, and the price of a model call is unknown. */
export function unpriced(agent: AgentName, ref: string): StrataError {
  const message = `${agent} may spend only so much money, but the price of ${ref} is not known: set it under \`models\` in strata.yaml, or name another model`;
  return new StrataError("invalid_input", message, { agent, model: ref });
}

/**
 * The thread with the agent version of its next turn. With `history: log` every thread takes the declared version, so that all share
 * its prefix; other threads stay pinned to theirs.
 */
export async function upToDate(parts: Parts, thread: Thread): Promise<Thread> {
  const { scope, id, version } = thread;
  // An agent that another one calls answers in the version that was called.
  if (answersCall(parts, thread)) return thread;
  const declared = parts.agents.all.find(({ org, name }) => org === scope.org && name === scope.agent);
  if (declared?.history !== "log" || declared.version === version) return thread;
  // A run keeps the version that it began with.
  if ((await parts.store.openCalls(scope, id)).length > 0) return thread;
  const epoch = await parts.store.epoch(scope, id);
  const isRunning = epoch !== undefined && epoch.reason !== "alone";
  return isRunning ? thread : { ...thread, version: declared.version };
}

/** The same for a thread that is about to run: the declaration it moves to is stored with the record. */
export async function broughtUpToDate(parts: Parts, thread: Thread): Promise<Thread> {
  const now = await upToDate(parts, thread);
  if (now.version !== thread.version) await keepVersion(parts, await agentAt(parts, now));
  return now;
}

/** Stores the declaration for threads that are pinned to it. This program remembers what it has stored, so that not each turn asks. */
export async function keepVersion({ store, agents, clock }: Parts, agent: Agent): Promise<void> {
  const { org, name, version } = agent;
  const known = keptVersions.get(store) ?? new Set();
  keptVersions.set(store, known);
  const key = JSON.stringify([org, name, version]);
  if (known.has(key)) return;
  await store.saveAgentVersion(org, name, version, agents.spec(agent), clock.recorded());
  known.add(key);
}

const keptVersions = new WeakMap<Parts["store"], Set<string>>();

/**
 * The agent as the thread is pinned to it: the declared one, or an earlier version from the record. Only layers and tools are
 * pinned: the model is always the declared one.
 */
export async function agentAt(parts: Parts, { scope, version }: Pinned): Promise<Agent> {
  const declared = parts.agents.all.find(({ org, name }) => org === scope.org && name === scope.agent);
  if (declared?.version === version) return declared;
  const spec = await parts.store.agentVersion(scope.org, scope.agent, version);
  if (spec !== undefined) return withModelOf(declared, parts.agents.revive(spec, version, scope.agent));
  throw new StrataError(
    "agent_not_found",
    `the thread is pinned to version ${version.slice(0, 12)} of ${scope.agent}, which is not in this data; open a new thread`,
    { agent: scope.agent, version },
  );
}

function withModelOf(declared: Agent | undefined, pinned: Agent): Agent {
  if (declared === undefined || declared.model === pinned.model) return pinned;
  const { model: _, ...rest } = pinned;
  return declared.model === undefined ? rest : { ...rest, model: declared.model };
}

/** Tokens that may be sent: the smaller of the agent's budget and the model's window, less the reserve for the reply. */
export function limitOf({ agent, card }: Pick<TurnSetup, "agent" | "card">): number {
  return roomIn(card.contextWindow, agent.budgets).limit;
}

type ModelSetup = Pick<TurnSetup, "agent" | "card" | "reasoning" | "parameters">;

/** How the model is to answer: at most what is reserved for the reply, and in the form that the agent declares. */
export function parametersOf(setup: ModelSetup): Parameters {
  const { agent, card, reasoning, parameters = {} } = setup;
  const { maxTokens = Number.POSITIVE_INFINITY } = parameters;
  return {
    maxTokens: Math.min(roomIn(card.contextWindow, agent.budgets).reply, card.maxOutputTokens, maxTokens),
    ...(reasoning && { reasoning }),
    ...(agent.output !== undefined && { output: agent.output }),
    ...(parameters.tools && { tools: parameters.tools }),
    ...sampling(setup).sent,
  };
}

/** The ledger of a request, with the parameters that the model does not get. */
export function withOmitted(setup: ModelSetup, { omitted: _, ...ledger }: Ledger): Ledger {
  const { omitted } = sampling(setup);
  return omitted.length === 0 ? ledger : { ...ledger, omitted };
}

/** The call's parameters override the agent's. */
function sampling({ agent, card, reasoning, parameters: { temperature, topP } = {} }: ModelSetup) {
  const given = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
  return samplingFor(card, Object.keys(given).length > 0 ? given : (agent.parameters ?? {}), reasoning);
}

/**
 * The same error about the model's window, if that is smaller than the agent's budget: a larger budget would not help then. The
 * error's `details.what` says what did not fit; `mode` is the mode in which it did not.
 */
export function inWindow({ agent, card, model }: TurnSetup, error: StrataError, mode?: Mode): StrataError {
  const { total } = agent.budgets;
  const { what, ...facts } = error.details;
  const { contextWindow } = card;
  if (error.code !== "budget_too_small" || contextWindow >= total || typeof what !== "string") return error;
  const helps = `a model with a larger one${mode === "full" ? ", `mode: compact`" : ""}, shorter texts, fewer tools or a lower budgets.result or budgets.reply`;
  const guess = guessedWindow(model.wire, card);
  const known = guess ?? `the window of ${model.wire} is ${contextWindow} tokens`;
  const sentence = `${known}, and budgets.total is already larger: what helps is ${helps}`;
  return new StrataError(
    "budget_too_small",
    `${what}; ${sentence}`,
    { ...facts, model: model.wire, window: contextWindow },
    error,
  );
}
