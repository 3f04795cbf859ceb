import { rmSync } from "node:fs";
import { join } from "node:path";
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
import { type CopySide, copyStore } from "./copy.ts";
import { openSqlite } from "./index.ts";
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

/** All rows of all tables, one a line. */
const dump = (from: CopySide): Promise<readonly string[]> =>
  from.read(async (tx) => {
    const lines: string[] = [];
    for (const { name, columns, key } of await from.tables(tx)) {
      if (name === "migration") continue;
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
    const { done, total } = await copyStore(from, middle, (step) => steps.push(step.done));
    expect(done).toBe(total);
    expect(steps.at(-1)).toBe(total);
    const back = file("back.db");
    await copyStore(middle, back);
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
    const first = copyStore(from, to, () => {
      steps++;
      if (steps === 5) throw stop;
    });
    await expect(first).rejects.toThrow();
    const seen: number[] = [];
    const { total } = await copyStore(from, to, ({ done }) => seen.push(done));
    expect(seen[0]).toBeGreaterThan(10);
    expect(seen.at(-1)).toBe(total);
    expect(await dump(to)).toEqual(await dump(from));
  });

  const pulled = (from: CopySide, to: CopySide): Promise<unknown> =>
    copyStore(from, to, ({ done, total }) => {
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
    await expect(copyStore(from, to)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("was written to since"),
    });
  });

  it("does not go into a store that holds something", async () => {
    const from = await record();
    const to = await database();
    await copyStore(from, to);
    await expect(copyStore(from, to)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("is not empty"),
    });
  });
});
