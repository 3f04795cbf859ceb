import { type Migration, nameOfSteps } from "../migrations.ts";
import { problem } from "../record/walk.ts";
import type { Finding } from "../records.ts";
import { plain } from "../statement.ts";
import { type Connection, connect } from "./connection.ts";
import { failure } from "./failure.ts";
import { migrate } from "./migrate.ts";

/** What is wrong with the file, whatever its rows say: with its pages, its indexes, its search index or its schema. */
export function checkFile(db: Connection, migrations: readonly Migration[]): readonly Finding[] {
  const says = [...damage(db), ...strangeSchema(db, migrations), ...searchIndex(db), ...vectors(db)];
  return says.map((one) => problem("database", one));
}

/**
 * SQLite's own check reads every page, every row and every entry of every index, and compares them. What no digest covers stands
 * in an index for this, so a bit that was flipped in a row or in an index shows: the two are not the same any more.
 */
const damage = (db: Connection): readonly string[] =>
  problemsFound(db, () => db.column(plain<string>("pragma integrity_check(20)")).filter((says) => says !== "ok"));

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
const vectors = (db: Connection): readonly string[] =>
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

/** Made once in a program, for the migrations are what they are: it takes longer than all the rest of a small record's check. */
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

/** What a damaged file throws is what was found; anything else is no finding. */
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
