import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import type { Remembered } from "../conversations.ts";
import type { MemoryEngine } from "./engine.ts";
import { STOP } from "./stop-words.ts";

/** Whose memory a row is stands in a column of its own and is asked for in the match: the usual way. */
const SCHEMA = `create virtual table memory using fts5(scope, text, id unindexed, tokenize='porter unicode61')`;

/** SQLite's full text search as it is usually used: any of the words but the commonest, stemmed, ranked by its bm25. */
export const fts5: MemoryEngine = {
  name: "fts5, porter, stop words",
  open: async (scopes, progress) => {
    const folder = mkdtempSync(join(tmpdir(), "bench-fts5-"));
    const file = join(folder, "memory.db");
    const db = new BetterSqlite3(file);
    db.exec(`pragma journal_mode = wal; ${SCHEMA}`);
    const several = scopes.size > 1;
    fill(db, scopes, progress);
    const query = db.prepare<[string, number], { id: string }>(
      "select id from memory where memory match ? order by rank limit ?",
    );
    return {
      find: async (scope, { text }, limit) => {
        const terms = wordsOf(text);
        if (terms.length === 0) return [];
        const words = `text:(${terms.map((word) => `"${word}"`).join(" OR ")})`;
        return query.all(several ? `scope:"${scopeWord(scope)}" AND ${words}` : words, limit).map(({ id }) => id);
      },
      bytes: statSync(file).size,
      close: async () => {
        db.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

function fill(
  db: BetterSqlite3.Database,
  scopes: ReadonlyMap<string, readonly Remembered[]>,
  progress: (done: number) => void,
): void {
  const add = db.prepare("insert into memory (scope, text, id) values (?, ?, ?)");
  let done = 0;
  db.transaction(() => {
    for (const [scope, memories] of scopes) {
      for (const { id, speaker, text } of memories) {
        add.run(scopeWord(scope), `${speaker}: ${text}`, id);
        progress(++done);
      }
    }
  })();
  db.pragma("wal_checkpoint(TRUNCATE)");
}

const scopeWord = (scope: string): string => `scope${scope.replaceAll(/[^a-z0-9]/gi, "")}`;

function wordsOf(question: string): readonly string[] {
  const words = question.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const telling = words.filter((word) => !STOP.has(word));
  return [...new Set(telling.length > 0 ? telling : words)];
}
