import { crc32 } from "node:zlib";
import { problem } from "../record/walk.ts";
import type { Finding } from "../records.ts";
import { plain } from "../statement.ts";
import type { Transactions, Tx } from "../tx.ts";

/**
 * Finds errors in what no digest covers: the words by which memories are found, and the vectors. Checking the pages on disk is PostgreSQL's
 * part.
 */
export function checkDatabase({ read }: Transactions): Promise<readonly Finding[]> {
  return read(async (tx) => {
    const says = [...(await wrongWords(tx)), ...(await wrongVectors(tx))];
    return says.map((one) => problem("database", one));
  });
}

const OF_UNITS = `select unit.id as unit, word as term from unit, unnest(string_to_array(unit.terms, ' ')) as word`;
const OF_INDEX = "select unit, term from unit_word";

/** Compares the words of the search index with those of the units' rows. */
async function wrongWords(tx: Tx): Promise<readonly string[]> {
  const missing = await tx.column(plain<number>(`select count(*) from (${OF_UNITS} except ${OF_INDEX}) as missing`));
  const strange = await tx.column(plain<number>(`select count(*) from (${OF_INDEX} except ${OF_UNITS}) as strange`));
  return [
    ...missing.flatMap((count) => (count > 0 ? [`the search index lacks words of its units: ${count}`] : [])),
    ...strange.flatMap((count) => (count > 0 ? [`the search index has words that no unit has: ${count}`] : [])),
  ];
}

interface VectorRow {
  readonly id: number;
  readonly value: Uint8Array;
  readonly crc: number | null;
}

/** How many are in memory at once. */
const STEP = 500;

/** Compares vectors with their checksums, because only a model could compute them again. */
async function wrongVectors(tx: Tx): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let last = -1; ; ) {
    const some = `select id, value, crc from vector where id > ? order by id limit ${STEP}`;
    const rows = await tx.all(plain<VectorRow>(some, last));
    for (const { id, value, crc } of rows)
      if (crc32(value) !== crc) wrong.push(`the vector ${id} is not the one that was made`);
    const end = rows.at(-1);
    if (end === undefined || rows.length < STEP || wrong.length >= 20) return wrong.slice(0, 20);
    last = end.id;
  }
}
