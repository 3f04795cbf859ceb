import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { StrataError } from "../../protocol/index.ts";
import { type Migration, nameOfSteps } from "../migrations.ts";
import { problem } from "../record/chain.ts";
import type { Finding } from "../records.ts";
import { plain } from "../statement.ts";
import type { BackupProgress } from "../tx.ts";
import { type Connection, connect } from "./connection.ts";
import { failure } from "./failure.ts";
import { migrate } from "./migrate.ts";

/**
 * Copies everything at one moment, while others write. The copy gets its name once it is complete, so an interrupted one is never mistaken
 * for a backup.
 */
export async function backup(
  db: Connection,
  file: string,
  onProgress?: (progress: BackupProgress) => void,
): Promise<void> {
  if (existsSync(file)) throw alreadyExists(file);
  const unfinished = `${file}.${process.pid}.unfinished`;
  // The contents are personal, so only the owner can read the file from its first byte on.
  claimed(unfinished, file);
  try {
    await db.copy(unfinished, onProgress ?? (() => {}));
    nameCopy(unfinished, file);
  } catch (thrown) {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(unfinished + end, { force: true });
    throw thrown;
  }
}

const alreadyExists = (file: string, cause?: unknown): StrataError =>
  new StrataError("invalid_input", `${file} exists already; name a new file for the backup`, { file }, cause);

/** Gives the copy its name, if no file has it by now. A rename would replace a file that was created in the meantime. */
function nameCopy(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file);
    rmSync(unfinished);
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code === "EEXIST") throw alreadyExists(file, thrown);
    if (!LINKLESS.has(code)) throw thrown;
    takeName(unfinished, file);
  }
}

/** The codes of file systems without hard links. */
const LINKLESS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Without hard links, the name is taken first; the rename then replaces our own file. */
function takeName(unfinished: string, file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (thrown) {
    throw errorCode(thrown) === "EEXIST" ? alreadyExists(file, thrown) : thrown;
  }
  renameSync(unfinished, file);
}

const errorCode = (thrown: unknown): unknown => (thrown instanceof Error && "code" in thrown ? thrown.code : undefined);

function claimed(unfinished: string, file: string): void {
  try {
    closeSync(openSync(unfinished, "wx", 0o600));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StrataError(
      "file_not_found",
      `${file} cannot be written (${why}); name a file in a folder that exists`,
      { file },
      cause,
    );
  }
}

/** Problems of the file, whatever its rows say: in its pages, its indexes, its search index or its schema. */
export function checkFile(db: Connection, migrations: readonly Migration[]): readonly Finding[] {
  const sentence = [...damage(db), ...strangeSchema(db, migrations), ...searchIndex(db), ...vectorProblems(db)];
  return sentence.map((one) => problem("database", one));
}

/**
 * SQLite's own check reads every page, every row and every entry of every index, and compares them. Columns that no digest covers are in an
 * index for this purpose, so a flipped bit in a row or in an index shows: the two then differ.
 */
const damage = (db: Connection): readonly string[] =>
  problemsFound(db, () =>
    db.column(plain<string>("pragma integrity_check(20)")).filter((sentence) => sentence !== "ok"),
  );

/** The words of the search index are those of the units' rows, and it overwrites what is deleted. */
const searchIndex = (db: Connection): readonly string[] =>
  problemsFound(db, () => {
    db.run(plain(`insert into unit_words (unit_words, rank) values ('integrity-check', 1)`));
    const [overwrites] = db.column(plain<unknown>(`select v from unit_words_config where k = 'secure-delete'`));
    return overwrites === 1
      ? []
      : ["its search index leaves erased words in the file: `secure-delete` is not set to 1"];
  });

/** Vectors are what they were when they were made: only a model could make them again. */
const vectorProblems = (db: Connection): readonly string[] =>
  problemsFound(db, () =>
    db
      .column(plain<number>("select id from vector where crc is not crc32(value) limit 20"))
      .map((id) => `the vector ${id} is not the one that was made`),
  );

/** As it is stored: a flipped bit may have made anything of a text. */
type SchemaRow = Readonly<Record<"type" | "name" | "tbl_name" | "sql", unknown>>;

const SCHEMA = "select type, name, tbl_name, sql from sqlite_schema";

/** Tables, indexes and triggers are those that the migrations make, all of them and no others. */
const strangeSchema = (db: Connection, migrations: readonly Migration[]): readonly string[] =>
  problemsFound(db, () => {
    const [wanted, found] = [todaysSchema(migrations), schemaOf(db)];
    const names = [...new Set([...wanted.keys(), ...found.keys()])].sort();
    return names.flatMap((name) => {
      if (found.get(name) === wanted.get(name)) return [];
      const how = !found.has(name) ? "is gone" : wanted.has(name) ? "is not what Strata makes" : "is none of Strata's";
      return [`the ${name} ${how}`];
    });
  });

/** By name, and however the statements were written down. */
function schemaOf(db: Connection): ReadonlyMap<string, string> {
  const named = ({ type, name, tbl_name: table, sql }: SchemaRow): readonly [string, string] => {
    const made = typeof sql === "string" ? sql.replace(/\s+/g, " ") : sql;
    return [`${type} ${name} of ${table}`, JSON.stringify([type, name, table, made])];
  };
  return new Map(db.all(plain<SchemaRow>(SCHEMA)).map(named));
}

/** Done once per process, because the migrations never change: it takes longer than all the rest of a small record's check. */
const today = new Map<string, ReadonlyMap<string, string>>();

function todaysSchema(migrations: readonly Migration[]): ReadonlyMap<string, string> {
  const all = nameOfSteps(migrations);
  const known = today.get(all);
  if (known !== undefined) return known;
  const fresh = connect(":memory:", { random: (bytes) => new Uint8Array(bytes), patience: 0 });
  try {
    migrate(fresh, migrations);
    const made = schemaOf(fresh);
    today.set(all, made);
    return made;
  } finally {
    fresh.close();
  }
}

/** A damaged file's error is a finding; any other error is not. */
function problemsFound(db: Connection, look: () => readonly string[]): readonly string[] {
  try {
    return look();
  } catch (thrown) {
    return [damageSaid(db, thrown)];
  }
}

/** The sentence of a damaged file. @throws the rest */
export function damageSaid(db: Connection, thrown: unknown): string {
  const { code, message, details } = failure(thrown, db.file);
  if (code === "store_failed" && /^SQLITE_(?:CORRUPT|NOTADB|ERROR)/.test(String(details?.["code"]))) return message;
  throw thrown;
}
