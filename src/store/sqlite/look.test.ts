import { rmSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OUTBOX_STORE } from "../../features/deliveries/store.ts";
import { batchContact, digestOf, toolName } from "../../protocol/index.ts";
import { unanswered } from "../agent/mail.ts";
import { newFolder } from "../contract/folder.contract.ts";
import {
  exchange,
  NOW,
  newThread,
  OWNER,
  open,
  PARTS,
  said,
  scopeOf,
  take,
  VERSION,
} from "../contract/sample.contract.ts";
import { memoriesIn } from "../memory/memory-rows.ts";
import { runnable, type Statement } from "../statement.ts";
import { openBatch } from "../threads/batches.ts";
import { withdraw } from "../turns/claims.ts";
import { beginCall } from "../turns/journal.ts";
import type { Binding, Tx } from "../tx.ts";
import { type Connection, connect, sqliteText } from "./connection.ts";
import { openSqlite } from "./open.ts";
import { sqliteTransactions } from "./transactions.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = newFolder();
  file = join(folder, "record.sqlite");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Senders who all had an answer, and of whom each has written again. */
async function written(...senders: readonly string[]): Promise<void> {
  const store = await openSqlite(file, { parts: PARTS });
  for (const sender of senders) {
    const thread = await open(store, scopeOf(sender));
    await exchange(store, thread, "Hi", { reply: "Hello" });
    await store.receive(thread.scope, thread.id, [said("Are you there?")]);
  }
  await store.close();
}

/** The queries of a look, in order. */
async function asked(look: (tx: Tx) => Promise<unknown>): Promise<readonly string[]> {
  const db = connect(file, { random: (bytes) => new Uint8Array(bytes), patience: 0 });
  const texts: string[] = [];
  const noted = <R>(statement: Statement<R>): Statement<R> => {
    texts.push(sqliteText(runnable(statement, "sqlite").sql));
    return statement;
  };
  const watched: Connection = {
    ...db,
    all: (statement) => db.all(noted(statement)),
    first: (statement) => db.first(noted(statement)),
    column: (statement) => {
      texts.push(sqliteText(runnable(statement, "sqlite").sql));
      return db.column(statement);
    },
    run: (statement) => db.run(noted(statement)),
  };
  await sqliteTransactions(watched, watched).write(look);
  db.close();
  return texts;
}

/** The steps in which the database answers. */
function planned(texts: readonly string[]): readonly string[] {
  const db = new BetterSqlite3(file, { readonly: true });
  const steps = texts.flatMap((text) => {
    const values = Array<string>(text.split("?").length - 1).fill("");
    return db.prepare<unknown[], { readonly detail: string }>(`explain query plan ${text}`).all(...values);
  });
  db.close();
  return steps.map(({ detail }) => detail);
}

/** How it finds the rows of a table. */
const found = (table: string, texts: readonly string[]): readonly string[] =>
  planned(texts).filter((step) => new RegExp(`^(SCAN|SEARCH) "?${table}\\b`).test(step));

/** Looks for the next turn of an inbox. */
const nextTurn = (most: number) => (tx: Tx) => {
  const id = newThread();
  const how = { channel: "inbox", version: VERSION, most, nameOf: String, except: [], at: NOW, now: NOW };
  return openBatch(tx, OWNER, { ...how, id, contact: batchContact(id), alive: () => true });
};

describe("a look for what waits", () => {
  it("reads messages that wait, and none of the agent's history", async () => {
    await written("ann");
    expect(found("event", await asked(nextTurn(1)))).toEqual([
      "SEARCH event USING INDEX event_waiting (org=? AND agent=?)",
    ]);
  });

  it("reads turns of several senders that have not ended, and none that have", async () => {
    await written("ann", "bob");
    await asked(nextTurn(5));
    const texts = await asked(nextTurn(5));
    const open = texts.filter((text) => text.includes("~inbox:"));
    expect(found("thread", open)).toEqual(["SEARCH thread USING INDEX thread_unended (org=? AND agent=?)"]);
  });

  it("asks about as many senders as the turn takes, however many wait", async () => {
    await written("ann", "bob", "cid", "dee", "eve", "fay", "gil");
    const triedOf = async (most: number) =>
      (await asked(nextTurn(most))).filter((text) => text.includes('from "turn"')).length;
    expect([await triedOf(1), await triedOf(3)]).toEqual([1, 3]);
  });
});

it("reads the memories that a search found by their rows, and not the whole scope", async () => {
  await written("ann");
  const texts = await asked((tx) => memoriesIn(tx, { number: 1 }, [1, 2]));
  expect(found("memory", texts)).toEqual(["SEARCH memory USING INTEGER PRIMARY KEY (rowid=?)"]);
});

