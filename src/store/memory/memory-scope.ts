import type { Scope } from "../../protocol/index.ts";
import { ownerOrAgent } from "../scope.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** The row of a scope: where its memories are and how many. Every write of them changes it. */
export type MemoryScope = Row<"memory_scope">;

/** The width of a scope's range in the index, larger than any that is filled. Numbers stay exact up to 2^27 scopes. */
const WIDTH = 2 ** 26;

/** The first id of a scope's units, and the first one of the next scope. */
export function rangeOf({ number }: Pick<MemoryScope, "number">): { readonly from: number; readonly to: number } {
  return { from: number * WIDTH, to: (number + 1) * WIDTH };
}

/** A scope that has, or had, memories. */
export async function memoryScope(tx: Tx, scope: Scope): Promise<MemoryScope | undefined> {
  const { org, agent, contact } = ownerOrAgent(scope);
  return tx.first(
    plain<MemoryScope>(`select * from memory_scope where org = ? and agent = ? and contact = ?`, org, agent, contact),
  );
}

/** The same for several scopes, with one query for all of an agent's. */
export async function memoryScopes(tx: Tx, scopes: readonly Scope[]): Promise<readonly (MemoryScope | undefined)[]> {
  const owners = scopes.map(ownerOrAgent);
  const keyOf = ({ org, agent, contact }: (typeof owners)[number]): string => JSON.stringify([org, agent, contact]);
  const found = new Map<string, MemoryScope>();
  for (const same of Map.groupBy(owners, ({ org, agent }) => JSON.stringify([org, agent])).values()) {
    const contacts = JSON.stringify(same.map(({ contact }) => contact));
    const asked = plain<MemoryScope>(SCOPES, same[0]?.org, same[0]?.agent, contacts);
    for (const row of await tx.all(asked)) found.set(keyOf(row), row);
  }
  return owners.map((one) => found.get(keyOf(one)));
}

const SCOPES = `select * from memory_scope where org = ? and agent = ? and contact in (select value from json_each(?))`;

/** The same for writing: it is created if it does not exist. */
export async function ownMemoryScope(tx: Tx, scope: Scope): Promise<MemoryScope> {
  const known = await memoryScope(tx, scope);
  if (known) return known;
  const { org, agent, contact } = ownerOrAgent(scope);
  const fresh = { next: 0, units: 0, terms: 0, saved: 0, characters: 0 };
  const made = plain<Pick<MemoryScope, "number">>(
    `insert into memory_scope (org, agent, contact, next, units, terms, saved, characters, revision)
     values (?, ?, ?, 0, 0, 0, 0, 0, 0) returning number`,
    ...[org, agent, contact],
  );
  const { number = 0 } = (await tx.first(made)) ?? {};
  // A contact who was erased and returns has a new number, so no revision occurs twice; otherwise a cache would return what is gone.
  const revision = number * WIDTH;
  await tx.run(plain(`update memory_scope set revision = ? where number = ?`, revision, number));
  return { number, org, agent, contact, ...fresh, revision };
}

/** What a write changes in a scope. */
export type Change = Partial<Pick<MemoryScope, "next" | "units" | "terms" | "saved" | "characters">>;

/** Adds a change, which makes a new revision. */
export async function countChange(tx: Tx, { number }: Pick<MemoryScope, "number">, change: Change): Promise<void> {
  const { next = 0, units = 0, terms = 0, saved = 0, characters = 0 } = change;
  await tx.run(
    plain(
      `update memory_scope set next = next + ?, units = units + ?, terms = terms + ?, saved = saved + ?,
       characters = characters + ?, revision = revision + 1 where number = ?`,
      ...[next, units, terms, saved, characters, number],
    ),
  );
}
