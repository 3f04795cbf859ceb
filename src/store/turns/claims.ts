import {
  type ContactScope,
  isBatch,
  issueId,
  type StoredEvent,
  StrataError,
  type ThreadId,
  type TurnId,
  turnId,
} from "../../protocol/index.ts";
import type { ContinuedRun, OpenCall } from "../call-records.ts";
import type { ArrivingEvent, Claim, Claimed, ClaimRequest, ReceivedAndClaimed } from "../records.ts";
import { toLimits, toThread, toTotals } from "../rows.ts";
import { fixed, insert, KEPT_ENDINGS, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { type AnswerTimes, answerCaller, platformAnswer } from "../threads/answers.ts";
import { batchMemberOf, members, noteBatchMember } from "../threads/batch-members.ts";
import { isDue, receiveOn, untaken, untakenAnswers } from "../threads/events.ts";
import { currentEpoch } from "../threads/fork.ts";
import type { KnownEpochs } from "../threads/known-epochs.ts";
import { callsAtEnd, callsToAnswer, UNTAKEN } from "../threads/open-calls.ts";
import { isInRun, isWaiting, lease, openRow, pinned } from "../threads/threads.ts";
import { type AlsoStored, inOrder, type Tx } from "../tx.ts";
import { TAKEN_BACK } from "../wording.ts";
import { NOT_ENDED } from "./held-turn.ts";
import { stopTurn } from "./settle.ts";
import { foundTurn, runningTurn } from "./turns.ts";

/** The request for a claim, and what is known of the thread's epochs. */
type Claiming = ClaimRequest & { readonly known?: KnownEpochs };

/** Takes the thread for one worker, with all that waits on it. */
export async function claim(tx: Tx, scope: ContactScope, id: ThreadId, request: Claiming): Promise<Claimed> {
  const [row, begun] = await Promise.all([
    openRow(tx, scope, id),
    begunUnlessBatch(tx, { ...owner(scope), id }, request),
  ]);
  return claimRow(tx, row, request, begun);
}

/**
 * Stores events, and takes the thread for the turn that answers the last of them, in one commit. Where that one begins no turn, because it
 * waits for something else or is known already, nothing is claimed.
 */
export async function receiveAndClaim(
  tx: Tx,
  scope: ContactScope,
  id: ThreadId,
  events: readonly ArrivingEvent[],
  request: Claiming,
  also?: AlsoStored,
): Promise<Omit<ReceivedAndClaimed, "onDisk">> {
  const { row, stored } = await receiveOn(tx, scope, id, events, also);
  const last = stored.at(-1);
  if (last?.status !== "pending" || last.thread !== id) return { events: stored, claimed: { state: "idle" } };
  const begun = await begunUnlessBatch(tx, row, request);
  return { events: stored, claimed: await claimRow(tx, row, request, begun) };
}

type ThreadAt = ContactScope & { readonly id: ThreadId };

const begunUnlessBatch = async (tx: Tx, at: ThreadAt, request: ClaimRequest): Promise<Begun | undefined> =>
  isBatch(at) ? undefined : begunOn(tx, at, request);

async function claimRow(tx: Tx, row: Row<"thread">, request: Claiming, begun: Begun | undefined): Promise<Claimed> {
  const held = lease(row, request);
  if (held) return { state: "busy", ...held };
  const { turns = row.turns } = request;
  if (turns !== row.turns || (await isElsewhere(tx, row, request))) return { state: "moved", thread: toThread(row) };
  const claimed = begun ? await claimAlone(tx, row, request, begun) : await claimBatch(tx, row, request);
  return claimed ? { state: "claimed", claim: claimed } : { state: "idle" };
}

/** Somebody else has pinned the thread to another version since the asker looked, or its transcript runs with another. */
async function isElsewhere(
  tx: Tx,
  row: Row<"thread">,
  { version = row.version, seen, known }: Claiming,
): Promise<boolean> {
  if (version === row.version) return false;
  if (seen !== undefined && seen !== row.version) return true;
  // A run keeps the version that it began with.
  if (await isInRun(tx, row)) return true;
  const epoch = await currentEpoch(tx, toThread(row).scope, row.id, known);
  return epoch !== undefined && epoch.reason !== "alone";
}

/**
 * A sender's thread by itself: not while a turn of several is interrupted over it, because that turn's outside effects are journaled there.
 */
async function claimAlone(tx: Tx, row: Row<"thread">, request: Claiming, begun: Begun): Promise<Claim | undefined> {
  const { running } = begun;
  const batchMembers = running && (await batchMemberOf(tx, row, running.id));
  if (
    batchMembers &&
    (await tx.first(runningTurn({ ...owner(row), contact: batchMembers.batch_contact, thread: batchMembers.batch })))
  ) {
    const sentence = `the messages on ${row.id} were taken together with those of other senders in a turn that was interrupted`;
    const message = `${sentence}; \`strata inbox run ${row.agent}\` or \`POST /v1/agents/${row.agent}/inbox/run\` continues it`;
    throw new StrataError("thread_busy", message, { thread: row.id });
  }
  return claimWaiting(tx, row, request, begun);
}

/**
 * A thread's state before the claim: the turn that was interrupted on it, the calls at the end of its transcript, and the messages that
 * have waited longest. Queried together: most threads have only messages.
 */
interface Begun {
  readonly running: InterruptedTurn;
  readonly calls: readonly OpenCall[];
  readonly waiting: readonly StoredEvent[];
}

async function begunOn(tx: Tx, at: ThreadAt, { most = MOST_TAKEN }: ClaimRequest): Promise<Begun> {
  const [running, calls, waiting] = await Promise.all([
    runningOn(tx, at),
    callsAtEnd(tx, at, at.id),
    untaken(tx, at, at.id, { most }),
  ]);
  return { running, calls, waiting };
}

async function claimWaiting(
  tx: Tx,
  row: Row<"thread">,
  request: Claiming,
  { running, calls, waiting }: Begun,
): Promise<Claim | undefined> {
  const open = await callsToAnswer(tx, row, calls);
  const bound = running?.upto ?? undefined;
  const events =
    open.length === 0 && bound === undefined
      ? waiting
      : await takeMessages(tx, row, { open, upto: bound, most: request.most ?? MOST_TAKEN });
  if (!events.some(({ status }) => status === "pending") && !(await isDue(tx, row, row.id))) return undefined;
  const upto = Math.max(...events.map(({ seq }) => seq));
  // A run whose calls were cancelled is over.
  const waited = open.find(({ state }) => state === "open" || state === "answered");
  const from = waited && (await runOf(tx, row, { turn: waited.turn, events }));
  const began = await takeThread(tx, row, request, { running, upto, ...(from && { run: from.id }) });
  return { ...began, open, ...(from && { continues: from }), events };
}

/** The maximum number of messages in a turn: the rest go to the next one. */
const MOST_TAKEN = 200;

/**
 * What a turn takes: the answers to the calls that are open on its thread, and then the messages that have waited longest. An interrupted
 * one takes what it took at first, up to `upto`.
 */
async function takeMessages(
  tx: Tx,
  row: Row<"thread">,
  {
    open,
    upto,
    most,
  }: { readonly open: readonly OpenCall[]; readonly upto: number | undefined; readonly most: number },
): Promise<readonly StoredEvent[]> {
  const answers = open.length === 0 ? [] : await untakenAnswers(tx, row, row.id, upto);
  // The first answer to a call is its result. What else names it is a message.
  const results = open.flatMap(({ id }) => answers.find((one) => one.answers === id) ?? []);
  const first = await untaken(tx, row, row.id, { ...(upto !== undefined && { upto }), most: most + results.length });
  const ids = new Set(results.map(({ id }) => id));
  return [...results, ...first.filter(({ id }) => !ids.has(id)).slice(0, most)];
}

/** The run of the turn that left calls open, and what it has used of its limits. The events hold the answers that settle them now. */
async function runOf(
  tx: Tx,
  scope: ContactScope,
  { turn, events }: { readonly turn: TurnId; readonly events: readonly StoredEvent[] },
): Promise<ContinuedRun> {
  const { run: id } = await foundTurn(tx, scope, turn);
  const turns = await tx.all(
    plain<Pick<Row<"turn">, "totals">>(
      `select totals from turn where org = ? and agent = ? and contact = ? and run = ? and status ${KEPT_ENDINGS}`,
      ...[scope.org, scope.agent, scope.contact, id],
    ),
  );
  const calls = await tx.all(
    plain<Pick<Row<"open_call">, "id" | "reserved" | "used">>(
      `select id, reserved, used from open_call where org = ? and agent = ? and contact = ? and turn in (
        select id from turn where org = ? and agent = ? and contact = ? and run = ?)`,
      ...[scope.org, scope.agent, scope.contact, scope.org, scope.agent, scope.contact, id],
    ),
  );
  const used = { modelCalls: 0, toolCalls: 0, dollars: 0, milliseconds: 0 };
  for (const { totals } of turns) {
    if (totals === null) continue;
    const { modelCalls, toolCalls, dollars, milliseconds } = toTotals(totals);
    used.modelCalls += modelCalls;
    used.toolCalls += toolCalls;
    used.dollars += dollars;
    used.milliseconds += milliseconds;
  }
  for (const { id: call, reserved, used: settled } of calls) {
    const text = settled ?? reserved;
    const answered = events.find(({ answers }) => answers === call)?.used;
    const limits = answered ?? (text === null ? undefined : toLimits(text));
    if (limits === undefined) continue;
    const { modelCalls, toolCalls, dollars = 0 } = limits;
    used.modelCalls += modelCalls;
    used.toolCalls += toolCalls;
    used.dollars += dollars;
  }
  return { id, turn, used };
}

/** The turn that was interrupted on a thread, if one was. */
type InterruptedTurn = Pick<Row<"turn">, "id" | "attempt" | "upto"> | undefined;

const runningOn = (tx: Tx, row: Pick<Row<"thread">, "org" | "agent" | "contact" | "id">): Promise<InterruptedTurn> =>
  tx.first(runningTurn({ ...owner(row), thread: row.id }));

/** The batch senders' waiting messages that no other turn holds; each sender's messages as a separate turn. */
async function claimBatch(tx: Tx, row: Row<"thread">, request: Claiming): Promise<Claim | undefined> {
  const batchMembers = (
    await inOrder(await members(tx, row), async (member) => {
      // One that was left open alone since waits for its own next turn.
      if (lease(member, request) || (await isWaiting(tx, member))) return [];
      const turn = turnId(issueId("turn", request.now, tx.random(10)));
      const wanted = { version: row.version, ...request, turn };
      const claimed = await claimWaiting(tx, member, wanted, await begunOn(tx, member, request));
      if (claimed) await noteBatchMember(tx, row, member, claimed.turn);
      return claimed ?? [];
    })
  ).flat();
  const events = batchMembers.flatMap((one) => one.events);
  return events.length === 0
    ? undefined
    : {
        ...(await takeThread(tx, row, request, { running: await runningOn(tx, row), upto: null })),
        open: [],
        events,
        batchMembers: batchMembers,
      };
}

async function takeThread(
  tx: Tx,
  found: Row<"thread">,
  request: Claiming,
  begin: Begin,
): Promise<Omit<Claim, "events" | "open">> {
  const row = await pinned(tx, found, request.version);
  const { turn, attempt } = await takeUp(tx, row, request, begin);
  const fence = row.fence + 1;
  await setLease(tx, row, { fence, holder: request.holder, lease_until: request.until });
  const epoch = await currentEpoch(tx, toThread(row).scope, row.id, request.known, fence);
  return { thread: toThread(row), turn, attempt, fence, holder: request.holder, epoch };
}

/** Takes back what waits, unless a worker holds it just now. A turn that was interrupted over it is never taken up again: it ends. */
export async function withdraw(
  tx: Tx,
  scope: ContactScope,
  id: ThreadId,
  request: Pick<ClaimRequest, "now" | "at" | "alive">,
): Promise<readonly StoredEvent[]> {
  const row = await openRow(tx, scope, id);
  if (lease(row, request)) {
    const message = `a turn on ${id} is handling its messages; \`strata thread cancel ${id}\` or \`POST /v1/threads/${id}/cancel\` stops it`;
    throw new StrataError("thread_busy", message, { thread: id });
  }
  await stopTurn(tx, row, { at: request.at, message: "the turn was interrupted, and its messages were taken back" });
  return takeBack(tx, row, request);
}

/** Withdraws the messages that no turn has taken. Answers stay: the thread waits for them. The thread's caller gets a result. */
async function takeBack(tx: Tx, row: Row<"thread">, times: AnswerTimes): Promise<readonly StoredEvent[]> {
  const waiting = await untaken(tx, row, row.id, { most: Number.MAX_SAFE_INTEGER });
  // A report to the agent has already happened, and cannot be taken back.
  const messages = waiting.filter(({ answers, inHistory }) => answers === undefined && !inHistory);
  const ids = JSON.stringify(messages.map(({ id }) => id));
  await tx.run(
    plain(
      `update event set status = 'withdrawn' where org = ? and agent = ? and contact = ? and thread = ? and ${UNTAKEN} and id in (select value from json_each(?))`,
      ...[row.org, row.agent, row.contact, row.id, ids],
    ),
  );
  const { caller } = toThread(row);
  if (caller !== undefined && messages.length > 0)
    await answerCaller(tx, row, caller, platformAnswer(tx, times, caller.call, TAKEN_BACK));
  return messages.map((event) => ({ ...event, status: "withdrawn" }));
}

/** The interrupted turn again, or a new one. */
async function takeUp(
  tx: Tx,
  row: Row<"thread">,
  request: ClaimRequest,
  { running, ...begin }: Begin,
): Promise<Pick<Claim, "turn" | "attempt">> {
  if (!running) {
    await tx.run(insert("turn", newTurn(row, request, begin)));
    return { turn: request.turn, attempt: 1 };
  }
  const attempt = running.attempt + 1;
  await tx.run(
    query
      .updateTable("turn")
      .set({ attempt, version: row.version })
      .where((eb) => eb.and({ ...owner(row), id: running.id })),
  );
  return { turn: running.id, attempt };
}

/** How a claim begins its turn: which one was interrupted, what it takes, and the run that it continues. */
interface Begin {
  readonly running: InterruptedTurn;
  readonly upto: number | null;
  readonly run?: TurnId;
}

function newTurn(row: Row<"thread">, request: ClaimRequest, begin: Omit<Begin, "running">): Row<"turn"> {
  return {
    ...owner(row),
    id: request.turn,
    thread: row.id,
    seq: row.turns + 1,
    status: "running",
    attempt: 1,
    version: row.version,
    started_at: request.at,
    ...NOT_ENDED,
    run: begin.run ?? request.turn,
    upto: begin.upto,
    retracted: null,
  };
}

type Lease = Pick<Row<"thread">, "fence" | "holder" | "lease_until">;

async function setLease(tx: Tx, row: Row<"thread">, lease: Lease): Promise<void> {
  await tx.run(newLease({ ...owner(row), id: row.id, ...lease }));
}

const newLease = fixed((at: ContactScope & Lease & { readonly id: ThreadId }) =>
  query
    .updateTable("thread")
    .set({ fence: at.fence, holder: at.holder, lease_until: at.lease_until })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);
