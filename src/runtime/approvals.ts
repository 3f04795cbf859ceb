import {
  type Actor,
  type Approval,
  type ApprovalId,
  approvalId,
  canonicalJson,
  eventId,
  issueId,
  lowestTrust,
  memoryId,
  type NewApproval,
  StrataError,
  type Tool,
  type Trust,
  trustOf,
  type Untrusted,
  untrusted,
} from "../protocol/index.ts";
import type { Thread } from "../stores/index.ts";
import { approvalOf, threadOf } from "./access.ts";
import { agentAt } from "./cast.ts";
import type { Parts } from "./parts.ts";
import { limitsOf, runTool } from "./run-tool.ts";
import type { Verdict } from "./runtime.ts";
import type { Work } from "./work.ts";

/** Whether a call waits for a person: by the tool's own word, or by the declaration's. A tool that cannot say so asks. */
export function mustAsk({ cast }: Work, tool: Tool, input: NewApproval["input"]): boolean {
  if (cast.agent.rules?.some((rule) => rule.tool === tool.schema.name && rule.approval === true)) return true;
  try {
    return tool.needsApproval?.(input) ?? false;
  } catch {
    return true;
  }
}

/** Writes down that a call waits; the same call again in one turn is the same question. It lands with the turn's commit. */
export function ask(work: Work, call: Pick<NewApproval, "tool" | "input" | "call">, taint: Trust): NewApproval {
  const key = canonicalJson(call.input);
  const asked = work.approvals.find((one) => one.tool === call.tool && canonicalJson(one.input) === key);
  if (asked !== undefined) return asked;
  const { wall, random } = work.parts;
  const approval = { ...call, id: approvalId(issueId("approval", wall(), random(10))), taint };
  work.approvals.push(approval);
  return approval;
}

/** What the model reads instead of a result. */
export const waitingText = ({ id, tool }: NewApproval): Untrusted =>
  untrusted(
    `Not run yet: ${tool} waits for a person's approval (${id}). Say so and go on without it; what comes of it will be told here.`,
  );

/**
 * Decides about a waiting call. Approved, it runs now, as the agent that asked for it, and once: what comes of it is kept with
 * the decision. Either way the thread gets an event that tells the agent; its next turn handles it.
 */
export async function decide(parts: Parts, actor: Actor, id: ApprovalId, verdict: Verdict): Promise<Approval> {
  const approval = await approvalOf(parts, actor, id, "operate");
  const thread = await threadOf(parts, actor, approval.thread, "operate");
  if (verdict.verdict === "denied") return deny(parts, actor, { approval, thread, note: verdict.note });
  const tool = await toolFor(parts, approval, thread);
  const decision = { verdict: "approved", by: actor.role, at: parts.clock() } as const;
  const note = verdict.note === undefined ? {} : { note: verdict.note };
  await parts.store.decideApproval(approval.scope, id, { ...decision, ...note });
  return act(parts, { approval, thread, note: verdict.note }, tool);
}

interface Case {
  readonly approval: Approval;
  readonly thread: Thread;
  readonly note: Untrusted | undefined;
}

async function deny(parts: Parts, actor: Actor, { approval, thread, note }: Case): Promise<Approval> {
  const { id, tool } = approval;
  const why = note === undefined ? "" : `: ${note}`;
  const text = `${id}: ${tool} was denied by the ${actor.role} and not run${why}`;
  return parts.store.decideApproval(approval.scope, id, {
    verdict: "denied",
    by: actor.role,
    at: parts.clock(),
    ...(note !== undefined && { note }),
    event: eventOf(parts, thread, text, trustOf(actor)),
  });
}

/** The tool as the thread's agent has it. @throws StrataError `tool_not_found`, `invalid_input` before anything is decided */
async function toolFor(parts: Parts, { tool: name, input }: Approval, thread: Thread) {
  const agent = await agentAt(parts, thread);
  const tool = agent.tools.includes(name) ? parts.tools.get(name) : undefined;
  if (tool === undefined) {
    const message = `${agent.name} has no tool ${name} any more, so the call cannot run; deny it`;
    throw new StrataError("tool_not_found", message, { tool: name });
  }
  const problem = tool.check(input);
  if (problem !== undefined) throw new StrataError("invalid_input", `${problem} Deny the call.`, { tool: name });
  const { seconds } = limitsOf(agent, tool);
  return { tool, seconds: Math.min(seconds, agent.budgets.turn.seconds) };
}

async function act(
  parts: Parts,
  { approval, thread }: Case,
  { tool, seconds }: { readonly tool: Tool; readonly seconds: number },
): Promise<Approval> {
  const { id, scope, turn, call, taint, input } = approval;
  const context = { scope, thread: thread.id, turn, call, at: parts.clock(), taint };
  const outcome = await runTool(parts, tool, input, { context, seconds, signal: new AbortController().signal });
  const text = `${id}: ${approval.tool} was approved and has run. It ${outcome.failed ? "failed" : "answered"}:\n${outcome.text}`;
  const writes = outcome.failed ? [] : (outcome.writes ?? []);
  return parts.store.finishApproval(scope, id, {
    outcome: { text: outcome.text, failed: outcome.failed },
    writes,
    memories: writes.map(() => memoryId(issueId("memory", parts.wall(), parts.random(10)))),
    event: eventOf(parts, thread, text, lowestTrust([tool.trust, "operator"])),
    at: parts.clock(),
  });
}

function eventOf(parts: Parts, { channel }: Thread, text: string, trust: Trust) {
  const at = parts.clock();
  return {
    id: eventId(issueId("event", parts.wall(), parts.random(10))),
    kind: "approval",
    trust,
    channel,
    content: [{ type: "text", text: untrusted(text) }],
    at,
  } as const;
}
