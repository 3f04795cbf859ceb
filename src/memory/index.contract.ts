import fc from "fast-check";
import { expect, it } from "vitest";
import { type MemoryId, memoryId } from "../protocol/index.ts";
import { type Candidate, FLAGS, foldName, type LexicalIndex, type PlacedUnit, search, unitsOf } from "./index.ts";

/** A text to put into an index. Those that name the same session share one. */
export interface Said {
  readonly memory: MemoryId;
  readonly text: string;
  readonly tags: readonly string[];
  readonly speaker: string;
  readonly session: string;
  readonly at: number;
}

/** Puts the texts into an empty index, in this order. */
export type MakeIndex = (said: readonly Said[]) => Promise<LexicalIndex>;

const AT = Date.UTC(2026, 2, 1);

const numbered = (number: number): MemoryId => memoryId(`mem_${String(number).padStart(26, "0")}`);

/** Texts with as little besides as a test has to say. */
export function said(...texts: readonly (string | Partial<Said>)[]): readonly Said[] {
  return texts.map((text, at) => ({
    memory: numbered(at),
    text: "",
    tags: [],
    speaker: "Ann",
    session: "1",
    at: AT + at * 60_000,
    ...(typeof text === "string" ? { text } : text),
  }));
}

/** The units of these texts, as an index that is filled in this order holds them. */
export function unitsFor(texts: readonly Said[]): readonly PlacedUnit[] {
  const sessions = [...new Set(texts.map(({ session }) => session))];
  return texts
    .flatMap(({ text, tags, memory, session, speaker, at }) =>
      unitsOf(text, tags, at).map((unit) => ({
        ...unit,
        memory,
        session: sessions.indexOf(session) + 1,
        speaker: foldName(speaker),
        at,
      })),
    )
    .map((unit, at) => ({ ...unit, place: at + 1 }));
}

const NO_TERMS: ReadonlySet<string> = new Set();
const places = (candidates: readonly Candidate[]): readonly number[] => candidates.map(({ place }) => place);

