import {
  approvalId,
  canonicalJson,
  type Digest,
  digestOf,
  HELD_CALLS,
  issueId,
  type Json,
  type NewApproval,
  type Tool,
  untrusted,
} from "../../protocol/index.ts";
import {
  BETWEEN_TURNS,
  type CallInstead,
  isCalled,
  type MadeCall,
  outOfState,
  type RunningTurn,
  type TurnSteps,
} from "../../turn/index.ts";
import { approvalForSeveral, approvalForSubagent, approvalTooLate, waitsForApproval } from "./wording.ts";

/** Calls that need a person wait in the record, and where the agent's declaration says so, the agent waits, too. */
export const STEPS: TurnSteps = { beforeCall };

function beforeCall(turn: RunningTurn, made: MadeCall): CallInstead | undefined {
  const { call, tool, taint } = made;
  if (!made.mustAsk && !needsApproval(turn, tool, call.input)) return undefined;
  if (turn.lease.claim.batchMembers !== undefined) return { refuses: approvalForSeveral(call.tool) };
  if (isCalled(turn)) return { refuses: approvalForSubagent(call.tool) };
  const late = outOfState(tool, BETWEEN_TURNS);
  if (late !== undefined) return { refuses: approvalTooLate(call.tool, late) };
  const wanted = { call: call.id, tool: call.tool, input: call.input, schema: schemaDigest(tool), taint };
  const known = sameAsked(turn, wanted);
  if (known !== undefined || rulesFor(turn, tool)?.wait !== true) {
    const { id } = known ?? request(turn, wanted);
    return { says: untrusted(waitsForApproval(tool.schema.name, id)) };
  }
  return {
    later: {
      waitsFor: "person",
      starts: ({ call: answers }) => {
        request(turn, { ...wanted, answers });
        return [];
      },
    },
  };
}

const rulesFor = ({ setup }: RunningTurn, { schema }: Tool) =>
  setup.agent.rules?.find((rule) => rule.tool === schema.name);

/**
 * Whether a call waits for a person: the tool or the declaration may demand it. Only a plain no lets it run: if the tool throws, or
 * answers with a promise, a person is asked.
 */
function needsApproval(turn: RunningTurn, tool: Tool, input: Json): boolean {
  if (rulesFor(turn, tool)?.approval === true) return true;
  try {
    const says: unknown = tool.needsApproval?.(input);
    // The promise is not awaited, but its rejection must not end the program.
    if (says instanceof Promise) says.catch(() => undefined);
    return says !== undefined && says !== false;
  } catch {
    return true;
  }
}

/** Differs for another tool of the same name, and for the tool before it was changed. */
export const schemaDigest = ({ schema }: Tool): Digest => digestOf(canonicalJson(schema));

/** The same call again in one turn is the same question. */
function sameAsked({ extras }: RunningTurn, { tool, input }: Pick<NewApproval, "tool" | "input">) {
  const key = canonicalJson(input);
  return HELD_CALLS.of({ extras })?.find((one) => one.tool === tool && canonicalJson(one.input) === key);
}

/** Notes that a call waits. Stored with the turn's commit. */
function request({ parts, extras }: RunningTurn, call: Omit<NewApproval, "id">): NewApproval {
  const { clock, random } = parts;
  const approval = { ...call, id: approvalId(issueId("approval", clock.real(), random(10))) };
  HELD_CALLS.put(extras, [...(HELD_CALLS.of({ extras }) ?? []), approval]);
  return approval;
}
