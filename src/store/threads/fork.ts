import { sql } from "kysely";
import type { ContactScope, Digest, Epoch, ThreadId, TurnId } from "../../protocol/index.ts";
import { rolled } from "../digests.ts";
import { textOf } from "../record/pieces.ts";
import type { WithText } from "../rows.ts";
import { fixed, insert, ONE, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import {
  appendMessages,
  findEpoch,
  type LastEpoch,
  messagesOf,
  RETRACTED_OF,
  type Settling,
  type TranscriptEnd,
  toCurrentEpoch,
  toEpoch,
  toTranscript,
} from "../turns/epochs.ts";
import { findTurn } from "../turns/turns.ts";
import type { Tx } from "../tx.ts";
import type { KnownEpoch, KnownEpochs } from "./known-epochs.ts";
import { findThread } from "./threads.ts";

/**
 * A fork continues where a turn of its parent ended. It reads the transcript from the parent until its own first turn commits. That commit
 * stores it as the fork's first epoch, so that the turn's link covers it like any other.
 */

/** The newest epoch with its whole transcript; for a fork without a turn, its parent's. Of one that is known, only what came since is read. */
export async function currentEpoch(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  known?: KnownEpochs,
  fence?: number,
): Promise<Epoch | undefined> {
  const row = await tx.first(newestEpoch({ ...owner(scope), thread }));
  if (row) {
    const { version, wire, position, rolling, blank, retracted, ...own } = row;
    const openedBy = version !== null && { openedFor: { version, wire } };
    if (blank !== null || retracted !== null) {
      const messages = await messagesOf(tx, scope, thread, { epoch: row.n, count: Number.MAX_SAFE_INTEGER });
      return { ...(await toCurrentEpoch(tx, own, messages)), ...openedBy };
    }
    const end = { epoch: own.n, position: position === null ? 0 : position + 1, rolling };
    const before = known?.get(scope, thread);
    const read = (before && (await continued(tx, before, own, end))) ?? (await readWhole(tx, own, end));
    known?.put(scope, thread, { ...read, ...(fence !== undefined && { fence }) });
    return { ...read.epoch, ...openedBy };
  }
  const from = await forkedFrom(tx, scope, thread);
  return (
    from && { ...(await toCurrentEpoch(tx, from.epoch, from.messages)), ...(await openedFor(tx, from.epoch)), n: 1 }
  );
}

async function readWhole(tx: Tx, row: Row<"epoch">, end: TranscriptEnd): Promise<KnownEpoch> {
  const messages = await messagesOf(tx, row, row.thread, { epoch: row.n, count: Number.MAX_SAFE_INTEGER });
  const epoch = await toEpoch(tx, row, messages);
  const prefix = epoch.prefix.system.reduce((sum, { text }) => sum + text.length, 0);
  return { row, epoch, end, characters: prefix + lengthOf(messages) };
}

/** The known part, and what came since; undefined if the record differs by now. */
async function continued(
  tx: Tx,
  { row, epoch, end: before, characters }: KnownEpoch,
  now: Row<"epoch">,
  end: TranscriptEnd,
): Promise<KnownEpoch | undefined> {
  if (JSON.stringify(row) !== JSON.stringify(now) || before.position > end.position) return undefined;
  const isSame = before.position === end.position;
  const upTo = { epoch: now.n, count: end.position, from: before.position };
  const messages = isSame ? [] : await messagesOf(tx, now, now.thread, upTo);
  const rolling = messages.reduce(
    (rolling: Digest | null, { piece, trust, tokens, came_with }) =>
      rolled(rolling, { piece, trust, tokens, came_with }),
    before.rolling,
  );
  if (rolling !== end.rolling) return undefined;
  const transcript = [...epoch.transcript, ...toTranscript(messages, now.n)];
  return { row, epoch: { ...epoch, transcript }, end, characters: characters + lengthOf(messages) };
}

const lengthOf = (messages: readonly { readonly text: string | null }[]): number =>
  messages.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);

/**
 * The newest epoch, with the version and the model of the turn that opened it, the last of its messages, and one whose text is gone and a
 * turn of the contact that has left its transcript, if there are any.
 */
const newestEpoch = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("epoch")
    .selectAll()
    .select((eb) => {
      const opener = eb
        .selectFrom("turn")
        .whereRef("turn.org", "=", "epoch.org")
        .whereRef("turn.agent", "=", "epoch.agent")
        .whereRef("turn.contact", "=", "epoch.contact")
        .whereRef("turn.id", "=", "epoch.turn");
      const own = eb
        .selectFrom("message")
        .whereRef("message.org", "=", "epoch.org")
        .whereRef("message.agent", "=", "epoch.agent")
        .whereRef("message.contact", "=", "epoch.contact")
        .whereRef("message.thread", "=", "epoch.thread")
        .whereRef("message.epoch", "=", "epoch.n");
      const last = own.orderBy("message.position", "desc").limit(ONE);
      return [
        opener.select("turn.version").as("version"),
        opener.select("turn.wire").as("wire"),
        last.select("message.position").as("position"),
        last.select("message.rolling").as("rolling"),
        own.select("message.position").where(textOf("message"), "is", null).limit(ONE).as("blank"),
        sql<TurnId | null>`(${sql.raw(RETRACTED_OF("epoch"))})`.as("retracted"),
      ];
    })
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .orderBy("n", "desc")
    .limit(ONE),
);

async function openedFor(tx: Tx, row: Row<"epoch">): Promise<Pick<Epoch, "openedFor">> {
  const turn = await findTurn(tx, row, row.turn);
  return turn === undefined ? {} : { openedFor: { version: turn.version, wire: turn.wire } };
}

/**
 * Stores the beginning of a fork. Part of the commit of a thread that has no epoch yet. Returns its first one, and where its transcript ends.
 */
export async function beginFork(tx: Tx, at: Settling): Promise<LastEpoch | undefined> {
  const from = await forkedFrom(tx, at.scope, at.thread);
  if (!from) return undefined;
  const { messages } = from;
  const { thread, turn } = at;
  const epoch: Row<"epoch"> = { ...from.epoch, ...owner(at.scope), thread, turn, n: 1, start: messages.length };
  await tx.run(insert("epoch", epoch));
  const breakpoints = messages.map(({ piece, trust, tokens, came_with }) => ({ piece, trust, tokens, came_with }));
  return { epoch, end: await appendMessages(tx, at, { epoch: 1, position: 0, rolling: null }, breakpoints) };
}

interface ForkPoint {
  readonly epoch: Row<"epoch">;
  readonly messages: readonly WithText<Row<"message">>[];
}

/**
 * The parent's transcript as it was when the turn ended; undefined if the thread is not a fork, or begins before the parent's first turn.
 */
async function forkedFrom(tx: Tx, scope: ContactScope, id: ThreadId): Promise<ForkPoint | undefined> {
  const from = (await findThread(tx, scope, id))?.forked_turn ?? null;
  const turn = from === null ? undefined : await findTurn(tx, scope, from);
  if (!turn || turn.epoch === null || turn.length === null) return undefined;
  const epoch = await findEpoch(tx, scope, turn.thread, turn.epoch);
  const upTo = { epoch: turn.epoch, count: turn.length };
  return epoch && { epoch, messages: await messagesOf(tx, scope, turn.thread, upTo) };
}
