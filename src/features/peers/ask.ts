import { sealAgent } from "../../agents/index.ts";
import {
  type Agent,
  type Budgets,
  type EventPart,
  eventId,
  issueId,
  type JsonObject,
  lowestTrust,
  ownKind,
  type PayloadPart,
  type ToolContext,
  type ToolOutcome,
  type Trust,
  threadId,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { Caller, Start, Thread } from "../../store/index.ts";
import {
  agentAt,
  answersLater,
  closedPoint,
  type Ending,
  keepVersion,
  type LaterAnswer,
  type RunningTurn,
} from "../../turn/index.ts";
import { refused } from "../../turn/tools/index.ts";
import { ENQUEUE_PARENT, PEER, withDelegation } from "../subagents/index.ts";
import { ASK, type Edge, peersLayers } from "./config.ts";
import { answerIn } from "./handler.ts";
import { payloadFinding } from "./payload.ts";
import { sharedWith } from "./share.ts";
import {
  couldNotAnswer,
  misfit,
  misfitAgain,
  noModelCall,
  noMoreTries,
  noSuchPeer,
  peerIsGone,
  SEVERAL_SENDERS,
} from "./wording.ts";

/** What one agent asks another. */
const QUESTION = ownKind("peer");

/** How many payloads for each peer did not match, in each running turn. */
const misfits = new WeakMap<RunningTurn, Map<string, number>>();

/** How often a turn may send a peer an invalid payload: the model learns why, and tries again. */
const TRIES = 2;

/**
 * Asks the peer of that name: the payload begins a thread with the commit of this turn, and the peer's answer is the result of the call. If
 * it cannot be asked, the result says why.
 */
export async function askPeer(
  name: string,
  payload: JsonObject,
  { turn, context }: { readonly turn: RunningTurn | undefined; readonly context: ToolContext },
): Promise<ToolOutcome> {
  const edge = turn?.setup.agent.peers?.find((one) => one.name === name);
  if (turn === undefined || edge === undefined) return refused(noSuchPeer(name));
  if (context.unanswered !== undefined) return refused(SEVERAL_SENDERS);
  const { parts, setup } = turn;
  const callee = parts.agents.all.find((one) => one.org === setup.agent.org && one.name === name);
  if (callee === undefined) return refused(peerIsGone(name));
  const finding = await findingIn(turn, edge, payload);
  if (finding !== undefined) return refused(finding);
  const shared = await sharedWith(turn, edge.share, Math.floor(callee.budgets.total / 2));
  const reserved = reservedOf(turn.limitsLeft(), callee.budgets.turn);
  if (reserved.modelCalls < 1) return refused(noModelCall(name));
  const { thread } = turn.lease.claim;
  const forkedFrom = edge.share === "fork" ? await closedPoint(parts, thread) : undefined;
  const agent = forkedFrom ? await agentAt(parts, thread) : overEdge(callee, edge, setup.agent.name);
  await keepVersion(parts, agent);
  // The agent's own words, and no more than what led to them.
  const trust = lowestTrust(["agent", context.taint, ...(shared ? [shared.trust] : [])]);
  const asked = { type: "payload", payloadType: edge.payload.type, payload } as const;
  const content = [asked, ...(shared ? [shared.part] : [])];
  const { ttlHours } = setup.agent.buffer ?? {};
  const seconds = edge.seconds ?? (ttlHours && ttlHours * 3_600);
  return answersLater(context, {
    waitsFor: "agent",
    reserved,
    ...(seconds && { seconds }),
    starts: (caller) => [peerCallStart(turn, { caller, agent, content, trust, ...(forkedFrom && { forkedFrom }) })],
  });
}

/** Why the payload is not sent: it does not match, or too many before it did not. */
async function findingIn(
  turn: RunningTurn,
  { name, payload: type }: Edge,
  payload: JsonObject,
): Promise<string | undefined> {
  const before = misfits.get(turn) ?? new Map<string, number>();
  misfits.set(turn, before);
  const tried = before.get(name) ?? 0;
  if (tried >= TRIES) return noMoreTries(name);
  const finding = await payloadFinding(type, payload);
  if (finding === undefined) return undefined;
  before.set(name, tried + 1);
  return (tried + 1 < TRIES ? misfit : misfitAgain)(name, finding);
}

/**
 * Half of the remaining limits, at most the peer's own: the other half stays for others, and for using the answer. Time is not shared:
 * waiting costs none.
 */
function reservedOf(left: Budgets["turn"], own: Budgets["turn"]): NonNullable<LaterAnswer["reserved"]> {
  const half = (key: "modelCalls" | "toolCalls"): number => Math.min(own[key], Math.ceil(left[key] / 2));
  const dollars = Math.min(own.maxCost ?? Number.POSITIVE_INFINITY, (left.maxCost ?? Number.POSITIVE_INFINITY) / 2);
  return {
    modelCalls: half("modelCalls"),
    toolCalls: half("toolCalls"),
    seconds: Math.min(own.seconds, Math.max(1, Math.floor(left.seconds))),
    ...(Number.isFinite(dollars) && { dollars }),
  };
}

/** The agent that answers: the declared peer, with the tools and peers that the edge leaves it, and the tool that sends updates to its caller. */
function overEdge(callee: Agent, { tools, updates }: Edge, by: string): Agent {
  if (tools === undefined && !updates) return callee;
  const { version: _, ...agent } = callee;
  const kept = tools === undefined ? agent : narrowed(agent, tools);
  if (!updates) return sealAgent(kept);
  const names = [...new Set([...kept.tools, toolName(ENQUEUE_PARENT)])].sort();
  return sealAgent({ ...kept, tools: names, layers: withDelegation(kept.layers, by) });
}

/** With no other tools than these. Of its own peers, it may ask those whose tools are among them, and its prompt names no others. */
function narrowed(agent: Omit<Agent, "version">, tools: readonly string[]): Omit<Agent, "version"> {
  const { peers: all = [], ...kept } = { ...agent, tools: agent.tools.filter((tool) => tools.includes(tool)) };
  const peers = all.filter(({ name }) => tools.includes(`${ASK}${name}`));
  const [block] = peersLayers(peers);
  const layers = agent.layers.flatMap((layer) => {
    if (layer.id !== block?.id) return [layer];
    return peers.length === 0 ? [] : [{ ...layer, source: block.source }];
  });
  return { ...kept, layers, ...(peers.length > 0 && { peers }) };
}

interface Question {
  readonly caller: Caller;
  readonly agent: Agent;
  readonly content: readonly EventPart[];
  readonly trust: Trust;
  /** Where the thread branches off its caller's. */
  readonly forkedFrom?: NonNullable<Start["opening"]["forkedFrom"]>;
}

/** The thread of a call over an edge, with the question. */
function peerCallStart(
  { parts, setup, lease }: RunningTurn,
  { caller, agent, content, trust, forkedFrom }: Question,
): Start {
  const { clock, random } = parts;
  const { thread, turn } = lease.claim;
  const at = clock.recorded();
  const initiator = setup.agent.name;
  return {
    scope: { ...thread.scope, agent: agent.name },
    opening: {
      id: threadId(issueId("thread", clock.real(), random(10))),
      channel: PEER.name,
      key: `${turn} ${caller.call} ${agent.name}`,
      version: agent.version,
      at,
      caller,
      parties: { initiator, target: agent.name },
      ...(forkedFrom && { forkedFrom }),
    },
    events: [
      {
        id: eventId(issueId("event", clock.real(), random(10))),
        kind: QUESTION,
        trust,
        name: untrusted(initiator),
        content,
        channel: PEER.name,
        at,
      },
    ],
  };
}

/** Whether another agent asks there: the thread of a sub-agent belongs to the agent that asks. Its key names the edge. */
const isEdge = ({ channel, parties, scope, key }: Thread): boolean =>
  channel === PEER.name && parties?.target === scope.agent && key.endsWith(` ${scope.agent}`);

/** What the caller reads: the answer in its type, or only that there is none. */
export function saidToCaller({ setup, lease }: RunningTurn, ending: Ending): string | PayloadPart | undefined {
  const { thread, turn } = lease.claim;
  if (!isEdge(thread) || ending.status === "waiting") return undefined;
  if (ending.status === "failed") return couldNotAnswer(thread.scope.agent, ` (turn ${turn})`);
  const answer = ending.reply !== null && ending.stop === "answered" ? answerIn(setup.agent, ending.reply) : undefined;
  return answer && { type: "payload", payloadType: answer.type, payload: answer.payload };
}
