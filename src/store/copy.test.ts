import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databases, server, title } from "../../tests/postgres.ts";
import { actorId } from "../protocol/index.ts";
import { newFolder } from "./contract/folder.contract.ts";
import {
  ANN,
  edited,
  exchange,
  newMemory,
  open,
  PARTS,
  problems,
  remembered,
  scopeOf,
} from "./contract/sample.contract.ts";
import { type CopyProgress, type CopySide, copyStore } from "./copy.ts";
import { openSqlite, openStore, resumeStore } from "./index.ts";
import { MOVES, UNNOTICED } from "./moved.ts";
import { postgresSide } from "./postgres/copy-side.ts";
import { sqliteSide } from "./sqlite/copy-side.ts";
import { plain } from "./statement.ts";

const { make, url } = databases();
let folder: string;
let opened: CopySide[] = [];

beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const side of opened) await side.close();
  opened = [];
  rmSync(folder, { recursive: true, force: true });
});

const side = (made: CopySide): CopySide => {
  opened.push(made);
  return made;
};
const file = (name: string): CopySide => side(sqliteSide(join(folder, name), PARTS));
const database = async (): Promise<CopySide> => side(await postgresSide(url(await make()), PARTS));

/** A record with something in most tables: talks, memories, a text, credits, an erased contact. */
async function record(): Promise<CopySide> {
  const store = await openSqlite(join(folder, "from.db"), { parts: PARTS });
  for (const contact of ["ann", "bob", "cid"]) {
    const scope = scopeOf(contact);
    const thread = await open(store, scope);
    for (let n = 0; n < 4; n++) await exchange(store, thread, `${contact} said ${n} “Grüße 🎉”`);
    await store.saveMemory(scope, newMemory(), remembered(`${contact} likes jasmine tea`));
  }
  await store.editText(ANN, edited("A loop."), Date.now());
  await store.eraseContact(
    scopeOf("cid"),
    { org: ANN.org, id: actorId("token:operator"), role: "operator" },
    Date.now(),
  );
  await store.close();
  return file("from.db");
}

const shown = ([column, value]: readonly [string, unknown]): readonly [string, unknown] => [
  column,
  value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
];

const copied = (from: CopySide, to: CopySide, onProgress?: (progress: CopyProgress) => void): Promise<CopyProgress> =>
  copyStore(from, to, { id: randomUUID(), at: 0, ...(onProgress && { onProgress }) });

/** While other programs have the source open. */
const noticed = (): Promise<unknown> => pause(UNNOTICED + 200);

/** All rows of all tables, one a line. */
const dump = (from: CopySide): Promise<readonly string[]> =>
  from.read(async (tx) => {
    const lines: string[] = [];
    for (const { name, columns, key } of await from.tables(tx)) {
      if (name === "migration" || name === MOVES) continue;
      const names = [...columns].sort().map((column) => `"${column}"`);
      const rows = await tx.all(
        plain<object>(`select ${names} from "${name}" order by ${key.map((one) => `"${one}"`)}`),
      );
      for (const row of rows) lines.push(`${name} ${JSON.stringify(Object.entries(row).map(shown))}`);
    }
    return lines.sort();
  });

