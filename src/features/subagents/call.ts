import { sealAgent } from "../../agents/index.ts";
import {
  type Agent,
  asSentence,
  type Budgets,
  inPromptOrder,
  type Layer,
  layerId,
  lowestTrust,
  ownKind,
  type StrataError,
  suggestion,
  type ToolContext,
  type ToolOutcome,
  type TurnEvent,
  trusted,
  untrusted,
  type Vault,
} from "../../protocol/index.ts";
import { type CalledEnd, callTurn, limitName, type RunningTurn } from "../../turn/index.ts";
import { answeredAs, refused, refusedAs } from "../../turn/tools/index.ts";
import type { ToolDeps } from "../feature.ts";
import { PEER } from "./config.ts";
import { type Definition, definitionsOf, isCalled, toolsOf } from "./definitions.ts";
import {
  answered,
  failed,
  introduction,
  NO_OTHER,
  noModelCall,
  noSuchSubagent,
  SEVERAL_SENDERS,
  silent,
  stopped,
  tokensAllowed,
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

/** Asks the sub-agent of that name, and gives what it said. Whatever goes wrong is said in words. */
export async function callSubagent(
  { name, task }: { readonly name: string; readonly task: string },
  calling: Calling,
): Promise<ToolOutcome> {
  const { turn, rules, context } = calling;
  if (context.unanswered !== undefined) return refused(SEVERAL_SENDERS);
  const { callable } = await definitionsOf(turn.setup.agent, calling.world);
  const definition = callable.find((one) => isCalled(one, name));
  if (definition === undefined) {
    const names = callable.map((one) => one.name);
    const others = names.length === 0 ? NO_OTHER : suggestion(name, names);
    return refused(asSentence(noSuchSubagent(JSON.stringify(name), others)));
  }
  if (turn.inner.left().modelCalls < 1) return refused(noModelCall(definition.name));
  const { tokens = Number.POSITIVE_INFINITY, ...limits } = rules.limits;
  const end = await callTurn(turn, {
    agent: subagentOf(turn, definition),
    model: turn.setup.model,
    channel: PEER.name,
    kind: QUESTION,
    call: context.call,
    content: [{ type: "text", text: untrusted(task) }],
    // The agent's own words, and no more than what led to them.
    trust: lowestTrust(["agent", context.taint]),
    limits,
    signal: context.signal,
    onEvent: (event) => tell(context, definition.name, event),
  });
  const { total } = turn.setup.agent.budgets;
  return outcomeOf(definition.name, end, tokens < total ? tokens : undefined);
}

/** Below whatever is locked, and above all else that it may be told. */
const rankFor = (layers: readonly Layer[]): number => {
  const locked = layers.filter(({ mutability }) => mutability === "immutable").map(({ rank }) => rank);
  const taken = new Set(layers.map(({ rank }) => rank));
  let rank = Math.max(0, ...locked) + 1;
  while (taken.has(rank)) rank += 1;
  return rank;
};

/**
 * The agent that answers: the caller's own rules in a smaller mode, then the instructions of the sub-agent. It is a version of the caller like any
 * other, kept with the record, so that what it did can be explained later. It speaks to nobody: what the caller does by itself is left out.
 */
function subagentOf({ setup, parts }: RunningTurn, definition: Definition): Agent {
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
  return sealAgent({
    ...agent,
    ...(rules && depth > 0 && { subagents: { ...rules, depth } }),
    layers: inPromptOrder([...agent.layers, instructionsOf(definition, parts.vault, agent.layers)]),
    tools: toolsOf(setup.agent, definition, parts.tools),
    history: "transcript",
    mode: definition.mode,
    budgets: within(agent.budgets, rules?.limits.tokens),
  });
}

/** Of a smaller total, the reply takes a quarter at most: else nothing would be left for the prompt. */
function within(budgets: Budgets, tokens = budgets.total): Budgets {
  if (tokens >= budgets.total) return budgets;
  return { ...budgets, total: tokens, reply: Math.min(budgets.reply, Math.floor(tokens / 4)) };
}

const instructionsOf = ({ name, text }: Definition, vault: Pick<Vault, "hide">, layers: readonly Layer[]): Layer => ({
  id: ownId(layers),
  rank: rankFor(layers),
  mutability: "immutable",
  scope: "agent",
  trust: "operator",
  minimum: 0,
  required: true,
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  private: false,
  source: { kind: "text", text: trusted(vault.hide(`${introduction(JSON.stringify(name))}\n\n${text}`)) },
});

function ownId(layers: readonly Layer[]): Layer["id"] {
  const ids = new Set<string>(layers.map(({ id }) => id));
  let id = "subagent";
  while (ids.has(id)) id = `${id}-x`;
  return layerId(id);
}

/** Who follows the turn hears what it does. */
function tell({ progress }: ToolContext, name: string, event: TurnEvent): void {
  if (event.type === "turn-start") progress(`${name} began: ${event.turn}`);
  if (event.type === "tool-start") progress(`${name} calls ${event.tool}`);
}

function outcomeOf(name: string, end: CalledEnd, tokens: number | undefined): ToolOutcome {
  const where = end.turn === undefined ? "" : ` (turn ${end.turn})`;
  if ("error" in end) return refusedAs(end.trust, failed(name, where, whyNot(end.error, tokens)));
  const { text, because } = end;
  const by = isLimit(because) ? `its ${limitName(because)}` : `"${because}"`;
  if (text === "") return refusedAs(end.trust, silent(name, where, by));
  return answeredAs(
    end.trust,
    because === "answered" ? answered(name, where, text) : stopped(name, where, { by, text }),
  );
}

/** What did not fit, said of the limit that sub-agents have: a larger budget of the agent's own would not help. */
function whyNot({ code, message, details: { what } }: StrataError, tokens: number | undefined): string {
  if (code !== "budget_too_small" || tokens === undefined || typeof what !== "string") return message;
  return tokensAllowed(what, tokens);
}

const isLimit = (because: string): boolean => ["modelCalls", "toolCalls", "maxCost"].includes(because);
