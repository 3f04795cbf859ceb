import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ANN, asking, NOW, newMemory, problems, remembered } from "../contract/sample.contract.ts";
import { type AddedMemory, openSqlite, type SavedMemory, type Store } from "../index.ts";

/** What one scope holds and how it is found. */
async function all(store: Store): Promise<object> {
  const kinds = ["fact", "message"] as const;
  return {
    memories: await store.memories(ANN, 99, { kinds, superseded: true }),
    stats: await store.memoryStats(ANN),
    found: await store.searchMemories([ANN], asking("tea cat runs 红茶", 99)),
  };
}

const text = fc
  .array(fc.constantFrom("tea", "cat", "runs", "红茶", "नमस्ते", "1984"), { minLength: 1, maxLength: 3 })
  .map((words) => words.join(" "));
interface Deed {
  readonly text: string;
  readonly kind: "fact" | "message";
  readonly tag: string | undefined;
  readonly session: string | undefined;
  /** Which of those before it replaces, if that is there. */
  readonly supersedes: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  text,
  kind: fc.constantFrom("fact", "fact", "message"),
  tag: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  session: fc.option(fc.constantFrom("one", "two"), { nil: undefined }),
  supersedes: fc.nat(9),
});

function addedOf(deeds: readonly Deed[]): readonly AddedMemory[] {
  const added: AddedMemory[] = [];
  for (const [i, { text: content, kind, tag, session, supersedes }] of deeds.entries()) {
    const old = added[supersedes];
    const memory = remembered(content, {
      kind,
      at: NOW + 1_000 * (i % 4),
      tags: tag === undefined ? [] : [tag],
      ...(session !== undefined && { session }),
      ...(old !== undefined && kind === "fact" && { supersedes: old.id }),
    });
    // As in an import: what it replaces need not be there any more.
    added.push({ id: newMemory(), memory, kept: { support: 1 } });
  }
  return added;
}

describe("many memories that are saved at once", () => {
  it("come to what they come to one by one, said again, superseded or let go as they are, and the record checks out", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 14 }), async (deeds) => {
        const added = addedOf(deeds);
        const limits = { saved: 5 };
        const [together, apart] = [await openSqlite(":memory:", { limits }), await openSqlite(":memory:", { limits })];
        const saved = await together.saveMemories(ANN, added);
        const oneByOne: SavedMemory[] = [];
        for (const each of added) oneByOne.push(...(await apart.saveMemories(ANN, [each])));
        expect(saved).toEqual(oneByOne);
        expect(await all(together)).toEqual(await all(apart));
        expect(await problems(together, ANN.org)).toEqual([]);
        await together.close();
        await apart.close();
      }),
      { numRuns: 30 },
    );
  });
});
