/** Questions that an agent asks a person: the tool, and what people do about them. */

import { z } from "zod";
import { count, oneLine, type Style, setIn, whoDid } from "../../print/index.ts";
import {
  type Allowed,
  type Approval,
  type ApprovalId,
  doneBy,
  isoSecond,
  type Scope,
  threadId,
  trustOf,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import { featureApi, newestOf, type Parts, type Whose } from "../../turn/index.ts";
import { DONE_BY, FIELDS, given, list as listOf, NEXT, nextAfter, PAGE, TIME } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { approvalOf, eventOf } from "./decide.ts";
import { ALREADY_DECIDED } from "./decision-store.ts";
import { APPROVAL_STORE, type ApprovalFilter } from "./store.ts";
import { MOST_QUESTIONS, QUESTION, USUAL_MINUTES } from "./tools.ts";
import { answered, closed, questionsWait } from "./wording.ts";

const VIEW = z
  .object({
    id: z.string(),
    scope: z.object({ org: z.string(), agent: z.string(), contact: z.string() }),
    thread: z.string(),
    turn: z.string(),
    question: z.string(),
    reason: z.string().optional(),
    status: z.enum(["open", "answered", "closed"]),
    at: TIME,
    due: TIME.describe("when it is to be answered, in milliseconds since 1970"),
    overdue: z.boolean().describe("whether it is still open after that"),
    taken: z
      .object({ ...DONE_BY, at: TIME })
      .optional()
      .describe("who looks after it"),
    decided: z
      .object({ ...DONE_BY, at: TIME, answer: z.string().optional(), note: z.string().optional() })
      .optional()
      .describe("who answered or closed it"),
  })
  .meta({ id: "Escalation", description: "A question of an agent to a person." });

type EscalationView = z.output<typeof VIEW>;

const STATUS_OF = { waiting: "open", approved: "open", denied: "closed", done: "answered" } as const;

function toView({ clock }: Pick<Parts, "clock">, approval: Approval): EscalationView {
  const { id, scope, thread, turn, askedAt: at, due = askedLater(at), taken, outcome, note } = approval;
  // Of an erased contact nothing is left of the question.
  const { question, reason } = QUESTION.catch({ question: "", minutes: USUAL_MINUTES }).parse(approval.input);
  const status = STATUS_OF[approval.status];
  const { decidedAt, decidedBy: by, decidedById: byId } = approval;
  return {
    ...{ id, scope, thread, turn, question, ...given("reason", reason), status, at, due },
    overdue: status === "open" && due < clock.recorded(),
    ...given("taken", taken),
    ...(by !== undefined &&
      decidedAt !== undefined && {
        decided: {
          ...{ by, ...given("byId", byId), at: decidedAt },
          ...given("answer", outcome?.text),
          ...given("note", note),
        },
      }),
  };
}

const askedLater = (at: number): number => at + USUAL_MINUTES * 60_000;

const STATUSES = ["open", "answered", "closed"] as const;
const STORED = { open: "waiting", answered: "done", closed: "denied" } as const;

interface EscalationWish extends Omit<Whose, "channel" | "except"> {
  readonly status?: (typeof STATUSES)[number];
}

/** Questions of agents to people, and their answers. */
export interface EscalationApi {
  /** Of one agent or of all, newest first. @throws StrataError `agent_not_found` for an unknown name */
  newestEscalations(actor: Allowed<"read">, wish: EscalationWish): Promise<readonly EscalationView[]>;
  /** @throws StrataError `approval_not_found` */
  escalation(actor: Allowed<"read">, id: ApprovalId): Promise<EscalationView>;
  /** The answer waits as an event on the thread: run a turn so that the agent goes on. @throws StrataError `approval_not_found`, `approval_decided` */
  answer(actor: Allowed<"decide">, id: ApprovalId, text: Untrusted): Promise<EscalationView>;
  /** Records who looks after it. @throws StrataError `approval_not_found`, `approval_decided` */
  take(actor: Allowed<"decide">, id: ApprovalId): Promise<EscalationView>;
  /** Closes it without an answer; the agent reads so. @throws StrataError `approval_not_found`, `approval_decided` */
  close(actor: Allowed<"decide">, id: ApprovalId, note?: Untrusted): Promise<EscalationView>;
}

/** The functions of escalations, as `runtime.use` gives them. */
export const ESCALATION_API = featureApi<EscalationApi>("escalations");

export function escalationApi(parts: Parts): EscalationApi {
  const store = parts.store.part(APPROVAL_STORE);
  const questionOf = async (actor: Allowed<"view">, id: ApprovalId): Promise<Approval> => {
    const found = await approvalOf(parts, actor, id);
    if (found.due !== undefined) return found;
    throw ALREADY_DECIDED.of(`${id} is a call and no question: \`strata approval show ${id}\` shows it`, {
      approval: id,
    });
  };
  return {
    newestEscalations: async (actor, { status, ...whose }) => {
      const filter: ApprovalFilter = {
        about: "questions",
        after: whose.after,
        ...(status && { status: STORED[status] }),
      };
      const find = (scope: Scope): Promise<readonly Approval[]> => store.approvals(scope, filter, whose.limit);
      const found = await newestOf(parts, actor, whose, { find, position: ({ askedAt: at, id }) => ({ at, id }) });
      return found.map((one) => toView(parts, one));
    },
    escalation: async (actor, id) => toView(parts, await questionOf(actor, id)),
    answer: async (actor, id, answer) => {
      const asked = await questionOf(actor, id);
      const said = { text: answered(id, answer), result: answer, trust: trustOf(actor) };
      const event = await eventOf(parts, asked, said);
      const decision = { verdict: { answer }, ...doneBy(actor), at: parts.clock.recorded(), event };
      return toView(parts, await store.decideApproval(asked.scope, id, decision));
    },
    take: async (actor, id) => {
      const { scope } = await questionOf(actor, id);
      return toView(parts, await store.takeQuestion(scope, id, { ...doneBy(actor), at: parts.clock.recorded() }));
    },
    close: async (actor, id, note) => {
      const asked = await questionOf(actor, id);
      const text = closed(id, note);
      const event = await eventOf(parts, asked, { text, trust: trustOf(actor), failed: true });
      const decision = {
        verdict: "denied",
        ...doneBy(actor),
        at: parts.clock.recorded(),
        event,
        ...given("note", note),
      } as const;
      return toView(parts, await store.decideApproval(asked.scope, id, decision));
    },
  };
}

/** That questions of an agent on a thread wait for an answer, as it reads it: by their ids, for their words may be a contact's. */
export async function openQuestions(
  { store, clock }: Pick<Parts, "store" | "clock">,
  { thread, scope }: Pick<Approval, "thread" | "scope">,
): Promise<string | undefined> {
  const filter = { status: "waiting", about: "questions", thread } as const;
  const open = await store.part(APPROVAL_STORE).approvals(scope, filter, MOST_QUESTIONS);
  if (open.length === 0) return undefined;
  const late = open.filter(({ due = 0 }) => due < clock.recorded());
  return questionsWait(
    open.map(({ id }) => id),
    late.length,
  );
}

const ID = "apr_01jd8k3v5x9m2q7r4t6w8y0zab";
const ONE = z.strictObject({ id: FIELDS.approval.describe("a question, apr_…") });

const listQuestions = operation({
  name: "escalation.list",
  does: "List questions that agents ask a person, newest first: of all agents, of one agent, or of one of its contacts.",
  may: "read",
  at: "GET /v1/escalations",
  takes: z.strictObject({
    agent: FIELDS.agent.optional(),
    contact: FIELDS.contact.optional(),
    status: z
      .enum([...STATUSES, "all"])
      .default("open")
      .describe("only with this status"),
    ...PAGE,
  }),
  gives: z.object({ escalations: listOf(VIEW), ...NEXT }),
  list: "escalations",
  command: { examples: ["escalation list"], opens: "record" },
  run: async ({ runtime }, { status, ...wish }, { actor }) => {
    const wanted = { ...wish, ...(status !== "all" && { status }) };
    const escalations = await runtime.use(ESCALATION_API).newestEscalations(actor, wanted);
    return { escalations, ...nextAfter(escalations, wish.limit, ({ at, id }) => ({ at, id })) };
  },
  show: ({ escalations }, { style, given: { status } }) =>
    escalations.length === 0
      ? [status === "open" ? "No question waits for a person." : "There is no such question."]
      : [...escalations.flatMap((one) => questionLines(one, style)), style.dim(count(escalations.length, "question"))],
  hints: ({ escalations }) => {
    const open = escalations.find(({ status }) => status === "open");
    return open === undefined ? [] : [`strata escalation answer ${open.id} TEXT`];
  },
});

const showQuestion = operation({
  name: "escalation.show",
  does: "Show one question: why it is asked, by when it is to be answered, who took it, and the answer.",
  may: "read",
  at: "GET /v1/escalations/{id}",
  takes: ONE,
  gives: VIEW,
  command: { words: ["id"], examples: [`escalation show ${ID}`], opens: "record" },
  run: ({ runtime }, { id }, { actor }) => runtime.use(ESCALATION_API).escalation(actor, id),
  show: (one, { style }) => questionLines(one, style),
});

const answerQuestion = operation({
  name: "escalation.answer",
  does: "Answer a question: the agent reads the answer in a turn of the conversation and goes on.",
  may: "decide",
  at: "POST /v1/escalations/{id}/answer",
  takes: ONE.extend({
    text: z
      .string()
      .max(10_000)
      .regex(/\S/, "a text that says something")
      .describe("the answer, for the agent")
      .transform(untrusted),
  }),
  gives: VIEW,
  command: { words: ["id", "text"], examples: [`escalation answer ${ID} "Yes, until Friday."`], opens: "everything" },
  run: ({ runtime }, { id, text }, { actor }) => runtime.use(ESCALATION_API).answer(actor, id, text),
  show: (one, { style }) => questionLines(one, style),
  follows: async function* ({ runtime }, { thread }, { actor, signal }) {
    yield* runtime.follow(actor, await runtime.thread(actor, threadId(thread)), { signal });
  },
});

const takeQuestion = operation({
  name: "escalation.take",
  does: "Say that you look after a question, so that nobody else does. It stays open until it is answered.",
  may: "decide",
  at: "POST /v1/escalations/{id}/take",
  takes: ONE,
  gives: VIEW,
  command: { words: ["id"], examples: [`escalation take ${ID}`], opens: "record" },
  run: ({ runtime }, { id }, { actor }) => runtime.use(ESCALATION_API).take(actor, id),
  show: (one, { style }) => questionLines(one, style),
});

const close = operation({
  name: "escalation.close",
  does: "Close a question without an answer. The agent reads so, with the note, in a turn of the conversation.",
  may: "decide",
  at: "POST /v1/escalations/{id}/close",
  takes: ONE.extend({ note: FIELDS.note.describe("why; the agent sees it").optional() }),
  gives: VIEW,
  command: { words: ["id"], examples: [`escalation close ${ID} --note "he came by"`], opens: "everything" },
  run: ({ runtime }, { id, note }, { actor }) => runtime.use(ESCALATION_API).close(actor, id, note),
  show: (one, { style }) => questionLines(one, style),
  follows: async function* ({ runtime }, { thread }, { actor, signal }) {
    yield* runtime.follow(actor, await runtime.thread(actor, threadId(thread)), { signal });
  },
});

export const ESCALATIONS: readonly Operation[] = [listQuestions, showQuestion, answerQuestion, takeQuestion, close];

function questionLines(
  { id, scope, question, reason, status, due, overdue, taken, decided }: EscalationView,
  style: Style,
) {
  const by = decided === undefined ? "" : ` by ${whoDid(decided)}`;
  const until = status === "open" ? ` · answer by ${isoSecond(due)}` : "";
  const head = `${id} · ${scope.agent} with ${scope.contact} · ${overdue ? "overdue" : status}${by}${until}`;
  const more = { first: "  ", more: "  " };
  return [
    ...setIn(head, { first: "", more: "    " }, style).map(style.dim),
    ...setIn(oneLine(question), more, style),
    ...(reason === undefined ? [] : setIn(`because: ${oneLine(reason)}`, more, style)),
    ...(taken === undefined ? [] : [`  taken by ${whoDid(taken)}`]),
    ...(decided?.answer === undefined ? [] : setIn(`answer: ${decided.answer}`, more, style)),
    ...(decided?.note === undefined ? [] : setIn(`note: ${decided.note}`, more, style)),
  ];
}
