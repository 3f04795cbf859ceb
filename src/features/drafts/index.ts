/** Replies that wait for a person before they are sent: drafts, and the decisions about them. */

import { z } from "zod";
import { cleanName, truncateText } from "../../guard/index.ts";
import { count, type Style, setIn, whoDid } from "../../print/index.ts";
import {
  type Agent,
  type Allowed,
  type DraftId,
  doneBy,
  draftId,
  eventId,
  isoSecond,
  issueId,
  lowestTrust,
  outboxId,
  type Scope,
  type Spoken,
  StrataError,
  type Trust,
  trusted,
  trustOf,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import {
  featureApi,
  foundIn,
  newestOf,
  type OutgoingStep,
  type Parts,
  type TurnSteps,
  threadOf,
  type Whose,
} from "../../turn/index.ts";
import type { LiveSource } from "../../turn/sources/index.ts";
import { openQuestions } from "../approvals/index.ts";
import { turnColumn } from "../column.ts";
import { queueReply } from "../deliveries/index.ts";
import type { Feature } from "../feature.ts";
import { DONE_BY, FIELDS, given, list as listOf, NEXT, nextAfter, PAGE, TIME } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import { lineNamed } from "../organization/index.ts";
import { DECISION, KEYS, patienceOf, wayOf } from "./config.ts";
import {
  DECIDED,
  DRAFT,
  DRAFT_STATUSES,
  type Draft,
  type DraftFilter,
  type DraftStatus,
  NOT_FOUND,
  type Verdict,
} from "./decision-store.ts";
import { DRAFT_STORE } from "./store.ts";
import { discarded, draftsWait, quotedDraft, sentAsIs, sentEdited, WORDING } from "./wording.ts";

export { wayOf } from "./config.ts";
export type { Draft } from "./decision-store.ts";
export { DRAFT_STORE } from "./store.ts";

/** Withholds what must not be sent at once. */
const WITHHOLDING: OutgoingStep = {
  by: "delivery",
  applies: (agent, { channel }) => wayOf(agent, channel) !== "send",
  outgoing: async (turn, { text, waits, trust }) => {
    const { setup, lease, parts, extras } = turn;
    const { thread, events } = lease.claim;
    if (wayOf(setup.agent, thread.channel) === "observe") return { withheld: WORDING.isObserved };
    // Text produced before the turn waits is not a reply yet.
    if (waits) return { withheld: WORDING.isDraft };
    const id = draftId(issueId("draft", parts.clock.real(), parts.random(10)));
    const line = events.findLast((event) => event.line !== undefined)?.line;
    DRAFT.put(extras, { id, text, trust, ...(line !== undefined && { line }) });
    return { withheld: WORDING.isDraft, drafted: true };
  },
};

const STEPS: TurnSteps = {
  outgoing: WITHHOLDING,
  sources: ({ store, clock }, agent) => {
    const directive: LiveSource = async (_layer, { scope, events }) => {
      const newest = events.at(-1);
      const way = wayOf(agent, newest?.channel ?? "");
      const open =
        newest === undefined || way !== "draft" ? 0 : await store.part(DRAFT_STORE).openDrafts(scope, newest.thread);
      const questions =
        newest === undefined ? undefined : await openQuestions({ store, clock }, { scope, thread: newest.thread });
      const said = [WORDING[way], open === 0 ? undefined : draftsWait(open), questions];
      return { kind: "text", text: trusted(said.filter((one) => one !== undefined).join(" ")) };
    };
    return { delivery: Object.assign(directive, { readsStore: true as const }) };
  },
};

/** The draft that a turn left, in `turn show`. */
const LEFT_BY_TURN = turnColumn({
  name: "draft",
  schema: z.string().describe("the draft that it left; absent if it left none"),
  read: async ({ runtime, actor }, scope, turns) => {
    const { drafts } = runtime.keeps(actor, scope, DRAFT_STORE);
    const found = await Promise.all(turns.map(({ id, scope: one }) => drafts(one, { turn: id }, 1)));
    return new Map(found.flat().map(({ turn, id }) => [turn, id]));
  },
  show: (id) => id,
});

const DRAFT_VIEW = z
  .object({
    id: z.string(),
    scope: z.object({ org: z.string(), agent: z.string(), contact: z.string() }),
    thread: z.string(),
    turn: z.string(),
    channel: z.string().describe("where the conversation takes place"),
    line: z.string().optional().describe("the line by which it would leave"),
    lineName: z.string().optional().describe("what the line is called"),
    text: z.string().describe("what the agent wrote"),
    status: z.enum(DRAFT_STATUSES),
    at: TIME,
    overdue: z.boolean().describe("whether it waits for longer than `delivery.overdue` allows"),
    decided: z
      .object({
        ...DONE_BY,
        at: TIME,
        sent: z.string().optional().describe("what went out"),
        note: z.string().optional(),
        outbox: z.string().optional().describe("the reply in the outbox"),
      })
      .optional(),
  })
  .meta({ id: "Draft", description: "A reply that waits or waited for a person." });

type DraftView = z.output<typeof DRAFT_VIEW>;

const ID = "drf_01jd8k3v5x9m2q7r4t6w8y0zab";
const ONE = z.strictObject({ id: z.string().describe("a draft, drf_…").transform(draftId) });

const listDrafts = operation({
  name: "draft.list",
  does: "List replies that wait or waited for a person, newest first: of all agents, of one agent, or of one of its contacts.",
  may: "read",
  at: "GET /v1/drafts",
  takes: z.strictObject({
    agent: FIELDS.agent.optional(),
    contact: FIELDS.contact.optional(),
    status: z
      .enum([...DRAFT_STATUSES, "all"])
      .default("open")
      .describe("only with this status"),
    ...PAGE,
  }),
  gives: z.object({ drafts: listOf(DRAFT_VIEW), ...NEXT }),
  list: "drafts",
  command: { examples: ["draft list"], opens: "record" },
  hints: ({ drafts }) => {
    const open = drafts.find(({ status }) => status === "open");
    return open === undefined ? [] : [`strata draft approve ${open.id}`, `strata draft edit ${open.id} TEXT`];
  },
  run: async ({ runtime }, { status, ...wish }, { actor }) => {
    const drafts = await runtime.use(DRAFT_API).newestDrafts(actor, { ...wish, ...(status !== "all" && { status }) });
    return { drafts, ...nextAfter(drafts, wish.limit, ({ at, id }) => ({ at, id })) };
  },
  show: ({ drafts }, { style, given: { status } }) =>
    drafts.length === 0
      ? [status === "all" ? "There are no drafts." : `No draft is ${status}; \`--status all\` lists every one.`]
      : [...drafts.flatMap((one) => draftLines(one, style)), style.dim(count(drafts.length, "draft"))],
});

const showDraft = operation({
  name: "draft.show",
  does: "Show one draft: what the agent wrote, who decided, and what went out.",
  may: "read",
  at: "GET /v1/drafts/{id}",
  takes: ONE,
  gives: DRAFT_VIEW,
  command: { words: ["id"], examples: [`draft show ${ID}`], opens: "record" },
  run: ({ runtime }, { id }, { actor }) => runtime.use(DRAFT_API).draft(actor, id),
  show: (draft, { style }) => draftLines(draft, style),
});

const approveDraft = operation({
  name: "draft.approve",
  does: "Send a draft as the agent wrote it. The agent reads of it with the next message.",
  may: "decide",
  at: "POST /v1/drafts/{id}/approve",
  takes: ONE,
  gives: DRAFT_VIEW,
  command: { words: ["id"], examples: [`draft approve ${ID}`], opens: "record" },
  run: ({ runtime }, { id }, { actor }) => runtime.use(DRAFT_API).decideDraft(actor, id, { verdict: "approved" }),
  show: (draft, { style }) => draftLines(draft, style),
});

const edit = operation({
  name: "draft.edit",
  does: "Send another text in place of a draft. The agent reads what was sent with the next message, and learns from it.",
  may: "decide",
  at: "POST /v1/drafts/{id}/edit",
  takes: ONE.extend({
    text: z.string().max(100_000).regex(/\S/, "a text that says something").describe("what is sent instead"),
  }),
  gives: DRAFT_VIEW,
  command: { words: ["id", "text"], examples: [`draft edit ${ID} "We open at nine."`], opens: "record" },
  run: ({ runtime }, { id, text }, { actor }) =>
    runtime.use(DRAFT_API).decideDraft(actor, id, { verdict: "edited", text }),
  show: (draft, { style }) => draftLines(draft, style),
});

const discard = operation({
  name: "draft.discard",
  does: "Discard a draft: nothing is sent. The agent reads of it with the next message.",
  may: "decide",
  at: "POST /v1/drafts/{id}/discard",
  takes: ONE.extend({ note: FIELDS.note.describe("why; the agent sees it").optional() }),
  gives: DRAFT_VIEW,
  command: { words: ["id"], examples: [`draft discard ${ID} --note "already answered by phone"`], opens: "record" },
  run: ({ runtime }, { id, note }, { actor }) =>
    runtime.use(DRAFT_API).decideDraft(actor, id, { verdict: "discarded", ...(note !== undefined && { note }) }),
  show: (draft, { style }) => draftLines(draft, style),
});

function draftLines(draft: DraftView, style: Style): readonly string[] {
  const { id, scope, text, status, at, channel, line, overdue, decided } = draft;
  const by = decided === undefined ? "" : ` by ${whoDid(decided)}`;
  const where = line === undefined ? ` · ${channel}` : ` · ${channel}, ${draft.lineName ?? line}`;
  const state = overdue ? "overdue" : status;
  const head = `${id} · ${scope.agent} with ${scope.contact}${where} · ${isoSecond(at)} · ${state}${by}`;
  return [
    ...setIn(head, { first: "", more: "    " }, style).map(style.dim),
    ...setIn(text, { first: "  ", more: "  " }, style),
    ...(status === "edited" ? setIn(decided?.sent ?? "", { first: "  sent instead: ", more: "  " }, style) : []),
    ...(decided?.note === undefined ? [] : setIn(decided.note, { first: "  note: ", more: "    " }, style)),
  ];
}

/** A person's decision: to send it, to send another text, or to send nothing. */
export interface Deciding {
  readonly verdict: Verdict;
  /** With `edited`. */
  readonly text?: string;
  readonly note?: Untrusted;
}

interface DraftWish extends Omit<Whose, "channel" | "except"> {
  readonly status?: DraftStatus;
}

/** Replies that wait or waited for a person, and decisions about them. */
export interface DraftApi {
  /** Of one agent or of all, newest first. @throws StrataError `agent_not_found` for an unknown name */
  newestDrafts(actor: Allowed<"read">, wish: DraftWish): Promise<readonly DraftView[]>;
  /** @throws StrataError `draft_not_found` */
  draft(actor: Allowed<"read">, id: DraftId): Promise<DraftView>;
  /** @throws StrataError `draft_not_found`, `draft_decided` */
  decideDraft(actor: Allowed<"decide">, id: DraftId, deciding: Deciding): Promise<DraftView>;
}

/** The functions of drafts, as `runtime.use` gives them. */
export const DRAFT_API = featureApi<DraftApi>("drafts");

function draftApi(parts: Parts): DraftApi {
  return {
    newestDrafts: async (actor, { status, ...whose }) => {
      const filter: DraftFilter = { after: whose.after, ...(status && { status }) };
      const find = (scope: Scope): Promise<readonly Draft[]> =>
        parts.store.part(DRAFT_STORE).drafts(scope, filter, whose.limit);
      const found = await newestOf(parts, actor, whose, { find, position: ({ at, id }) => ({ at, id }) });
      return Promise.all(found.map((one) => toDraftView(parts, one)));
    },
    draft: async (actor, id) => toDraftView(parts, await draftOf(parts, actor, id)),
    decideDraft: (actor, id, deciding) => settleDraft(parts, actor, id, deciding),
  };
}

async function draftOf(parts: Parts, actor: Allowed<"view">, id: DraftId): Promise<Draft> {
  const found = await foundIn(parts, actor, (scope) => parts.store.part(DRAFT_STORE).draft(scope, id));
  if (found !== undefined) return found;
  throw NOT_FOUND.of(`draft ${id} is not in reach: \`strata draft list\` shows those that wait`, { draft: id });
}

async function toDraftView(
  { agents, clock, store }: Parts,
  { scope, text, trust: _, decided, ...draft }: Draft,
): Promise<DraftView> {
  const agent = agents.all.find(({ org, name }) => org === scope.org && name === scope.agent);
  const isOverdue = draft.status === "open" && agent !== undefined && clock.recorded() - draft.at > patienceOf(agent);
  const { channel = "" } = (await store.thread(scope, draft.thread)) ?? {};
  const lineName = agent && draft.line !== undefined ? lineNamed(agent, draft.line)?.name : undefined;
  return {
    ...draft,
    scope,
    text,
    channel,
    ...given("lineName", lineName),
    overdue: isOverdue,
    ...given("decided", decided),
  };
}

async function settleDraft(
  parts: Parts,
  actor: Allowed<"decide">,
  id: DraftId,
  deciding: Deciding,
): Promise<DraftView> {
  const draft = await draftOf(parts, actor, id);
  const { scope, thread: at, text: wrote } = draft;
  const thread = await threadOf(parts, actor, at);
  const verdict =
    deciding.verdict === "edited" && deciding.text?.trim() === wrote.trim() ? "approved" : deciding.verdict;
  const text = verdict === "edited" ? deciding.text : wrote;
  if (text === undefined)
    throw new StrataError("invalid_input", "an edited draft needs the `text` that is sent instead");
  const { clock, random } = parts;
  const now = clock.recorded();
  const outbox = outboxId(issueId("outbox", clock.real(), random(10)));
  const sentence = {
    approved: sentAsIs(draft.line),
    edited: sentEdited(draft.line),
    discarded: discarded(draft.line, deciding.note),
  }[verdict];
  const event = (said: string, trust: Trust) =>
    ({
      id: eventId(issueId("event", clock.real(), random(10))),
      kind: DECISION,
      trust,
      channel: thread.channel,
      content: [{ type: "text", text: untrusted(said) }],
      at: now,
      inHistory: true,
    }) as const;
  const own = trustOf(actor);
  const quoted = quotedDraft(beginningOf(wrote), verdict === "edited" ? text : undefined);
  const decided = await parts.store.part(DRAFT_STORE).decideDraft(scope, id, {
    verdict,
    ...doneBy(actor),
    at: now,
    events: [event(sentence, own), event(quoted, lowestTrust([own, draft.trust]))],
    ...(verdict !== "discarded" && { sent: { text, outbox, channel: thread.channel, queue: queueReply } }),
    ...(deciding.note !== undefined && { note: deciding.note }),
  });
  return toDraftView(parts, decided);
}

/** The first words of a draft on one line, in quotation marks: the agent's words stay apart from the platform's, and their length is bounded. */
const beginningOf = (text: Spoken): string => {
  const line = cleanName(untrusted(text)).replaceAll('"', "'");
  return `"${truncateText(line, LONGEST_BEGINNING, "…")}"`;
};

const LONGEST_BEGINNING = 50;

/** How many of an agent's drafts wait, and for how many of them too long. */
export async function draftCounts(
  { store, clock }: Pick<Parts, "store" | "clock">,
  agent: Agent,
): Promise<{ readonly drafts: number; readonly overdue: number }> {
  const of = { org: agent.org, agent: agent.name };
  const { waitingDrafts } = store.part(DRAFT_STORE);
  const [drafts, overdue] = [clock.recorded(), clock.recorded() - patienceOf(agent)];
  return { drafts: await waitingDrafts(of, drafts), overdue: await waitingDrafts(of, overdue - 1) };
}

const OPERATIONS: readonly Operation[] = [listDrafts, showDraft, approveDraft, edit, discard];

export const FEATURE: Feature = {
  name: "drafts",
  // The signature is added to a reply before it becomes a draft.
  needs: ["approvals", "deliveries", "organization"],
  keys: KEYS,
  store: DRAFT_STORE,
  errors: [NOT_FOUND, DECIDED],
  operations: OPERATIONS,
  columns: { turns: [LEFT_BY_TURN] },
  steps: STEPS,
  open: () => ({ api: ({ parts }) => DRAFT_API.open(draftApi(parts)) }),
};
