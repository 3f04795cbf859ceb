import { type Actor, type AgentName, doneBy, type OrgId, StrataError } from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import type { MemoryScope } from "../memory/memory-scope.ts";
import { reindexScope } from "../memory/reindex.ts";
import { append } from "../record/chain.ts";
import { REFERENCES_LATER } from "../record/erase.ts";
import { renameLink } from "../record/renamings.ts";
import { insert, plain } from "../statement.ts";
import { inOrder, type Tx } from "../tx.ts";

/** Who gives an agent's record to another name, and when. */
export interface Renaming {
  readonly to: AgentName;
  readonly actor: Actor;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** By the real clock, for leases. */
  readonly now: number;
}

/**
 * Moves all that is stored about an agent to another name of the same organization: conversations, memories, texts, schedules, credits.
 * Links keep the name of their time, and a separate link records its new name.
 * @throws StrataError `agent_not_found` if nothing is kept of it, `invalid_input` if something is kept under the new name, `thread_busy`
 * while a turn of it runs
 */
export async function renameAgent(tx: Tx, { org, agent: was }: AgentOwner, renaming: Renaming): Promise<void> {
  const { to: agent, actor, at, now } = renaming;
  const tables = await tx.column(plain<string>(OF_AGENTS[tx.dialect]));
  if ((await holders(tx, tables, { org, agent: was })).length === 0) {
    const message = `nothing is kept of an agent ${was}; \`strata doctor\` names those of which something is`;
    throw new StrataError("agent_not_found", message, { agent: was });
  }
  const [taken] = await holders(tx, tables, { org, agent });
  if (taken !== undefined) {
    const message = `${agent} has a record of its own (${taken}), and two records cannot become one; give the record to a name that is new`;
    throw new StrataError("invalid_input", message, { agent });
  }
  const busy = `select id from thread where org = ? and agent = ? and holder is not null and lease_until > ? limit 1`;
  const [running] = await tx.column(plain<string>(busy, org, was, now));
  if (running !== undefined)
    throw new StrataError(
      "thread_busy",
      `a turn of ${was} runs on ${running}; stop every Strata on this data, then try again`,
    );
  await tx.run(plain(REFERENCES_LATER[tx.dialect]));
  for (const table of tables)
    await tx.run(plain(`update "${table}" set agent = ? where org = ? and agent = ?`, agent, org, was));
  await tx.run(plain(`update thread set caller_agent = ? where org = ? and caller_agent = ?`, agent, org, was));
  const scopes = plain<MemoryScope>(`select * from memory_scope where org = ? and agent = ?`, org, agent);
  for (const scope of await tx.all(scopes)) await reindexScope(tx, scope);
  const { by: role, byId: by_id = null } = doneBy(actor);
  const row = { org, agent, was, role, by_id, at };
  await tx.run(insert("agent_rename", { ...row, link: (await append(tx, org, renameLink(row))).seq }));
}

/** The agents of an organization of which anything is kept, whether or not they have had a conversation. */
export async function keptAgents(tx: Tx, org: OrgId): Promise<readonly AgentName[]> {
  const tables = await tx.column(plain<string>(OF_AGENTS[tx.dialect]));
  const found = await inOrder(tables, (table) => tx.column(plain<AgentName>(namesIn(table), org, org)));
  return [...new Set(found.flat())].filter((name) => name !== "").sort();
}

/** Steps from one name to the next in the index, where `distinct` would read every row. */
const namesIn = (table: string): string => `with recursive kept (agent) as (
  select min(agent) from "${table}" where org = ?
  union all select (select min(agent) from "${table}" where org = ? and agent > kept.agent) from kept where agent is not null)
  select agent from kept where agent is not null`;

/** The tables with rows of agents, asked of the schema, so that none is ever forgotten. */
const OF_AGENTS = {
  sqlite: `select distinct sqlite_schema.name from sqlite_schema, pragma_table_info(sqlite_schema.name) as col
    where sqlite_schema.type = 'table' and col.name = 'agent' order by sqlite_schema.name`,
  postgres: `select table_name::text from information_schema.columns
    where table_schema = current_schema and column_name = 'agent' order by table_name`,
};

/** The tables that hold something of the agent. */
async function holders(tx: Tx, tables: readonly string[], { org, agent }: AgentOwner): Promise<readonly string[]> {
  const found = await inOrder(tables, async (table) => {
    const some = plain<number>(`select 1 from "${table}" where org = ? and agent = ? limit 1`, org, agent);
    return (await tx.column(some)).length > 0 ? [table] : [];
  });
  return found.flat();
}
