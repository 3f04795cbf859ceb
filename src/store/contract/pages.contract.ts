import { describe, expect, it } from "vitest";
import { actorId, untrusted } from "../../protocol/index.ts";
import type { Position } from "../records.ts";
import {
  ANN,
  edited,
  exchange,
  LOOP,
  NOW,
  newMemory,
  type OpenStore,
  OWNER,
  open,
  readOn,
  remembered,
  said,
  scopeOf,
} from "./sample.contract.ts";

/** A list that is read a page at a time misses nothing and repeats nothing, whatever is added during the read. */
export function pageContract(openStore: OpenStore): void {
  describe("a list read in pages", () => {
    it("of threads: those of one instant by their ids, and what comes up meanwhile disturbs nobody", async () => {
      const store = await openStore();
      for (const key of ["a", "b", "c", "d", "e"]) await open(store, ANN, key);
      const all = await store.threads(ANN, 9);
      const read = (limit: number, after?: Position) => store.threads(ANN, limit, { after });
      let n = 0;
      const found = await readOn(read, {
        position: ({ lastActivity: at, id }) => ({ at, id }),
        meanwhile: async () => {
          const later = await open(store, ANN, `later ${n++}`);
          await store.receive(ANN, later.id, [said("hello", { at: NOW + 9_000 })]);
        },
      });
      expect(found).toEqual(all);
      expect(await read(2, { at: 0, id: "thr_" })).toEqual([]);
      await store.close();
    });

    it("of turns, oldest first", async () => {
      const store = await openStore();
      const thread = await open(store);
      for (const text of ["one", "two", "three"]) await exchange(store, thread, text);
      const read = (limit: number, after?: Position) => store.turns(ANN, thread.id, { limit, after });
      const found = await readOn(read, {
        position: ({ seq }) => ({ at: seq, id: "" }),
        meanwhile: async () => undefined,
      });
      expect(found.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(found).toEqual(await store.turns(ANN, thread.id));
      const slots = await store.slots(ANN, thread.id);
      const [, second] = slots;
      if (second === undefined) throw new Error("each turn has two");
      const after = { at: second.index, id: "" };
      expect(await store.slots(ANN, thread.id, { limit: 3, after })).toEqual(slots.slice(2, 5));
      await store.close();
    });

    it("of memories: those of one instant in the order in which they were stored; what is forgotten loses none of them", async () => {
      const store = await openStore();
      const save = (text: string, at: number) => store.saveMemory(ANN, newMemory(), remembered(text, { at }));
      for (const text of ["a cat", "a dog", "an owl", "an elk", "a fox"]) await save(text, NOW);
      const all = await store.memories(ANN, 9);
      const read = (limit: number, after?: Position) => store.memories(ANN, limit, { after });
      const position = ({ at, id }: (typeof all)[number]) => ({ at, id });
      const found = await readOn(read, {
        position,
        meanwhile: async (page) => void (await save(`a ${page}. bird`, NOW + 1)),
      });
      expect(found).toEqual(all);
      const [first, second] = await read(2);
      if (first === undefined || second === undefined) throw new Error("there are five");
      await store.forgetMemory(ANN, second.id);
      const rest = (await read(9, position(second))).map(({ id }) => id);
      expect(rest).toEqual(expect.arrayContaining(all.slice(2).map(({ id }) => id)));
      await store.close();
    });

    it("of what waits for an agent, oldest first", async () => {
      const store = await openStore();
      for (const who of ["ann", "bob", "cid"]) {
        const thread = await open(store, scopeOf(who));
        await store.receive(thread.scope, thread.id, [said("one"), said("two")]);
      }
      const read = (limit: number, after?: Position) => store.inbox(OWNER, { now: NOW, limit, after });
      const found = await readOn(read, {
        position: ({ event: { at, id } }) => ({ at, id }),
        meanwhile: async () => {
          await store.receive(ANN, (await open(store)).id, [said("late", { at: NOW - 1 })]);
        },
      });
      expect(found.map(({ event }) => event.id)).toEqual(
        (await store.inbox(OWNER, { now: NOW, limit: 99 })).flatMap(({ event }) => (event.at < NOW ? [] : [event.id])),
      );
      expect(found).toHaveLength(6);
      await store.close();
    });

    it("of acts, newest first", async () => {
      const store = await openStore();
      const act = (about: string) =>
        store.noteAct(OWNER, {
          actor: { org: ANN.org, id: actorId("token:operator"), role: "operator" },
          what: "looked",
          about,
          at: NOW,
        });
      for (const about of ["one", "two", "three"]) await act(about);
      const found = await readOn((limit, after) => store.acts(OWNER, limit, after), {
        position: ({ id }) => ({ at: id, id: "" }),
        meanwhile: () => act("meanwhile"),
      });
      expect(found.map(({ about }) => about)).toEqual(["three", "two", "one"]);
      await store.close();
    });

    it("of proposals, oldest first, one decided or replaced meanwhile", async () => {
      const store = await openStore();
      const propose = (text: string) =>
        store.editText(OWNER, edited(text, { status: "proposed", by: "operator", trust: "operator" }), NOW);
      for (const text of ["one", "two", "three"]) await propose(text);
      const found = await readOn((limit, after) => store.proposals(OWNER, { limit, after }), {
        position: ({ link }) => ({ at: link, id: "" }),
        meanwhile: async (page) => {
          if (page > 1) return;
          const reason = untrusted("no");
          const no = { verdict: "rejected", by: "operator", reason, at: NOW } as const;
          await store.decideText(OWNER, { ...LOOP, n: 1 }, no);
        },
      });
      expect(found.map(({ text }) => text)).toEqual(["one", "two", "three"]);
      await store.close();
    });
  });
}
