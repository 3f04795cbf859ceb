import { keepOwn, scopeKey } from "../record/pieces.ts";
import { owner } from "../scope.ts";
import { query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { commitParts, linkTurn } from "./settle.ts";
import { runningTurn } from "./turns.ts";

/** How a turn ends that nobody will finish. It has no sentence if its contact's texts are erased. */
export interface Stop {
  readonly at: number;
  readonly says?: string;
}

/**
 * Ends the turn that runs on the thread as failed (law 14), linked like any other. Its worker has lost its lease, so it can neither commit
 * nor hold the thread any longer. Part of a write transaction.
 */
export async function stopTurn(tx: Tx, thread: Row<"thread">, { at, says }: Stop): Promise<void> {
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
  await commitParts(tx, { scope: whose, turn: running.id, requests: [] });
  const freed = { turns: thread.turns + 1, holder: null, lease_until: null };
  await tx.run(
    query
      .updateTable("thread")
      .set(freed)
      .where((eb) => eb.and({ ...whose, id: thread.id })),
  );
  await linkTurn(tx, { scope: whose, turn: running.id });
}
