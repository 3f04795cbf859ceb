import { type Actor, canonicalJson, keyedDigest, StrataError } from "../../../protocol/index.ts";
import type { Act, AgentOwner } from "../../agent-store.ts";
import { insert, query } from "../../statement.ts";
import type { Row } from "../../tables.ts";
import { append } from "../chain.ts";
import type { Connection } from "../connection.ts";
import { knownKey, scopeKey } from "../pieces.ts";
import { atMost } from "../scope.ts";

/** Notes what an operator did, as a link of its own. */
export function noteAct(
  db: Connection,
  owner: AgentOwner,
  act: { readonly actor: Actor; readonly what: string; readonly about: string; readonly at: number },
): void {
  db.write(() => {
    const { org, agent } = owner;
    const { what, about, at } = act;
    const facts = { org, agent, id: (acts(db, owner, 1)[0]?.id ?? 0) + 1, role: act.actor.role, what, about, at };
    scopeKey(db, { org, agent, contact: null });
    db.run(insert("act", { ...facts, link: append(db, org, actLink(db, facts)).seq }));
  });
}

/** What an act's link says: whom or what it was about only under the agent's key, for it may name a person. */
export function actLink(db: Connection, row: Omit<Row<"act">, "link">): string {
  const { org, agent, id, role, what, at } = row;
  const key = knownKey(db, { org, agent, contact: null });
  if (!key) {
    const says = `the key under which acts on ${agent} are digested is gone: run \`strata verify\` where the data is, and restore a backup`;
    throw new StrataError("record_broken", says, { agent });
  }
  return canonicalJson({ act: { agent, id, role, what, at, about: keyedDigest(key, row.about) } });
}

/** Newest first. */
export function acts(db: Connection, { org, agent }: AgentOwner, limit: number): readonly Act[] {
  const newest = query
    .selectFrom("act")
    .select(["id", "role", "what", "about", "at"])
    .where((eb) => eb.and({ org, agent }))
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return db.all(newest);
}
