import { sealAgent } from "../../agents/index.ts";
import { count } from "../../print/index.ts";
import {
  type Agent,
  asSentence,
  type Budgets,
  eventId,
  inPromptOrder,
  issueId,
  type Layer,
  lowestTrust,
  ownKind,
  type StrataError,
  suggestion,
  type ToolContext,
  type ToolOutcome,
  type Trust,
  threadId,
  untrusted,
  type Vault,
} from "../../protocol/index.ts";
import type { Caller, Start } from "../../store/index.ts";
import {
  agentAt,
  answersLater,
  closedPoint,
  type Ending,
  keepVersion,
  type LaterAnswer,
  limitName,
  NOT_AGAIN,
  type RunningTurn,
} from "../../turn/index.ts";
import { refused } from "../../turn/tools/index.ts";
import type { ToolDeps } from "../feature.ts";
import { PEER } from "./config.ts";
import { type Definition, definitionsOf, isNamed, toolsOf } from "./definitions.ts";
import { addedLayer, withDelegation } from "./parent.ts";
import {
  answered,
  failed,
  introduction,
  keptForOthers,
  NO_OTHER,
  noModelCall,
  noSuchSubagent,
  SEVERAL_SENDERS,
  silent,
  stopped,
  tokensAllowed,
  yourTask,
} from "./wording.ts";

/** What one agent asks another. */
const QUESTION = ownKind("peer");

type Rules = NonNullable<Agent["subagents"]>;

/** A call of one, in the turn that makes it. */
interface Calling {
  readonly turn: RunningTurn;
  readonly world: ToolDeps;
  readonly rules: Rules;
  readonly context: ToolContext;
}

/** How many calls each running turn leaves open: their reservations are released with their answers. */
const askedIn = new WeakMap<RunningTurn, number>();

/**
 * Asks the sub-agent of that name: its question begins a thread with the commit of this turn, and its answer is the result of the call. If
 * it cannot be asked, the result says why.
 */
export async function callSubagent(
  { name, task }: { readonly name: string; readonly task: string },
  { turn, world, rules, context }: Calling,
): Promise<ToolOutcome> {
  if (context.unanswered !== undefined) return refused(SEVERAL_SENDERS);
  if (leftOver.delete(turn)) return refused(NOT_AGAIN.unknown);
  const { callable } = await definitionsOf(turn.setup.agent, world);
  const definition = callable.find((one) => isNamed(one, name));
  if (definition === undefined) {
    const names = callable.map((one) => one.name);
    const others = names.length === 0 ? NO_OTHER : suggestion(name, names);
    return refused(asSentence(noSuchSubagent(JSON.stringify(name), others)));
  }
  const reserved = reservedOf(turn.limitsLeft(), rules.limits);
  const before = askedIn.get(turn) ?? 0;
  if (reserved.modelCalls < 1) return refused((before > 0 ? keptForOthers : noModelCall)(definition.name));
  askedIn.set(turn, before + 1);
  const { thread } = turn.lease.claim;
  const forkedFrom = definition.share === "fork" ? await closedPoint(turn.parts, thread) : undefined;
  const agent = forkedFrom ? await agentAt(turn.parts, thread) : subagentOf(turn, definition, reserved);
  await keepVersion(turn.parts, agent);
  // The agent's own words, and no more than what led to them.
  const question = { task, trust: lowestTrust(["agent", context.taint]), ...(forkedFrom && { forkedFrom }) };
  return answersLater(context, {
    waitsFor: "agent",
    reserved,
    starts: (caller) => [subagentCallStart(turn, { caller, agent, definition, ...question })],
  });
}

/** The part of the remaining limits that one call may use. Without a limit on its cost, half of the money stays for the others. */
function reservedOf(left: Budgets["turn"], limits: Rules["limits"]): NonNullable<LaterAnswer["reserved"]> {
  const { maxCost: money = Number.POSITIVE_INFINITY } = left;
  const dollars = Math.min(limits.maxCost ?? money / 2, money);
  return {
    modelCalls: Math.min(left.modelCalls, limits.modelCalls),
    toolCalls: Math.min(left.toolCalls, limits.toolCalls),
    ...(Number.isFinite(dollars) && { dollars }),
  };
}

interface Question {
  readonly caller: Caller;
  readonly agent: Agent;
  readonly definition: Definition;
  readonly task: string;
  readonly trust: Trust;
  /** Where the thread branches off its caller's. */
  readonly forkedFrom?: NonNullable<Start["opening"]["forkedFrom"]>;
}

/** The thread of a call, with its question. */
function subagentCallStart(
  { parts, setup, lease }: RunningTurn,
  { caller, agent, definition, task, trust, forkedFrom }: Question,
): Start {
  const { clock, random } = parts;
  const { thread, turn } = lease.claim;
  const at = clock.recorded();
  const initiator = thread.parties?.target ?? setup.agent.name;
  return {
    scope: thread.scope,
    opening: {
      id: threadId(issueId("thread", clock.real(), random(10))),
      channel: PEER.name,
      key: `${turn} ${caller.call}`,
      version: agent.version,
      at,
      parent: thread.id,
      caller,
      parties: { initiator, target: definition.name },
      ...(forkedFrom && { forkedFrom }),
    },
    events: [
      {
        id: eventId(issueId("event", clock.real(), random(10))),
        kind: QUESTION,
        trust,
        name: untrusted(initiator),
        content: [{ type: "text", text: untrusted(task) }],
        channel: PEER.name,
        at,
      },
    ],
  };
}

/** At most this many threads of a contact are searched for leftovers of an earlier version. */
const MOST_LEFT = 100;

