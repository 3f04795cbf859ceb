import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import { actorId, type MemoryId, type MemoryQuery, type Scope } from "../../protocol/index.ts";
import { newFolder } from "../contract/folder.contract.ts";
import { ANN, asking, exchange, newMemory, open, PARTS, remembered, scopeOf } from "../contract/sample.contract.ts";
import { openStore, type Store } from "../index.ts";
import type { MemoryHit } from "../memory-store.ts";
import type { StorePart, Tx } from "../tx.ts";
import { searchMemories } from "./search-memories.ts";

interface Raw {
  readonly search: (scopes: readonly Scope[], query: MemoryQuery) => Promise<readonly MemoryHit[]>;
}

/** Searches as if nothing had been read before. */
const RAW: StorePart<Raw> = {
  name: "raw",
  tables: {},
  erase: async () => undefined,
  functions: ({ reading }) => {
    const read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => reading(work)();
    return { search: (scopes, query) => searchMemories(read, scopes, query) };
  },
};
const parts = [...PARTS, RAW];
const OPERATOR = { org: ANN.org, id: actorId("token:operator"), role: "operator" } as const;

const text = fc
  .tuple(
    fc.constantFrom("key", "boat", "tea"),
    fc.constantFrom("garden", "harbour", "kitchen"),
    fc.constantFrom(1, 1, 200),
  )
  .map(([thing, place, times]) => `The ${thing} is in the ${place}${", and it stays there".repeat(times)}.`);
const deed = fc.record({
  by: fc.nat(1),
  does: fc.oneof(
    { weight: 6, arbitrary: fc.constant("say" as const) },
    { weight: 3, arbitrary: fc.constantFrom("save" as const, "replace" as const, "forget" as const) },
    { weight: 1, arbitrary: fc.constant("erase" as const) },
  ),
  text,
  of: fc.nat(20),
});

describe("what searches remember", () => {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const { numRuns, title } = firstRuns(25, 12);
  it(
    title("gives the same as if they read all of it again, whatever two programs save, say, forget and erase"),
    async () => {
      const where = join(folder, "strata.db");
      const stores = [await openStore(where, { parts }), await openStore(where, { parts })] as const;
      let contact = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 20 }), async (deeds) => {
          const scope = scopeOf(`ann ${++contact}`);
          const scopes: readonly Scope[] = [scope, { ...scope, contact: null }];
          const ids: MemoryId[] = [];
          for (const one of deeds) {
            const store: Store = stores[one.by] ?? stores[0];
            const last = ids[one.of % Math.max(1, ids.length)];
            const isThere = last !== undefined && (await store.memory(scope, last))?.supersededBy === undefined;
            if (one.does === "say")
              await exchange(store, await open(store, scope), one.text, { reply: `${one.text} Yes.` });
            else if (one.does === "erase") await store.eraseContact(scope, OPERATOR, 9);
            else if (one.does === "forget") {
              const all = await store.memories(scope, 20, { kinds: ["message", "fact"] });
              const gone = all[one.of % Math.max(1, all.length)];
              if (gone !== undefined) await store.forgetMemory(scope, gone.id);
            } else {
              const supersedes =
                one.does === "replace" && isThere && (await store.memory(scope, last)) ? { supersedes: last } : {};
              const saved = await store.saveMemory(
                scope,
                newMemory(),
                remembered(one.text, { ...supersedes, tags: [`t${one.of}`] }),
              );
              ids.push(saved.memory.id);
            }
            for (const question of ["Where is the key?", "boat in the harbour"]) {
              const query = asking(question, 30);
              const whole = await stores[0].part(RAW).search(scopes, query);
              for (const each of stores) expect(await each.searchMemories(scopes, query)).toEqual(whole);
            }
          }
        }),
        { numRuns, interruptAfterTimeLimit: 200_000 },
      );
      for (const store of stores) await store.close();
    },
  );
});
