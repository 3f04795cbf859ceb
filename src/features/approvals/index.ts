/** Tool calls that wait for a person: listed, decided, and reported to the agent. */
import { z } from "zod";
import { count, type Style, setIn, whoDid } from "../../print/index.ts";
import {
  type Allowed,
  APPROVAL_STATUSES,
  type Approval,
  type ApprovalId,
  type ApprovalStatus,
  isoSecond,
  type Scope,
  type StrataError,
  TRUSTS,
  threadId,
  type Untrusted,
} from "../../protocol/index.ts";
import { featureApi, newestOf, type Parts, reach, type Whose } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import { DONE_BY, FIELDS, NEXT, nextAfter, PAGE } from "../fields.ts";
import { type Call, type Operation, type OperationContext, operation } from "../operation.ts";
import { approvalOf, decide, type Verdict, withDecision } from "./decide.ts";
import { ALREADY_DECIDED, CALL_FAILED, NOT_FOUND } from "./decision-store.ts";
import { ESCALATION_API, ESCALATIONS, escalationApi } from "./escalation.ts";
import { STEPS } from "./steps.ts";
import { APPROVAL_STORE, type ApprovalFilter } from "./store.ts";
import { escalateTool } from "./tools.ts";

/** A call that waits, as the doors show it. */
export const APPROVAL = z
  .object({
    id: z.string(),
    scope: z.object({ org: z.string(), agent: z.string(), contact: z.string() }),
    thread: z.string(),
    turn: z.string(),
    call: z.string().describe("the provider's id of the call"),
    tool: z.string(),
    input: z.unknown().describe("the arguments from the model"),
    schema: z.string().optional().describe("digest of the tool's schema when the call was made"),
    answers: z.string().optional().describe("the open call that the decision answers: the agent waits for it"),
    taint: z.enum(TRUSTS).describe("the lowest trust in the prompt that led to the call"),
    status: z.enum(APPROVAL_STATUSES),
    askedAt: z.number().describe("milliseconds since 1970"),
    decidedAt: z.number().optional().describe("milliseconds since 1970"),
    decidedBy: z.string().optional(),
    decidedById: DONE_BY.byId,
    note: z.string().optional(),
    outcome: z.object({ text: z.string(), failed: z.boolean() }).optional(),
    decidedWith: z
      .string()
      .optional()
      .describe("commands and routes with which it is decided, while it waits for another person than an operator"),
  })
  .meta({ id: "Approval", description: "A tool call that waits or waited for a person's decision." });

type ApprovalView = z.output<typeof APPROVAL>;

/** What a person may have to act on: waiting calls, and those whose outcome is unknown. */
const OPEN: readonly ApprovalStatus[] = ["waiting", "approved"];

const STATUS = z
  .enum([...APPROVAL_STATUSES, "open", "all"])
  .default("open")
  .describe("only with this status; open: waiting, or approved without a known result");

const statusesOf = (status: z.output<typeof STATUS>): readonly ApprovalStatus[] => {
  if (status === "open") return OPEN;
  return status === "all" ? APPROVAL_STATUSES : [status];
};

const ID = "apr_01jd8k3v5x9m2q7r4t6w8y0zab";
const ONE = z.strictObject({ id: FIELDS.approval });

const listApprovals = operation({
  name: "approval.list",
  does: "List tool calls that wait or waited for a person's decision, newest first: of all agents, of one agent, or of one of its contacts.",
  may: "read",
  at: "GET /v1/approvals",
  takes: z.strictObject({
    agent: FIELDS.agent.optional(),
    contact: FIELDS.contact.optional(),
    status: STATUS,
    ...PAGE,
  }),
  gives: z.object({ approvals: z.array(APPROVAL).readonly(), ...NEXT }),
  list: "approvals",
  command: { examples: ["approval list --status all"], opens: "record" },
  run: async ({ runtime }, { status, ...wish }, { actor }) => {
    const approvals = await runtime.use(APPROVAL_API).newestApprovals(actor, { ...wish, statuses: statusesOf(status) });
    return { approvals, ...nextAfter(approvals, wish.limit, ({ askedAt: at, id }) => ({ at, id })) };
  },
  show: ({ approvals }, { style, given }) => {
    if (approvals.length === 0)
      return [statusesOf(given.status).includes("waiting") ? "No call waits." : "There is no such call."];
    return [
      ...approvals.flatMap((one) => approvalLines(one, style)),
      style.dim(count(approvals.length, "call")),
      ...(approvals.some(({ status }) => status === "waiting") ? [DECIDING] : []),
    ];
  },
});

