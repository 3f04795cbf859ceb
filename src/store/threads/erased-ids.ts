import { type ContactScope, canonicalJson, keyedDigest } from "../../protocol/index.ts";
import { knownKey, scopeKey } from "../record/pieces.ts";
import { fixed, insert, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/**
 * An erased message is no longer known, because it cannot be compared: its id is free for the next one. A signature still counts only once:
 * a digest of a signed message stays.
 */
export async function forgetIds(tx: Tx, scope: ContactScope): Promise<void> {
  const named = query
    .selectFrom("event")
    .select(["external_id", "proof"])
    .where((eb) => eb.and(owner(scope)))
    .where("external_id", "is not", null);
  for (const { external_id, proof } of await tx.all(named)) {
    if (external_id === null || proof !== "proven") continue;
    await scopeKey(tx, { ...scope, contact: null });
    await tx.run(insert("spent_signature", await spent(tx, scope, external_id), "if new"));
  }
  await tx.run(
    query
      .updateTable("event")
      .set({ external_id: null })
      .where((eb) => eb.and(owner(scope)))
      .where("external_id", "is not", null),
  );
}

/** A signed id of an erased contact: under the agent's key, so that neither can be read from it. */
async function spent(
  tx: Tx,
  { org, agent, contact }: ContactScope,
  externalId: string,
): Promise<Row<"spent_signature">> {
  const key = (await knownKey(tx, { org, agent, contact: null })) ?? new Uint8Array(32);
  return { org, agent, digest: keyedDigest(key, canonicalJson(["signed", contact, externalId])) };
}

/** Whether a signed message of that id was erased. */
export async function isSpent(tx: Tx, scope: ContactScope, externalId: string): Promise<boolean> {
  const wanted = await spent(tx, scope, externalId);
  return (await tx.first(spentSignature(wanted))) !== undefined;
}

const spentSignature = fixed((at: Row<"spent_signature">) =>
  query
    .selectFrom("spent_signature")
    .select("digest")
    .where((eb) => eb.and({ org: at.org, agent: at.agent, digest: at.digest })),
);
