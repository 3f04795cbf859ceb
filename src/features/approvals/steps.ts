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
import { APPROVAL_STORE } from "./store.ts";
import { dueOf, ESCALATE, MOST_QUESTIONS } from "./tools.ts";
import {
  approvalForSeveral,
  approvalForSubagent,
  approvalTooLate,
  enoughAsked,
  waitsForAnswer,
  waitsForApproval,
} from "./wording.ts";

/** Calls that need a person wait in the record and, if the agent's declaration says so, the agent waits, too. */
export const STEPS: TurnSteps = {
  beforeCall,
  onStart: async (turn) => {
    const { parts, setup, lease } = turn;
    if (!setup.agent.tools.includes(ESCALATE)) return;
    const { scope, id: thread } = lease.claim.thread;
    const filter = { status: "waiting", about: "questions", thread } as const;
    waitingAtStart.set(turn, (await parts.store.part(APPROVAL_STORE).approvals(scope, filter, MOST_QUESTIONS)).length);
  },
};

/** How many waited as a turn began. */
const waitingAtStart = new WeakMap<RunningTurn, number>();

function beforeCall(turn: RunningTurn, made: MadeCall): CallInstead | undefined {
  const { call, tool, taint } = made;
  if (!made.mustAsk && !needsApproval(turn, tool, call.input)) return undefined;
  if (turn.lease.claim.batchMembers !== undefined) return { refuses: approvalForSeveral(call.tool) };
  if (isCalled(turn)) return { refuses: approvalForSubagent(call.tool) };
  const late = outOfState(tool, BETWEEN_TURNS);
  if (late !== undefined) return { refuses: approvalTooLate(call.tool, late) };
  const due = call.tool === ESCALATE ? { due: dueOf(call.input, turn.parts.clock.recorded()) } : undefined;
  const waiting =
    (waitingAtStart.get(turn) ?? 0) + (HELD_CALLS.of(turn) ?? []).filter((one) => one.due !== undefined).length;
  if (due !== undefined && waiting >= MOST_QUESTIONS) return { refuses: enoughAsked(waiting) };
  const wanted = { call: call.id, tool: call.tool, input: call.input, schema: schemaDigest(tool), taint, ...due };
  const known = sameAsked(turn, wanted);
  if (known !== undefined || rulesFor(turn, tool)?.wait !== true) {
    const { id } = known ?? request(turn, tool, wanted);
    return { message: untrusted(due === undefined ? waitsForApproval(tool.schema.name, id) : waitsForAnswer(id)) };
  }
  return {
    later: {
      waitsFor: "person",
      starts: ({ call: answers }) => {
        request(turn, tool, { ...wanted, answers });
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
    const sentence: unknown = tool.needsApproval?.(input);
    // The promise is not awaited, but its rejection must not end the program.
    if (sentence instanceof Promise) sentence.catch(() => undefined);
    return sentence !== undefined && sentence !== false;
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
function request({ parts, extras }: RunningTurn, tool: Tool, call: Omit<NewApproval, "id">): NewApproval {
  const { clock, random } = parts;
  const id = approvalId(issueId("approval", clock.real(), random(10)));
  const approval = { ...call, id, ...(tool.decidedWith !== undefined && { decidedWith: tool.decidedWith(id) }) };
  HELD_CALLS.put(extras, [...(HELD_CALLS.of({ extras }) ?? []), approval]);
  return approval;
}
