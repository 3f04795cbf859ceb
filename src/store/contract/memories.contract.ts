import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import type { Store } from "../store.ts";
import {
  ANN,
  asking,
  exchange,
  NOW,
  newMemory,
  type OpenStore,
  open,
  problems,
  remembered,
  scopeOf,
} from "./sample.contract.ts";

async function holding(openStore: OpenStore, ...texts: readonly string[]): Promise<Store> {
  const store = await openStore();
  for (const [i, text] of texts.entries()) await store.saveMemory(ANN, newMemory(), remembered(text, { at: NOW + i }));
  return store;
}

async function found(store: Store, query: string, limit = 9): Promise<string[]> {
  return (await store.searchMemories([ANN], asking(query, limit))).map((hit) => hit.content);
}

/** Memories, and how they are found again. */
export function memoryContract(openStore: OpenStore): void {
  describe("memories", () => {
    it("gives back what was saved, the newest first, until it is forgotten", async () => {
      const store = await openStore();
      const [one, two] = [newMemory(), newMemory()];
      const memory = remembered('tea\u0000 \u2028 \'n "milk"', { tags: ["taste", "a b"], trust: "operator" });
      await store.saveMemory(ANN, one, memory);
      await store.saveMemory(ANN, two, remembered("later", { at: NOW + 1 }));
      expect(await store.memories(ANN, 9)).toEqual([
        { kind: "fact", ...remembered("later", { at: NOW + 1 }), id: two, support: 1 },
        { kind: "fact", ...memory, id: one, support: 1 },
      ]);
      expect(await store.memories(ANN, 1)).toHaveLength(1);
      expect(await store.forgetMemory(ANN, one)).toBe(true);
      expect(await store.forgetMemory(ANN, one)).toBe(false);
      expect(await store.memories(ANN, 9)).toMatchObject([{ id: two }]);
      expect(await found(store, "tea milk")).toEqual([]);
      await store.close();
    });

    it("25.10a gives all that was saved in several scopes, and of too much the newest and what was saved again and again", async () => {
      const store = await openStore();
      const [own, others] = [{ ...ANN, contact: null }, scopeOf("bob")];
      expect(await store.savedMemories([ANN, own], 9)).toEqual({ saved: [], more: 0 });
      await store.saveMemory(ANN, newMemory(), remembered("Ann has tea"));
      await store.saveMemory(ANN, newMemory(), remembered("Ann has milk", { at: NOW + 1 }));
      await store.saveMemory(ANN, newMemory(), remembered("Hello there", { kind: "message" }));
      await store.saveMemory(own, newMemory(), remembered("Everybody has bread"));
      await store.saveMemory(others, newMemory(), remembered("Bob has wine"));
      const contents = async (most: number) => {
        const { saved, more } = await store.savedMemories([ANN, own], most);
        return [saved.map(({ content }) => content), more];
      };
      expect(await contents(3)).toEqual([["Ann has milk", "Ann has tea", "Everybody has bread"], 0]);
      expect(await contents(1)).toEqual([["Ann has milk", "Everybody has bread"], 1]);
      await store.saveMemory(ANN, newMemory(), remembered("Ann has tea"));
      expect(await contents(1)).toEqual([["Ann has milk", "Ann has tea", "Everybody has bread"], 0]);
      await store.close();
    });

    it("tells what a search could find beside what is seen, of these scopes alone", async () => {
      const store = await openStore();
      const [own, others] = [{ ...ANN, contact: null }, scopeOf("bob")];
      const ids = [newMemory(), newMemory(), newMemory(), newMemory()] as const;
      await store.saveMemory(ANN, ids[0], remembered("Ann has tea"));
      await store.saveMemory(ANN, ids[1], remembered("Ann has milk", { supersedes: ids[0] }));
      await store.saveMemory(own, ids[2], remembered("Everybody has bread"));
      await store.saveMemory(others, ids[3], remembered("Bob has wine"));
      const beside = async (seen: Parameters<Store["memoriesBeside"]>[1], most = 9) =>
        (await store.memoriesBeside([ANN, own], seen, most)).map(({ id, scope }) => [id, scope.contact]);
      expect(await beside({ turns: [], memories: [] })).toEqual([
        [ids[1], ANN.contact],
        [ids[2], null],
      ]);
      expect(await beside({ turns: [], memories: [] }, 1)).toHaveLength(1);
      expect(await beside({ turns: [], memories: [ids[1]] })).toEqual([[ids[2], null]]);
      expect(await beside({ turns: [], memories: [ids[1], ids[2]] })).toEqual([]);
      const thread = await open(store, ANN);
      const { claim } = await exchange(store, thread, "Where is the key?");
      const said = await store.memoriesBeside([ANN], { turns: [], memories: [ids[1]] }, 9);
      expect(said.map(({ turn }) => turn)).toEqual([claim.turn, claim.turn]);
      expect(await beside({ turns: [claim.turn], memories: [ids[1], ids[2]] })).toEqual([]);
      await store.close();
    });

    it("finds by any of the words, the best match first, the newest first among equals", async () => {
      const store = await holding(
        openStore,
        "She runs in the park",
        "Her cat is called Miso",
        "The cat runs",
        "His cat is called Miso",
      );
      expect(await found(store, "where does the cat run?")).toEqual([
        "The cat runs",
        "She runs in the park",
        "His cat is called Miso",
        "Her cat is called Miso",
      ]);
      const hits = await store.searchMemories([ANN], asking("cat miso", 2));
      expect(hits.map((hit) => hit.at)).toEqual([NOW + 3, NOW + 1]);
      expect(hits[0]?.score).toBeGreaterThanOrEqual(hits[1]?.score ?? 0);
      await store.close();
    });

    it.each([
      ["another form of the word", "She was running late", "run"],
      ["no accents", "Crème brûlée", "creme brulee"],
      ["other capitals", "ΑΘΗΝΑ", "αθηνα"],
      ["vowel signs", "नमस्ते दुनिया", "दुनिया"],
      ["a word inside a Chinese sentence", "我喜欢喝红茶和咖啡", "红茶"],
      ["a single sign", "我喜欢喝茶", "茶"],
      ["a word inside a Japanese sentence", "昨日カフェで抹茶ラテを飲みました", "抹茶ラテ"],
      ["a word inside a Thai sentence", "ฉันชอบดื่มชาเขียว", "ชาเขียว"],
      ["two scripts in one word", "新しいiPhone15を買った", "iphone15"],
      ["only common words", "To be or not to be", "to be"],
    ])("finds in spite of %s", async (_, text, query) => {
      const store = await holding(openStore, text, "Something else altogether");
      expect(await found(store, query)).toEqual([text]);
      await store.close();
    });

    it("finds by tags too", async () => {
      const store = await openStore();
      await store.saveMemory(ANN, newMemory(), remembered("Jasmine, please", { tags: ["taste", "hot drinks"] }));
      expect(await found(store, "drinks")).toEqual(["Jasmine, please"]);
      await store.close();
    });

    it.each([
      ...["", " ", '"', "'", "*", "(", ")", "a OR", "AND", "NOT NOT", "NEAR(a b)", "content:a", "owner:x", "-a", "a^2"],
      ...['"a" "b', "{a}:b", "\u0000", "a\u0000b", "\ud800", "💡🎉", "%_", "'; drop table memory; --", "\u0301", "ﷺ"],
    ])("takes any text as a query: %j", async (query) => {
      const store = await holding(openStore, "a quiet text", "word7 and 的 b");
      expect(Array.isArray(await store.searchMemories([ANN], asking(query, 9)))).toBe(true);
      expect(await found(store, "quiet")).toEqual(["a quiet text"]);
      await store.close();
    });

    it("finds what is only of a kind that is asked for", async () => {
      const store = await holding(openStore, "I baked a peach pie.", "The train was late.");
      expect(await found(store, "What desserts were made?")).toEqual(["I baked a peach pie."]);
      await store.close();
    });

    it("takes a query of any length, and still finds what a few of its words name", async () => {
      const store = await holding(openStore, "a quiet text", "extraordinarily rare");
      const words = Array.from({ length: 10_000 }, (_, i) => `word${i}`).join(" ");
      expect(await found(store, `extraordinarily ${words}`)).toEqual(["extraordinarily rare"]);
      for (const query of ["a".repeat(100_000), "的".repeat(10_000), " ".repeat(100_000)]) {
        expect(await found(store, query)).toEqual([]);
      }
      await store.close();
    });

    const { numRuns, title } = firstRuns(60, 25);
    it(title("law 5 no query of any text gives a row of another scope"), async () => {
      const store = await openStore();
      const scopes = [
        ANN,
        scopeOf("bob"),
        scopeOf("ann", "sovereign"),
        scopeOf("ann", "companion", "away"),
        { ...ANN, contact: null },
      ];
      const whose = new Map<string, number>();
      const word = fc.constantFrom(
        "tea",
        "cat",
        "OR",
        "AND",
        "NOT",
        "NEAR",
        "*",
        '"',
        "owner",
        ":",
        "(",
        ")",
        "茶",
        "o",
        "ann",
      );
      const text = fc.oneof(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.array(word).map((words) => words.join(" ")),
      );
      await fc.assert(
        fc.asyncProperty(fc.nat(scopes.length - 1), text, text, async (n, content, query) => {
          const id = newMemory();
          whose.set(id, n);
          await store.saveMemory(scopes[n] ?? ANN, id, remembered(content, { tags: [query] }));
          const foreign: unknown[] = [];
          for (const [i, scope] of scopes.entries()) {
            const seen = [
              ...(await store.searchMemories([scope], asking(query, 1_000))),
              ...(await store.memories(scope, 5)),
            ];
            foreign.push(...seen.filter((memory) => whose.get(memory.id) !== i));
          }
          expect(foreign).toEqual([]);
        }),
        { numRuns },
      );
      for (const org of await store.organizations()) expect(await problems(store, org)).toEqual([]);
      await store.close();
    });

    it("law 5 the name of a scope in the index is no word that a query can hold", async () => {
      const store = await openStore();
      await store.saveMemory(scopeOf("bob"), newMemory(), remembered("Bob's own"));
      for (const query of ["bob", "companion", "home", '["home","companion","bob"]']) {
        expect(await store.searchMemories([ANN], asking(query, 9))).toEqual([]);
      }
      await store.close();
    });
  });
}
