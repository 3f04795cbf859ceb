import { type OrgId, StrataError } from "../../protocol/index.ts";
import { BATCH, page, problem, type Step, sentence } from "../record/chain.ts";
import { ownText, sharedText } from "../record/pieces.ts";
import { renameLink, renamings, withNameOfToday } from "../record/renamings.ts";
import { retractionLink } from "../record/retraction-link.ts";
import type { Finding } from "../records.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type LinkedRow, type LinkedTable, type StorePart, type Tx } from "../tx.ts";
import { actLink } from "./acts.ts";
import { decides, type MoveRow, movesOfVersion, textAt, textLink } from "./texts.ts";

/** A table each of whose rows has a link that repeats it. `message`: the link's message; the name of the columns is in `name`. */
export function linkedTable<R extends { readonly link: number }>(
  table: string,
  name: (row: R) => string,
  text: (tx: Tx, row: R) => Promise<string> | string,
): LinkedTable {
  const rows = `select * from "${table}" where org = ?`;
  return {
    rows: async (tx, org, which) => {
      const found =
        "link" in which
          ? plain<R>(`${rows} and link = ?`, org, which.link)
          : plain<R>(`${rows} and link > ? order by link limit ${BATCH}`, org, which.after);
      return (await tx.all(found)).map((row) => {
        return { link: row.link, name: name(row), message: async () => text(tx, row) };
      });
    },
  };
}

const OWN: Readonly<Record<string, LinkedTable>> = {
  text: linkedTable<MoveRow>(
    "text_move",
    ({ agent, layer, part, seq }) => `text ${layer}${part === "" ? "" : `/${part}`} of ${agent}, move ${seq}`,
    async (tx, row) => {
      for (const digest of [row.reason, row.text, row.line, row.findings]) await textAt(tx, row, digest);
      await checkWaits(tx, row);
      return textLink(row);
    },
  ),
  renamed: linkedTable<Row<"agent_rename">>(
    "agent_rename",
    ({ agent, was }) => `renaming of ${was}, which is ${agent} today`,
    (_, row) => renameLink(row),
  ),
  retracted: linkedTable<Row<"retraction">>(
    "retraction",
    ({ n }) => `retraction ${n}`,
    async (tx, row) => {
      await sharedText(tx, row.org, row.texts);
      await ownText(tx, row, row.reason);
      return retractionLink(row);
    },
  ),
  act: linkedTable<Row<"act">>("act", ({ agent, id }) => `act ${id} on ${agent}`, actLink),
};

/** All such tables, by the word with which their links begin. */
export const linkedTables = (parts: readonly StorePart[]): ReadonlyMap<string, LinkedTable> =>
  new Map([...Object.entries(OWN), ...parts.flatMap(({ linked = {} }) => Object.entries(linked))]);

/** No link says which versions wait: the other rows do. @throws StrataError `record_broken` */
async function checkWaits(tx: Tx, row: MoveRow): Promise<void> {
  const waits = row.kind === "proposed" && !(await movesOfVersion(tx, row, row.n)).some(decides);
  if (row.waits === (waits ? 1 : null)) return;
  const message = `it is marked as ${waits ? "decided, and waits" : "waiting, and does not"}`;
  throw new StrataError("record_broken", message, { link: row.link });
}

/** A link that repeats a row: the row is there. */
export async function checkLinkedRow(tx: Tx, { org, seq }: Row<"chain">, kind: string): Promise<readonly Finding[]> {
  const [row] = (await linkedTables(tx.parts).get(kind)?.rows(tx, org, { link: seq })) ?? [];
  return row || (await isUndone(tx, org, seq)) ? [] : [problem(`link ${seq}`, "what it records is not there")];
}

/** Whether a later retraction says that what a link records is gone. */
async function isUndone(tx: Tx, org: OrgId, seq: number): Promise<boolean> {
  const later = `select undone from retraction where org = ? and link > ? and undone like ?`;
  const undone = await tx.column(plain<string>(later, org, seq, `%${seq}%`));
  return undone.some((one) => (JSON.parse(one) as readonly unknown[]).includes(seq));
}

/** The next rows of a table: each is what its link says. */
export async function checkLinked(tx: Tx, org: OrgId, table: LinkedTable, after: number): Promise<Step<number>> {
  const rows = await table.rows(tx, org, { after });
  const renamed = rows.length === 0 ? [] : await renamings(tx, org);
  const problems = (
    await inOrder(rows, async (row) =>
      (await checkRow(tx, org, row, renamed)).map((message) => problem(row.name, message)),
    )
  ).flat();
  return { problems, checked: {}, ...page(rows.at(-1)?.link, rows.length) };
}

async function checkRow(
  tx: Tx,
  org: OrgId,
  { link, message }: LinkedRow,
  renamed: Awaited<ReturnType<typeof renamings>>,
): Promise<readonly string[]> {
  const body = (await tx.first(plain<{ body: string }>(`select body from chain where org = ? and seq = ?`, org, link)))
    ?.body;
  if (body === undefined) return [`the record has no link ${link}`];
  try {
    return (await message()) === withNameOfToday(renamed, link, body) ? [] : [`it is not what link ${link} says`];
  } catch (thrown) {
    return [sentence(thrown)];
  }
}
