import { canonicalJson, type OrgId } from "../../protocol/index.ts";
import type { Finding } from "../records.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { problem } from "./chain.ts";

/** It names no contact, because an erasure removes the name. */
export const retractionLink = (row: Omit<Row<"retraction">, "link">): string => {
  const { agent, n, event, turns, texts, undone, by, by_id, reason, at } = row;
  return canonicalJson({ retracted: { agent, n, event, turns, texts, undone, by, by_id, reason, at } });
};

/** Rows that are marked as retracted, and no retraction says so; and events that were retracted, and are not marked. */
export async function checkRetractions(tx: Tx, org: OrgId): Promise<readonly Finding[]> {
  const marked = await inOrder(["event", "slot", "turn"], async (table) => {
    const name = table === "slot" ? "turn" : "id";
    const stray = `select distinct one.${name} from ${table} as one where one.org = ? and one.retracted is not null
      and not exists (select 1 from retraction where retraction.org = one.org and retraction.n = one.retracted) limit 100`;
    const ids = await tx.column(plain<string>(stray, org));
    return ids.map((id) => problem(`${table} ${id}`, "it is marked as retracted, but no retraction is recorded"));
  });
  const turns = await tx.all(plain<MarkedTurn>(MARKED_TURNS, org));
  const unnamed = turns.filter(({ id, turns: named }) => !(JSON.parse(named) as readonly unknown[]).includes(id));
  const unmarked = await tx.column(plain<string>(UNMARKED, org));
  return [
    ...marked.flat(),
    ...unnamed.map(({ id }) => problem(`turn ${id}`, "it is marked as retracted, but the retraction does not name it")),
    ...unmarked.map((id) => problem(`event ${id}`, "it was retracted, but it is not marked so")),
  ];
}

type MarkedTurn = Pick<Row<"turn">, "id"> & Pick<Row<"retraction">, "turns">;

const MARKED_TURNS = `select turn.id, retraction.turns from turn join retraction on retraction.org = turn.org
  and retraction.n = turn.retracted where turn.org = ?`;
const UNMARKED = `select retraction.event from retraction where retraction.org = ? and retraction.event is not null and not exists (
  select 1 from event where event.org = retraction.org and event.id = retraction.event and event.retracted is not null) limit 100`;
