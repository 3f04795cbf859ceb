import { afterEach, describe, expect, it } from "vitest";
import type { Memory, NewMemory } from "../../protocol/index.ts";
import {
  ANN,
  asking,
  exchange,
  NOW,
  newMemory,
  open,
  PARTS,
  problems,
  remembered,
  saving,
  scopeOf,
} from "../contract/sample.contract.ts";
import { openSqlite, type SqliteOptions, type Store } from "../index.ts";
import { evictedIn } from "./memory-writes.ts";

const DAY = 86_400_000;

let store: Store;

afterEach(async () => {
  expect(await problems(store, ANN.org)).toEqual([]);
  await store.close();
});

async function limited(limits: SqliteOptions["limits"] = {}): Promise<void> {
  store = await openSqlite(":memory:", { limits, parts: PARTS });
}

async function save(content: string, more: Partial<NewMemory> = {}): Promise<Memory> {
  return (await store.saveMemory(ANN, newMemory(), remembered(content, more))).memory;
}

const kept = async (): Promise<string[]> => (await store.memories(ANN, 99)).map(({ content }) => content).sort();

describe("a scope that is full", () => {
  it("lets the least useful go, and names them: old before new, often said, trusted and a person's last", async () => {
    await limited({ saved: 5 });
    const person = await save("a person's", { by: "operator", trust: "operator", at: NOW - 900 * DAY });
    await save("said twice");
    await save("said twice");
    const trusted = await save("trusted", { trust: "agent", at: NOW - 20 * DAY });
    const old = await save("old", { at: NOW - 40 * DAY });
    const newer = await save("newer", { at: NOW - 10 * DAY });
    const evicted: string[] = [];
    for (const content of ["one", "two", "three", "four"]) {
      const saved = await store.saveMemory(ANN, newMemory(), remembered(content, { at: NOW + evicted.length }));
      evicted.push(...saved.evicted);
    }
    expect(evicted.slice(0, 2)).toEqual([old.id, newer.id]);
    expect(await kept()).toEqual(["a person's", "four", "said twice", "three", "trusted"].sort());
    expect(await store.memory(ANN, person.id)).toEqual(person);
    expect(await store.memory(ANN, trusted.id)).toEqual(trusted);
    expect(await store.searchMemories([ANN], asking("newer old", 9))).toEqual([]);
  });

  it("lets what was superseded go first, and never what was just saved", async () => {
    await limited({ saved: 2 });
    const first = await save("first", { by: "operator" });
    await save("second", { supersedes: first.id, by: "operator" });
    const { evicted } = await store.saveMemory(ANN, newMemory(), remembered("third", { at: 1 }));
    expect(evicted).toEqual([first.id]);
    await store.saveMemory(ANN, newMemory(), remembered("fourth", { at: 0 }));
    expect(await kept()).toEqual(["fourth", "second"]);
  });

  it("counts characters too; messages do not count, nor does another scope", async () => {
    await limited({ characters: 20 });
    await save("0123456789", { at: NOW });
    await save("a message that is longer than all that", { kind: "message" });
    await store.saveMemory(scopeOf("bob"), newMemory(), remembered("something of Bob's"));
    const { evicted } = await store.saveMemory(ANN, newMemory(), remembered("abcdefghijk", { at: NOW + 1 }));
    expect(evicted).toHaveLength(1);
    expect(await kept()).toEqual(["abcdefghijk"]);
    expect(await store.memories(ANN, 9, { kinds: ["message"] })).toHaveLength(1);
    expect(await store.memories(scopeOf("bob"), 9)).toHaveLength(1);
  });

  it("tells the turn whose memories needed the room", async () => {
    await limited({ saved: 1 });
    const { id } = await save("old", { at: NOW - DAY });
    const writes = [saving(remembered("new"))];
    const thread = await open(store, ANN);
    const settled: unknown[] = [];
    const watched = {
      ...store,
      settle: async (...given: Parameters<Store["settle"]>) => {
        const end = await store.settle(...given);
        settled.push(evictedIn(end.reports ?? []));
        return end;
      },
    };
    await exchange(watched, thread, "Hi");
    await exchange(watched, thread, "Remember this", { more: { writes } });
    expect(settled).toEqual([[], [id]]);
  });
});

describe("a text that is too long", () => {
  it("is refused with its length and the most that is taken, tags included", async () => {
    await limited({ length: 10 });
    await expect(save("0123456789", { tags: ["a"] })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/11 characters.*10/),
    });
    await save("0123456789");
  });

  it("is taken as a message, which nobody can make shorter any more, and found by its beginning", async () => {
    await limited();
    const { id } = await save(`The lighthouse keeper says: ${"log ".repeat(75_000)}`, { kind: "message" });
    const [hit] = await store.searchMemories([ANN], { texts: [{ text: "lighthouse", weight: 1 }], limit: 1 });
    expect(hit?.id).toBe(id);
    expect(hit?.content.length).toBeGreaterThan(300_000);
  });
});

describe("a range that is used up", () => {
  it("refuses what is saved, with what to do, and still keeps and lists what is said", async () => {
    await limited({ range: 4 });
    const thread = await open(store, ANN);
    await exchange(store, thread, "one");
    await exchange(store, thread, "two");
    await expect(save("three")).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/4 places.*import/),
    });
    await exchange(store, thread, "four");
    expect(await store.slots(ANN, thread.id)).toHaveLength(6);
    expect(await store.memories(ANN, 9, { kinds: ["message"] })).toHaveLength(6);
    expect(await store.searchMemories([ANN], asking("four", 9))).toEqual([]);
    expect(await store.searchMemories([ANN], asking("two", 1))).toMatchObject([{ content: "two" }]);
    await store.saveMemory(scopeOf("bob"), newMemory(), remembered("Bob has room"));
    expect(await store.searchMemories([scopeOf("bob")], asking("room", 1))).toHaveLength(1);
  });
});