const DECIDING = "`strata approval approve ID` runs one, `strata approval deny ID` refuses it.";

const showApproval = operation({
  name: "approval.show",
  does: "Show one call: its arguments, who decided, and the result.",
  may: "read",
  at: "GET /v1/approvals/{id}",
  takes: ONE,
  gives: APPROVAL,
  command: { words: ["id"], examples: [`approval show ${ID}`], opens: "record" },
  run: ({ runtime }, { id }, { actor }) => runtime.use(APPROVAL_API).approval(actor, id),
  show: (approval, { style }) => approvalLines(approval, style),
});

interface Deciding {
  readonly verb: "approve" | "deny" | "resolve";
  readonly verdict: "approved" | "denied" | "resolved";
  readonly does: string;
  readonly note: z.ZodType<Untrusted | undefined, string | undefined>;
  readonly example: string;
}

/** The decisions differ in a word and in the purpose of a note. The agent learns of each in a following turn. */
const deciding = ({ verb, verdict, does, note, example }: Deciding): Operation =>
  operation({
    name: `approval.${verb}`,
    does,
    may: "operate",
    at: `POST /v1/approvals/{id}/${verb}`,
    takes: ONE.extend({ note }),
    gives: APPROVAL,
    command: { words: ["id"], examples: [example], opens: "everything" },
    run: ({ runtime }, { id, note }, { actor, signal }) =>
      runtime.use(APPROVAL_API).decide(actor, id, { verdict, signal, ...(note !== undefined && { note }) }),
    show: (approval, { style }) => approvalLines(approval, style),
    faults: verdict === "approved" ? failureOf : () => [],
    follows: tellAgent,
  });

/** That an approved call failed: whoever approved it should not take it for done. */
export function failureOf({ id, tool, outcome }: ApprovalView): readonly StrataError[] {
  if (outcome?.failed !== true) return [];
  const message = `${tool} was approved and has failed; ${id} is decided and will not run again: if it is still wanted, the agent must make a new call`;
  return [CALL_FAILED.of(message, { approval: id, tool })];
}

/** The turn in which the agent hears of it. */
async function* tellAgent({ runtime }: OperationContext, { thread }: ApprovalView, { actor, signal }: Call<"operate">) {
  yield* runtime.follow(actor, await runtime.thread(actor, threadId(thread)), { signal });
}

const noteField = (message: string) => FIELDS.note.describe(message);

const OPERATIONS: readonly Operation[] = [
  listApprovals,
  showApproval,
  deciding({
    verb: "approve",
    verdict: "approved",
    does: "Approve a waiting call: it runs now, once, and an event on its thread tells the agent the result.",
    note: noteField("a note for the record").optional(),
    example: `approval approve ${ID}`,
  }),
  deciding({
    verb: "deny",
    verdict: "denied",
    does: "Deny a waiting call: it does not run, and an event on its thread tells the agent.",
    note: noteField("why; the agent sees it").optional(),
    example: `approval deny ${ID}`,
  }),
  deciding({
    verb: "resolve",
    verdict: "resolved",
    does: "Record the result of an approved call whose result is not known; an event on its thread tells the agent.",
    note: noteField("what you found out; the agent sees it"),
    example: `approval resolve ${ID} --note "the money was paid back"`,
  }),
];

/** The same for people. */
export function approvalLines(
  { id, scope, tool, input, status, askedAt, note, outcome, decidedWith, ...decided }: ApprovalView,
  style: Style,
) {
  const { decidedBy: by, decidedById: byId } = decided;
  const decider = by === undefined ? "" : ` by ${whoDid({ by, byId })}`;
  const head = `${id} · ${scope.agent} with ${scope.contact} · ${isoSecond(askedAt)} · ${status}${decider}`;
  return [
    ...setIn(head, { first: "", more: "    " }, style).map(style.dim),
    ...setIn(JSON.stringify(input), { first: `  ${style.bold(tool)} `, more: "    " }, style),
    ...(decidedWith === undefined ? [] : setIn(`decided with ${decidedWith}`, { first: "  ", more: "    " }, style)),
    ...(note === undefined ? [] : setIn(note, { first: "  note: ", more: "    " }, style)),
    ...(status === "approved"
      ? [`  no result is recorded: if it is not running, check what it should have changed, then ${resolving(id)}`]
      : []),
    ...(outcome === undefined ? [] : setIn(outcome.text, { first: `  ${came(outcome)}: `, more: "    " }, style)),
  ];
}

