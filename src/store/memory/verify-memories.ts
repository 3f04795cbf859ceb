import { canonicalJson, type OrgId } from "../../protocol/index.ts";
import { foldedDigest, memoryDigest } from "../digests.ts";
import type { MemoryStats } from "../memory-store.ts";
import { BATCH, problem, type Step, sentence } from "../record/chain.ts";
import { knownKey } from "../record/pieces.ts";
import type { Finding } from "../records.ts";
import { type MemoryRow, toMemory } from "../rows.ts";
import { plain } from "../statement.ts";
import { inOrder, type Tx } from "../tx.ts";
import { memoryRows } from "./memory-rows.ts";
import { countsOf, type MemoryScope, rangeOf } from "./memory-scope.ts";
import { isMemoryOf } from "./messages.ts";
import { slotsSaid } from "./reindex.ts";
import { termsOf, type UnitColumns, unitColumns } from "./units.ts";

/** The counts of a scope so far. */
interface ScopeTally {
  units: number;
  terms: number;
  saved: number;
  characters: number;
  readonly termUnits: Map<string, number>;
  readonly speakerUnits: Map<string, number>;
  readonly kinds: Map<string, MemoryStats>;
}

/** The memory that was checked last, and the sums of its scope. */
interface MemoryCursor {
  readonly scope: number;
  readonly id: string;
  readonly tally: ScopeTally | undefined;
}

/** Where a check of the memories begins. */
export const FIRST_MEMORY: MemoryCursor = { scope: 0, id: "", tally: undefined };

const emptyTally = (): ScopeTally => ({
  ...{ units: 0, terms: 0, saved: 0, characters: 0 },
  termUnits: new Map(),
  speakerUnits: new Map(),
  kinds: new Map(),
});

/** Checks that each memory matches its digest or its slot, that its units are those of its text, and that all counts are right. */
export async function checkMemories(tx: Tx, org: OrgId, at: MemoryCursor): Promise<Step<MemoryCursor>> {
  const next = `select * from memory_scope where org = ? and number >= ? order by number limit 1`;
  const scope = await tx.first(plain<MemoryScope>(next, org, at.scope));
  if (!scope) return { problems: await lostMemories(tx), checked: {} };
  const tally = (at.scope === scope.number && at.tally) || emptyTally();
  const after = at.scope === scope.number ? at.id : "";
  const rows = await memoryRows(tx, scope, `memory.id > ? order by memory.id limit ${BATCH}`, after);
  const key = await knownKey(tx, { ...scope, contact: scope.contact === "" ? null : scope.contact });
  const problems = (await inOrder(rows, (row) => checkMemory(tx, scope, row, { key, tally }))).flat();
  const checked = { piece: rows.length };
  const last = rows.at(-1);
  if (last && rows.length === BATCH) return { problems, checked, next: { scope: scope.number, id: last.id, tally } };
  const sums = (await checkSums(tx, scope, tally)).map((says) => problem(`memories of ${scope.agent}`, says));
  return { problems: [...problems, ...sums], checked, next: { scope: scope.number + 1, id: "", tally: undefined } };
}

interface Checking {
  readonly key: Uint8Array | undefined;
  readonly tally: ScopeTally;
}

async function checkMemory(
  tx: Tx,
  scope: MemoryScope,
  row: MemoryRow,
  { key, tally }: Checking,
): Promise<readonly Finding[]> {
  const where = `memory ${row.id}`;
  try {
    return [...(await checkText(tx, scope, row, key)), ...(await checkUnits(tx, row, tally))].map((says) =>
      problem(where, says),
    );
  } catch (thrown) {
    return [problem(where, sentence(thrown))];
  }
}

/** Memories of no scope: theirs was taken away. */
async function lostMemories(tx: Tx): Promise<readonly Finding[]> {
  const lost = `select id from memory where scope not in (select number from memory_scope) limit 1`;
  return (await tx.column(plain<string>(lost))).map((id) => problem(`memory ${id}`, "its scope is gone"));
}

async function checkText(
  tx: Tx,
  scope: MemoryScope,
  row: MemoryRow,
  key: Uint8Array | undefined,
): Promise<readonly string[]> {
  if (row.slot !== null) return (await isOfSlot(tx, scope, row)) ? [] : ["it is not what its slot says"];
  const memory = toMemory(row);
  if (!key || memoryDigest(key, memory) !== row.digest) return ["it is not what its digest says"];
  const folded = row.superseded_by === null ? Buffer.from(foldedDigest(key, memory)) : null;
  const same = folded === null ? row.folded === null : row.folded !== null && folded.equals(row.folded);
  return same ? [] : ["what tells the same text again is not its own"];
}

