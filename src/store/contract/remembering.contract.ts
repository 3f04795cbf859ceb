import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import { actorId, type Memory, type NewMemory, untrusted } from "../../protocol/index.ts";
import type { Store } from "../store.ts";
import {
  ANN,
  asking,
  exchange,
  NOW,
  newMemory,
  type OpenStore,
  open,
  opening,
  problems,
  ran,
  remembered,
  revisionsOf,
  said,
  saving,
  scopeOf,
  take,
} from "./sample.contract.ts";

const MINUTE = 60_000;

const save = (store: Store, content: string, more: Partial<NewMemory> = {}) =>
  store.saveMemory(ANN, newMemory(), remembered(content, more));

async function texts(store: Store, query: string, more: Parameters<typeof asking>[2] = {}): Promise<string[]> {
  return (await store.searchMemories([ANN], asking(query, 20, more))).map(({ content }) => content);
}

/** Memories besides saved facts: what is stored once, what replaces what, and what is found by whom. */
export function rememberingContract(openStore: OpenStore): void {
  sameAgain(openStore);
  superseding(openStore);
  filters(openStore);
  messages(openStore);
  counts(openStore);
  topics(openStore);
}

function sameAgain(openStore: OpenStore): void {
  describe("a memory that says the very same", () => {
    it("counts once more, whatever its capitals and spaces, with the tags and the trust of both", async () => {
      const store = await openStore();
      const first = await save(store, "Ann likes  tea.", { tags: ["taste"] });
      expect(first).toMatchObject({ merged: false, evicted: [], memory: { support: 1 } });
      const again = { tags: ["drinks"], trust: "operator", by: "operator", at: NOW + 1 } as const;
      const second = await save(store, "ann LIKES tea", again);
      const { id } = first.memory;
      const whole = {
        id,
        content: "Ann likes  tea.",
        tags: ["taste", "drinks"],
        trust: "operator",
        by: "operator",
        support: 2,
      };
      expect(second).toMatchObject({ merged: true, memory: whole });
      expect(await store.memories(ANN, 9)).toEqual([second.memory]);
      expect(await texts(store, "drinks")).toEqual(["Ann likes  tea."]);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is another one of another kind, time, speaker or scope", async () => {
      const store = await openStore();
      await save(store, "Ann likes tea");
      for (const more of [{ kind: "block" }, { validFrom: NOW }, { speaker: "Bob" }] as const) {
        expect(await save(store, "Ann likes tea", more)).toMatchObject({ merged: false });
      }
      const other = await store.saveMemory(scopeOf("bob"), newMemory(), remembered("Ann likes tea"));
      expect(other.merged).toBe(false);
      expect(await store.memories(ANN, 9)).toHaveLength(4);
      await store.close();
    });

    it("counts once more too when a turn saves it", async () => {
      const store = await openStore();
      const { memory } = await save(store, "Ann likes tea");
      const writes = [saving(remembered("Ann likes tea"))];
      await exchange(store, await open(store), "Hi", { more: { writes } });
      expect(await store.memories(ANN, 9)).toEqual([{ ...memory, support: 2 }]);
      await store.close();
    });

    it("said twice in a conversation are two messages; imported twice, one", async () => {
      const store = await openStore();
      const line = { kind: "message", speaker: "Ann", session: "1" } as const;
      await save(store, "Yes", { ...line, at: NOW, sources: ["1"] });
      await save(store, "Yes", { ...line, at: NOW + 1, sources: ["2"] });
      expect(await save(store, "Yes", { ...line, at: NOW, sources: ["1"] })).toMatchObject({ merged: true });
      expect(await store.memories(ANN, 9, { kinds: ["message"] })).toHaveLength(2);
      await store.close();
    });
  });
}

