import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lexicalIndexContract, type Said } from "../../../memory/index.contract.ts";
import { type MemoryId, untrusted } from "../../../protocol/index.ts";
import { ANN, newMemory, remembered, scopeOf } from "../../contract/sample.contract.ts";
import { type Connection, connect } from "../connection.ts";
import { migrate } from "../migrate.ts";
import { sqliteIndex } from "./lexical-index.ts";
import { memoryScope, rangeOf } from "./memory-scope.ts";
import { refreshIndex } from "./reindex.ts";
import { forgetMemory, saveMemory } from "./save-memory.ts";

function opened(): Connection {
  const db = connect(":memory:", { random: randomBytes, patience: 100 });
  migrate(db);
  refreshIndex(db);
  return db;
}

function say(db: Connection, said: Said): void {
  const { memory, text, tags, speaker, session, at } = said;
  const more = { kind: "message", tags, speaker, session, at, sources: [memory] } as const;
  saveMemory(db, ANN, memory, remembered(text, more));
}

describe("the index of a scope on SQLite", () => {
  lexicalIndexContract(async (said) => {
    const db = opened();
    // Another scope before it, so that its range does not begin at nothing.
    saveMemory(db, scopeOf("bob"), newMemory(), remembered("tea, milk and a green bicycle"));
    for (const one of said) say(db, one);
    return sqliteIndex(db, memoryScope(db, ANN) ?? empty);
  });
});

const empty = {
  number: 99,
  org: ANN.org,
  agent: ANN.agent,
  contact: ANN.contact,
  next: 0,
  units: 0,
  terms: 0,
  saved: 0,
  characters: 0,
  revision: 0,
};

describe("what is counted of a scope", () => {
  it("is always that of its rows, whatever is saved and forgotten", async () => {
    const word = fc.constantFrom("tea", "cat", "runs", "red", "茶が好き", "नमस्ते", "?", "I", "1984");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(word, { maxLength: 120 }).map((words) => words.join(" ")),
    );
    const deed = fc.record({ text, tag: fc.option(word), who: fc.nat(2), forget: fc.option(fc.nat(30)) });
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 30 }), (deeds) => {
        const db = opened();
        const scopes = ["ann", "bob", "cy"].map((name) => scopeOf(name));
        const saved: [number, MemoryId][] = [];
        for (const { text: said, tag, who, forget } of deeds) {
          const scope = scopes[who] ?? ANN;
          const old = forget === null ? undefined : saved[forget];
          if (old) forgetMemory(db, scopes[old[0]] ?? ANN, old[1]);
          const { memory } = saveMemory(
            db,
            scope,
            newMemory(),
            remembered(untrusted(said), { tags: tag === null ? [] : [tag] }),
          );
          saved.push([who, memory.id]);
        }
        for (const scope of scopes) expect(counted(db, scope)).toEqual(recounted(db, scope));
        // The full-text index holds what the rows do, and nothing else.
        db.run({ sql: `insert into unit_words (unit_words, rank) values ('integrity-check', 1)`, parameters: [] });
        db.close();
      }),
      { numRuns: 40 },
    );
  });
});

type Counts = { readonly units: number; readonly terms: number; readonly of: ReadonlyMap<string, number> };

function counted(db: Connection, scope: typeof ANN): Counts {
  const { number, units, terms } = memoryScope(db, scope) ?? empty;
  const rows = db.all<{ term: string; units: number }>({
    sql: `select term, units from unit_term where scope = ?`,
    parameters: [number],
  });
  return { units, terms, of: new Map(rows.map((row) => [row.term, row.units])) };
}

function recounted(db: Connection, scope: typeof ANN): Counts {
  const { from, to } = rangeOf(memoryScope(db, scope) ?? empty);
  const rows = db.column<string>({ sql: `select terms from unit where id >= ? and id < ?`, parameters: [from, to] });
  const of = new Map<string, number>();
  let terms = 0;
  for (const row of rows) {
    const all = row === "" ? [] : row.split(" ");
    terms += all.length;
    for (const term of new Set(all)) of.set(term, (of.get(term) ?? 0) + 1);
  }
  return { units: rows.length, terms, of };
}
