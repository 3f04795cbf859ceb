import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { plain } from "../statement.ts";
import { inOrder, type Transactions, type Tx } from "../tx.ts";
import { type Connection, connect } from "./connection.ts";
import { sqliteTransactions } from "./transactions.ts";

const opened: (() => void)[] = [];

afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** Two counters that every write moves together. */
function counters(where: "file" | "memory"): Transactions {
  const folder = mkdtempSync(join(tmpdir(), "strata-"));
  const file = where === "file" ? join(folder, "strata.db") : ":memory:";
  const open = (): Connection => connect(file, { random: randomBytes, patience: 100 });
  const writer = open();
  const reader = where === "file" ? open() : writer;
  writer.run(plain(`create table counter (name text primary key, n integer not null) strict`));
  writer.run(plain(`insert into counter values ('a', 0), ('b', 0)`));
  opened.push(() => {
    writer.close();
    if (reader !== writer) reader.close();
    rmSync(folder, { recursive: true });
  });
  return sqliteTransactions(writer, reader);
}

const numbers = (tx: Tx): Promise<number[]> => tx.column(plain<number>(`select n from counter order by name`));
const add = (tx: Tx, name: string): Promise<void> => tx.run(plain(`update counter set n = n + 1 where name = ?`, name));

describe.each(["file", "memory"] as const)("transactions on SQLite (%s)", (where) => {
  it("25.4 a row of them that wait for each other does not hold up the event loop until its end", async () => {
    const { write } = counters(where);
    // Those that wait for one sync resolve together, so the order in which they run is what counts.
    let begun = 0;
    const row = Array.from({ length: 20 }, () =>
      write((tx) => {
        begun++;
        return add(tx, "a");
      }),
    );
    const seen = new Set<number>();
    while (begun < row.length) {
      await setImmediate();
      seen.add(begun);
    }
    expect(seen.size).toBeGreaterThan(10);
    await Promise.all(row);
  });

  it("nobody is found inside somebody else's transaction, however their steps lie between each other", async () => {
    const step = fc.array(fc.nat(3), { minLength: 1, maxLength: 6 });
    const call = fc.record({ does: fc.constantFrom("write", "fail", "read"), pauses: step });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
        const { write, read } = counters(where);
        let running = 0;
        const done = await Promise.all(
          calls.map(async ({ does, pauses }): Promise<number> => {
            if (does === "read") {
              const seen = await read((tx) =>
                inOrder(pauses, async (count) => {
                  for (let i = 0; i < count; i++) await undefined;
                  return numbers(tx);
                }),
              );
              // One snapshot, and no write that was half done.
              for (const [a, b] of seen) expect([a, b]).toEqual([seen[0]?.[0], seen[0]?.[0]]);
              return 0;
            }
            const work = write(async (tx) => {
              expect(++running).toBe(1);
              const [before = 0] = await numbers(tx);
              await add(tx, "a");
              for (const count of pauses) for (let i = 0; i < count; i++) await undefined;
              await add(tx, "b");
              expect(await numbers(tx)).toEqual([before + 1, before + 1]);
              running--;
              if (does === "fail") throw new Error("meant");
            });
            const failed = await work.then(
              () => false,
              (thrown: Error) => thrown.message === "meant",
            );
            return failed ? 0 : 1;
          }),
        );
        const writes = done.reduce((sum, one) => sum + one, 0);
        expect(await read(numbers)).toEqual([writes, writes]);
        expect(writes).toBe(calls.filter(({ does }) => does === "write").length);
      }),
      { numRuns: where === "file" ? 30 : 100 },
    );
  });

  it("a function that waits for anything but its transaction fails, and nothing of it is kept", async () => {
    const { write, read } = counters(where);
    const waits = write(async (tx) => {
      await add(tx, "a");
      await setImmediate();
      await setImmediate();
      await add(tx, "b");
    });
    await expect(waits).rejects.toMatchObject({ code: "unexpected" });
    const atItsEnd = write(async (tx) => {
      await add(tx, "a");
      await setImmediate();
      await setImmediate();
    });
    await expect(atItsEnd).rejects.toMatchObject({ code: "unexpected" });
    const reads = read(async () => {
      await setImmediate();
      await setImmediate();
    });
    await expect(reads).rejects.toThrow("waited");
    expect(await read(numbers)).toEqual([0, 0]);
  });

  it("a statement that nobody awaited does not run in the next transaction", async () => {
    const { write, read } = counters(where);
    let kept: Tx | undefined;
    await write(async (tx) => {
      kept = tx;
    });
    await write(async (tx) => {
      await expect(kept && add(kept, "a")).rejects.toThrow("after its end");
      await expect(kept?.index.clear()).rejects.toThrow("after its end");
      await add(tx, "b");
    });
    expect(await read(numbers)).toEqual([0, 1]);
  });
});

it("a read on SQLite neither waits for a writer nor sees what it has not committed", async () => {
  const { write, read } = counters("file");
  let seen: readonly number[] | undefined;
  await write(async (tx) => {
    await add(tx, "a");
    await add(tx, "b");
    const reading = read(numbers).then((now) => {
      seen = now;
    });
    for (let i = 0; i < 20 && seen === undefined; i++) await undefined;
    expect(seen).toEqual([0, 0]);
    return reading;
  });
  expect(await read(numbers)).toEqual([1, 1]);
});
