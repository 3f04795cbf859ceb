import { type AgentName, canonicalJson, type OrgId } from "../../protocol/index.ts";
import { toJson } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** The body of a renaming's link. The row has the agent's current name, its link the name of its time. */
export function renameLink({ agent, was, role, by_id, at }: Omit<Row<"agent_rename">, "link">): string {
  return canonicalJson({ renamed: { agent, was, role, ...(by_id !== null && { by_id }), at } });
}

type Renamed = Pick<Row<"agent_rename">, "agent" | "was" | "link">;

/** The renamings of an organization, the oldest first; each with the name that its agent has today. */
export const renamings = (tx: Tx, org: OrgId): Promise<readonly Renamed[]> =>
  tx.all(plain<Renamed>(`select agent, was, link from agent_rename where org = ? order by link`, org));

/** The name that a current agent had when a link was made. */
export async function nameAt(tx: Tx, org: OrgId, agent: AgentName, link: number): Promise<AgentName> {
  return (await renamings(tx, org)).find((one) => one.link > link && one.agent === agent)?.was ?? agent;
}

/** A link's body about one row, with the name that its agent has today. */
export function withNameOfToday(all: readonly Renamed[], link: number, body: string): string {
  const later = all.filter((one) => one.link > link);
  if (later.length === 0) return body;
  const [[word, row] = ["", {}]] = Object.entries(toJson(body) ?? {});
  if (typeof row !== "object" || row === null || Array.isArray(row)) return body;
  const today = later.find(({ was }) => was === row["agent"])?.agent;
  return today === undefined ? body : canonicalJson({ [word]: { ...row, agent: today } });
}
