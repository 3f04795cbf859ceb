import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { OUTBOX_STORE } from "../../features/deliveries/store.ts";
import { LIFE_STORE } from "../../features/life/index.ts";
import { LOG_STORE, LOGGED } from "../../features/logs/index.ts";
import {
  actorId,
  batchContact,
  type Digest,
  type ThreadId,
  threadId,
  toolName,
  turnId,
  untrusted,
} from "../../protocol/index.ts";
import { newFolder } from "../contract/folder.contract.ts";
import {
  ANN,
  asking,
  exchange,
  leaving,
  NOW,
  newMemory,
  newOutbox,
  newThread,
  OWNER,
  open,
  problems,
  ran,
  remembered,
  replies,
  said,
  scopeOf,
  take,
  VERSION,
} from "../contract/sample.contract.ts";
import { type JournalKey, openSqlite } from "../index.ts";
import { withParts } from "../migrations.ts";
import { plain } from "../statement.ts";
import { connect } from "./connection.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import { calls, senders, turnCounts } from "./migrations/since-first.ts";

const parts = await allParts();

const OPERATOR = { org: ANN.org, id: actorId("token:operator"), role: "operator" } as const;
const THREAD = threadId("thr_01m7yq1we100000000000g0001");
/** The end of the stored record, when it was written. */
const ANCHOR = {
  org: ANN.org,
  seq: 6,
  hash: "ebe0f180496597cdbb840c612dad17d1b0f60fa60a506ab82be382ed9f84debd" as Digest,
};

let folder: string;
let file: string;

