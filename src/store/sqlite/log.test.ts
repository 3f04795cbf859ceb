import { existsSync, fdatasync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import BetterSqlite3 from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newFolder } from "../contract/folder.contract.ts";
import {
  ANN,
  claiming,
  exchange,
  NOW,
  open,
  PARTS,
  ran,
  SPEC,
  said,
  take,
  VERSION,
} from "../contract/sample.contract.ts";
import { openSqlite, type Store } from "../index.ts";
import { checkpointsOf } from "./checkpoint.ts";

let folder: string;
let file: string;
const opened: Store[] = [];

beforeEach(() => {
  folder = newFolder();
  file = join(folder, "record.sqlite");
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A disk that can be stopped, and that counts how often it is waited for. */
function slowDisk() {
  let [syncs, gate] = [0, Promise.resolve()];
  return {
    count: () => syncs,
    stop: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    sync: async (log: number) => {
      syncs++;
      await gate;
      await promisify(fdatasync)(log);
    },
  };
}

async function opens(sync: (log: number) => Promise<void>): Promise<Store> {
  const store = await openSqlite(file, { parts: PARTS, sync });
  opened.push(store);
  return store;
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await setImmediate();
};

describe("a commit to a file", () => {
  it("is told only once it is on the disk, and holds up neither others nor their reads", async () => {
    const disk = slowDisk();
    const store = await opens(disk.sync);
    const thread = await open(store);
    const go = disk.stop();
    const told: string[] = [];
    const first = store.receive(ANN, thread.id, [said("one")]).then(() => told.push("one"));
    await turns(5);
    const second = store.receive(ANN, thread.id, [said("two")]).then(() => told.push("two"));
    await turns(5);
    expect(told).toEqual([]);
    // Both are committed: code inside a turn may see them, but a reply that leaves the program waits.
    expect(await store.pending(ANN, thread.id)).toHaveLength(2);
    const reading = store.onDisk().then(() => told.push("read"));
    await turns(5);
    expect(told).toEqual([]);
    go();
    await Promise.all([first, second, reading]);
    expect(told[0]).toBe("one");
  });

  it("shares its wait with all others that wait, and where nothing was written nobody waits", async () => {
    const disk = slowDisk();
    const store = await opens(disk.sync);
    const threads = await Promise.all(Array.from({ length: 40 }, (_, n) => open(store, ANN, `thread ${n}`)));
    const before = disk.count();
    const go = disk.stop();
    const all = threads.map((thread) => store.receive(ANN, thread.id, [said("Hi")]));
    await turns(200);
    go();
    await Promise.all(all);
    // The first has its own.
    expect(disk.count() - before).toBeLessThanOrEqual(3);
    const quiet = disk.count();
    const empty = await open(store, ANN, "empty");
    const opening = disk.count();
    expect(await store.claim(ANN, empty.id, claiming())).toEqual({ state: "idle" });
    expect([opening - quiet, disk.count() - opening]).toEqual([1, 0]);
  });

  it("is not waited for by a claim: the turn's own commit puts it on the disk, too", async () => {
    const disk = slowDisk();
    const store = await opens(disk.sync);
    const thread = await open(store);
    await store.receive(ANN, thread.id, [said("Hi")]);
    const before = disk.count();
    const go = disk.stop();
    const claim = await take(store, thread);
    expect(disk.count()).toBe(before);
    const told: string[] = [];
    const settled = store.settle(claim, ran(claim).outcome).then(() => told.push("settled"));
    await turns(50);
    expect(told).toEqual([]);
    go();
    await settled;
    expect(disk.count() - before).toBe(1);
  });

  it("is waited for by whoever tells of a message that was stored with its claim, and not by the turn", async () => {
    const disk = slowDisk();
    const store = await opens(disk.sync);
    const thread = await open(store);
    await store.saveAgentVersion(ANN.org, ANN.agent, VERSION, SPEC, NOW);
    const go = disk.stop();
    const { claimed, onDisk } = await store.receiveAndClaim(ANN, thread.id, [said("Hi")], claiming());
    expect(claimed.state).toBe("claimed");
    const told: string[] = [];
    const kept = onDisk.then(() => told.push("on the disk"));
    await turns(50);
    expect(told).toEqual([]);
    go();
    await kept;
  });

  it("is waited for by another program that goes on from it", async () => {
    const disk = slowDisk();
    const [store, other] = [await opens(disk.sync), slowDisk()];
    const thread = await open(store);
    const second = await opens(other.sync);
    const message = said("Hi", { externalId: "sent twice" });
    const go = disk.stop();
    const first = store.receive(ANN, thread.id, [message]);
    await turns(5);
    const before = other.count();
    // It is there already, so nothing is written; but it is not on the disk.
    expect(await second.receive(ANN, thread.id, [message])).toMatchObject([{ id: message.id }]);
    expect(other.count() - before).toBe(1);
    go();
    await first;
  });

  it("leaves it to SQLite to wait before its log begins anew", async () => {
    const pragma = vi.spyOn(BetterSqlite3.prototype, "pragma");
    await opens(slowDisk().sync);
    const said = pragma.mock.calls.map(([source]) => source).filter((source) => /synchronous|checkpoint/.test(source));
    expect(said.filter((source) => source.includes("synchronous"))).toEqual([
      "synchronous = FULL",
      "synchronous = NORMAL",
    ]);
  });
});

/** More than a log may hold. */
const LONG_TEXT = "word ".repeat(1_000_000);

/** The pages of the log of a file, and how many of them are in the file. */
function logOf(): unknown {
  const db = new BetterSqlite3(file);
  try {
    return db.pragma("wal_checkpoint(NOOP)");
  } finally {
    db.close();
  }
}

describe("a log that has grown long", () => {
  it("is moved into the file while the program goes on and reads: no page of it is moved by this thread", async () => {
    const pragma = vi.spyOn(BetterSqlite3.prototype, "pragma");
    const own = checkpointsOf(file, () => expect.fail("no thread has begun"));
    let [state, read, moves] = ["before", 0, 0];
    const move = async (): Promise<void> => {
      [state, moves] = ["moving", moves + 1];
      await own.move();
      state = "moved";
    };
    const store = await openSqlite(file, { parts: PARTS, checkpoints: { ...own, move } });
    opened.push(store);
    const thread = await open(store);
    const written = store.receive(ANN, thread.id, [said(LONG_TEXT)]);
    while (state !== "moved") {
      await store.thread(ANN, thread.id);
      if (state === "moving") read++;
      await setImmediate();
    }
    await written;
    // A program that moves it by itself reads nothing between beginning and end.
    expect(read).toBeGreaterThan(1);
    expect(moves).toBe(1);
    expect(pragma.mock.calls.filter(([source]) => /checkpoint\((?!NOOP)/.test(source))).toEqual([]);
    await store.receive(ANN, thread.id, [said("and on")]);
    // All of it was in the file, so the log restarted.
    expect(logOf()).toMatchObject([{ log: expect.toSatisfy((pages: number) => pages < 100) }]);
  });

  it("is moved by the program itself where no thread can do it", async () => {
    const here = vi.fn();
    const checkpoints = checkpointsOf(join(folder, "missing.sqlite"), here);
    await checkpoints.move();
    expect(here).toHaveBeenCalledTimes(1);
    await checkpoints.end();
  });
});

describe("a disk that does not keep what was written", () => {
  const broken = Object.assign(new Error("EIO: i/o error, fdatasync"), { syscall: "fdatasync", code: "EIO" });

  it("stops every later write with a sentence, even if it answers again; reading goes on", async () => {
    let isBroken = false;
    const store = await opens(async () => {
      if (isBroken) throw broken;
    });
    const thread = await open(store);
    isBroken = true;
    const lost = [said("one"), said("two")].map((one) => store.receive(ANN, thread.id, [one]));
    for (const one of await Promise.allSettled(lost))
      expect(one).toMatchObject({ status: "rejected", reason: { code: "store_failed", message: /EIO/ } });
    isBroken = false;
    const later = store.receive(ANN, thread.id, [said("three")]);
    await expect(later).rejects.toThrow(/failed to keep what was written.*stop every Strata that uses this file/);
    expect(await store.trouble()).toContain("strata verify");
    expect(await store.thread(ANN, thread.id)).toEqual(thread);
    await store.onDisk();
    expect((await store.pending(ANN, thread.id)).map(({ content }) => content)).toHaveLength(1);
  });

  it("keeps the file as it was: nothing of the log is moved into it any more, also when it is closed", async () => {
    let isBroken = false;
    const store = await openSqlite(file, {
      parts: PARTS,
      sync: async () => {
        if (isBroken) throw broken;
      },
    });
    await exchange(store, await open(store), "Hi");
    isBroken = true;
    const before = readFileSync(file);
    await expect(open(store, ANN, "other")).rejects.toMatchObject({ code: "store_failed" });
    await store.close();
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is noticed, too, where a long log is moved into the file", async () => {
    const move = async (): Promise<void> => {
      throw new BetterSqlite3.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
    };
    const store = await openSqlite(file, { parts: PARTS, checkpoints: { move, end: async () => undefined } });
    opened.push(store);
    const thread = await open(store);
    await expect(store.receive(ANN, thread.id, [said(LONG_TEXT)])).rejects.toMatchObject({ code: "store_failed" });
    await expect(store.receive(ANN, thread.id, [said("two")])).rejects.toThrow(/nothing more is written/);
    expect(await store.trouble()).toBeDefined();
  });
});
