import type { ContactScope, Epoch, ThreadId } from "../../protocol/index.ts";
import type { WithText } from "../rows.ts";
import { insert } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { appendMessages, findEpoch, lastEpoch, messagesOf, toEpoch } from "./epochs.ts";
import { owner } from "./scope.ts";
import type { Settling } from "./settling.ts";
import { findThread } from "./threads.ts";
import { findTurn } from "./turns.ts";

/**
 * A fork goes on where a turn of its parent ended. It reads that from the parent until its own first turn commits: that
 * commit writes it down as the fork's first epoch, so that the turn's link covers it like any other.
 */

/** The newest epoch with all of its transcript; that of a fork without a turn is its parent's. */
export function currentEpoch(db: Connection, scope: ContactScope, thread: ThreadId): Epoch | undefined {
  const row = lastEpoch(db, scope, thread);
  if (row) {
    const messages = messagesOf(db, scope, thread, { epoch: row.n, count: Number.MAX_SAFE_INTEGER });
    return { ...toEpoch(db, row, messages), ...openedFor(db, row) };
  }
  const from = forkedFrom(db, scope, thread);
  return from && { ...toEpoch(db, from.epoch, from.messages), ...openedFor(db, from.epoch), n: 1 };
}

function openedFor(db: Connection, row: Row<"epoch">): Pick<Epoch, "openedFor"> {
  const turn = findTurn(db, row, row.turn);
  return turn === undefined ? {} : { openedFor: { version: turn.version, wire: turn.wire } };
}

/** Writes down what a fork begins with, if this is its first turn. Part of the commit. */
export function beginFork(db: Connection, at: Settling): void {
  if (lastEpoch(db, at.scope, at.thread)) return;
  const from = forkedFrom(db, at.scope, at.thread);
  if (!from) return;
  const { messages } = from;
  const { thread, turn } = at;
  const epoch: Row<"epoch"> = { ...from.epoch, ...owner(at.scope), thread, turn, n: 1, start: messages.length };
  db.run(insert("epoch", epoch));
  const marks = messages.map(({ piece, trust, tokens, came_with }) => ({ piece, trust, tokens, came_with }));
  appendMessages(db, at, { epoch: 1, position: 0, rolling: null }, marks);
}

interface ForkPoint {
  readonly epoch: Row<"epoch">;
  readonly messages: readonly WithText<Row<"message">>[];
}

/** Where the parent's transcript ended with the turn; nothing for a thread that is no fork, or one from the very start. */
function forkedFrom(db: Connection, scope: ContactScope, id: ThreadId): ForkPoint | undefined {
  const from = findThread(db, scope, id)?.forked_turn ?? null;
  const turn = from === null ? undefined : findTurn(db, scope, from);
  if (!turn || turn.epoch === null || turn.length === null) return undefined;
  const epoch = findEpoch(db, scope, turn.thread, turn.epoch);
  const upTo = { epoch: turn.epoch, count: turn.length };
  return epoch && { epoch, messages: messagesOf(db, scope, turn.thread, upTo) };
}
