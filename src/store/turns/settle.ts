import {
  type CommitReport,
  type ContactScope,
  type Digest,
  isKept,
  NO_USAGE,
  StrataError,
  type TurnId,
} from "../../protocol/index.ts";
import { appendTurn, head } from "../record/chain.ts";
import { keepOwn, keepText, keepTexts, scopeKey } from "../record/pieces.ts";
import { type ReadBefore, turnLink } from "../record/turn-link.ts";
import type { BatchReply, ChainHead, Claim, Settled, TurnEnd, TurnOutcome } from "../records.ts";
import { toThread } from "../rows.ts";
import { fixed, insertAll, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { answerCaller } from "../threads/answers.ts";
import { addEvents } from "../threads/events.ts";
import { beginFork } from "../threads/fork.ts";
import { cancelAtEnd, closeCalls, keepUsed, openCalls, sortEvents } from "../threads/open-calls.ts";
import { openedRow } from "../threads/threads.ts";
import { type EndedTurn, inOrder, type Tx } from "../tx.ts";
import { type AppliedTurn, applyTurn } from "./apply-turn.ts";
import { keepMessages, type LastEpoch, lastEpoch, openEpoch, type Settling, type TranscriptEnd } from "./epochs.ts";
import { fenced, type Keeping, noteTurn } from "./held-turn.ts";
import { keepOwnMessages, keepRequest } from "./requests.ts";
import { findTurn, runningTurn } from "./turns.ts";

/**
 * The one commit (law 7). Everything below happens in one transaction: all of it is there afterwards, or none.
 * First the fence: a worker that lost its lease writes nothing.
 */
export async function settle(tx: Tx, claim: Claim, outcome: TurnOutcome, keeping?: Keeping): Promise<Settled> {
  const { batchMembers, ...own } = claim;
  // One that was interrupted may have been part of a turn of several before.
  if (batchMembers === undefined) return settleOne(tx, claim, outcome, { isAlone: claim.attempt === 1, ...keeping });
  // The messages belong to the senders, and so do their replies: each sender has them in a separate turn and scope.
  const settled = await settleOne(tx, { ...own, events: [] }, outcome);
  for (const one of batchMembers) await settleOne(tx, one, outcomeFor(one, outcome));
  return settled;
}

interface HowSettled extends Partial<Keeping> {
  readonly isAlone?: boolean;
}

async function settleOne(
  tx: Tx,
  claim: Claim,
  outcome: TurnOutcome,
  { isAlone = false, known, after }: HowSettled = {},
): Promise<Settled> {
  const { scope, id } = claim.thread;
  const stood = known?.get(scope, id);
  const isKnown = stood?.fence === claim.fence;
  const [{ thread, turn, lastSlot, key: madeKey }, read] = await Promise.all([
    fenced(tx, claim),
    isKnown ? undefined : lastEpoch(tx, scope, id),
  ]);
  const newest = isKnown ? { epoch: stood.row, end: stood.end } : read;
  const key = madeKey ?? (await scopeKey(tx, scope));
  const kept = await keepTexts(tx, { scope, key }, contactTexts(outcome));
  const at: Settling = { scope, thread: thread.id, turn: claim.turn, key, kept };
  const opened = await openedEpochs(tx, at, newest, outcome);
  const { epoch, end: before } = opened.at(-1) ?? newest ?? {};
  const messages = await keepMessages(tx, at, outcome.messages);
  const isDone = isKept(outcome.end);
  if (!isDone) await keepOwnMessages(tx, at, messages);
  const requests = await inOrder(outcome.requests, (request) =>
    keepRequest(tx, at, request, { own: messages.length, end: before }),
  );
  await keepEvents(tx, at, claim);
  const words = await keepWords(tx, at, outcome.end);
  const keep = (text: string): Promise<Digest> => keepText(tx, at, text);
  const done = { claim, outcome, words, messages, isAlone, nextSlot: (lastSlot ?? -1) + 1, end: before, keep };
  const applied: AppliedTurn = isDone ? await applyTurn(tx, at, done) : { end: before };
  const { end, events, staged, slots = [] } = applied;
  const reports: CommitReport[] = [...(applied.reports ?? [])];
  await settleCalls(tx, at, thread, { claim, outcome });
  const ended = await endTurn(tx, at, { outcome, words, end, own: isDone && end ? messages.length : null });
  const report = (one: CommitReport): void => void reports.push(one);
  const [of, sent] = [claim.turn, outcome.requests];
  const ending: EndedTurn = { scope, turn: of, requests: sent, report, ...(isDone && { done }) };
  await commitParts(tx, ending);
  const released = await release(tx, thread, outcome.at);
  const epochs = opened.map(({ epoch: row, end: { rolling } }) => ({ row, rolling }));
  const stays = isKnown && isDone && opened.length === 0 ? stood : undefined;
  after?.(() => {
    if (known === undefined) return;
    known.putThread(toThread(released));
    noteTurn(known, { claim, outcome, turn: { ...turn, ...ended }, stays, messages, end });
  });
  const written = { messages, end, requests, epochs, slots };
  const facts: ReadBefore = { thread, epoch, events, staged, base: before, ending, written };
  const [body, newestLink] = await Promise.all([turnLink(tx, { ...turn, ...ended }, facts), head(tx, scope.org)]);
  return {
    ...(await appendTurn(tx, scope, claim.turn, { body, last: newestLink })),
    ...(reports.length > 0 && { reports }),
  };
}

/** The epochs that the turn opens, behind the thread's newest; of a fork that has none yet, the one that it begins with. */
async function openedEpochs(
  tx: Tx,
  at: Settling,
  newest: LastEpoch | undefined,
  { epochs }: TurnOutcome,
): Promise<readonly LastEpoch[]> {
  const forked = newest === undefined ? await beginFork(tx, at) : undefined;
  const opened = forked === undefined ? [] : [forked];
  for (const one of epochs) opened.push(await openEpoch(tx, at, one, (opened.at(-1) ?? newest)?.epoch));
  return opened;
}

/**
 * What the turn closes, opens and begins elsewhere, and how it ends for its caller. A failed turn that is not retried takes its messages
 * back on a called thread, and ends the run that it continues; any other failed turn leaves nothing.
 */
async function settleCalls(
  tx: Tx,
  { scope, thread: id, turn }: Settling,
  thread: Row<"thread">,
  {
    claim,
    outcome: { end, starts = [], forCaller, endsRun },
  }: { readonly claim: Claim; readonly outcome: TurnOutcome },
): Promise<void> {
  const at = { ...owner(scope), thread: id, turn };
  const { caller } = toThread(thread);
  if (isKept(end)) {
    if (caller !== undefined && forCaller === undefined && end.status !== "waiting") {
      const says = `turn ${turn} ran on ${id} for a call of another turn and does not say how it ends for it`;
      throw new StrataError("invalid_input", `${says}: let it respond, forward the call or end it`, { turn });
    }
    if (claim.open.length > 0) await closeCalls(tx, at, turn);
    await keepUsed(tx, at, claim.events);
    if (end.status === "waiting") await openCalls(tx, at, end.calls);
    for (const { scope: to, opening, events } of starts)
      await addEvents(tx, to, (await openedRow(tx, to, opening)).id, events);
  } else if (forCaller !== undefined) {
    for (const event of claim.events)
      await tx.run(
        query
          .updateTable("event")
          .set({ status: "withdrawn" })
          .where((eb) => eb.and({ ...owner(scope), id: event.id })),
      );
  }
  if (caller !== undefined && forCaller !== undefined && forCaller.way !== "forwards")
    await answerCaller(tx, thread, caller, forCaller.answer);
  if (endsRun && !isKept(end)) await cancelAtEnd(tx, at);
  else if (claim.open.length > 0 || end.status === "waiting") await sortEvents(tx, at);
}

/** What the turn had to handle, for the record; a turn that failed does not consume it. */
async function keepEvents(tx: Tx, at: Settling, claim: Claim): Promise<void> {
  const rows = claim.events.map(({ id: event }, position) => ({ ...owner(at.scope), turn: at.turn, position, event }));
  await insertAll(tx, "turn_event", rows);
}

/** The texts of a turn that are its contact's. */
function contactTexts({ messages, requests, end }: TurnOutcome): readonly string[] {
  const sent = requests.flatMap(({ tail, reply }): readonly unknown[] => (reply === null ? [tail] : [tail, reply]));
  const words = endText(end);
  const all = [...messages.map(({ message }) => message), ...sent, ...(words === null ? [] : [words])];
  return all.map((one) => JSON.stringify(one));
}

const endText = (end: TurnEnd): string | null => (isKept(end) ? end.reply : end.message);

/** The reply's text or the failure's sentence: it may quote a contact, so it is kept as the contact's. */
async function keepWords(tx: Tx, at: Settling, end: TurnEnd): Promise<Digest | null> {
  const words = endText(end);
  return words === null ? null : keepText(tx, at, JSON.stringify(words));
}

interface TurnClosing {
  readonly outcome: TurnOutcome;
  readonly words: Digest | null;
  readonly end: TranscriptEnd | undefined;
  /** How many of its own messages the transcript ends with. */
  readonly own: number | null;
}

async function endTurn(tx: Tx, at: Settling, { outcome, words, end, own }: TurnClosing): Promise<EndColumns> {
  const { model, wire, mode } = outcome;
  const columns: EndColumns = {
    status: outcome.end.status,
    ended_at: outcome.at,
    stop: "stop" in outcome.end ? outcome.end.stop : null,
    code: "code" in outcome.end ? outcome.end.code : null,
    words,
    model,
    wire,
    mode,
    totals: JSON.stringify(outcome.totals),
    steps: outcome.steps === undefined ? null : JSON.stringify(outcome.steps),
    epoch: end?.epoch ?? null,
    length: end?.position ?? null,
    own,
  };
  await tx.run(endedTurn({ ...owner(at.scope), id: at.turn, ...columns }));
  return columns;
}

type EndColumns = Pick<
  Row<"turn">,
  | "status"
  | "ended_at"
  | "stop"
  | "code"
  | "words"
  | "model"
  | "wire"
  | "mode"
  | "totals"
  | "steps"
  | "epoch"
  | "length"
  | "own"
>;

const endedTurn = fixed((at: ContactScope & EndColumns & { readonly id: TurnId }) => {
  const { status, ended_at, stop, code, words, model, wire, mode, totals, steps, epoch, length, own } = at;
  return query
    .updateTable("turn")
    .set({ status, ended_at, stop, code, words, model, wire, mode, totals, steps, epoch, length, own })
    .where((eb) => eb.and({ ...owner(at), id: at.id }));
});

/** Frees the thread for the next worker and counts the turn. */
async function release(tx: Tx, thread: Row<"thread">, at: number): Promise<Row<"thread">> {
  const free = { turns: thread.turns + 1, last_activity: Math.max(thread.last_activity, at) };
  await tx.run(freedThread({ ...owner(thread), id: thread.id, ...free }));
  return { ...thread, ...free, holder: null, lease_until: null };
}

const freedThread = fixed((at: ContactScope & Pick<Row<"thread">, "id" | "turns" | "last_activity">) =>
  query
    .updateTable("thread")
    .set({ holder: null, lease_until: null, turns: at.turns, last_activity: at.last_activity })
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** What features add to the end of a turn. */
export async function commitParts(tx: Tx, turn: EndedTurn): Promise<void> {
  for (const part of tx.parts) await part.onCommit?.(tx, turn);
}

/** Links the turn in its current state in the tables. */
async function linkTurn(tx: Tx, at: Pick<Settling, "scope" | "turn">): Promise<ChainHead> {
  const [ended, last] = await Promise.all([findTurn(tx, at.scope, at.turn), head(tx, at.scope.org)]);
  if (!ended) throw new StrataError("unexpected", `turn ${at.turn} vanished inside its own commit: please report it`);
  return appendTurn(tx, at.scope, at.turn, { body: await turnLink(tx, ended), last });
}

/** A turn of several senders, from the view of one of them: its end and the reply. What was sent and paid for is in the turn of all. */
function outcomeFor({ thread, events }: Claim, outcome: TurnOutcome): TurnOutcome {
  const { at, model, wire, mode, extras } = outcome;
  const batchReply = outcome.replies?.find((one) => one.thread === thread.id);
  return {
    end: endFor(outcome, batchReply, events.length),
    at,
    model,
    wire,
    mode,
    epochs: [],
    messages: [],
    requests: [],
    writes: [],
    extras,
    totals: { modelCalls: 0, toolCalls: 0, usage: NO_USAGE, dollars: 0, milliseconds: 0 },
    replyId: batchReply?.replyId ?? outcome.replyId,
    unremembered: batchReply?.unremembered ?? [],
  };
}

/** A failure is reported without its text, which may be another sender's. */
function endFor({ end, unpaid }: TurnOutcome, batchReply: BatchReply | undefined, handled: number): TurnEnd {
  if (!isKept(end)) {
    const message = "the turn that handled these messages with those of other senders failed; they keep waiting";
    return { status: "failed", code: end.code, message };
  }
  if (batchReply) return { ...end, reply: batchReply.reply };
  if (handled > 0 && unpaid !== undefined) return unpaid;
  const message = "these messages had no room beside those of other senders; they keep waiting for the next turn";
  return { status: "failed", code: "turn_cancelled", message };
}

/** The end of a turn that cannot be finished. It has no sentence if its contact's texts are erased. */
export interface Stop {
  readonly at: number;
  readonly message?: string;
}

/**
 * Ends the turn that runs on the thread as failed (law 14), linked like any other. Its worker has lost its lease, so it can neither commit
 * nor hold the thread any longer. Part of a write transaction.
 */
export async function stopTurn(tx: Tx, thread: Row<"thread">, { at, message: says }: Stop): Promise<void> {
  const whose = owner(thread);
  const running = await tx.first(runningTurn({ ...whose, thread: thread.id }));
  if (!running) return;
  const words = says === undefined ? null : await keepOwn(tx, thread, await scopeKey(tx, thread), JSON.stringify(says));
  const ended = { status: "failed", ended_at: at, code: "turn_cancelled", words } as const;
  await tx.run(
    query
      .updateTable("turn")
      .set(ended)
      .where((eb) => eb.and({ ...whose, id: running.id })),
  );
  await commitParts(tx, { scope: whose, turn: running.id, requests: [], report: () => undefined });
  const freed = { turns: thread.turns + 1, holder: null, lease_until: null };
  await tx.run(
    query
      .updateTable("thread")
      .set(freed)
      .where((eb) => eb.and({ ...whose, id: thread.id })),
  );
  await linkTurn(tx, { scope: whose, turn: running.id });
}