describe.skipIf(server === undefined)(title("a copy of a store"), () => {
  it("goes from SQLite to PostgreSQL and back without losing or changing a row, and the record verifies", async () => {
    const from = await record();
    const middle = await database();
    const steps: number[] = [];
    const { done, total } = await copied(from, middle, (step) => steps.push(step.done));
    expect(done).toBe(total);
    expect(steps.at(-1)).toBe(total);
    const back = file("back.db");
    await copied(middle, back);
    const [wanted, there, again] = [await dump(from), await dump(middle), await dump(back)];
    expect(wanted.length).toBeGreaterThan(150);
    expect(there).toEqual(wanted);
    expect(again).toEqual(wanted);
    const store = await openSqlite(join(folder, "back.db"), { parts: PARTS });
    expect(await problems(store, ANN.org)).toEqual([]);
    await exchange(store, await open(store, ANN), "and on");
    await store.close();
  });

  it("that was interrupted continues where it stopped", async () => {
    const from = await record();
    const to = await database();
    const stop = new Error("pulled the plug");
    let steps = 0;
    const first = copied(from, to, () => {
      steps++;
      if (steps === 5) throw stop;
    });
    await expect(first).rejects.toThrow();
    const seen: number[] = [];
    const { total } = await copied(from, to, ({ done }) => seen.push(done));
    expect(seen[0]).toBeGreaterThan(10);
    expect(seen.at(-1)).toBe(total);
    expect(await dump(to)).toEqual(await dump(from));
  });

  const pulled = (from: CopySide, to: CopySide): Promise<unknown> =>
    copied(from, to, ({ done, total }) => {
      if (done === total) throw new Error("pulled the plug");
    });

  it.each([
    ["a turn ended", "update thread set turns = turns + 1"],
    ["only a reply was delivered", "update outbox set status = 'delivered'"],
    ["a row is gone", "delete from chain where seq = (select max(seq) from chain)"],
  ])("that was interrupted does not continue where the source was written to since: %s", async (_, written) => {
    const from = await record();
    const to = await database();
    await expect(pulled(from, to)).rejects.toThrow();
    await from.write((tx) => tx.run(plain(written)));
    await expect(copied(from, to)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("was written to since"),
    });
  });

  it("does not go into a store that holds something", async () => {
    const [from, to] = [await record(), await database()];
    await copied(from, to);
    const other = file("other.db");
    await other.write((tx) => tx.run(plain(`insert into shared_piece (org, digest, text) values ('o', 'd', 't')`)));
    for (const taken of [to, from])
      await expect(copied(other, taken)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("is not empty"),
      });
  });
});

describe.each([
  ["a file", async () => join(folder, "moved.db"), true],
  ["a database of PostgreSQL", async () => url(await make()), server !== undefined],
])("a record that moved to %s and back", (_, address, isThere) => {
  const sideAt = async (place: string): Promise<CopySide> =>
    side(place.startsWith("postgres") ? await postgresSide(place, PARTS) : sqliteSide(place, PARTS));

  it.skipIf(!isThere)(
    "is in one place only: the other neither opens nor takes what a running program writes",
    async () => {
      const from = await record();
      const running = await openSqlite(join(folder, "from.db"), { parts: PARTS });
      const thread = await open(running, ANN);
      const place = await address();
      await copyStore(from, await sideAt(place), { id: randomUUID(), at: 0, noticed });
      await expect(exchange(running, thread, "into the old one")).rejects.toMatchObject({ code: "store_moved" });
      await running.close();
      await expect(openStore(join(folder, "from.db"), { parts: PARTS })).rejects.toMatchObject({ code: "store_moved" });
      await expect(copied(from, file("third.db"))).rejects.toMatchObject({ code: "store_moved" });

      const there = await openStore(place, { parts: PARTS });
      await exchange(there, await open(there, ANN), "into the new one");
      await copyStore(await sideAt(place), from, { id: randomUUID(), at: 0, noticed });
      await expect(open(there, scopeOf("bob"))).rejects.toMatchObject({ code: "store_moved" });
      await there.close();
      expect(await dump(from)).toEqual(await dump(await sideAt(place)));
      const back = await openSqlite(join(folder, "from.db"), { parts: PARTS });
      expect(await problems(back, ANN.org)).toEqual([]);
      await exchange(back, await open(back, ANN), "and on");
      await back.close();
    },
  );

  it.skipIf(!isThere)("is taken up again in the old place only when asked, and then nothing replaces it", async () => {
    const from = await record();
    const place = await address();
    await copied(from, await sideAt(place));
    expect(await resumeStore(join(folder, "from.db"), PARTS)).toMatchObject({ at: 0 });
    expect(await resumeStore(join(folder, "from.db"), PARTS)).toBeUndefined();
    const again = await openSqlite(join(folder, "from.db"), { parts: PARTS });
    await exchange(again, await open(again, ANN), "apart");
    await again.close();
    await expect(copied(await sideAt(place), from)).rejects.toMatchObject({
      message: expect.stringContaining("is not empty"),
    });
  });

  it.skipIf(!isThere)("is not written to between two attempts, and only the first target continues", async () => {
    const from = await record();
    const to = await sideAt(await address());
    const stop = copied(from, to, () => {
      throw new Error("pulled the plug");
    });
    await expect(stop).rejects.toThrow();
    await expect(openSqlite(join(folder, "from.db"), { parts: PARTS })).rejects.toMatchObject({ code: "store_moved" });
    await expect(copied(from, file("third.db"))).rejects.toMatchObject({ code: "store_moved" });
    await copied(from, to);
    expect(await dump(to)).toEqual(await dump(from));
  });
});
