import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { actorId, layerId } from "../../protocol/index.ts";
import { newFolder } from "../contract/folder.contract.ts";
import {
  ANN,
  asking,
  claiming,
  exchange,
  NOW,
  newMemory,
  open,
  PARTS,
  PREFIX,
  problems,
  ran,
  remembered,
  said,
  scopeOf,
  take,
} from "../contract/sample.contract.ts";
import { openSqlite } from "../index.ts";
import { storeContract } from "../store.contract.ts";
import { failure } from "./failure.ts";

let folder: string;
let file: string;
let files = 0;

beforeEach(() => {
  folder = newFolder();
  file = join(folder, "deep", "er", "record.sqlite");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("sqlite in a file", () => {
  const place = newFolder();
  const empty = join(place, "empty.sqlite");
  beforeAll(async () => (await openSqlite(empty, { parts: PARTS })).close());
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  // A copy of an empty file takes a quarter of the time of a new one; how new ones are made, the tests below show.
  storeContract(() => {
    const copy = join(folder, `${++files}.sqlite`);
    copyFileSync(empty, copy);
    return openSqlite(copy, { parts: PARTS });
  });
});

describe("a file", () => {
  it("is made with its folders, and holds everything when it is opened again", async () => {
    const first = await openSqlite(file, { parts: PARTS });
    const thread = await open(first);
    const { claim, sent, outcome } = await exchange(first, thread, "Remember me", { rounds: 2 });
    await first.saveMemory(thread.scope, newMemory(), remembered("Ann likes tea"));
    const head = await first.head(thread.scope.org);
    await first.close();

    const again = await openSqlite(file, { parts: PARTS });
    expect((await again.rebuild(thread.scope, claim.turn, 2)).request).toEqual(sent[1]);
    expect((await again.epoch(thread.scope, thread.id))?.transcript).toEqual(outcome.messages);
    expect(await again.searchMemories([thread.scope], asking("tea", 1))).toHaveLength(1);
    expect(await again.head(thread.scope.org)).toEqual(head);
    expect(await problems(again, thread.scope.org, head)).toEqual([]);
    await again.close();
  });

  it("is read by nobody else on the machine, nor is its folder", async () => {
    await (await openSqlite(file, { parts: PARTS })).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  });

  it("may be closed twice; what is asked afterwards is refused in a sentence", async () => {
    const store = await openSqlite(file, { parts: PARTS });
    await store.close();
    await store.close();
    await expect(store.organizations()).rejects.toMatchObject({ code: "store_failed" });
  });

  it("serves two stores at once: each sees at once what the other committed", async () => {
    const [one, two] = [await openSqlite(file, { parts: PARTS }), await openSqlite(file, { parts: PARTS })];
    const thread = await open(one);
    expect(await open(two)).toEqual(thread);
    await one.receive(thread.scope, thread.id, [said("Hi")]);
    const claim = await take(two, thread, { holder: "two" });
    expect(await one.claim(thread.scope, thread.id, claiming({ holder: "one" }))).toMatchObject({
      state: "busy",
      holder: "two",
    });
    await two.settle(claim, ran(claim).outcome);
    expect(await one.slots(thread.scope, thread.id)).toHaveLength(2);
    await Promise.all([one.close(), two.close()]);
  });

  it("that another program keeps locked gives store_busy, with the file's name and what to do", async () => {
    const store = await openSqlite(file, { patience: 20 });
    const thread = await open(store);
    const other = new BetterSqlite3(file);
    other.exec("begin immediate");
    const asked = store.receive(thread.scope, thread.id, [said("Hi")]);
    await expect(asked).rejects.toMatchObject({ code: "store_busy", message: expect.stringContaining(file) });
    await expect(asked).rejects.toThrow(/close that program or wait/);
    // Reading continues beside a writer.
    expect(await store.thread(thread.scope, thread.id)).toEqual(thread);
    other.exec("rollback");
    expect(await store.receive(thread.scope, thread.id, [said("Hi")])).toHaveLength(1);

    const fresh = join(folder, "fresh.sqlite");
    const holder = new BetterSqlite3(fresh);
    holder.exec("begin exclusive");
    await expect(openSqlite(fresh, { patience: 20 })).rejects.toMatchObject({ code: "store_busy" });
    holder.exec("rollback");
    for (const one of [other, holder]) one.close();
    await store.close();
    expect(readdirSync(join(folder, "deep", "er"))).toEqual(["record.sqlite"]);
  });

  it("on a full disk tells its trouble from the first failed commit until one has written something again", async () => {
    const { pragma } = BetterSqlite3.prototype;
    const connections: BetterSqlite3.Database[] = [];
    const opening = vi.spyOn(BetterSqlite3.prototype, "pragma").mockImplementation(function (
      this: BetterSqlite3.Database,
      ...given: Parameters<typeof pragma>
    ) {
      connections.push(this);
      return pragma.apply(this, given);
    });
    const store = await openSqlite(file);
    opening.mockRestore();
    const thread = await open(store);
    const grow = (pages: number): void => void pragma.call(connections[0], `max_page_count = ${pages}`);
    expect(await store.trouble()).toBeUndefined();
    // SQLite takes no number below the pages there are: none may follow.
    grow(1);
    const long = said("A long story. ".repeat(3_000));
    await expect(store.receive(thread.scope, thread.id, [long])).rejects.toMatchObject({ code: "store_failed" });
    expect(await store.trouble()).toContain("is full; nothing was written");
    expect(await store.thread(thread.scope, thread.id)).toEqual(thread);
    grow(1_000_000);
    expect(await store.receive(thread.scope, thread.id, [long])).toHaveLength(1);
    expect(await store.trouble()).toBeUndefined();
    await store.close();
  });

  it("that another program keeps locked holds up what needs the lock, and nothing else", async () => {
    const store = await openSqlite(file, { patience: 5_000 });
    const thread = await open(store);
    const other = new BetterSqlite3(file);
    other.exec("begin immediate");
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const written = store.receive(thread.scope, thread.id, [said("Hi")]);
    const wrote = written.then(() => "written");
    const soon = setTimeout(700, "locked");
    expect(await Promise.race([wrote, soon])).toBe("locked");
    expect(await store.thread(thread.scope, thread.id)).toEqual(thread);
    delay.disable();
    // The driver's own patience would stop the whole program for as long as the lock is held.
    expect(delay.max / 1e6).toBeLessThan(2_000);
    other.exec("rollback");
    expect(await wrote).toBe("written");
    other.close();
    await store.close();
  });

  it("that a newer Strata wrote is refused and left as it is", async () => {
    await (await openSqlite(file, { parts: PARTS })).close();
    const db = new BetterSqlite3(file);
    db.exec("insert into migration (number, name) values (999, 'from the future')");
    db.close();
    await expect(openSqlite(file, { parts: PARTS })).rejects.toMatchObject({
      code: "store_newer",
      message: /newer Strata .*update Strata/,
    });
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it("that is no database, a folder, or out of reach is refused in a sentence", async () => {
    mkdirSync(join(folder, "a-folder"));
    writeFileSync(join(folder, "a-text"), "this is not a database at all, but a text that is long enough\n".repeat(99));
    await expect(openSqlite(join(folder, "a-text"))).rejects.toMatchObject({
      code: "store_failed",
      message: /is not a database/,
    });
    await expect(openSqlite(join(folder, "a-folder"))).rejects.toMatchObject({
      code: "store_failed",
      message: /cannot be opened/,
    });
    await expect(openSqlite(join(folder, "a-text", "x.sqlite"))).rejects.toMatchObject({ code: "store_failed" });
    chmodSync(join(folder, "a-text"), 0o644);
  });

  it("on a full disk says so plainly", () => {
    const full = failure(
      new BetterSqlite3.SqliteError("database or disk is full", "SQLITE_FULL"),
      "/data/record.sqlite",
    );
    expect(full).toMatchObject({ code: "store_failed", cause: { code: "SQLITE_FULL" } });
    expect(full.message).toBe(
      "the disk that holds /data/record.sqlite is full; nothing was written: free some space, then try again",
    );
  });

  it("has no word of an erased contact left in it, in any of its parts", async () => {
    const store = await openSqlite(file, { parts: PARTS });
    const thread = await open(store);
    const word = "xylophonist";
    await exchange(store, thread, `I am a ${word}`, { reply: `A ${word}!` });
    await store.saveMemory(thread.scope, newMemory(), remembered(`Ann is a ${word}`, { tags: [word] }));
    await store.saveMemory(scopeOf("bob"), newMemory(), remembered("Bob is a drummer"));
    await store.eraseContact(
      thread.scope,
      { org: thread.scope.org, id: actorId("token:operator"), role: "operator" },
      NOW,
    );
    for (const name of readdirSync(join(folder, "deep", "er"))) {
      expect(readFileSync(join(folder, "deep", "er", name)).includes(word), name).toBe(false);
    }
    expect(await store.searchMemories([scopeOf("bob")], asking("drummer", 1))).toHaveLength(1);
    await store.close();
  });
});

describe("what repeats is stored once", () => {
  it("three hundred turns of one agent store its prefix once, and each turn adds the same little", async () => {
    const store = await openSqlite(file, { parts: PARTS });
    const db = new BetterSqlite3(file);
    db.pragma("synchronous = OFF");
    const sizes: number[] = [];
    for (let contact = 1; contact <= 11; contact++) {
      const thread = await open(store, scopeOf(`contact-${contact}`));
      for (let turn = 0; turn < (contact === 11 ? 100 : 20); turn++) {
        if (contact === 11 && turn % 50 === 0) sizes.push(bytes(db));
        await exchange(store, thread, `message ${turn}`);
      }
    }
    sizes.push(bytes(db));
    const prefix = [JSON.stringify(PREFIX.tools), ...PREFIX.system.map((block) => block.text)];
    for (const text of prefix) {
      expect(db.prepare("select count(*) as n from shared_piece where text = ?").get(text)).toEqual({ n: 1 });
    }
    expect(db.prepare("select count(*) as n from request").get()).toEqual({ n: 300 });
    expect(db.prepare("select count(*) as n from shared_piece").get()).toEqual({ n: 12 });
    const [early = 0, late = 0] = sizes.slice(1).map((size, i) => (size - (sizes[i] ?? 0)) / 50);
    expect(late).toBeLessThan(early * 1.2 + 500);
    expect(late).toBeLessThan(4_500);
    // A message of a turn that ended well is in its transcript and nowhere else.
    expect(db.prepare("select count(*) as n from turn_message").get()).toEqual({ n: 0 });
    db.close();
    await store.close();
  }, 120_000);
});

describe("ledgers that differ in their numbers", () => {
  it("have one form together, and are read as they were", async () => {
    const store = await openSqlite(file, { parts: PARTS });
    const db = new BetterSqlite3(file);
    const thread = await open(store);
    const sizes: number[] = [];
    const because = 'nothing fits (07 of 1.050 in "1")';
    for (let n = 0; n < 12; n++) {
      await store.receive(thread.scope, thread.id, [said(`message ${n}`)]);
      const claim = await take(store, thread);
      const { outcome } = ran(claim);
      const dropped = { section: layerId("recall"), place: "tail", fate: "empty", because, trust: "operator" } as const;
      const requests = outcome.requests.map((request) => {
        const { entries, ...ledger } = request.ledger;
        const more = [...entries, { ...dropped, tokens: 0, wanted: 1_000 + n }, ...entries.slice(0, n % 2)];
        return { ...request, ledger: { ...ledger, entries: more, tokens: 4_000 + n } };
      });
      await store.settle(claim, { ...outcome, requests });
      expect((await store.turn(thread.scope, claim.turn))?.requests.map(({ ledger }) => ledger)).toEqual(
        requests.map(({ ledger }) => ledger),
      );
      sizes.push(Number(db.prepare("select sum(length(text)) from shared_piece").pluck().get()));
    }
    expect((sizes.at(-1) ?? 0) - (sizes[3] ?? 0)).toBeLessThan(8 * 200);
    expect(await problems(store, ANN.org)).toEqual([]);
    db.close();
    await store.close();
  });
});

/** All bytes in all rows: text and numbers as text. */
function bytes(db: BetterSqlite3.Database): number {
  const tables = db
    .prepare<[], { name: string }>("select name from sqlite_schema where type = 'table' and name not like 'memory_%'")
    .all();
  let sum = 0;
  for (const { name } of tables) {
    const columns = db.prepare<[], { name: string }>(`select name from pragma_table_info('${name}')`).all();
    const lengths = columns.map((column) => `coalesce(length(cast("${column.name}" as blob)), 0)`).join(" + ");
    sum += db.prepare<[], { n: number }>(`select coalesce(sum(${lengths}), 0) as n from "${name}"`).get()?.n ?? 0;
  }
  return sum;
}
