import type { AgentName, OrgId, OutboxId, TurnId } from "../../protocol/index.ts";
import { type AgentOwner, plain, type Retracting, type Tx, tables } from "../../store/index.ts";

export const STATUSES = ["waiting", "delivered", "undeliverable"] as const;

/**
 * The state of a reply's delivery. `sent`: the receiver of `deliver` took it, and its arrival is not confirmed. `failed`: it could not be
 * delivered.
 */
export const STATES = ["waiting", "sent", "delivered", "failed"] as const;
export type ReplyState = (typeof STATES)[number];

/** The columns of a row that show how far its reply came. */
interface StateRow {
  readonly org: OrgId;
  readonly agent: AgentName;
  readonly id: OutboxId;
  readonly status: (typeof STATUSES)[number];
  readonly tries: number;
  readonly confirmed_at: number | null;
}

const { query } = tables<{ outbox: StateRow }>();

export async function states(
  tx: Tx,
  { org, agent }: AgentOwner,
  ids: readonly OutboxId[],
): Promise<ReadonlyMap<OutboxId, ReplyState>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all(
    query
      .selectFrom("outbox")
      .select(["id", "status", "tries", "confirmed_at"])
      .where((eb) => eb.and({ org, agent }))
      .where("id", "in", ids),
  );
  return new Map(rows.map((row) => [row.id, replyState(row)]));
}

/** Only the receiver's answer ends a try; any other reader of a reply confirms it at once. */
function replyState({ status, tries, confirmed_at }: Pick<StateRow, "status" | "tries" | "confirmed_at">): ReplyState {
  if (status !== "delivered") return status === "waiting" ? "waiting" : "failed";
  return tries > 0 && confirmed_at === null ? "sent" : "delivered";
}

const NOT_CONFIRMED = "tries > 0 and confirmed_at is null";

/** Which rows have a state, as `replyState` reads it. */
export const IN_STATE: Readonly<Record<ReplyState, string>> = {
  // Inlined, to match the index of waiting messages.
  waiting: "status = 'waiting'",
  sent: `status = 'delivered' and ${NOT_CONFIRMED}`,
  delivered: `status = 'delivered' and not (${NOT_CONFIRMED})`,
  failed: "status = 'undeliverable'",
};

/** Notes that a reply which was sent has arrived. */
export async function confirm(tx: Tx, { org, agent }: AgentOwner, id: OutboxId, at: number): Promise<boolean> {
  const marked = `update outbox set confirmed_at = ? where org = ? and agent = ? and id = ?
    and ${IN_STATE.sent}`;
  return (await tx.changed(plain(marked, at, org, agent, id))) > 0;
}

interface Taken {
  readonly id: OutboxId;
  readonly turn: TurnId;
}

/** Undelivered replies are no longer sent. */
export async function holdBack(tx: Tx, retracting: Retracting): Promise<void> {
  const held = `update outbox set status = 'undeliverable', holder = null, lease_until = null, failed = null
    where org = ? and agent = ? and contact = ? and status = 'waiting' and turn in (select value from json_each(?))`;
  const taken = `select id, turn from outbox where org = ? and agent = ? and contact = ? and status = 'delivered'
    and turn in (select value from json_each(?)) order by at, id`;
  for (const { scope, whole } of retracting.lineages()) {
    const whose = [scope.org, scope.agent, scope.contact, JSON.stringify([...whole])];
    for (const { id, turn } of await tx.all(plain<Taken>(taken, ...whose)))
      retracting.leave({ what: "reply", name: id, turn });
    await tx.run(plain(held, ...whose));
  }
}
