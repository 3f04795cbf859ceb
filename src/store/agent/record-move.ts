import { canonicalJson } from "../../protocol/index.ts";
import { append } from "../record/chain.ts";
import { fixed, insert, query } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { decides, type MoveRow, newestMove, type TextColumns } from "./texts.ts";

/** What is done with a text, as far as whoever does it says it. */
export type NewMove = Omit<MoveRow, keyof TextColumns | "seq" | "link" | "waits">;

/** The columns of a row that makes no version. */
export const NO_VERSION = {
  ...{ contact: null, turn: null, text: null, line: null, findings: null },
  ...{ verdict: null, trust: null, inputs: null, parent: null, rank: null, source: null, declared: null },
} as const;

/** Where the pointer of a text stands; on the declared text where nobody has moved it, unless that is said otherwise. */
export async function pointerOf(tx: Tx, key: TextColumns, atFirst: number | null = 0): Promise<number | null> {
  const last = await newestMove(tx, key);
  return last ? last.stands : atFirst;
}

/** Writes a row and its link. What was proposed waits, until a row decides about it. */
export async function recordMove(tx: Tx, key: TextColumns, done: NewMove): Promise<MoveRow> {
  const seq = ((await newestMove(tx, key))?.seq ?? 0) + 1;
  const facts = { ...key, seq, ...done };
  const waits = done.kind === "proposed" ? 1 : null;
  const row: MoveRow = { ...facts, waits, link: (await append(tx, key.org, textLink(facts))).seq };
  await tx.run(insert("text_move", row));
  if (decides(row)) await tx.run(decidedVersion({ ...key, n: row.n }));
  return row;
}

const decidedVersion = fixed((of: TextColumns & { readonly n: number }) =>
  query
    .updateTable("text_move")
    .set({ waits: null })
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    .where("layer", "=", of.layer)
    .where("part", "=", of.part)
    .where("n", "=", of.n),
);

/** What the link of a row says: all of it but whose its texts are, and those by digest only. */
export function textLink(row: Omit<MoveRow, "link" | "waits">): string {
  const { agent, layer, part, seq, kind, n, was, stands, by, turn, at } = row;
  const { reason, text, line, findings, verdict, trust, inputs, parent, rank, source, declared } = row;
  const made = { text, line, findings, verdict, trust, inputs, parent, rank, source, declared };
  return canonicalJson({ text: { agent, layer, part, seq, kind, n, was, stands, by, turn, at, reason, ...made } });
}
