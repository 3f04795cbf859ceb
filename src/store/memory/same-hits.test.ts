import { describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { type MemoryId, untrusted } from "../../protocol/index.ts";
import { ANN, asking, newMemory, remembered, scopeOf } from "../contract/sample.contract.ts";
import { openStore, type Store } from "../index.ts";

const { make, url } = databases();

const SUBJECTS = ["Ann", "her sister", "the neighbour", "Grüße aus Köln", "小明", "the red bicycle", "a jasmine plant"];
const DEEDS = ["likes", "sold", "is afraid of", "visited", "wrote to", "painted", "forgot"];
const OBJECTS = [
  "the lighthouse",
  "jasmine tea",
  "her bicycle",
  "the market in May",
  "a letter",
  "Köln",
  "小明的书",
  "the sunrise",
];
const of = (all: readonly string[], n: number): string => all[n % all.length] ?? "";
/** A few hundred sentences of few words, so that many fit a question almost alike and ties are common. */
const SENTENCES = Array.from(
  { length: 300 },
  (_, n) =>
    `${of(SUBJECTS, n * 5 + (n >> 3))} ${of(DEEDS, n * 3 + (n >> 4))} ${of(OBJECTS, n * 11 + (n >> 2))}${n % 4 === 0 ? `, and ${of(OBJECTS, n)}` : ""}.`,
);
const QUESTIONS = [
  ...SUBJECTS,
  ...OBJECTS,
  ...SENTENCES.filter((_, n) => n % 9 === 0),
  "When did she paint?",
  "nothing of that",
];

async function filled(store: Store, ids: readonly MemoryId[]): Promise<Store> {
  for (const contact of ["ann", "bob"]) {
    const some = SENTENCES.filter((_, n) => contact === "ann" || n % 3 === 0);
    await store.saveMemories(
      scopeOf(contact),
      some.map((text, n) => {
        const at = Date.UTC(2026, 0, 1) + n * 3_600_000;
        const said = { kind: "message" as const, speaker: of(["Ann", "Bob"], n), session: String(n >> 4), at };
        const more = n % 5 === 0 ? { at, tags: [of(OBJECTS, n)] } : said;
        return { id: ids[n] ?? newMemory(), memory: remembered(untrusted(text), more) };
      }),
    );
  }
  return store;
}

describe.skipIf(server === undefined)(title("a search on PostgreSQL"), () => {
  it("finds what a search on SQLite finds, in its order, with its scores and for its reasons", async () => {
    const ids = SENTENCES.map(() => newMemory());
    const sqlite = await filled(await openStore(":memory:"), ids);
    const postgres = await filled(await openStore(url(await make())), ids);
    for (const question of QUESTIONS) {
      for (const wanted of [asking(question, 8), asking(question, 50), asking(question, 10, { kinds: ["fact"] })]) {
        const found = await sqlite.searchMemories([ANN], wanted);
        expect(await postgres.searchMemories([ANN], wanted), question).toEqual(found);
      }
    }
    const both = [ANN, { ...ANN, contact: null }];
    expect(await postgres.searchMemories(both, asking("jasmine", 9))).toEqual(
      await sqlite.searchMemories(both, asking("jasmine", 9)),
    );
    await Promise.all([sqlite.close(), postgres.close()]);
  });
});
