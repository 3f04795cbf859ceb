import { beginningShown } from "../../compiler/index.ts";
import { truncateText } from "../../guard/index.ts";
import {
  type Agent,
  type Allowed,
  type Approval,
  type ApprovalId,
  asStrataError,
  type CountTokens,
  doneBy,
  eventId,
  issueId,
  lowestTrust,
  never,
  StrataError,
  type Tool,
  type ToolOutcome,
  type Trust,
  trustOf,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import {
  agentAt,
  BETWEEN_TURNS,
  foundIn,
  limitsOf,
  outOfState,
  type Parts,
  retryWhileBusy,
  runTool,
  threadOf,
} from "../../turn/index.ts";
import { ALREADY_DECIDED, DECIDED, NOT_FOUND, notInState } from "./decision-store.ts";
import { schemaDigest } from "./steps.ts";
import { APPROVAL_STORE, type ToldEvent } from "./store.ts";
import { denied, mediaOmitted, outcomeUnknown, ran, resolved } from "./wording.ts";

/** A person's word about a call. */
export interface Verdict {
  /** `resolved`: it was approved and its outcome is unknown; the note says what the person found. */
  readonly verdict: "approved" | "denied" | "resolved";
  /** What the agent reads about a call that was denied or resolved. */
  readonly note?: Untrusted;
  /** Ends the tool of an approved call. */
  readonly signal?: AbortSignal;
}

/** The parts, and the approved calls that run in this program just now. */
interface DecidingParts extends Parts {
  readonly acting: Set<ApprovalId>;
}

/** One call, and the decision about it. */
interface Case extends Verdict {
  readonly approval: Approval;
  readonly thread: Thread;
  readonly actor: Allowed<"view">;
}

/** The call, when it is in the actor's reach. @throws StrataError `approval_not_found` */
export async function approvalOf(parts: Parts, actor: Allowed<"view">, id: ApprovalId): Promise<Approval> {
  const { approval } = parts.store.part(APPROVAL_STORE);
  const found = await foundIn(parts, actor, (scope) => approval(scope, id));
  if (found !== undefined) return found;
  throw NOT_FOUND.of(
    `there is no approval ${id} in your reach; \`strata approval list\` or \`GET /v1/approvals?status=waiting\` lists those that wait`,
    { approval: id },
  );
}

/** The same, with how it is decided while it waits and another person than an operator decides. */
export function withDecision({ agents, tools }: Pick<Parts, "agents" | "tools">, approval: Approval): Approval {
  const { id, scope, tool: name, status } = approval;
  const agent = agents.all.find((one) => one.org === scope.org && one.name === scope.agent);
  const tool = status === "waiting" && agent?.tools.includes(name) ? tools.get(name) : undefined;
  return tool?.decidedWith === undefined ? approval : { ...approval, decidedWith: tool.decidedWith(id) };
}

/**
 * Decides about a call. If approved, it runs once and now, as the agent that requested it, and its result is stored with the decision.
 * In any case the thread gets an event for the agent, which its next turn handles.
 */
export async function decide(
  parts: DecidingParts,
  actor: Allowed<"view">,
  id: ApprovalId,
  verdict: Verdict,
): Promise<Approval> {
  const approval = await approvalOf(parts, actor, id);
  if (approval.due !== undefined) {
    const message = `${id} is a question, which is neither approved nor denied: answer it with \`strata escalation answer ${id} TEXT\`, or close it`;
    throw new StrataError("invalid_input", message, { approval: id });
  }
  const thread = await threadOf(parts, actor, approval.thread);
  const one: Case = { ...verdict, approval, thread, actor };
  switch (verdict.verdict) {
    case "approved":
      return approveCall(parts, one);
    case "denied":
      return deny(parts, one);
    case "resolved":
      return resolve(parts, one);
    default:
      return never(verdict.verdict);
  }
}

async function deny(parts: Parts, { approval, actor, note }: Case): Promise<Approval> {
  const { id, tool } = approval;
  const text = denied(id, tool, actor.role, note);
  return parts.store.part(APPROVAL_STORE).decideApproval(approval.scope, id, {
    verdict: "denied",
    ...doneBy(actor),
    at: parts.clock.recorded(),
    ...(note !== undefined && { note }),
    event: await eventOf(parts, approval, { text, trust: trustOf(actor), failed: true }),
  });
}

async function approveCall(parts: DecidingParts, one: Case): Promise<Approval> {
  const { approval, thread, actor, note } = one;
  const { id, scope, status } = approval;
  // The input of a denied call may be gone with a retracted event: the tool is not asked about it.
  if (status !== "waiting") throw ALREADY_DECIDED.of(notInState(id, status, "waiting"), { approval: id, status });
  const tool = await toolFor(parts, approval, thread);
  if (one.signal?.aborted) {
    const message = `nothing was decided about ${id}, because the program is ending; approve it when it runs again`;
    throw new StrataError("turn_cancelled", message, { approval: id });
  }
  const decision = { verdict: "approved", ...doneBy(actor), at: parts.clock.recorded() } as const;
  parts.acting.add(id);
  try {
    await parts.store
      .part(APPROVAL_STORE)
      .decideApproval(scope, id, { ...decision, ...(note !== undefined && { note }) });
    return await act(parts, one, tool);
  } finally {
    parts.acting.delete(id);
  }
}

/** The tool as the agent has it that asked, whatever the thread is pinned to by now. @throws StrataError `tool_not_found`, `invalid_input` before anything is decided */
async function toolFor(parts: Parts, asked: Approval, thread: Thread): Promise<Acting> {
  const { tool: name, input, schema } = asked;
  const { version } = (await parts.store.turn(asked.scope, asked.turn)) ?? thread;
  const agent = await agentAt(parts, { scope: asked.scope, version });
  const tool = agent.tools.includes(name) ? parts.tools.get(name) : undefined;
  if (tool === undefined) {
    const message = `${agent.name} has no tool ${name} any more, so the call cannot run; deny it`;
    throw new StrataError("tool_not_found", message, { tool: name });
  }
  if (schema !== undefined && schema !== schemaDigest(tool)) {
    const message = `${name} has changed since the call was made, so it might do something else than requested; deny it`;
    throw new StrataError("invalid_input", message, { tool: name });
  }
  const wrongState = outOfState(tool, BETWEEN_TURNS);
  if (wrongState !== undefined) {
    const message = `${name} ${wrongState} when an approved call runs; deny it`;
    throw new StrataError("invalid_input", message, { tool: name });
  }
  const problem = tool.check(input);
  if (problem !== undefined) throw new StrataError("invalid_input", `${problem} Deny the call.`, { tool: name });
  const { seconds } = limitsOf(agent, tool);
  const { result, turn } = agent.budgets;
  return { tool, seconds: Math.min(seconds, turn.seconds), room: result, count: await counterOf(parts, agent) };
}

/** How an approved call is run. */
interface Acting {
  readonly tool: Tool;
  readonly seconds: number;
  /** Tokens that its result may take. */
  readonly room: number;
  readonly count: CountTokens;
}

async function act(parts: Parts, one: Case, { tool, seconds, room, count }: Acting): Promise<Approval> {
  const { approval, thread, actor } = one;
  const { id, scope, turn, call, taint, input } = approval;
  const events = (await parts.store.turn(scope, turn))?.events.map((event) => event.id) ?? [];
  const context = {
    scope,
    thread: thread.id,
    turn,
    call,
    events,
    at: parts.clock.recorded(),
    taint,
    approvedBy: { id: actor.id, role: actor.role },
    state: BETWEEN_TURNS,
  };
  const signal = one.signal ?? new AbortController().signal;
  const { outcome, isKnown } = await runTool(parts, tool, input, { context, seconds, signal });
  if (!isKnown) return leave(parts, one, outcome);
  const result = cutResult(outcome.text, room, count);
  const text = `${ran(id, approval.tool, outcome.failed, result)}${withoutMedia(outcome)}`;
  const writes = outcome.failed ? [] : (outcome.writes ?? []);
  const finish = {
    outcome: { text: result, failed: outcome.failed },
    writes: parts.store.writes.withIds(writes, parts.clock.real(), parts.random),
    event: await eventOf(parts, approval, {
      text,
      trust: lowestTrust([tool.trust, "operator"]),
      result: `${result}${withoutMedia(outcome)}`,
      failed: outcome.failed,
    }),
    at: parts.clock.recorded(),
  };
  try {
    return await retryWhileBusy(() => parts.store.part(APPROVAL_STORE).finishApproval(scope, id, finish));
  } catch (thrown) {
    throw notKept(approval, finish.outcome, asStrataError(thrown, "store_failed"));
  }
}

/** An event of the platform's holds its words alone. */
const withoutMedia = ({ media = [] }: ToolOutcome): string =>
  media.length === 0 ? "" : `\n${mediaOmitted(media.map(({ mediaType }) => mediaType))}`;

/** Counts as the agent's model does; if that cannot be opened now, as for an unknown model. */
async function counterOf(parts: Parts, agent: Agent): Promise<CountTokens> {
  const model = await parts.modelOf(agent).catch(() => undefined);
  return parts.counterOf(model?.wire ?? "unknown");
}

/**
 * It is unknown whether the call took effect: it stays approved until a person says what they found. An agent that waits keeps waiting; any
 * other is informed of that much.
 */
async function leave(
  parts: Parts,
  { approval, thread, actor }: Case,
  { text: sentence }: ToolOutcome,
): Promise<Approval> {
  const { id, scope, tool, answers } = approval;
  const call = answers && (await parts.store.callLeftOpen(scope, thread.id, answers));
  if (call?.state === "open") return approvalOf(parts, actor, id);
  const { answer: _, ...event } = await eventOf(parts, approval, {
    text: outcomeUnknown(id, tool, sentence),
    trust: "operator",
  });
  await retryWhileBusy(() => parts.store.receive(scope, thread.id, [event]));
  return approvalOf(parts, actor, id);
}

const ended = ({ failed }: Pick<ToolOutcome, "failed">): string => (failed ? "failed" : "answered");

/** How many characters of an outcome an error's message quotes; its details hold all of it. */
const LONGEST_QUOTE = 500;

/** Only the approver can still learn the outcome. */
function notKept(
  { id, tool }: Approval,
  outcome: Pick<ToolOutcome, "text" | "failed">,
  cause: StrataError,
): StrataError {
  const what = `${id}: ${tool} has run and ${ended(outcome)} ${JSON.stringify(outcome.text.slice(0, LONGEST_QUOTE))}`;
  const resolving = `\`strata approval resolve ${id} --note TEXT\` or \`POST /v1/approvals/${id}/resolve\` with a note`;
  const message = `${what}, but that could not be recorded: ${cause.message}. It will not run again; tell the agent with ${resolving}`;
  return new StrataError(cause.traits, message, { ...cause.details, approval: id, outcome }, cause);
}

/** A person has checked what the call was meant to change: their word replaces the outcome that was never recorded. */
async function resolve(parts: DecidingParts, { approval, actor, note }: Case): Promise<Approval> {
  const { id, tool, scope } = approval;
  if (note === undefined || note.trim() === "") {
    const message = `say what you found out about ${id}: the agent reads it, and nothing else is known about the result`;
    throw new StrataError("invalid_input", message, { approval: id });
  }
  if (parts.acting.has(id)) {
    const message = `${id} is running; wait for its end, which is recorded automatically`;
    throw ALREADY_DECIDED.of(message, { approval: id });
  }
  const text = resolved(id, tool, actor.role, note);
  return parts.store.part(APPROVAL_STORE).finishApproval(scope, id, {
    outcome: { text: note, failed: false },
    writes: [],
    event: await eventOf(parts, approval, { text, trust: trustOf(actor) }),
    at: parts.clock.recorded(),
  });
}

/** What a person decided about a call, and its result. */

/** `result`: the call's result if the agent still waits for it; by default the same text. */
interface Told {
  readonly text: string;
  readonly trust: Trust;
  readonly result?: string;
  readonly failed?: boolean;
}

export async function eventOf(
  parts: Parts,
  { scope, turn, thread }: Approval,
  { text, trust, result = text, failed = false }: Told,
): Promise<ToldEvent> {
  const at = parts.clock.recorded();
  const { channel = "" } = (await parts.store.thread(scope, thread)) ?? {};
  // The agent's reply to it takes the same route as the messages that led to the call.
  const asked = await parts.store.turn(scope, turn);
  const first = asked && asked.run !== turn ? await parts.store.turn(scope, asked.run) : undefined;
  const line = [...(first?.events ?? []), ...(asked?.events ?? [])].findLast((event) => event.line !== undefined)?.line;
  return {
    ...(line !== undefined && { line }),
    id: eventId(issueId("event", parts.clock.real(), parts.random(10))),
    kind: DECIDED,
    trust,
    channel,
    content: [{ type: "text", text: untrusted(text) }],
    at,
    answer: { text: untrusted(result), failed },
  };
}

/** More characters than this are never one token's share: a huge text costs no more to cut than a large one. */
const MOST_PER_TOKEN = 16;

/**
 * A result delivered in an event instead of the transcript: cut to `room` tokens like every result, never inside a character, and marked as
 * cut.
 */
function cutResult(text: Untrusted, room: number, count: CountTokens): Untrusted {
  if (text.length <= room * MOST_PER_TOKEN && count(text) <= room) return text;
  const cutTo = (length: number): string => {
    const beginning = truncateText(text, length, "");
    return `${beginning}\n${beginningShown("result", beginning.length, text.length)}`;
  };
  let fits = 0;
  let tooMany = Math.min(text.length, room * MOST_PER_TOKEN) + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (count(cutTo(middle)) <= room) fits = middle;
    else tooMany = middle;
  }
  return untrusted(cutTo(fits));
}