function superseding(openStore: OpenStore): void {
  describe("a memory that another replaces", () => {
    it("stays in the record, dated, and is no longer found", async () => {
      const store = await openStore();
      const { memory: old } = await save(store, "Ann lives in Ghent");
      const { memory: now } = await save(store, "Ann lives in Bruges", { supersedes: old.id, at: NOW + 5 });
      expect(now.supersedes).toBe(old.id);
      expect(await texts(store, "Ghent Bruges lives")).toEqual(["Ann lives in Bruges"]);
      expect(await store.memories(ANN, 9)).toEqual([now]);
      const dated: Memory = { ...old, supersededBy: { memory: now.id, at: NOW + 5 } };
      expect(await store.memories(ANN, 9, { superseded: true })).toEqual([now, dated]);
      expect(await store.memory(ANN, old.id)).toEqual(dated);
      expect(await save(store, "Ann lives in Ghent")).toMatchObject({ merged: false });
      expect(await problems(store, ANN.org)).toEqual([]);
      expect(await store.forgetMemory(ANN, old.id)).toBe(true);
      await store.close();
    });

    it("must be there, in the scope; a turn that finds it gone keeps the new one by itself", async () => {
      const store = await openStore();
      const { memory: bobs } = await store.saveMemory(scopeOf("bob"), newMemory(), remembered("Bob's"));
      for (const supersedes of [newMemory(), bobs.id]) {
        await expect(save(store, "new", { supersedes })).rejects.toMatchObject({ code: "memory_not_found" });
      }
      expect(await store.memories(ANN, 9)).toEqual([]);
      const writes = [saving(remembered("new", { supersedes: bobs.id }))];
      await exchange(store, await open(store), "Hi", { more: { writes } });
      expect(await store.memories(ANN, 9)).toMatchObject([{ content: "new", sources: [bobs.id] }]);
      expect(await store.memory(scopeOf("bob"), bobs.id)).toEqual(bobs);
      await store.close();
    });
  });
}

function filters(openStore: OpenStore): void {
  describe("a filter", () => {
    it("holds for searches and for lists, by kind, tag, time and trust", async () => {
      const store = await openStore();
      await save(store, "tea one", { tags: ["a"], at: NOW });
      await save(store, "tea two", { tags: ["b", "c"], at: NOW + 10, trust: "operator" });
      await save(store, "tea three", { kind: "block", at: NOW + 20, trust: "agent" });
      await save(store, "tea four", { kind: "message", at: NOW + 30 });
      const holds: [Parameters<typeof asking>[2], string[]][] = [
        [{ kinds: ["block", "message"] }, ["tea four", "tea three"]],
        [{ tags: ["c", "x"] }, ["tea two"]],
        [{ since: NOW + 10, before: NOW + 30 }, ["tea three", "tea two"]],
        [{ trust: "agent" }, ["tea three", "tea two"]],
        [{ kinds: [] }, []],
        [{ tags: ["a"], trust: "operator" }, []],
      ];
      for (const [filter = {}, wanted] of holds) {
        expect((await texts(store, "tea", filter)).sort(), JSON.stringify(filter)).toEqual(wanted.toSorted());
        const kinds = filter.kinds ?? (["fact", "block", "message"] as const);
        const listed = await store.memories(ANN, 9, { ...filter, kinds });
        expect(listed.map(({ content }) => content)).toEqual(wanted);
      }
      expect((await store.memories(ANN, 9)).map(({ content }) => content)).toEqual(["tea three", "tea two", "tea one"]);
      await store.close();
    });

    it("leaves as many as there are, however much better others fit", async () => {
      const store = await openStore();
      for (let i = 0; i < 300; i++) await save(store, `tea cup ${i}`, { kind: "message", at: NOW + i });
      await save(store, "there is tea in a pot on the table", { kind: "message", at: NOW - 5, trust: "operator" });
      expect(await texts(store, "tea cup", { trust: "operator" })).toEqual(["there is tea in a pot on the table"]);
      expect(await texts(store, "tea cup", { before: NOW })).toEqual(["there is tea in a pot on the table"]);
      await store.close();
    });
  });
}