it("takes back messages that wait by an index of these alone", async () => {
  await written("ann");
  const store = await openSqlite(file, { parts: PARTS });
  const [thread] = await store.threads(scopeOf("ann"), 1);
  await store.close();
  if (thread === undefined) throw new Error("there is no thread");
  const texts = await asked((tx) => withdraw(tx, thread.scope, thread.id, { now: NOW, at: NOW, alive: () => false }));
  const search = "SEARCH event USING INDEX event_untaken_by_thread (org=? AND agent=? AND contact=? AND thread=?";
  expect(found("event", texts)).toEqual([`${search} AND seq<?)`, `${search})`]);
});

describe("a look for senders who were left without a reply", () => {
  it("reads turns that said nothing, and none of the others", async () => {
    await written("ann", "bob");
    const texts = await asked((tx) => unanswered(tx, OWNER, { since: 0, except: ["replay"], limit: 9 }));
    expect(found("turn", texts)).toEqual(["SEARCH turn USING INDEX turn_wordless (org=? AND agent=? AND ended_at>?)"]);
  });
});

describe("a look for what a turn of several senders has done already", () => {
  it("reads the members of its batch, and of no other", async () => {
    await written("ann", "bob");
    const store = await openSqlite(file, { parts: PARTS });
    const id = newThread();
    const how = { channel: "inbox", version: VERSION, most: 5, nameOf: String, except: [], at: NOW, now: NOW };
    const batch = await store.openBatch(OWNER, { ...how, id, contact: batchContact(id), alive: () => true });
    const claim = batch && (await take(store, batch));
    await store.close();
    if (claim === undefined) throw new Error("nothing waits");
    const senders =
      claim.batchMembers?.map(({ thread, turn }) => ({ scope: thread.scope, thread: thread.id, turn })) ?? [];
    const call = { thread: id, turn: claim.turn, ordinal: 1, tool: toolName("ring"), input: {}, senders };
    const texts = await asked(async (tx) =>
      expect(await beginCall(tx, claim.thread.scope, call, NOW)).toEqual({ state: "new" }),
    );
    const staged = [...found("now", texts), ...found("staged", texts)];
    expect(staged).toEqual([
      "SEARCH now USING INDEX staged_batch (org=? AND batch=?)",
      "SEARCH staged USING INDEX staged_sender (org=? AND agent=? AND contact=?)",
    ]);
  });
});

describe("a look for replies that are due", () => {
  const lease = { holder: "postman", now: NOW, until: NOW + 30_000, limit: 1 };

  it("reads replies that wait in their order, and none of the agent's history", async () => {
    await written("ann", "bob");
    const texts = await asked(async (tx) => {
      const bind: Binding["reading"] =
        (work) =>
        (...given) =>
          work(tx, ...given);
      const { dueDeliveries } = OUTBOX_STORE.functions({ reading: bind, writing: bind });
      expect(await dueDeliveries(OWNER, lease)).toMatchObject([{ text: "Hello" }]);
    });
    const ways = [
      "USING INDEX outbox_waiting (org=? AND agent=?)",
      "USING INDEX sqlite_autoindex_outbox_1 (org=? AND id=?)",
    ];
    expect(found("outbox", texts).filter((step) => !ways.some((way) => step.endsWith(way)))).toEqual([]);
    expect(planned(texts)).not.toContain("USE TEMP B-TREE FOR ORDER BY");
  });

  it("waits for nobody who writes where it finds nothing", async () => {
    await written("ann");
    const writer = new BetterSqlite3(file);
    writer.exec("update outbox set due = 1e15; begin immediate");
    const store = await openSqlite(file, { patience: 0, parts: PARTS });
    expect(await store.part(OUTBOX_STORE).dueDeliveries(OWNER, lease)).toEqual([]);
    await store.close();
    writer.close();
  });
});

it("reads a ledger that an earlier version kept whole, and keeps the lines of the prefix once for all requests", async () => {
  const store = await openSqlite(file, { parts: PARTS });
  const thread = await open(store, scopeOf("ann"));
  const { turn } = (await exchange(store, thread, "Hi", { reply: "Hello" })).claim;
  const before = await store.turn(thread.scope, turn);
  await store.close();
  const whole = JSON.stringify(before?.requests[0]?.ledger);
  const db = new BetterSqlite3(file);
  const digest = digestOf(whole);
  db.prepare("insert into shared_piece (org, digest, text) values (?, ?, ?)").run(thread.scope.org, digest, whole);
  db.prepare("update request set ledger = ? where turn = ?").run(digest, turn);
  db.close();
  const again = await openSqlite(file, { parts: PARTS });
  expect((await again.turn(thread.scope, turn))?.requests[0]?.ledger).toEqual(before?.requests[0]?.ledger);
  await again.close();
});
