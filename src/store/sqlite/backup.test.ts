import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newFolder } from "../contract/folder.contract.ts";
import { ANN, exchange, open, PARTS, problems } from "../contract/sample.contract.ts";
import { type BackupProgress, openSqlite } from "../index.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = newFolder();
  file = join(folder, "copy.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a backup", () => {
  it("is whole and of one moment, though two programs write meanwhile", async () => {
    const store = await openSqlite(join(folder, "record.db"), { parts: PARTS });
    const writer = await openSqlite(join(folder, "record.db"), { parts: PARTS });
    const thread = await open(store, ANN);
    for (let n = 0; n < 100; n++) await exchange(store, thread, `${n} ${"word ".repeat(6_000)}`);
    const head = await store.head(ANN.org);
    const steps: BackupProgress[] = [];
    let wrote = Promise.resolve<unknown>(undefined);
    await store.backup(file, (step) => {
      steps.push(step);
      wrote = wrote.then(() => exchange(steps.length % 2 === 0 ? store : writer, thread, `while ${steps.length}`));
    });
    await wrote;
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.at(-1)?.done).toBe(steps.at(-1)?.total);
    expect((await store.turns(ANN, thread.id)).length).toBeGreaterThan(101);

    const copy = await openSqlite(file, { parts: PARTS });
    expect(await copy.head(ANN.org)).toEqual(head);
    expect(await problems(copy, ANN.org, head)).toEqual([]);
    expect(await copy.turns(ANN, thread.id)).toHaveLength(100);
    expect((await exchange(copy, thread, "and on")).claim.epoch).toBeDefined();
    for (const opened of [copy, writer, store]) await opened.close();
  }, 60_000);

  it("of a store in memory is whole too", async () => {
    const store = await openSqlite(":memory:", { parts: PARTS });
    await exchange(store, await open(store, ANN), "Hi");
    await store.backup(file);
    const copy = await openSqlite(file, { parts: PARTS });
    expect(await problems(copy, ANN.org, await store.head(ANN.org))).toEqual([]);
    await copy.close();
    await store.close();
  });

  it("is read by nobody else on the machine", async () => {
    const store = await openSqlite(":memory:", { parts: PARTS });
    await store.backup(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await store.close();
  });

  it("replaces no file, and leaves none where it cannot be made", async () => {
    const store = await openSqlite(join(folder, "record.db"), { parts: PARTS });
    writeFileSync(file, "mine");
    await expect(store.backup(file)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(store.backup(join(folder, "no", "copy.db"))).rejects.toMatchObject({ code: "file_not_found" });
    const failing = store.backup(join(folder, "failed.db"), () => {
      throw new ReferenceError("step is not defined");
    });
    // A bug is not a failure of the store.
    await expect(failing).rejects.toMatchObject({ code: "unexpected", cause: expect.any(ReferenceError) });
    expect(existsSync(join(folder, "failed.db"))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.includes("unfinished"))).toEqual([]);
    await store.close();
  });

  it("replaces no file that came while it was made, and leaves nothing of its own", async () => {
    const store = await openSqlite(join(folder, "record.db"), { parts: PARTS });
    const late = store.backup(file, () => writeFileSync(file, "mine"));
    await expect(late).rejects.toMatchObject({ code: "invalid_input", message: /exists already/ });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(readdirSync(folder).filter((name) => name.includes("unfinished"))).toEqual([]);
    await store.close();
  });
});
