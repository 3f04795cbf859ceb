import { sql } from "kysely";
import { type ContactScope, isBatch, type StepRecord, type Trust, type TurnId } from "../../protocol/index.ts";
import { fixed, insert, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { requestRows } from "../turns/requests.ts";
import { inOrder, type Tx } from "../tx.ts";
import { findThread } from "./threads.ts";

/**
 * Records that a turn of several senders takes what waits on a sender's thread. Which of the sender's turns that is becomes known with its
 * claim.
 */
export async function keepBatchMembers(
  tx: Tx,
  batch: Row<"thread">,
  sender: Row<"thread">,
  turn: TurnId | null,
): Promise<void> {
  const named = { thread: sender.id, turn, batch: batch.id, batch_contact: batch.contact };
  await tx.run(insert("staged", { ...owner(sender), ...named }));
}

/** The senders' threads, in the order in which they were added, without those that were erased since. */
export async function members(tx: Tx, batch: Row<"thread">): Promise<readonly Row<"thread">[]> {
  const rows = await batchMemberRows(tx, batch);
  const threads = new Map(rows.map((row) => [row.thread, row]));
  return (
    await inOrder([...threads.values()], async (row) => {
      const found = await findThread(tx, row, row.thread);
      return found && found.erased_link === null ? [found] : [];
    })
  ).flat();
}

/** Records which of the sender's turns handles its messages. */
export async function noteBatchMember(
  tx: Tx,
  batch: Row<"thread">,
  sender: Row<"thread">,
  turn: TurnId,
): Promise<void> {
  const rows = (await batchMemberRows(tx, batch)).filter(({ thread }) => thread === sender.id);
  if (rows.some((row) => row.turn === turn)) return;
  const open = rows.find((row) => row.turn === null);
  if (open === undefined) {
    await keepBatchMembers(tx, batch, sender, turn);
    return;
  }
  await tx.run(
    query
      .updateTable("staged")
      .set({ turn })
      .where((eb) => eb.and({ ...owner(sender), number: open.number })),
  );
}

/** Every sender's thread that a thread of several senders ever had, in that order. */
export async function batchMemberRows(
  tx: Tx,
  { org, id }: Pick<Row<"thread">, "org" | "id">,
): Promise<readonly Row<"staged">[]> {
  return (await tx.all(selectStaged({ org, batch: id }))).sort((a, b) => a.number - b.number);
}

const selectStaged = fixed((at: Pick<Row<"staged">, "org" | "batch">) =>
  query
    .selectFrom("staged")
    .selectAll()
    .where((eb) => eb.and({ org: at.org, batch: at.batch })),
);

const rowsOfTurn = fixed((at: ContactScope & { readonly turn: TurnId }) =>
  query
    .selectFrom("staged")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), turn: at.turn })),
);

/** The row by which this turn's messages are part of a turn of several senders; the newest, if there are several. */
export async function batchMemberOf(tx: Tx, scope: ContactScope, turn: TurnId): Promise<Row<"staged"> | undefined> {
  return [...(await stagedIn(tx, scope, turn))].sort((a, b) => b.number - a.number)[0];
}

/** The rows by which a sender's turn is part of one of several senders; none for a turn by itself. */
export const stagedIn = (tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly Row<"staged">[]> =>
  tx.all(rowsOfTurn({ ...owner(scope), turn }));

/** The senders' turns in a turn of several senders. */
export const sendersOf = async (tx: Tx, { org, thread }: Pick<Row<"turn">, "org" | "thread">) =>
  (await batchMemberRows(tx, { org, id: thread })).flatMap((row) =>
    row.turn === null ? [] : [{ thread: row.thread, turn: row.turn }],
  );

/**
 * A turn's link contains this: a sender's turn names the thread of several senders, and a turn of several senders names the senders' turns.
 * Undefined for all other turns.
 */
export async function batchFacts(tx: Tx, turn: Row<"turn">, read?: readonly Row<"staged">[]): Promise<unknown> {
  const isOf = isBatch(turn);
  const rows = isOf
    ? await batchMemberRows(tx, { org: turn.org, id: turn.thread })
    : (read ?? (await stagedIn(tx, turn, turn.id)));
  const staged = rows
    .filter((row) => row.turn !== null)
    .map(({ thread, turn, batch, batch_contact }) => (isOf ? { thread, turn } : { batch, batch_contact }));
  return staged.length === 0 ? undefined : staged;
}

/**
 * The trust of everything that led to a turn's reply: that of its requests, or of those of a turn of several senders, where all senders
 * wrote.
 */
export async function taintsOf(tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly Trust[]> {
  const row = await tx.first(
    query
      .selectFrom("turn")
      .select("steps")
      .where((eb) => eb.and({ ...owner(scope), id: turn })),
  );
  const requests = await requestRows(tx, scope, turn);
  const read = { requests, ...(row?.steps && { steps: toSteps(row.steps) }) };
  return taintsIn(await stagedIn(tx, scope, turn), read);
}

/** What features' steps did in a turn, as its row holds it. */
export function toSteps(text: string): StepRecord {
  return JSON.parse(text);
}

/** The same for a turn whose rows were read already. Whoever answers in place of the model leaves no request. */
export const taintsIn = (
  staged: readonly unknown[],
  { requests, steps }: { readonly requests: readonly { readonly taint: Trust }[]; readonly steps?: StepRecord },
): readonly Trust[] => {
  if (staged.length > 0) return ["contact"];
  return [...requests.map(({ taint }) => taint), ...(steps?.answered ? [steps.answered.taint] : [])];
};

/** The scopes of all turns of several senders of which the contact's messages were ever a part. */
export async function batchesWith(tx: Tx, scope: ContactScope): Promise<readonly ContactScope[]> {
  const staged = query
    .selectFrom("staged")
    .select("batch_contact")
    .distinct()
    .where((eb) => eb.and(owner(scope)))
    .orderBy("batch_contact");
  return (await tx.all(staged)).map((row) => ({ ...owner(scope), contact: row.batch_contact }));
}

/** Frees the senders' threads of a turn that can no longer be committed. */
export async function freeMembers(tx: Tx, batch: Row<"thread">): Promise<void> {
  if (batch.holder === null) return;
  for (const { id, org, agent, contact } of await members(tx, batch)) {
    const held = { org, agent, contact, id, holder: batch.holder };
    await tx.run(
      query
        .updateTable("thread")
        .set({ holder: null, lease_until: null })
        .where((eb) => eb.and(held)),
    );
  }
}

/**
 * Whether a turn is one sender's part of a turn of several senders, which made the requests. A part that was run alone later made its own.
 */
export const isPart = sql<boolean>`(
  exists (select 1 from staged where staged.org = turn.org and staged.turn = turn.id)
  and not exists (
    select 1 from request
    where request.org = turn.org and request.agent = turn.agent and request.contact = turn.contact and request.turn = turn.id))`;
