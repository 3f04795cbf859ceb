import { type OrgId, StrataError } from "../../protocol/index.ts";
import { sharedText } from "../record/pieces.ts";
import { BATCH, page, problem, type Step, sentence } from "../record/walk.ts";
import type { Finding } from "../records.ts";
import type { Recorded } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { actLink } from "./acts.ts";
import { strangeEntries } from "./conversations.ts";
import { topUpLink } from "./credits.ts";
import { textLink } from "./record-move.ts";
import { decides, type MoveRow, movesOfVersion, textAt } from "./texts.ts";

/** A row that its link repeats. */
interface RecordedRow {
  readonly link: number;
  readonly name: string;
  /** What the link must say; reads the row's texts too. */
  readonly says: () => Promise<string>;
}

/** How the rows of a table are read and told. */
interface Kind {
  readonly rows: (tx: Tx, where: string, ...values: readonly unknown[]) => Promise<readonly RecordedRow[]>;
}

function kind<R extends { readonly link: number }>(
  table: string,
  name: (row: R) => string,
  says: (tx: Tx, row: R) => Promise<string>,
): Kind {
  const select = `select * from ${table} where`;
  return {
    rows: async (tx, where, ...values) =>
      (await tx.all(plain<R>(`${select} ${where}`, ...values))).map((row) => {
        return { link: row.link, name: name(row), says: () => says(tx, row) };
      }),
  };
}

const KINDS: Readonly<Record<Recorded, Kind>> = {
  text: kind<MoveRow>(
    "text_move",
    ({ agent, layer, part, seq }) => `text ${layer}${part === "" ? "" : `/${part}`} of ${agent}, move ${seq}`,
    async (tx, row) => {
      for (const digest of [row.reason, row.text, row.line, row.findings]) await textAt(tx, row, digest);
      await checkWaits(tx, row);
      return textLink(row);
    },
  ),
  topUp: kind<Row<"top_up">>(
    "top_up",
    ({ agent, id }) => `payment ${id} of ${agent}`,
    async (tx, row) => {
      await sharedText(tx, row.org, row.note);
      return topUpLink(row);
    },
  ),
  act: kind<Row<"act">>("act", ({ agent, id }) => `act ${id} on ${agent}`, actLink),
};

/** No link says which versions wait: the other rows do. @throws StrataError `record_broken` */
async function checkWaits(tx: Tx, row: MoveRow): Promise<void> {
  const waits = row.kind === "proposed" && !(await movesOfVersion(tx, row, row.n)).some(decides);
  if (row.waits === (waits ? 1 : null)) return;
  const says = `it is marked as ${waits ? "decided, and waits" : "waiting, and does not"}`;
  throw new StrataError("record_broken", says, { link: row.link });
}

/** A link that repeats a row: the row is there. */
export async function checkRecordedLink(
  tx: Tx,
  { org, seq }: Row<"chain">,
  what: Recorded,
): Promise<readonly Finding[]> {
  const [row] = await KINDS[what].rows(tx, "org = ? and link = ?", org, seq);
  return row ? [] : [problem(`link ${seq}`, "what it records is not there")];
}

/** The rows of a kind: each is what its link says. */
export async function checkRecorded(tx: Tx, org: OrgId, what: Recorded, after: number): Promise<Step<number>> {
  const rows = await KINDS[what].rows(tx, `org = ? and link > ? order by link limit ${BATCH}`, org, after);
  const problems = (
    await inOrder(rows, async (row) => (await checkRow(tx, org, row)).map((says) => problem(row.name, says)))
  ).flat();
  return { problems, checked: {}, ...page(rows.at(-1)?.link, rows.length) };
}

async function checkRow(tx: Tx, org: OrgId, { link, says }: RecordedRow): Promise<readonly string[]> {
  const body = (await tx.first(plain<{ body: string }>(`select body from chain where org = ? and seq = ?`, org, link)))
    ?.body;
  if (body === undefined) return [`the record has no link ${link}`];
  try {
    return (await says()) === body ? [] : [`it is not what link ${link} says`];
  } catch (thrown) {
    return [sentence(thrown)];
  }
}

/** The logs of senders: they only say where to find what was said. */
export async function checkExchanges(tx: Tx, org: OrgId): Promise<Step<number>> {
  const problems = (await strangeEntries(tx, org)).map(({ turn, event }) =>
    problem(`turn ${turn}`, `a log of its agent has an entry for ${event} that this turn did not make`),
  );
  return { problems, checked: {} };
}
