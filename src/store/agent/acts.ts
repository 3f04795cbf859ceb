import { type Actor, canonicalJson, doneBy, keyedDigest, StrataError } from "../../protocol/index.ts";
import type { Act, AgentOwner } from "../agent-store.ts";
import { append } from "../record/chain.ts";
import { knownKey, scopeKey } from "../record/pieces.ts";
import type { Position } from "../records.ts";
import { atMost, insert, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** Records an operator's action, in a separate link. */
export async function noteAct(
  tx: Tx,
  owner: AgentOwner,
  act: { readonly actor: Actor; readonly what: string; readonly about: string; readonly at: number },
): Promise<void> {
  const { org, agent } = owner;
  const { what, about, at } = act;
  const { by: role, byId: by_id = null } = doneBy(act.actor);
  const facts = { org, agent, id: ((await acts(tx, owner, 1))[0]?.id ?? 0) + 1, role, by_id, what, about, at };
  await scopeKey(tx, { org, agent, contact: null });
  await tx.run(insert("act", { ...facts, link: (await append(tx, org, await actLink(tx, facts))).seq }));
}

/** The body of an act's link. Its subject may name a person, so it is included only as a digest under the agent's key. */
export async function actLink(tx: Tx, row: Omit<Row<"act">, "link">): Promise<string> {
  const { org, agent, id, role, by_id, what, at } = row;
  const key = await knownKey(tx, { org, agent, contact: null });
  if (!key) {
    const message = `the key under which acts on ${agent} are digested is gone: run \`strata verify\` where the data is, and restore a backup`;
    throw new StrataError("record_broken", message, { agent });
  }
  // Links of acts from before ids were kept do not have one.
  const who = { role, ...(by_id !== null && { by_id }) };
  return canonicalJson({ act: { agent, id, ...who, what, at, about: keyedDigest(key, row.about) } });
}

/** Newest first. */
export async function acts(
  tx: Tx,
  { org, agent }: AgentOwner,
  limit: number,
  after?: Position,
): Promise<readonly Act[]> {
  const all = query
    .selectFrom("act")
    .select(["id", "role", "by_id", "what", "about", "at"])
    .where((eb) => eb.and({ org, agent }))
    .orderBy("id", "desc")
    .limit(atMost(limit));
  const rows = await tx.all(after ? all.where("id", "<", after.at) : all);
  return rows.map(({ by_id, ...act }) => ({ ...act, ...(by_id !== null && { byId: by_id }) }));
}