/** What every `LexicalIndex` keeps. */
export function lexicalIndexContract(make: MakeIndex): void {
  const every = (...terms: readonly string[]) => terms.map((term) => ({ term, weight: 1 }));
  const found = async (index: LexicalIndex, terms: readonly { term: string; weight: number }[], limit = 10) => {
    const candidates = await index.candidates(terms, limit);
    const rows = await index.rows(places(candidates), NO_TERMS);
    return candidates.map(({ place }) => Number(rows.find((row) => row.place === place)?.memory.slice(4)));
  };

  it("is empty before anything was said", async () => {
    const index = await make([]);
    expect(await index.size()).toEqual({ units: 0, terms: 0 });
    expect([...(await index.frequencies(["tea"])).values()].filter((count) => count > 0)).toEqual([]);
    expect(await index.speakers()).toEqual([]);
    expect(await index.candidates(every("tea"), 10)).toEqual([]);
    expect(await index.rows([1, 2], new Set(["tea"]))).toEqual([]);
  });

  it("counts units, terms and what finds a memory by its day, and the units that have a term", async () => {
    const index = await make(said("tea and tea", "green tea", "coffee"));
    expect(await index.size()).toEqual({ units: 3, terms: 6 + 3 });
    const counts = await index.frequencies(["tea", "coffe", "tea", "milk"]);
    expect([counts.get("tea"), counts.get("coffe"), counts.get("milk") ?? 0]).toEqual([2, 1, 0]);
  });

  it("knows who has spoken, by the folded name", async () => {
    const index = await make(said({ text: "hi", speaker: "Ann LEE" }, { text: "ho", speaker: "Zoë" }, "hi again"));
    expect([...(await index.speakers())].sort()).toEqual(["ann", "ann lee", "zoe"]);
  });

  it("gives the best by the sum of weights, and the newest first on ties", async () => {
    const index = await make(said("tea", "milk", "tea", "tea milk"));
    expect(await found(index, every("tea", "milk"))).toEqual([3, 2, 1, 0]);
    expect(
      await found(index, [
        { term: "tea", weight: 1 },
        { term: "milk", weight: 5 },
      ]),
    ).toEqual([3, 1, 2, 0]);
    expect(await found(index, every("tea"), 2)).toEqual([3, 2]);
    expect((await index.candidates(every("tea", "milk"), 1))[0]?.score).toBeCloseTo(2);
    expect(await index.candidates([], 10)).toEqual([]);
    expect(await index.candidates(every("tea"), 0)).toEqual([]);
  });

  it("takes a term for a term, whatever it looks like", async () => {
    const index = await make(said("near and or not terms", "rowid 1"));
    for (const term of ['"', "'", "near(", "te*", "terms:tea", "-", "a b", "", "\u0000", "^near", "{", "\ud800"]) {
      expect(await index.candidates(every(term), 10), JSON.stringify(term)).toEqual([]);
      expect((await index.frequencies([term])).get(term) ?? 0).toBe(0);
    }
    expect(await found(index, every("near"))).toEqual([0]);
  });

  it("gives rows as they were put in: what is wanted of their terms in order, how many there are, flags, who, when, and one number a session", async () => {
    const texts = said(
      { text: "When do I see the 2 of you?", tags: ["Plans"], session: "a", speaker: "Ann" },
      { text: "Soon.", session: "a", speaker: "Bob" },
      { text: "Hello.", session: "b", speaker: "Bob" },
    );
    const index = await make(texts);
    const [{ place: first = 0 } = {}] = await index.candidates(every("plan"), 1);
    const wanted = new Set(["i", "plan", "you", "soon", "yo", "planned", "ä"]);
    const found = await index.rows([first + 1, first, first + 2, first + 99], wanted);
    const rows = [...found].sort((a, b) => a.place - b.place);
    expect(rows.map(({ place }) => place - first)).toEqual([0, 1, 2]);
    const own = texts.map(({ text, tags, at }) => unitsOf(text, tags, at)[0]?.terms ?? []);
    expect(rows.map(({ has }) => has)).toEqual(own.map((terms) => terms.filter((term) => wanted.has(term))));
    expect(rows.map(({ length }) => length)).toEqual(own.map(({ length }) => length));
    expect(rows[0]?.has).toEqual(["i", "you", "plan"]);
    expect(rows.map(({ flags }) => flags)).toEqual([FLAGS.question | FLAGS.firstPerson, FLAGS.time, 0]);
    expect(rows.map(({ memory, speaker, at }) => ({ memory, speaker, at }))).toEqual(
      texts.map(({ memory, speaker, at }) => ({ memory, speaker: foldName(speaker), at })),
    );
    expect([rows[0]?.session === rows[1]?.session, rows[1]?.session === rows[2]?.session]).toEqual([true, false]);
  });

  it("gives heads: who, in which session and of which memory each unit is, and how many units that has", async () => {
    const long = Array.from({ length: 30 }, (_, at) => `Sentence number ${at} is about tea.`).join(" ");
    const index = await make(said({ text: long, session: "a" }, { text: "Tea!", session: "a", speaker: "Bob Lee" }));
    const all = places(await index.candidates(every("tea"), 10));
    const heads = [...(await index.heads([...all, 9_999]))].sort((a, b) => a.place - b.place);
    expect(heads.map(({ place }) => place)).toEqual([...all].sort((a, b) => a - b));
    expect(heads.at(-1)).toMatchObject({ speaker: "bob lee", flags: 0 });
    expect(new Set(heads.slice(0, -1).map(({ whole }) => whole)).size).toBe(1);
    expect(heads.at(-1)?.whole).not.toBe(heads[0]?.whole);
    expect(new Set(heads.map(({ session }) => session)).size).toBe(1);
    const rows = [...(await index.rows(all, NO_TERMS))].sort((a, b) => a.place - b.place);
    expect(rows.map(({ parts }) => parts)).toEqual([...rows.slice(1).map(() => rows.length - 1), 1]);
  });

  it("keeps a text without words in its place", async () => {
    const index = await make(said("tea?", "👍", "milk"));
    const [{ place = 0 } = {}] = await index.candidates(every("tea"), 1);
    const [row] = await index.rows([place + 1], new Set(["tea", ""]));
    expect(row).toMatchObject({ has: [], length: 1, memory: numbered(1) });
  });

  it("gives a long text as units that follow each other", async () => {
    const index = await make(
      said(Array.from({ length: 30 }, (_, at) => `Sentence number ${at} is about tea.`).join(" ")),
    );
    const candidates = await index.candidates(every("tea"), 10);
    expect(candidates.length).toBeGreaterThan(1);
    const all = places(candidates);
    expect(Math.max(...all) - Math.min(...all)).toBe(all.length - 1);
    expect(new Set((await index.rows(all, NO_TERMS)).map(({ memory }) => memory))).toEqual(new Set([numbered(0)]));
  });

  it("finds any text by any of its terms", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary", maxLength: 60 }), { maxLength: 4 }), async (texts) => {
        const index = await make(said(...texts));
        const units = unitsFor(said(...texts));
        const terms = [...new Set(units.flatMap((unit) => unit.terms))];
        const counts = await index.frequencies(terms);
        for (const term of terms) {
          const having = units.filter((unit) => unit.terms.includes(term)).length;
          expect(counts.get(term), JSON.stringify(term)).toBe(having);
          expect(await index.candidates(every(term), 100), JSON.stringify(term)).toHaveLength(having);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("answers a search", async () => {
    const index = await make(
      said("I bought a green bicycle", "The weather is fine", { text: "Nice!", speaker: "Bob" }),
    );
    const ranked = await search(index, { texts: [{ text: "What did Ann buy?", weight: 1 }], limit: 3 });
    expect(ranked[0]?.memory).toBe(numbered(0));
  });
}