function messages(openStore: OpenStore): void {
  describe("what was said", () => {
    it("is remembered with the commit: by whom, when, in which turn, and nothing of the prompt (law 12)", async () => {
      const store = await openStore();
      const thread = await open(store);
      const name = untrusted("Ann Lee");
      await store.receive(ANN, thread.id, [said("My bicycle is green", { name }), said("tick", { kind: "scheduled" })]);
      const claim = await take(store, thread);
      await store.settle(claim, ran(claim, { reply: "What a bicycle!" }).outcome);
      const found = await store.searchMemories([ANN], asking("bicycle", 9));
      const both = { kind: "message", turn: claim.turn, scope: ANN, support: 1 };
      expect(found.toSorted((a, b) => a.place - b.place)).toMatchObject([
        { ...both, content: "My bicycle is green", speaker: "Ann Lee", trust: "contact", at: NOW },
        { ...both, content: "What a bicycle!", speaker: "companion", trust: "contact" },
      ]);
      expect(found[0]?.session).toBe(found[1]?.session);
      for (const query of ["message", "recall memory likes", "honest brief", "tick"])
        expect(await texts(store, query)).toEqual([]);
      expect(await store.memories(ANN, 9)).toEqual([]);
      expect(await store.memories(ANN, 9, { kinds: ["message"] })).toHaveLength(2);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is not remembered of a turn that failed, nor of a message that was taken back", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "bicycle", { failed: true });
      await store.withdraw(ANN, thread.id, { now: NOW, at: NOW, alive: () => false });
      await exchange(store, thread, "car");
      expect(await texts(store, "bicycle")).toEqual([]);
      expect(await texts(store, "car")).toEqual(["car", "Hello Ann"]);
      await store.close();
    });

    it("begins a new stretch of talk after half an hour", async () => {
      const store = await openStore();
      const thread = await open(store);
      for (const [text, at] of [
        ["tea one", 0],
        ["tea two", 20 * MINUTE],
        ["tea three", 90 * MINUTE],
      ] as const) {
        await store.receive(ANN, thread.id, [said(text, { at: NOW + at })]);
        const claim = await take(store, thread);
        const { outcome } = ran(claim, { reply: null });
        await store.settle(claim, { ...outcome, at: NOW + at });
      }
      const hits = await store.searchMemories([ANN], asking("tea", 9));
      const [one, two, three] = hits.toSorted((a, b) => a.place - b.place).map(({ session }) => session);
      expect([one === two, two === three]).toEqual([true, false]);
      await store.close();
    });

    it("is one memory, however often a fork answers it again", async () => {
      const store = await openStore();
      const thread = await open(store);
      const { claim } = await exchange(store, thread, "bicycle", { reply: "Hello" });
      const forkedFrom = { thread: thread.id, turn: null };
      for (const key of ["again", "and again"]) {
        const fork = await store.openThread(ANN, opening(key, { forkedFrom }));
        await exchange(store, fork, "bicycle", { reply: key });
      }
      const kept = await store.memories(ANN, 9, { kinds: ["message"] });
      expect(kept.map(({ content }) => content).sort()).toEqual(["Hello", "again", "and again", "bicycle"]);
      expect(kept.find(({ content }) => content === "bicycle")?.turn).toBe(claim.turn);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is gone with its contact, and can be forgotten by itself", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "bicycle");
      await save(store, "a red bicycle");
      const [message] = await store.memories(ANN, 1, { kinds: ["message"] });
      if (!message) throw new Error("nothing was remembered");
      expect(await store.forgetMemory(scopeOf("bob"), message.id)).toBe(false);
      const [before = 0] = await revisionsOf(store, [ANN]);
      expect(await store.forgetMemory(ANN, message.id)).toBe(true);
      expect(await store.memory(ANN, message.id)).toBeUndefined();
      expect((await revisionsOf(store, [ANN]))[0]).toBeGreaterThan(before);
      const [latest = 0] = await revisionsOf(store, [ANN]);
      await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
      expect(await texts(store, "bicycle")).toEqual([]);
      expect(await store.memories(ANN, 9, { kinds: ["message", "fact"], superseded: true })).toEqual([]);
      expect(await store.memoryStats(ANN)).toEqual([]);
      expect(await revisionsOf(store, [ANN])).toEqual([0]);
      await exchange(store, await open(store), "a new bicycle");
      // None that was there before: what was found at that one is remembered elsewhere.
      expect((await revisionsOf(store, [ANN]))[0]).toBeGreaterThan(latest);
      expect(await texts(store, "bicycle")).toContain("a new bicycle");
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}

function topics(openStore: OpenStore): void {
  describe("what a scope's memories are about", () => {
    const wish = { least: 3, validAt: NOW, except: new Set<string>() };
    const boats = ["My boat is green.", "She sold the boat.", "The old boat is in Oslo."];

    it("is told by their words, each memory once, oldest first, as they are kept", async () => {
      const store = await openStore();
      const ids: string[] = [];
      for (const [n, content] of [...boats, "Likes tea."].entries())
        ids.push((await save(store, content, { at: NOW - n })).memory.id);
      const [topic, ...others] = await store.memoryTopics(ANN, wish);
      expect(others).toEqual([]);
      expect(topic?.topic).toBe("boat");
      expect(topic?.memories.map(({ id }) => id)).toEqual(ids.slice(0, 3).toReversed());
      expect(topic?.memories[2]).toEqual(await store.memory(ANN, topic?.memories[2]?.id ?? newMemory()));
      await store.close();
    });

    it("leaves out other kinds, what is newer, left out or superseded, and what is so no more", async () => {
      const store = await openStore();
      const saved = [];
      for (const content of boats) saved.push((await save(store, content)).memory);
      const found = async (more: object) => (await store.memoryTopics(ANN, { ...wish, ...more })).length;
      expect(await found({})).toBe(1);
      expect(await found({ kinds: ["block"] })).toBe(0);
      expect(await found({ before: NOW })).toBe(0);
      expect(await found({ except: new Set(saved.slice(0, 1).map(({ id }) => id)) })).toBe(0);
      await save(store, "The boat is blue.", { validUntil: NOW + 5, ...(saved[0] && { supersedes: saved[0].id }) });
      expect(await found({})).toBe(1);
      expect(await found({ validAt: NOW + 5 })).toBe(0);
      await store.close();
    });

    it("law 5: is that of the scope alone", async () => {
      const store = await openStore();
      for (const content of boats) await save(store, content);
      const others = [scopeOf("bob"), { ...ANN, contact: null }];
      for (const other of others) expect(await store.memoryTopics(other, wish)).toEqual([]);
      await store.saveMemory(scopeOf("bob"), newMemory(), remembered("My boat is Bob's."));
      expect(JSON.stringify(await store.memoryTopics(ANN, wish))).not.toContain("Bob");
      await store.close();
    });
  });
}

function counts(openStore: OpenStore): void {
  describe("what is remembered", () => {
    it("is counted by kind, without what was superseded", async () => {
      const store = await openStore();
      expect([await store.memoryStats(ANN), await revisionsOf(store, [ANN])]).toEqual([[], [0]]);
      const { memory } = await save(store, "12345", { at: NOW + 7 });
      await save(store, "1234567", { supersedes: memory.id, at: NOW });
      await exchange(store, await open(store), "Hi!", { reply: "Hello" });
      expect(await store.memoryStats(ANN)).toMatchObject([
        { kind: "fact", memories: 1, characters: 7, newest: NOW },
        { kind: "message", memories: 2, characters: 8 },
      ]);
      await store.close();
    });

    it("imports all or nothing", async () => {
      const store = await openStore();
      const [one, two] = [newMemory(), newMemory()];
      const added = [one, two].map((id) => ({ id, memory: remembered(`memory ${id}`) }));
      expect(await store.saveMemories(ANN, added)).toHaveLength(2);
      const third = { id: newMemory(), memory: remembered("third") };
      await expect(store.saveMemories(ANN, [third, { id: one, memory: remembered("fourth") }])).rejects.toThrow();
      expect(await store.memories(ANN, 9)).toHaveLength(2);
      await store.close();
    });

    const { numRuns, title } = firstRuns(25, 10);
    it(
      title("law 7 holds together after any deeds: every memory is found by its own text, and the record checks out"),
      async () => {
        const word = fc.constantFrom("tea", "cat", "runs", "红茶", "नमस्ते", "1984", "OR", '"');
        const text = fc.oneof(
          fc.string(),
          fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(" ")),
        );
        const deed = fc.record({ text, deed: fc.constantFrom("save", "supersede", "forget", "say", "erase") });
        await fc.assert(
          fc.asyncProperty(fc.array(deed, { maxLength: 12 }), async (deeds) => {
            const store = await openStore();
            for (const { text: content, deed: what } of deeds) await did(store, what, content);
            for (const memory of await store.memories(ANN, 99, { kinds: ["fact", "message"] })) {
              if (!/[a-z0-9红]/i.test(memory.content)) continue;
              const hits = await store.searchMemories([ANN], asking(memory.content, 99));
              expect(
                hits.map(({ id }) => id),
                memory.content,
              ).toContain(memory.id);
            }
            expect(await problems(store, ANN.org)).toEqual([]);
            await store.close();
          }),
          { numRuns },
        );
      },
    );
  });
}

async function did(store: Store, what: string, content: string): Promise<void> {
  const [newest] = await store.memories(ANN, 1);
  if (what === "say") await exchange(store, await open(store), content, { reply: `${content} indeed` });
  else if (what === "erase")
    await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
  else if (what === "forget") await (newest && store.forgetMemory(ANN, newest.id));
  else await save(store, content, what === "supersede" && newest ? { supersedes: newest.id } : {});
}