/** Running turns that had asked a sub-agent before they were interrupted, in a program of an earlier version. */
const leftOver = new WeakSet<RunningTurn>();

/**
 * Ends what a killed program of an earlier version left: there, the sub-agent's turn ran inside its caller's. It may have had effects, so
 * the repeated call is answered with a sentence.
 */
export async function endLeftOver(turn: RunningTurn): Promise<void> {
  const { parts, setup, lease } = turn;
  const { thread, turn: id, attempt } = lease.claim;
  if (attempt < 2 || setup.agent.subagents === undefined) return;
  const now = { now: parts.clock.real(), at: parts.clock.recorded(), alive: parts.alive };
  for (const called of await parts.store.threads(thread.scope, MOST_LEFT, { channel: PEER.name })) {
    if (called.caller !== undefined || !called.key.startsWith(`${id} `)) continue;
    const left = await parts.store.withdraw(called.scope, called.id, now).catch(() => []);
    if (left.length > 0) leftOver.add(turn);
  }
}

/**
 * The agent that answers: the caller's own rules in a smaller mode, then the instructions of the sub-agent. It is a version of the caller
 * like any other, kept with the record, so that what it did can be explained later. It talks only to its caller: what the caller does by
 * itself is omitted.
 */
function subagentOf(
  { setup, parts }: RunningTurn,
  definition: Definition,
  reserved: Pick<OwnLimits, "modelCalls" | "toolCalls">,
): Agent {
  const {
    version: _,
    output: __,
    deliver: ___,
    schedules: ____,
    inbox: _____,
    subagents: rules,
    ...agent
  } = setup.agent;
  const depth = (rules?.depth ?? 1) - 1;
  const budgets = stricterBudgets(agent.budgets, rules?.limits);
  const { seconds } = budgets.turn;
  const own = instructionsOf(definition, { ...reserved, seconds }, { vault: parts.vault, layers: agent.layers });
  const layers = inPromptOrder([...agent.layers, own]);
  return sealAgent({
    ...agent,
    ...(rules && depth > 0 && { subagents: { ...rules, depth } }),
    layers: rules?.updates ? withDelegation(layers, setup.agent.name) : layers,
    tools: toolsOf(setup.agent, definition, parts.tools),
    history: "transcript",
    mode: definition.mode,
    budgets,
  });
}

/** The stricter of both. Of a smaller total, the reply takes at most a quarter: otherwise nothing would be left for the prompt. */
function stricterBudgets(budgets: Budgets, limits: Rules["limits"] | undefined): Budgets {
  if (limits === undefined) return budgets;
  const { tokens = budgets.total } = limits;
  const maxCost = Math.min(
    budgets.turn.maxCost ?? Number.POSITIVE_INFINITY,
    limits.maxCost ?? Number.POSITIVE_INFINITY,
  );
  const turn = {
    modelCalls: Math.min(budgets.turn.modelCalls, limits.modelCalls),
    toolCalls: Math.min(budgets.turn.toolCalls, limits.toolCalls),
    seconds: Math.min(budgets.turn.seconds, limits.seconds),
    ...(Number.isFinite(maxCost) && { maxCost }),
  };
  if (tokens >= budgets.total) return { ...budgets, turn };
  return { ...budgets, turn, total: tokens, reply: Math.min(budgets.reply, Math.floor(tokens / 4)) };
}

/** How far one call of it may go. */
type OwnLimits = Pick<Budgets["turn"], "modelCalls" | "toolCalls" | "seconds">;

interface Beside {
  readonly vault: Pick<Vault, "hide">;
  readonly layers: readonly Layer[];
}

function instructionsOf({ name, text }: Definition, limits: OwnLimits, { vault, layers }: Beside): Layer {
  const called = JSON.stringify(name);
  const task = yourTask(called, {
    modelCalls: count(limits.modelCalls, "model call"),
    toolCalls: count(limits.toolCalls, "tool call"),
    seconds: count(limits.seconds, "second"),
  });
  return addedLayer(layers, "subagent", vault.hide([introduction(called), text, task].join("\n\n")));
}

/** What its caller reads: its answer, or why there is none. */
export function saidToCaller({ parts, setup, lease }: RunningTurn, ending: Ending): string | undefined {
  const { thread, turn } = lease.claim;
  if (thread.channel !== PEER.name || thread.parties === undefined || ending.status === "waiting") return undefined;
  // The key of a peer's thread names the peer, too.
  if (thread.key.split(" ").length > 2) return undefined;
  const name = thread.parties.target;
  const where = ` (turn ${turn})`;
  if (ending.status === "failed") {
    const declared = parts.agents.all.find((one) => one.org === thread.scope.org && one.name === thread.scope.agent);
    return failed(name, where, whyNotFitting(ending.error, setup.agent.budgets, declared?.subagents));
  }
  const { reply, stop } = ending;
  const by = isLimit(stop) ? `its ${limitName(stop)}` : `"${stop}"`;
  if (reply === null) return silent(name, where, by);
  return stop === "answered" ? answered(name, where, reply) : stopped(name, where, { by, text: reply });
}

/** What did not fit, said of the limit that sub-agents have: a larger budget of the agent's own would not help. */
function whyNotFitting(
  { code, message, details: { what } }: StrataError,
  { total }: Budgets,
  rules: Agent["subagents"],
): string {
  if (code !== "budget_too_small" || rules?.limits.tokens !== total || typeof what !== "string") return message;
  return tokensAllowed(what, total);
}

const isLimit = (because: string): boolean => ["modelCalls", "toolCalls", "maxCost"].includes(because);
