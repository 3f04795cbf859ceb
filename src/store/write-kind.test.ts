import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { StoreWrite } from "../protocol/index.ts";
import { ANN, exchange, open, PARTS, problems, ran, said, take } from "./contract/sample.contract.ts";
import { openSqlite, type StorePart, writeKind } from "./index.ts";

interface Snooze extends StoreWrite {
  readonly kind: "snooze";
  readonly until: number;
}

const done: Snooze[] = [];

const SNOOZE = writeKind<Snooze>({
  kind: "snooze",
  schema: z.strictObject({ kind: z.literal("snooze"), until: z.int() }),
  limited: (write, most) => (most.includes("contact") ? { ...write, until: Math.min(write.until, 5) } : write),
  apply: async (_tx, write) => {
    done.push(write);
    return [{ what: "snoozed", message: `Rests until ${write.until}.`, data: { until: write.until } }];
  },
});

const PART = {
  name: "snooze",
  tables: {},
  functions: () => ({}),
  writes: [SNOOZE],
  erase: async () => {},
} satisfies StorePart;

describe("a write of a feature's own", () => {
  it("law 7 is done in the commit of a turn that ended well, and of no other, and the commit reports it", async () => {
    const store = await openSqlite(":memory:", { parts: [...PARTS, PART] });
    const thread = await open(store);
    const writes = [{ write: SNOOZE.plan({ until: 9 }) }];
    await exchange(store, thread, "rest", { failed: true, more: { writes } });
    expect(done).toEqual([]);
    await store.receive(ANN, thread.id, [said("rest")]);
    const claim = await take(store, thread);
    const { reports } = await store.settle(claim, ran(claim, { more: { writes } }).outcome);
    expect(done).toEqual([{ kind: "snooze", until: 9 }]);
    expect(reports).toEqual([{ what: "snoozed", message: "Rests until 9.", data: { until: 9 } }]);
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  });

  it("law 10 is refused, with all that its turn changes, where its feature is not there or cannot read it", async () => {
    for (const [parts, write, code] of [
      [[], SNOOZE.plan({ until: 9 }), "unexpected"],
      [[PART], Object.assign({ kind: "snooze" }, { until: "soon" }), "invalid_input"],
    ] as const) {
      const store = await openSqlite(":memory:", { parts });
      const thread = await open(store);
      await store.receive(ANN, thread.id, [said("rest")]);
      const claim = await take(store, thread);
      const settled = store.settle(claim, ran(claim, { more: { writes: [{ write }] } }).outcome);
      await expect(settled).rejects.toMatchObject({ code, message: expect.stringContaining("snooze") });
      expect(await store.turn(ANN, claim.turn)).toMatchObject({ status: "running" });
      await store.close();
    }
  });

  it("is read and made by its token alone", () => {
    expect(SNOOZE.read({ kind: "memory" })).toBeUndefined();
    expect(SNOOZE.read(JSON.parse(JSON.stringify(SNOOZE.plan({ until: 3 }))))).toEqual({ kind: "snooze", until: 3 });
    expect(SNOOZE.limited(SNOOZE.plan({ until: 30 }), ["contact"])).toEqual({ kind: "snooze", until: 5 });
    // @ts-expect-error a write of another shape does not compile
    expect(() => SNOOZE.plan({ thread: "x" })).toThrow("cannot be read at");
  });
});
