import type { ContactScope, OrgId, ThreadId } from "../../protocol/index.ts";
import type { Claim, ClaimRequest, HeldThread } from "../records.ts";
import { fixed, owner, query } from "../statement.ts";
import { lease, openRow } from "../threads/threads.ts";
import type { Tx } from "../tx.ts";

/** Notes on the thread that its present claim is to end; a later claim is not affected. */
export async function askStop(
  tx: Tx,
  scope: ContactScope,
  id: ThreadId,
  at: Pick<ClaimRequest, "now" | "alive">,
): Promise<boolean> {
  const row = await openRow(tx, scope, id);
  if (lease(row, at) === undefined) return false;
  await tx.run(
    query
      .updateTable("thread")
      .set({ stop_fence: row.fence })
      .where((eb) => eb.and({ ...owner(row), id })),
  );
  return true;
}

/** Looked at each second of a turn. */
export async function stopAsked(tx: Tx, claim: Claim): Promise<boolean> {
  for (const { thread, fence } of [claim, ...(claim.batchMembers ?? [])]) {
    const { scope, id } = thread;
    if ((await tx.first(stoppedThread({ ...owner(scope), id, fence }))) !== undefined) return true;
  }
  return false;
}

const stoppedThread = fixed((at: ContactScope & { readonly id: ThreadId; readonly fence: number }) =>
  query
    .selectFrom("thread")
    .select("id")
    .where((eb) => eb.and({ ...owner(at), id: at.id, stop_fence: at.fence })),
);

/** Who holds which thread, whether the lease still counts or not. */
export async function leases(tx: Tx, org: OrgId): Promise<readonly HeldThread[]> {
  const held = query
    .selectFrom("thread")
    .selectAll()
    .where("org", "=", org)
    .where("holder", "is not", null)
    .orderBy("id");
  return (await tx.all(held)).map(({ id: thread, agent, contact, holder, lease_until }) => {
    return { thread, scope: { org, agent, contact }, holder: holder ?? "", until: lease_until ?? 0 };
  });
}

/** Holds the thread for longer, and with it those of its senders; false if it or one of them is no longer held by this claim. */
export async function renew(tx: Tx, claim: Claim, until: number): Promise<boolean> {
  for (const one of [claim, ...(claim.batchMembers ?? [])]) {
    if (!(await renewOne(tx, one, until))) return false;
  }
  return true;
}

async function renewOne(tx: Tx, { thread: { scope, id }, fence, holder }: Claim, until: number): Promise<boolean> {
  const wanted = { ...owner(scope), id, fence, holder };
  return (
    (await tx.changed(
      query
        .updateTable("thread")
        .set({ lease_until: until })
        .where((eb) => eb.and(wanted)),
    )) === 1
  );
}
