import {
  agentName,
  type ContactScope,
  contactId,
  eventId,
  type Json,
  orgId,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  threadId,
  toolName,
  turnId,
  untrusted,
} from "../../protocol/index.ts";
import { toolset } from "./index.ts";

/** The scope of one contact of the tests' agent. */
export function scopeOf(contact: string): ContactScope {
  return { org: orgId("home"), agent: agentName("companion"), contact: contactId(contact) };
}

/** A turn's context as the runtime gives it. */
export function contextOf(contact: string, more: Partial<ToolContext> = {}): ToolContext {
  return {
    scope: scopeOf(contact),
    thread: threadId(`thr_${"0".repeat(26)}`),
    turn: turnId(`trn_${"0".repeat(26)}`),
    call: "call-1",
    events: [eventId(`evt_${"0".repeat(26)}`)],
    at: Date.UTC(2026, 10, 21, 9, 30),
    taint: "contact",
    state: "executing actions",
    signal: new AbortController().signal,
    progress: () => undefined,
    secret: (name) => `the secret ${name}`,
    ...more,
  };
}

/** Calls a tool as the runtime does: first the check, then the run; a refused argument is a failed outcome. */
export async function call(
  tools: readonly Tool[],
  name: string,
  input: Json,
  context: ToolContext,
): Promise<ToolOutcome> {
  const tool = toolset(tools).get(toolName(name));
  if (tool === undefined) throw new Error(`the test calls ${name}, which it does not have`);
  const problem = tool.check(input);
  return problem === undefined ? tool.run(input, context) : { text: untrusted(problem), failed: true };
}
