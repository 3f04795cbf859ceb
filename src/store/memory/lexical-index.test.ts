import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lexicalIndexContract, type Said } from "../../memory/index.contract.ts";
import { search, speaks } from "../../memory/index.ts";
import { type MemoryId, untrusted } from "../../protocol/index.ts";
import { ANN, asking, newMemory, remembered, scopeOf } from "../contract/sample.contract.ts";
import { type Connection, connect } from "../sqlite/connection.ts";
import { migrate } from "../sqlite/migrate.ts";
import { sqliteTransactions } from "../sqlite/transactions.ts";
import { plain } from "../statement.ts";
import { inOrder, type Transactions, type Tx } from "../tx.ts";
import { scopeIndex } from "./lexical-index.ts";
import { memoryScope, rangeOf } from "./memory-scope.ts";
import { refreshIndex } from "./reindex.ts";
import { forgetMemory, saveMemory } from "./save-memory.ts";
import { searchMemories } from "./search-memories.ts";

async function opened(): Promise<Transactions & Pick<Connection, "close">> {
  const db = connect(":memory:", { random: randomBytes, patience: 100 });
  migrate(db);
  const transactions = sqliteTransactions(db, db);
  await transactions.write((tx) => refreshIndex(tx));
  return { ...transactions, close: db.close };
}

async function say(tx: Tx, said: Said): Promise<void> {
  const { memory, text, tags, speaker, session, at } = said;
  const more = { kind: "message", tags, speaker, session, at, sources: [memory] } as const;
  await saveMemory(tx, ANN, memory, remembered(text, more));
}

describe("the index of a scope on SQLite", () => {
  lexicalIndexContract(async (said) => {
    const { write, read } = await opened();
    // Another scope before it, so that its range does not begin at nothing.
    await write((tx) => saveMemory(tx, scopeOf("bob"), newMemory(), remembered("tea, milk and a green bicycle")));
    await write((tx) => inOrder(said, (one) => say(tx, one)));
    const own = (await read((tx) => memoryScope(tx, ANN))) ?? empty;
    return {
      size: () => read((tx) => scopeIndex(tx, own).size()),
      frequencies: (terms) => read((tx) => scopeIndex(tx, own).frequencies(terms)),
      speakers: () => read((tx) => scopeIndex(tx, own).speakers()),
      candidates: (terms, limit) => read((tx) => scopeIndex(tx, own).candidates(terms, limit)),
      heads: (places) => read((tx) => scopeIndex(tx, own).heads(places)),
      rows: (places, terms) => read((tx) => scopeIndex(tx, own).rows(places, terms)),
    };
  });
});

describe("a scope of few memories", () => {
  it("is read as a whole, and the same is found in the same order as by its index", async () => {
    const { write, read, close } = await opened();
    const words = ["tea", "the red bicycle", "her sister", "a jasmine plant", "the market in May", "Köln", "小明的书"];
    const texts = Array.from(
      { length: 60 },
      (_, n) => `${words[n % 7]} and ${words[(n * 3) % 5]}, said ${words[n % 4]}`,
    );
    for (const [n, text] of texts.entries()) {
      const more = {
        kind: "message",
        speaker: n % 2 ? "Ann" : "Bob",
        at: n * 60_000,
        session: String(n >> 3),
      } as const;
      await write((tx) => saveMemory(tx, ANN, newMemory(), remembered(text, more)));
    }
    const own = (await read((tx) => memoryScope(tx, ANN))) ?? empty;
    for (const question of [...words, "What did Ann say of her bycicle?", "nothing of that"]) {
      const wanted = asking(question, 30);
      const found = await searchMemories(read, [ANN], wanted);
      const byIndex = await read((tx) => search(scopeIndex(tx, own), { ...wanted, agent: ANN.agent }));
      expect(found.map(({ id, score, place }) => ({ id, score, place }))).toEqual(
        byIndex.filter(speaks).map(({ memory: id, score, place }) => ({ id, score, place })),
      );
    }
    close();
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

describe("a search of several scopes", () => {
  it("is one snapshot, with the texts of all that it found where they are short", async () => {
    const { write, read, close } = await opened();
    const scopes = [ANN, { ...ANN, contact: null }];
    for (let i = 0; i < 20; i++) {
      await write((tx) => saveMemory(tx, scopes[i % 2] ?? ANN, newMemory(), remembered(`tea number ${i}`)));
    }
    let snapshots = 0;
    const counted: Transactions["read"] = (work) => {
      snapshots++;
      return read(work);
    };
    const found = await searchMemories(counted, scopes, asking("tea", 99));
    expect([found.length, snapshots]).toEqual([20, 1]);
    close();
  });
});

describe("what is counted of a scope", () => {
  it("is always that of its rows, whatever is saved and forgotten", async () => {
    const word = fc.constantFrom("tea", "cat", "runs", "red", "茶が好き", "नमस्ते", "?", "I", "1984");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(word, { maxLength: 120 }).map((words) => words.join(" ")),
    );
    const deed = fc.record({ text, tag: fc.option(word), who: fc.nat(2), forget: fc.option(fc.nat(30)) });
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 30 }), async (deeds) => {
        const { write, read, close } = await opened();
        const scopes = ["ann", "bob", "cy"].map((name) => scopeOf(name));
        const saved: [number, MemoryId][] = [];
        for (const { text: said, tag, who, forget } of deeds) {
          const scope = scopes[who] ?? ANN;
          const old = forget === null ? undefined : saved[forget];
          if (old) await write((tx) => forgetMemory(tx, scopes[old[0]] ?? ANN, old[1]));
          const added = remembered(untrusted(said), { tags: tag === null ? [] : [tag] });
          const { memory } = await write((tx) => saveMemory(tx, scope, newMemory(), added));
          saved.push([who, memory.id]);
        }
        for (const scope of scopes) {
          expect(await read((tx) => counted(tx, scope))).toEqual(await read((tx) => recounted(tx, scope)));
        }
        // The full-text index holds what the rows do, and nothing else.
        const check = plain(`insert into unit_words (unit_words, rank) values ('integrity-check', 1)`);
        await write((tx) => tx.run(check));
        close();
      }),
      { numRuns: 40 },
    );
  });
});

type Counts = { readonly units: number; readonly terms: number; readonly of: ReadonlyMap<string, number> };

async function counted(tx: Tx, scope: typeof ANN): Promise<Counts> {
  const { number, units, terms } = (await memoryScope(tx, scope)) ?? empty;
  const rows = await tx.all<{ term: string; units: number }>({
    sql: `select term, units from unit_term where scope = ?`,
    parameters: [number],
  });
  return { units, terms, of: new Map(rows.map((row) => [row.term, row.units])) };
}

async function recounted(tx: Tx, scope: typeof ANN): Promise<Counts> {
  const { from, to } = rangeOf((await memoryScope(tx, scope)) ?? empty);
  const rows = await tx.column<string>({
    sql: `select terms from unit where id >= ? and id < ?`,
    parameters: [from, to],
  });
  const of = new Map<string, number>();
  let terms = 0;
  for (const row of rows) {
    const all = row === "" ? [] : row.split(" ");
    terms += all.length;
    for (const term of new Set(all)) of.set(term, (of.get(term) ?? 0) + 1);
  }
  return { units: rows.length, terms, of };
}