const came = ({ failed }: { readonly failed: boolean }): string => (failed ? "failed" : "answered");

const resolving = (id: string): string => `\`strata approval resolve ${id} --note TEXT\``;

export { withDecision } from "./decide.ts";
export { ESCALATION_API, type EscalationApi, openQuestions } from "./escalation.ts";
export { APPROVAL_STORE } from "./store.ts";
export { ESCALATE, QUESTION } from "./tools.ts";

export const FEATURE: Feature = {
  name: "approvals",
  store: APPROVAL_STORE,
  errors: [NOT_FOUND, ALREADY_DECIDED, CALL_FAILED],
  tools: () => [escalateTool()],
  operations: [...OPERATIONS, ...ESCALATIONS],
  steps: STEPS,
  open: () => ({
    api: ({ parts }) => {
      const [approvals, escalations] = [
        APPROVAL_API.open(approvalApi(parts)),
        ESCALATION_API.open(escalationApi(parts)),
      ];
      return {
        addTo: (key) => {
          approvals.addTo(key);
          escalations.addTo(key);
        },
      };
    },
  }),
};

/** Which calls are listed. */
interface ApprovalWish extends Omit<Whose, "channel" | "except"> {
  /** All by default. */
  readonly statuses?: readonly ApprovalStatus[] | undefined;
}

/** Tool calls that wait or waited for a person, and their decisions. */
export interface ApprovalApi {
  /** Newest first. A scope with `contact: null` lists those of all contacts. */
  approvals(actor: Allowed<"read">, scope: Scope, filter: ApprovalFilter, limit: number): Promise<readonly Approval[]>;
  /** Of one agent or of all, newest first. @throws StrataError `agent_not_found` for an unknown name */
  newestApprovals(actor: Allowed<"read">, wish: ApprovalWish): Promise<readonly Approval[]>;
  /** @throws StrataError `approval_not_found` */
  approval(actor: Allowed<"read">, id: ApprovalId): Promise<Approval>;
  /**
   * Approves a waiting call, which runs it once and now, or denies it; or resolves an approved call without a recorded result, because the
   * program ended, the database was locked or a tool that acts outside was abandoned. In each case an event then waits on its thread: run a
   * turn so that the agent reports it. Operators only.
   * @throws StrataError `approval_not_found`, `approval_decided`, `tool_not_found` and `invalid_input` when it cannot run any more; if an
   * outcome cannot be kept, `store_busy` or `store_failed` with the outcome in its details
   */
  decide(actor: Allowed<"operate">, id: ApprovalId, verdict: Verdict): Promise<Approval>;
  /** The same by a member, about a call that is their own: `check` throws for any other. @throws StrataError as `decide` */
  decideOwn(
    actor: Allowed<"decide">,
    id: ApprovalId,
    verdict: Verdict,
    check: (approval: Approval) => void,
  ): Promise<Approval>;
}

/** The functions of approvals, as `runtime.use` gives them. */
export const APPROVAL_API = featureApi<ApprovalApi>("approvals");

/** The doors to calls that wait for a person. */
export function approvalApi(parts: Parts): ApprovalApi {
  const acting = new Set<ApprovalId>();
  const { approvals } = parts.store.part(APPROVAL_STORE);
  return {
    approvals: async (actor, scope, filter, limit) => {
      const found = await approvals(await reach(parts, actor, scope), filter, limit);
      return found.map((one) => withDecision(parts, one));
    },
    newestApprovals: (actor, { statuses, ...whose }) => {
      const { after } = whose;
      const about = "calls";
      const filters: readonly ApprovalFilter[] = statuses?.map((status) => ({ status, about, after })) ?? [
        { about, after },
      ];
      const find = async (scope: Scope): Promise<readonly Approval[]> =>
        (await Promise.all(filters.map((filter) => approvals(scope, filter, whose.limit))))
          .flat()
          .map((one) => withDecision(parts, one));
      return newestOf(parts, actor, whose, { find, position: ({ askedAt: at, id }) => ({ at, id }) });
    },
    approval: async (actor, id) => withDecision(parts, await approvalOf(parts, actor, id)),
    decide: (actor, id, verdict) => decide({ ...parts, acting }, actor, id, verdict),
    decideOwn: async (actor, id, verdict, check) => {
      check(await approvalOf(parts, actor, id));
      return decide({ ...parts, acting }, actor, id, verdict);
    },
  };
}
