import {
  approvalId,
  canonicalJson,
  type Digest,
  digestOf,
  HELD_CALLS,
  issueId,
  type Json,
  lowestTrust,
  type NewApproval,
  TAINTED,
  type Tainted,
  type Tool,
  type Trust,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import { waitsForApproval } from "../wording.ts";
import type { TurnState } from "./turn-state.ts";

/**
 * Whether a call waits for a person: the tool or the declaration may demand it. Only a plain no lets it run: if the tool throws, or
 * answers with a promise, a person is asked.
 */
export function needsApproval({ setup }: TurnState, tool: Tool, input: NewApproval["input"]): boolean {
  if (setup.agent.rules?.some((rule) => rule.tool === tool.schema.name && rule.approval === true)) return true;
  try {
    const says: unknown = tool.needsApproval?.(input);
    // The promise is not awaited, but its rejection must not end the program.
    if (says instanceof Promise) says.catch(() => undefined);
    return says !== undefined && says !== false;
  } catch {
    return true;
  }
}

/**
 * What happens to a call in this turn. If words from outside may have led to it, the declaration decides, or the tool; if the tool
 * throws or answers anything else, a person is asked.
 */
export function whenTainted({ setup, lease }: TurnState, tool: Tool, input: Json, taint: Trust): Tainted {
  if (lowestTrust([taint, "agent"]) === "agent") return "run";
  const declared = setup.agent.rules?.find((rule) => rule.tool === tool.schema.name)?.tainted;
  if (declared !== undefined) return declared;
  if (tool.tainted === undefined) return "run";
  try {
    const says = tool.tainted(input, lease.claim.thread.scope);
    return TAINTED.includes(says) ? says : "ask";
  } catch {
    return "ask";
  }
}

/** Differs for another tool of the same name, and for the tool before it was changed. */
export const schemaDigest = ({ schema }: Tool): Digest => digestOf(canonicalJson(schema));

/** Notes that a call waits; the same call again in one turn is the same question. Stored with the turn's commit. */
export function requestApproval(state: TurnState, call: Omit<NewApproval, "id" | "taint">, taint: Trust): NewApproval {
  const key = canonicalJson(call.input);
  const held = HELD_CALLS.of(state) ?? [];
  const asked = held.find((one) => one.tool === call.tool && canonicalJson(one.input) === key);
  if (asked !== undefined) return asked;
  const { clock, random } = state.parts;
  const approval = { ...call, id: approvalId(issueId("approval", clock.real(), random(10))), taint };
  HELD_CALLS.put(state.extras, [...held, approval]);
  return approval;
}

/** What the model reads instead of a result. */
export const waitingText = ({ id, tool }: NewApproval): Untrusted => untrusted(waitsForApproval(tool, id));
