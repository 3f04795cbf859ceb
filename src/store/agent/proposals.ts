import { type ContactScope, isBatch, type TextKey } from "../../protocol/index.ts";
import type { AgentOwner, Proposal } from "../agent-store.ts";
import { keepShared } from "../record/pieces.ts";
import type { Paging } from "../records.ts";
import { toTextKey } from "../rows.ts";
import { atMost, plain } from "../statement.ts";
import { type Erasing, inOrder, type Tx } from "../tx.ts";
import { findVersion, isWish, type MoveRow, NO_VERSION, pointerOf, recordMove, type TextColumns } from "./texts.ts";

/** The oldest first. */
export async function proposals(
  tx: Tx,
  owner: AgentOwner,
  { own, limit, after }: Paging & { readonly own?: true },
): Promise<readonly Proposal[]> {
  const where = own ? `and contact is null and "by" = 'agent'` : "";
  const beyond = `${where} and link > ? order by link limit ?`;
  const rows = await tx.all(waiting(beyond, owner, after?.at ?? 0, atMost(limit)));
  return (
    await inOrder(rows, async (row) => {
      const version = await findVersion(tx, row, row.n);
      return version ? { ...version, link: row.link } : [];
    })
  ).flat();
}

/** How many wait, of each text of which any does. */
export async function proposalCounts(
  tx: Tx,
  { org, agent }: AgentOwner,
): Promise<readonly (TextKey & { readonly proposals: number })[]> {
  const rows = await tx.all(plain<ProposalCount>(COUNTS, org, agent));
  return rows.map((row) => ({ ...toTextKey(row), proposals: row.proposals }));
}

type ProposalCount = Pick<MoveRow, "layer" | "part"> & { readonly proposals: number };

/** Uses the index of waiting proposals: any other would be read to its end, including all decided ones. */
const WAITING = "text_move indexed by text_waiting where org = ? and agent = ? and waits = 1";
const COUNTS = `select layer, part, count(*) as proposals from ${WAITING} group by layer, part order by layer, part`;

const waiting = (where: string, { org, agent }: AgentOwner, ...values: readonly unknown[]) =>
  plain<MoveRow>(`select * from ${WAITING} ${where}`, org, agent, ...values);

/**
 * Which of an agent's proposals for a text replace each other: those from its self-started turns, from one contact's turns, or from turns
 * of several senders, whoever they were. An overtaken version is not a proposal of this kind, and keeps its place beside them.
 */
export async function waitingBeside(
  tx: Tx,
  key: TextColumns,
  contact: MoveRow["contact"],
): Promise<readonly MoveRow[]> {
  const { layer, part } = key;
  const whole = async (whose: string, ...values: readonly unknown[]) =>
    (
      await tx.all(
        waiting(`${whose} and layer = ? and part = ? and "by" = 'agent' order by link`, key, ...values, layer, part),
      )
    ).filter(isWish);
  if (contact === null) return whole("and contact is null");
  if (isBatch({ ...key, contact })) return whole("and contact >= '~inbox:' and contact < '~inbox;'");
  return whole("and contact = ?", contact);
}

/** A newer version replaces the undecided ones. */
export async function supersede(
  tx: Tx,
  rows: readonly MoveRow[],
  { n, at }: { readonly n: number; readonly at: number },
): Promise<void> {
  await close(tx, rows, {
    kind: "superseded",
    by: "agent",
    at,
    why: `version ${n}, out of a later turn, takes its place`,
  });
}

/** The undecided proposals of a contact's turns are erased with the contact. Part of an erasure, before its texts go. */
export async function closeProposals(tx: Tx, scope: ContactScope, erasing: Erasing): Promise<void> {
  const rows = await tx.all(waiting("and contact = ? order by link", scope, scope.contact));
  await close(tx, rows, { kind: "rejected", ...erasing, why: "the contact in whose turn it was written was erased" });
}

interface Closing extends Erasing {
  readonly kind: "superseded" | "rejected";
  readonly why: string;
}

async function close(tx: Tx, rows: readonly MoveRow[], { kind, by, byId, at, why }: Closing): Promise<void> {
  for (const { org, agent, layer, part, n } of rows) {
    const key = { org, agent, layer, part };
    const stands = await pointerOf(tx, key);
    await recordMove(tx, key, {
      ...NO_VERSION,
      kind,
      n,
      was: stands,
      stands,
      by,
      by_id: byId ?? null,
      at,
      reason: await keepShared(tx, org, why),
    });
  }
}
