import { createRequire } from "node:module";
import BetterSqlite3 from "better-sqlite3";

/** Whether SQLite can compare vectors by itself here, or why it cannot. */
export type VectorExtension = { readonly version: string } | { readonly missing: string };

/**
 * Loads sqlite-vec into a connection. It is optional: without its package or binary, vectors are compared in JavaScript, with the same
 * result.
 */
export function loadVectorExtension(db: BetterSqlite3.Database): VectorExtension {
  try {
    const extension: typeof import("sqlite-vec") = createRequire(import.meta.url)("sqlite-vec");
    extension.load(db);
    return { version: String(db.prepare("select vec_version()").pluck().get()) };
  } catch (thrown) {
    const said = thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown);
    return { missing: said.slice(0, 200) };
  }
}

/** Checks in a database of its own whether sqlite-vec works on this machine. */
export function vectorExtension(): VectorExtension {
  const db = new BetterSqlite3(":memory:");
  try {
    return loadVectorExtension(db);
  } finally {
    db.close();
  }
}
