import { type OrgId, StrataError } from "../../../protocol/index.ts";
import type { Recorded } from "../../rows.ts";
import { plain } from "../../statement.ts";
import type { Finding } from "../../store.ts";
import type { Row } from "../../tables.ts";
import type { Connection } from "../connection.ts";
import { sharedText } from "../pieces.ts";
import { BATCH, page, problem, type Step, sentence } from "../walk.ts";
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
  readonly says: () => string;
}

/** How the rows of a table are read and told. */
interface Kind {
  readonly rows: (db: Connection, where: string, ...values: readonly unknown[]) => readonly RecordedRow[];
}

function kind<R extends { readonly link: number }>(
  table: string,
  name: (row: R) => string,
  says: (db: Connection, row: R) => string,
): Kind {
  const select = `select * from ${table} where`;
  return {
    rows: (db, where, ...values) =>
      db.all(plain<R>(`${select} ${where}`, ...values)).map((row) => {
        return { link: row.link, name: name(row), says: () => says(db, row) };
      }),
  };
}

const KINDS: Readonly<Record<Recorded, Kind>> = {
  text: kind<MoveRow>(
    "text_move",
    ({ agent, layer, part, seq }) => `text ${layer}${part === "" ? "" : `/${part}`} of ${agent}, move ${seq}`,
    (db, row) => {
      for (const digest of [row.reason, row.text, row.line, row.findings]) textAt(db, row, digest);
      checkWaits(db, row);
      return textLink(row);
    },
  ),
  topUp: kind<Row<"top_up">>(
    "top_up",
    ({ agent, id }) => `payment ${id} of ${agent}`,
    (db, row) => {
      sharedText(db, row.org, row.note);
      return topUpLink(row);
    },
  ),
  act: kind<Row<"act">>("act", ({ agent, id }) => `act ${id} on ${agent}`, actLink),
};

/** No link says which versions wait: the other rows do. @throws StrataError `record_broken` */
function checkWaits(db: Connection, row: MoveRow): void {
  const waits = row.kind === "proposed" && !movesOfVersion(db, row, row.n).some(decides);
  if (row.waits === (waits ? 1 : null)) return;
  const says = `it is marked as ${waits ? "decided, and waits" : "waiting, and does not"}`;
  throw new StrataError("record_broken", says, { link: row.link });
}

/** A link that repeats a row: the row is there. */
export function checkRecordedLink(db: Connection, { org, seq }: Row<"chain">, what: Recorded): readonly Finding[] {
  const [row] = KINDS[what].rows(db, "org = ? and link = ?", org, seq);
  return row ? [] : [problem(`link ${seq}`, "what it records is not there")];
}

/** The rows of a kind: each is what its link says. */
export function checkRecorded(db: Connection, org: OrgId, what: Recorded, after: number): Step<number> {
  const rows = KINDS[what].rows(db, `org = ? and link > ? order by link limit ${BATCH}`, org, after);
  const problems = rows.flatMap((row) => checkRow(db, org, row).map((says) => problem(row.name, says)));
  return { problems, checked: {}, ...page(rows.at(-1)?.link, rows.length) };
}

function checkRow(db: Connection, org: OrgId, { link, says }: RecordedRow): readonly string[] {
  const body = db.first(plain<{ body: string }>(`select body from chain where org = ? and seq = ?`, org, link))?.body;
  if (body === undefined) return [`the record has no link ${link}`];
  try {
    return says() === body ? [] : [`it is not what link ${link} says`];
  } catch (thrown) {
    return [sentence(thrown)];
  }
}

/** The logs of senders: they only say where to find what was said. */
export function checkExchanges(db: Connection, org: OrgId): Step<number> {
  const problems = strangeEntries(db, org).map(({ turn, event }) =>
    problem(`turn ${turn}`, `a log of its agent has an entry for ${event} that this turn did not make`),
  );
  return { problems, checked: {} };
}