beforeEach(() => {
  folder = newFolder();
  file = join(folder, "record.sqlite");
  const db = new BetterSqlite3(file);
  db.pragma("synchronous = off");
  db.exec(readFileSync(new URL("./migrations/0001-first.sql", import.meta.url), "utf8"));
  db.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function schemaOf(path: string): unknown {
  const db = new BetterSqlite3(path);
  const all = db.prepare("select type, name, sql from sqlite_schema where sql is not null order by type, name").all();
  db.close();
  return all;
}

describe("a database of the first schema", () => {
  it("is read by today's store: nothing is lost and the record checks out, to its old end", async () => {
    const store = await openSqlite(file, { parts });
    expect(await problems(store, ANN.org, ANCHOR)).toEqual([]);
    expect((await store.turns(ANN, THREAD)).map(({ status }) => status)).toEqual(["done", "failed", "done", "done"]);
    expect((await store.slots(ANN, THREAD)).map(({ text }) => text)).toEqual([
      "My name is Ann",
      "Hello Ann",
      "Are you there?",
      "I like jasmine tea",
      "Hello Ann",
      "Ring the bell",
      "Hello Ann",
    ]);
    const { request } = await store.rebuild(ANN, turnId("trn_01m7yq1we300000000000g0003"), 2);
    expect(request.messages).toHaveLength(2);
    expect(request.prefix.tools[0]?.input).toMatchObject({ a: 1e-7 });
    const saved = await store.searchMemories([ANN], asking("jasmine", 9, { kinds: ["fact"] }));
    expect(saved).toMatchObject([{ content: "Ann likes jasmine tea", kind: "fact", support: 1 }]);
    const said = await store.searchMemories([ANN], asking("jasmine", 1, { kinds: ["message"] }));
    expect(said).toMatchObject([{ content: "I like jasmine tea", speaker: "ann", trust: "contact" }]);
    expect(await store.pending(ANN, THREAD)).toMatchObject([{ content: [{ text: "This waits" }] }]);
    await store.close();
  });

  it("continues with what waits: replies are due, events are of nobody who was proven", async () => {
    const store = await openSqlite(file, { parts });
    const due = await store.part(OUTBOX_STORE).dueDeliveries(ANN, { holder: "postman", now: 0, until: 1, limit: 99 });
    const waiting = (await replies(store, ANN)).filter(({ status }) => status === "waiting");
    expect(due.map(({ id, tries }) => [id, tries])).toEqual(waiting.map(({ id }) => [id, 0]));
    expect(due.length).toBeGreaterThan(0);
    const [message] = await store.inbox(ANN, { now: 0, limit: 99 });
    expect(message).toMatchObject({ contact: "ann", event: { content: [{ text: "This waits" }] } });
    expect(message?.event).not.toHaveProperty("proof");
    expect(await store.activeTexts(ANN)).toEqual([]);
    expect(await store.part(LIFE_STORE).credits(ANN, 0)).toBeUndefined();
    await store.close();
  });

  it("tells who saved what before that was kept: no agent forgets what an operator saved", async () => {
    const store = await openSqlite(file, { parts });
    const [mine, theirs] = [{ ...ANN, contact: null }, ANN];
    expect(await store.memories(mine, 9)).toMatchObject([{ content: "Tea is served at five", by: "operator" }]);
    expect((await store.memories(theirs, 9)).map(({ by }) => by)).toEqual([undefined]);
    expect(await problems(store, ANN.org, ANCHOR)).toEqual([]);
    await store.close();
  });

  it("tells nothing of who saved what was changed from outside: that still shows", async () => {
    const db = new BetterSqlite3(file);
    db.exec("update memory set trust = 'operator' where contact = 'ann'");
    db.close();
    const store = await openSqlite(file, { parts });
    expect((await store.memories(ANN, 9)).map(({ by }) => by)).toEqual([undefined]);
    expect(await problems(store, ANN.org, ANCHOR)).toEqual([expect.stringContaining("not what its digest says")]);
    await store.close();
  });

  it("has its index made again where the words of before made it", async () => {
    await (await openSqlite(file, { parts })).close();
    const db = new BetterSqlite3(file);
    db.exec("update memory_index set version = 1");
    db.exec("update unit set terms = 'tea'");
    db.close();
    const store = await openSqlite(file, { parts });
    expect(await problems(store, ANN.org, ANCHOR)).toEqual([]);
    await store.close();
  });

  it("continues where it was", async () => {
    const store = await openSqlite(file, { parts });
    const thread = await open(store, ANN);
    expect(thread.id).toBe(THREAD);
    const { claim, sent } = await exchange(store, thread, "And on");
    expect(claim.events).toHaveLength(2);
    expect((await store.rebuild(ANN, claim.turn, 1)).request).toEqual(sent[0]);
    expect(await problems(store, ANN.org, ANCHOR)).toEqual([]);
    await store.close();
  });
});

describe("a file whose index an earlier version made", () => {
  it("ranks as one whose index was made today: by the day, by what holds for good, by the words", async () => {
    const [today, before] = [join(folder, "today.sqlite"), join(folder, "before.sqlite")];
    const added = TALK.map((content, i) => ({
      id: newMemory(),
      memory: remembered(content, {
        kind: "message",
        session: `${i % 2}`,
        speaker: i % 3 === 0 ? "Ann" : "Tea",
        at: NOW - (9 - i) * DAY,
      }),
      kept: { support: 1 },
    }));
    for (const file of [today, before]) {
      const store = await openSqlite(file);
      await store.saveMemories(ANN, added);
      await store.close();
    }
    const db = new BetterSqlite3(before);
    db.exec(
      "update memory_index set version = 5; update unit set terms = 'tea', flags = 0; update memory_scope set units = 1, terms = 1",
    );
    db.close();
    const [one, other] = [await openSqlite(today), await openSqlite(before)];
    for (const text of ["Which tea did we drink four days ago?", "How should I brew green tea?", "the roof"]) {
      const query = { ...asking(text, 9), asker: "Ann", at: NOW };
      const found = await one.searchMemories([ANN], query);
      expect(found.length).toBeGreaterThan(0);
      expect(await other.searchMemories([ANN], query)).toEqual(found);
    }
    await Promise.all([one.close(), other.close()]);
  });
});

const DAY = 86_400_000;
const TALK = [
  "Always give me temperatures in Celsius.",
  "Noted.",
  "We drank green tea under the roof.",
  "It was lovely, was it not?",
  "I prefer loose leaves to bags.",
  `A long story of the roof. ${"It leaks when it rains and we mend it in spring. ".repeat(20)}`,
  "Nothing new.",
];

describe("a database of the schema before proof told events apart", () => {
  const path = (): string => join(folder, "logs.sqlite");

  /** A turn over a message and an operator's note beside it, logged as it was then: both as the sender's. */
  async function logged(): Promise<void> {
    const store = await openSqlite(path(), { parts });
    const thread = await open(store, ANN);
    const beside = said("Tell her no.", { trust: "operator" });
    const signed = said("May I?", { externalId: "m1", proof: "proven" });
    await store.receive(ANN, thread.id, [signed, beside]);
    const claim = await take(store, thread);
    await store.settle(claim, ran(claim, { more: leaving(LOGGED, true) }).outcome);
    await store.close();
    const db = new BetterSqlite3(path());
    const { changes } = db
      .prepare(`insert into exchange select number + 1, org, agent, contact, ?, turn, at from exchange`)
      .run(beside.id);
    expect(changes).toBe(1);
    db.exec(`drop index event_external`);
    db.exec(`create unique index event_external on event (org, agent, contact, channel, external_id)
      where status != 'withdrawn'`);
    db.close();
  }

  it("keeps all that was said, and shows as a sender's words what the sender wrote", async () => {
    await logged();
    const db = connect(path(), { random: randomBytes, patience: 100 });
    for (const text of senders.statements) db.run(plain(text));
    db.close();
    const store = await openSqlite(path(), { parts });
    expect((await store.part(LOG_STORE).log(ANN))?.entries).toMatchObject([{ body: "May I?", proof: "proven" }]);
    expect(await store.part(LOG_STORE).logs(ANN, 9)).toMatchObject([{ contact: "ann", entries: 1 }]);
    const [thread] = await store.threads(ANN, 1);
    if (thread === undefined) throw new Error("the thread is gone");
    expect((await store.slots(ANN, thread.id)).map(({ text }) => text)).toEqual([
      "May I?",
      "Tell her no.",
      "Hello Ann",
    ]);
    const again = said("May I too?", { externalId: "m1", proof: "claimed" });
    expect(await store.receive(ANN, thread.id, [again])).toMatchObject([{ id: again.id, proof: "claimed" }]);
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  });
});

describe("a database in which an earlier Strata erased somebody", () => {
  it("loses their name, too, where they are erased once more", async () => {
    const path = join(folder, "named.sqlite");
    const store = await openSqlite(path, { parts });
    await exchange(store, await open(store, scopeOf("quillworth")), "Hi");
    const gone = await store.eraseContact(scopeOf("quillworth"), OPERATOR, NOW);
    await store.finishErasure(scopeOf("quillworth"));
    await store.close();
    const db = new BetterSqlite3(path);
    db.pragma("foreign_keys = OFF");
    const tables = db.prepare<[], { name: string }>(
      `select name from sqlite_schema where type = 'table' and sql like '%contact text%'`,
    );
    for (const { name } of tables.all())
      db.prepare(`update ${name} set contact = 'quillworth' where contact = ?`).run(gone?.contact);
    db.close();
    expect(readFileSync(path).includes("quillworth")).toBe(true);
    const again = await openSqlite(path, { parts });
    expect(await again.eraseContact(scopeOf("quillworth"), OPERATOR, NOW)).toBeDefined();
    await again.finishErasure(scopeOf("quillworth"));
    expect(readFileSync(path).includes("quillworth")).toBe(false);
    expect(await problems(again, ANN.org)).toEqual([]);
    await again.close();
  });
});

describe("a database whose erased messages kept their ids", () => {
  it("takes in what comes under such an id, once", async () => {
    const path = join(folder, "erased.sqlite");
    const store = await openSqlite(path, { parts });
    const thread = await open(store, ANN);
    const [first] = await store.receive(ANN, thread.id, [said("Hi", { externalId: "m1" })]);
    await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
    await store.close();
    const db = new BetterSqlite3(path);
    expect(db.prepare(`update event set external_id = 'm1' where id = ?`).run(first?.id).changes).toBe(1);
    db.close();
    const again = await openSqlite(path, { parts });
    const anew = await open(again, ANN);
    const receive = () => again.receive(ANN, anew.id, [said("Are you there?", { externalId: "m1" })]);
    const stored = await receive();
    expect(stored).toMatchObject([{ status: "pending", externalId: "m1" }]);
    expect(await receive()).toEqual(stored);
    expect(await problems(again, ANN.org)).toEqual([]);
    await again.close();
  });
});

describe("a database that counted each sender's part of a common turn", () => {
  it("counts the turn once", async () => {
    const path = join(folder, "counts.sqlite");
    const store = await openSqlite(path, { parts });
    for (const name of ["ann", "bob"]) {
      const thread = await open(store, scopeOf(name));
      await store.receive(thread.scope, thread.id, [said("Hi")]);
    }
    const opening = { ...batchOf(newThread()), version: VERSION, at: NOW, now: NOW };
    const thread = await store.openBatch(OWNER, opening);
    const claim = thread && (await take(store, thread));
    if (claim === undefined) throw new Error("nothing waits");
    const replies = (claim.batchMembers ?? []).map((one) => {
      return { thread: one.thread.id, reply: null, replyId: newOutbox(), unremembered: [] };
    });
    await store.settle(claim, ran(claim, { more: { replies } }).outcome);
    await store.close();
    const db = connect(path, { random: randomBytes, patience: 100 });
    db.run(plain("update tally set turns = turns + 2"));
    for (const text of turnCounts.statements) db.run(plain(text));
    db.close();
    const again = await openSqlite(path, { parts });
    expect(await again.part(LIFE_STORE).turnCount(OWNER)).toBe(1);
    expect(await problems(again, ANN.org)).toEqual([]);
    await again.close();
  });
});

describe("a database that knew calls by their place in a turn", () => {
  it("knows each by what it asks for, so that a turn taken up again does not act again", async () => {
    const path = join(folder, "calls.sqlite");
    const store = await openSqlite(path, { parts });
    const thread = await open(store, ANN);
    await store.receive(ANN, thread.id, [said("Ring")]);
    const { turn } = await take(store, thread);
    const call = (bell: string, ordinal: number): JournalKey => {
      return { thread: thread.id, turn, ordinal, tool: toolName("ring"), input: { bell } };
    };
    const rang = (text: string) => ({ text: untrusted(text), failed: false });
    const made: [string, number][] = [
      ["back", 1],
      ["door", 2],
      ["door", 3],
      ["door", 5],
    ];
    for (const [bell, place] of made) {
      await store.beginCall(ANN, call(bell, place), NOW);
      await store.endCall(ANN, call(bell, place), rang(`${bell} ${place}`), NOW);
    }
    await store.close();
    const db = connect(path, { random: randomBytes, patience: 100 });
    for (const text of calls.statements) db.run(plain(text));
    db.close();
    const again = await openSqlite(path, { parts });
    const known = async (bell: string, ordinal: number) => {
      const found = await again.beginCall(ANN, call(bell, ordinal), NOW);
      return found.state === "done" ? found.outcome.text : found.state;
    };
    expect([await known("back", 1), await known("back", 2)]).toEqual(["back 1", "new"]);
    expect([await known("door", 1), await known("door", 2), await known("door", 3)]).toEqual([
      "door 2",
      "door 3",
      "door 5",
    ]);
    expect(await known("door", 4)).toBe("new");
    expect(await problems(again, ANN.org)).toEqual([]);
    await again.close();
  });
});

describe("a database in which a turn failed twice, and its second try made one call more", () => {
  it("knows both calls in a third try", async () => {
    const path = join(folder, "tries.sqlite");
    const store = await openSqlite(path, { parts });
    const thread = await open(store, ANN);
    await store.receive(ANN, thread.id, [said("Ring twice")]);
    const ring = { tool: toolName("ring"), input: { bell: "door" } };
    for (const place of [1, 2]) {
      const claim = await take(store, thread);
      const key = { thread: thread.id, turn: claim.turn, ordinal: place, ...ring };
      await store.beginCall(ANN, key, NOW);
      await store.endCall(ANN, key, { text: untrusted(`ring ${place}`), failed: false }, NOW);
      await store.settle(
        claim,
        ran(claim, { more: { end: { status: "failed", code: "model_failed", message: "no" } } }).outcome,
      );
    }
    const third = await take(store, thread);
    await store.close();
    const db = connect(path, { random: randomBytes, patience: 100 });
    for (const text of calls.statements) db.run(plain(text));
    db.close();
    const again = await openSqlite(path, { parts });
    const states: string[] = [];
    for (const ordinal of [1, 2, 3]) {
      const found = await again.beginCall(ANN, { thread: thread.id, turn: third.turn, ordinal, ...ring }, NOW);
      states.push(found.state === "done" ? found.outcome.text : found.state);
    }
    expect(states).toEqual(["ring 1", "ring 2", "new"]);
    await again.close();
  });
});

/** A turn of several senders that begins there. */
const batchOf = (id: ThreadId) => ({
  id,
  contact: batchContact(id),
  channel: "inbox",
  most: 5,
  nameOf: String,
  except: [],
  alive: () => true,
});

describe("the migrations", () => {
  it("are kept as they were: the first still makes the schema that it made", () => {
    const fresh = join(folder, "fresh.sqlite");
    const db = connect(fresh, { random: randomBytes, patience: 100 });
    migrate(db, MIGRATIONS.slice(0, 1));
    db.close();
    expect(schemaOf(fresh)).toEqual(schemaOf(file));
  });

  it("are numbered without a gap, with those of features", async () => {
    const all = withParts(MIGRATIONS, await allParts()).map(({ number }) => number);
    expect(all).toEqual(all.map((_, i) => i + 1));
  });

  it("know of texts from before which versions wait for an operator", () => {
    const old = join(folder, "texts.sqlite");
    const before = connect(old, { random: randomBytes, patience: 100 });
    migrate(before, MIGRATIONS.slice(0, 8));
    before.close();
    const db = new BetterSqlite3(old);
    db.pragma("foreign_keys = off");
    const move = db.prepare(
      `insert into text_move (org, agent, layer, part, seq, kind, n, by, reason, at, link)
       values ('home', 'companion', 'loop', ?, ?, ?, ?, 'agent', '', 0, ?)`,
    );
    const deeds = ["edited 1", "proposed 2", "approved 2", "proposed 3", "rejected 3", "proposed 4", "activated 1"];
    for (const part of ["", "poet"]) {
      deeds.forEach((deed, seq) => {
        const [kind, n] = deed.split(" ");
        move.run(part, seq + 1, kind, Number(n), seq + (part === "" ? 1 : 101));
      });
    }
    const after = connect(old, { random: randomBytes, patience: 100 });
    migrate(after);
    after.close();
    expect(db.prepare("select part, n from text_move where waits = 1 order by part").all()).toEqual([
      { part: "", n: 4 },
      { part: "poet", n: 4 },
    ]);
    db.close();
  });

  it("make the same of the first new file of a program and of all others", () => {
    const steps = [...MIGRATIONS];
    const [first, second] = ["first", "second"].map((name) => {
      const path = join(folder, `${name}.sqlite`);
      const made = connect(path, { random: randomBytes, patience: 100 });
      migrate(made, steps);
      made.close();
      const db = new BetterSqlite3(path);
      const names = db.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all();
      const rows = names.map((table) => [table, db.prepare(`select * from "${table}"`).all()]);
      db.close();
      return { schema: schemaOf(path), rows };
    });
    expect(second).toEqual(first);
    expect(second?.rows).toContainEqual(["migration", MIGRATIONS.map(({ number, name }) => ({ number, name }))]);
  });

  it("that fail half-way leave the database as it was", () => {
    const before = schemaOf(file);
    const db = connect(file, { random: randomBytes, patience: 100 });
    const broken = { number: MIGRATIONS.length + 1, name: "broken", statements: ["create table half (a)", "no sql"] };
    expect(() => migrate(db, [...MIGRATIONS, broken])).toThrow();
    db.close();
    expect(schemaOf(file)).toEqual(before);
  });
});