/** A message of a turn has nothing that its slot does not say. */
async function isOfSlot(tx: Tx, { org, agent, contact }: MemoryScope, row: MemoryRow): Promise<boolean> {
  if (row.turn === null || contact === "") return false;
  const slot = (await slotsSaid(tx, { org, agent, contact }, row.turn)).find(({ position }) => position === row.slot);
  if (!slot) return false;
  const { kind, at, trust, support, content, tags, speaker, session, by, by_id, sources, digest, folded, worth } = row;
  const own = [
    content,
    tags,
    speaker,
    session,
    by,
    by_id,
    sources,
    digest,
    folded,
    worth,
    row.valid_from,
    row.valid_until,
  ];
  const says = kind === "message" && at === slot.at && trust === slot.trust && isMemoryOf(row.id, slot.id);
  return says && support === 1 && own.every((value) => value === null) && row.supersedes === null;
}

interface UnitRow extends UnitColumns {
  readonly id: number;
  readonly memory: number;
}

/** The memory's units are contiguous, and are those of its text. */
async function checkUnits(tx: Tx, row: MemoryRow, tally: ScopeTally): Promise<readonly string[]> {
  const { kind, content, at } = toMemory(row);
  if (row.superseded_by === null) {
    const { memories = 0, characters = 0, newest = at } = tally.kinds.get(kind) ?? {};
    const counted = { memories: memories + 1, characters: characters + content.length, newest: Math.max(newest, at) };
    tally.kinds.set(kind, { kind, ...counted });
  }
  if (kind !== "message") {
    tally.saved++;
    tally.characters += content.length;
  }
  if (row.superseded_by === null && row.superseded_at !== null)
    return ["it is dated as superseded, and nothing supersedes it"];
  if (row.first === null) return row.superseded_by === null && kind !== "message" ? ["it is not in the index"] : [];
  const found = await tx.all(
    plain<UnitRow>(
      `select id, memory, speaker, flags, terms from unit where id >= ? and id < ? order by id`,
      ...[row.first, row.first + row.units],
    ),
  );
  for (const unit of found) tallyUnit(tally, unit);
  const wanted = unitColumns(toMemory(row));
  const same = (unit: UnitColumns, i: number): boolean => {
    const is = found[i];
    const { speaker, flags, terms } = unit;
    return is?.memory === row.row && is.speaker === speaker && is.flags === flags && is.terms === terms;
  };
  const right = row.superseded_by === null && found.length === wanted.length && row.units === wanted.length;
  return right && wanted.every(same) ? [] : ["its units in the index are not those of its text"];
}

function tallyUnit(tally: ScopeTally, { speaker, terms }: UnitColumns): void {
  const all = termsOf(terms);
  tally.units++;
  tally.terms += all.length;
  for (const term of new Set(all)) tally.termUnits.set(term, (tally.termUnits.get(term) ?? 0) + 1);
  tally.speakerUnits.set(speaker, (tally.speakerUnits.get(speaker) ?? 0) + 1);
}

interface UnitCount {
  readonly name: string;
  readonly units: number;
}

/** The scope's counts are those of its rows. */
async function checkSums(tx: Tx, scope: MemoryScope, tally: ScopeTally): Promise<readonly string[]> {
  const { from, to } = rangeOf(scope);
  const inRange = `select count(*) from unit where id >= ? and id < ?`;
  const units = (await tx.column(plain<number>(inRange, from, to)))[0];
  const says: string[] = [];
  const right = scope.units === tally.units && scope.terms === tally.terms && units === tally.units;
  if (!right || scope.saved !== tally.saved || scope.characters !== tally.characters) {
    says.push("how many there are is not what is counted");
  }
  const kinds = [...tally.kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  if (canonicalJson(kinds) !== canonicalJson(await countsOf(tx, scope.number)))
    says.push("the counts of their kinds are not what is counted");
  const termRows = plain<UnitCount>(`select term as name, units from unit_term where scope = ?`, scope.number);
  const speakers = plain<UnitCount>(`select speaker as name, units from unit_speaker where scope = ?`, scope.number);
  if (!isCounted(await tx.all(termRows), tally.termUnits))
    says.push("how often words stand in them is not what is counted");
  if (!isCounted(await tx.all(speakers), tally.speakerUnits)) says.push("who spoke in them is not what is counted");
  return says;
}

const isCounted = (rows: readonly UnitCount[], counted: ReadonlyMap<string, number>): boolean =>
  rows.length === counted.size && rows.every(({ name, units }) => counted.get(name) === units);
