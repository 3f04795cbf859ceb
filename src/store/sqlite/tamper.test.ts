import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { spread } from "../../../tests/spread.ts";
import { allParts } from "../../app/entry/features.ts";
import { APPROVAL_STORE } from "../../features/approvals/store.ts";
import { LIFE_STORE } from "../../features/life/index.ts";
import { LOGGED } from "../../features/logs/index.ts";
import { SETTING_STORE } from "../../features/settings/index.ts";
import { actorId, batchContact, spoken, toolName, trusted, untrusted } from "../../protocol/index.ts";
import { newFolder } from "../contract/folder.contract.ts";
import {
  ANN,
  asked,
  edited,
  epochOf,
  exchange,
  holding,
  leaving,
  NOW,
  newOutbox,
  newThread,
  OWNER,
  open,
  problems,
  type RunOptions,
  ran,
  remembered,
  rewriting,
  said,
  saving,
  scopeOf,
  take,
  VERSION,
} from "../contract/sample.contract.ts";
import { openSqlite, type Store } from "../index.ts";
import { columnsIn, coverOf } from "../record/columns.ts";

const parts = await allParts();

let folder: string;
let store: Store;
/** A second hand on the file, past the store and without its checks. */
let db: BetterSqlite3.Database;

/** A turn that is logged, in which the agent proposes a text. */
function proposing(text: string): RunOptions {
  const edit = edited(text, { status: "proposed", inputs: "contact", line: trusted("in short") });
  return { more: { writes: [rewriting(edit)], ...leaving(LOGGED, true) } };
}

/** The data of an agent that lives by itself. */
async function live(): Promise<void> {
  const thread = await open(store, ANN, "life");
  await store.receive(ANN, thread.id, [said("I sign this", { proof: "proven" })]);
  const claim = await take(store, thread);
  await store.settle(claim, ran(claim, proposing("what Ann wants")).outcome);
  const verdict = { verdict: "review", findings: ["It speaks of layer 2."] } as const;
  await store.editText(ANN, edited("what an operator wants", { by: "operator", verdict }), NOW);
  const [first] = await store.textVersions(ANN, { limit: 1 });
  if (!first) throw new Error("no version");
  const deed = { by: "operator", at: NOW, beside: [] } as const;
  const word = { ...deed, verdict: "approved", over: 2, reason: untrusted("why not") } as const;
  await store.decideText(ANN, { layer: first.layer, n: 1 }, word);
  const back = { ...deed, to: 0, kind: "rolled back", reason: untrusted("better so") } as const;
  await store.moveText(ANN, { layer: first.layer }, back);
  await exchange(store, thread, "and more", proposing("what Ann also wants"));
  for (const dollars of [5, -1])
    await store.part(LIFE_STORE).topUp(ANN, { dollars, by: "operator", note: untrusted("paid"), at: NOW });
  const actor = { org: ANN.org, id: actorId("token:operator"), role: "operator" } as const;
  for (const about of ["ann", "all"]) await store.noteAct(ANN, { actor, what: "conversation", about, at: NOW });
}

/** A turn over the messages of two senders. */
async function batch(): Promise<void> {
  for (const name of ["gil", "hal"]) {
    const thread = await open(store, scopeOf(name));
    await store.receive(thread.scope, thread.id, [said(`${name} writes`)]);
  }
  const id = newThread();
  const opening = {
    id,
    contact: batchContact(id),
    channel: "inbox",
    version: VERSION,
    most: 5,
    except: [],
    nameOf: String,
  };
  const both = await store.openBatch(ANN, { ...opening, at: NOW, now: NOW, alive: () => true });
  if (!both) throw new Error("nobody waits");
  const claim = await take(store, both);
  const replies = (claim.batchMembers ?? []).map(({ thread }) => {
    return { thread: thread.id, reply: spoken("yes"), replyId: newOutbox(), unremembered: [] };
  });
  await store.settle(claim, ran(claim, { more: { replies } }).outcome);
}

/** A record with something in every table. */
async function fill(): Promise<void> {
  const thread = await open(store, ANN);
  await exchange(store, thread, "one", { rounds: 2 });
  await exchange(store, thread, "two", { failed: true });
  const writes = [saving(remembered("Ann likes tea", { tags: ["tea"] }))];
  const waits = asked();
  await exchange(store, thread, "three", {
    epochs: [epochOf(2, [], { cut: 4 })],
    more: { writes, ...holding(waits) },
  });
  await store
    .part(APPROVAL_STORE)
    .decideApproval(ANN, waits.id, { verdict: "approved", by: "operator", note: untrusted("go"), at: NOW });
  const rang = { text: untrusted("booked"), failed: false };
  await store.part(APPROVAL_STORE).finishApproval(ANN, waits.id, {
    outcome: rang,
    writes: [],
    event: said("booked"),
    at: NOW,
  });
  await store.receive(ANN, thread.id, [said("four")]);
  const claim = await take(store, thread);
  const call = { thread: thread.id, turn: claim.turn, ordinal: 1, tool: toolName("ring"), input: {} };
  await store.beginCall(ANN, call, NOW);
  await store.endCall(ANN, call, { text: untrusted("rang"), failed: false }, NOW);
  await store.settle(claim, ran(claim).outcome);
  await store.part(SETTING_STORE).setSetting(ANN, thread.id, { name: "mood", value: "calm", by: "operator", at: NOW });
  await live();
  await batch();
  const gone = await open(store, scopeOf("gone"));
  await exchange(store, gone, "forget me", proposing("what is forgotten"));
  await store.eraseContact(gone.scope, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
}

/** Further data: vectors, a state, a signed message of an erased sender, mail that could not be delivered. */
async function fillMore(): Promise<void> {
  const model = "local:small";
  const vectors = async (): Promise<boolean> => {
    const waiting = await store.waitingTexts(ANN, model, 99);
    if (!waiting) return false;
    const { from, upto, texts } = waiting;
    const made = texts.map(({ memory, part }, n) => ({ memory, part, values: Float32Array.of(n, 0.5, -1.25, 3) }));
    await store.saveVectors(ANN, model, { from, upto, vectors: made });
    return true;
  };
  while (await vectors());
  await store
    .part(LIFE_STORE)
    .moveLife(OWNER, { from: undefined, state: "faulted", because: "It was interrupted.", at: NOW });
  const gone = await open(store, scopeOf("gone"));
  await store.receive(gone.scope, gone.id, [said("I sign", { proof: "proven", externalId: "signed-1" })]);
  await store.eraseContact(gone.scope, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
  const bob = await open(store, scopeOf("bob"));
  await store.receive(bob.scope, bob.id, [said("I wait", { externalId: "waits-1" })]);
}

beforeEach(async () => {
  folder = newFolder();
  store = await openSqlite(join(folder, "record.sqlite"), { parts });
  await fill();
  db = new BetterSqlite3(join(folder, "record.sqlite"));
  db.pragma("foreign_keys = OFF");
  db.pragma("synchronous = OFF");
});

afterEach(async () => {
  db.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The columns declared as not covered. */
const free = (table: string): readonly string[] => columnsIn(coverOf(parts).get(table)?.volatile);

const TABLES = [
  "agent_version",
  "shared_piece",
  "contact_key",
  "piece",
  "thread",
  "event",
  "epoch",
  "message",
  "turn",
  "turn_event",
  "turn_message",
  "request",
  "slot",
  "outbox",
  "approval",
  "journal",
  "memory_scope",
  "memory",
  "unit",
  "text_move",
  "exchange",
  "staged",
  "top_up",
  "tally",
  "act",
  "chain",
];

/** Whether anything is wrong in any organization: a row that was moved to another one shows there. The first problem is enough. */
async function isSeen(): Promise<boolean> {
  for (const org of await store.organizations()) {
    for await (const finding of store.verify(org)) if (finding.type === "problem") return true;
  }
  return false;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

const columnsOf = (table: string): readonly Column[] =>
  db.prepare<[], Column>(`select name, type from pragma_table_info('${table}')`).all();

/** Another value of the same kind, as near to the old one as there is. */
function nudged(value: unknown, type: string): unknown {
  if (type === "INTEGER" || type === "REAL") return Number(value ?? 0) + 1_000;
  if (value instanceof Uint8Array) return Buffer.from([(value[0] ?? 0) ^ 1, ...value.subarray(1)]);
  if (type === "BLOB") return Buffer.of(1);
  const text = typeof value === "string" && value !== "" ? value : "a";
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

describe("a record that was changed from outside", () => {
  it("shows it in every column that the record covers, by turns in the first row and in the last (`checks/whole.ts`: in both)", async () => {
    expect(await problems(store, ANN.org)).toEqual([]);
    const unseen: string[] = [];
    let turns = 0;
    for (const table of TABLES) {
      const rows = db.prepare<[], Record<string, unknown>>(`select rowid as place, * from ${table}`).all();
      expect(rows.length, table).toBeGreaterThan(0);
      // A scope without memories reveals nothing.
      const telling = rows.filter(({ units }) => table !== "memory_scope" || units !== 0);
      const ends = [...new Set([telling[0], telling.at(-1)])].filter((row) => row !== undefined);
      for (const { name: column, type } of columnsOf(table).filter(({ name }) => !free(table).includes(name))) {
        const change = db.prepare(`update ${table} set "${column}" = ? where rowid = ?`);
        for (const row of spread(turns++ % 2 === 0 ? ends : ends.toReversed(), 1).cases) {
          change.run(nudged(row[column], type), row["place"]);
          if (!(await isSeen())) unseen.push(`${table}.${column} ${JSON.stringify(row[column])}`);
          change.run(row[column], row["place"]);
        }
      }
    }
    expect(unseen).toEqual([]);
    expect(await problems(store, ANN.org)).toEqual([]);
  }, 120_000);

  it("shows a flipped bit in every text version, move, payment and act, and in all texts that they name", async () => {
    const unseen: string[] = [];
    const flip = async (table: string, column: string, place: unknown, value: unknown): Promise<void> => {
      const change = db.prepare(`update ${table} set "${column}" = ? where rowid = ?`);
      change.run(nudged(value, typeof value === "number" ? "INTEGER" : "TEXT"), place);
      if (!(await isSeen())) unseen.push(`${table}.${column} ${JSON.stringify(value)}`);
      change.run(value, place);
    };
    for (const [table, columns] of [
      ["text_move", ["kind", "n", "stands", "by", "reason", "text", "at"]],
      ["top_up", ["dollars"]],
      ["act", ["what", "about"]],
    ] as const) {
      const rows = db.prepare<[], Record<string, unknown>>(`select rowid as place, * from ${table}`).all();
      for (const row of rows) for (const column of columns) await flip(table, column, row["place"], row[column]);
    }
    const named = "select text from text_move union select line from text_move union select reason from text_move";
    const all = `${named} union select findings from text_move union select note from top_up`;
    for (const table of ["shared_piece", "piece"]) {
      const texts = `select rowid as place, text from ${table} where text is not null and digest in (${all})`;
      const rows = db.prepare<[], Record<string, unknown>>(texts).all();
      expect(rows.length, table).toBeGreaterThan(4);
      for (const { place, text } of rows) await flip(table, "text", place, text);
    }
    expect(unseen).toEqual([]);
    expect(await problems(store, ANN.org)).toEqual([]);
  }, 120_000);

  it("shows every row that was taken away", async () => {
    const unseen: string[] = [];
    // These reveal nothing that happened: a forgotten memory, a call's note, a declaration that no thread names, an old entry of a log.
    const loose = ["agent_version", "memory", "journal", "exchange"];
    for (const table of TABLES.filter((name) => !loose.includes(name))) {
      const columns = columnsOf(table).map(({ name }) => name);
      const rows = db.prepare<[], Record<string, unknown>>(`select rowid as place, * from ${table}`).all();
      const names = columns.map((name) => `"${name}"`).join(", ");
      const back = db.prepare(
        `insert into ${table} (rowid, ${names}) values (?, ${columns.map(() => "?").join(", ")})`,
      );
      // The chain's own end needs the anchor; a scope without memories reveals nothing.
      const ends = table === "chain" ? rows.slice(0, -1) : rows.filter(({ units }) => units !== 0);
      for (const row of ends) {
        db.prepare(`delete from ${table} where rowid = ?`).run(row["place"]);
        if (!(await isSeen())) unseen.push(`${table} ${JSON.stringify(row)}`);
        back.run(row["place"], ...columns.map((name) => row[name]));
      }
    }
    expect(unseen).toEqual([]);
    expect(await problems(store, ANN.org)).toEqual([]);
  }, 120_000);

  it("003.6 003.7 shows what was added: a slot, a message at the transcript's end, a turn, a closed thread", async () => {
    const added = [
      `insert into slot select org, agent, contact, thread, position + 90, turn, kind, speaker, piece, at, act, retracted from slot limit 1`,
      `insert into message select org, agent, contact, thread, epoch, position + 1, piece, trust, tokens, came_with, rolling
       from message where epoch = 2 order by position desc limit 1`,
      `insert into turn select org, agent, contact, 'trn_x', thread, seq + 90, status, attempt, version, started_at, ended_at,
       stop, code, words, model, wire, mode, totals, epoch, length, link + 90, own, run, upto, steps, retracted from turn limit 1`,
      `insert into thread select org, agent, contact, 'thr_x', channel, 'k', version, null, null, 1, 1, 0, 0, null, null, 1, null, null, null, null, null, null
       from thread limit 1`,
      `insert into text_move select org, agent, layer, part, seq + 90, kind, n, was, stands, by, turn, contact, reason, text, line,
       findings, verdict, trust, inputs, parent, rank, source, declared, at, 1, waits, by_id from text_move limit 1`,
      `insert into top_up select org, agent, id + 90, 1000.0, by, note, at, 1, by_id from top_up limit 1`,
      `insert into act select org, agent, id + 90, role, what, about, at, 1, by_id from act limit 1`,
      `insert into exchange select 90, org, agent, contact, (select min(id) from event where contact = 'ann'), turn, at
       from exchange limit 1`,
      `insert into turn_message select org, agent, contact, id, 90, words, 'operator', 1, null from turn where own > 0 limit 1`,
    ];
    for (const sql of added) {
      db.exec("savepoint before");
      db.exec(sql);
      db.exec("release before");
      expect(await problems(store, ANN.org), sql).not.toEqual([]);
      db.exec("delete from slot where position > 80");
      db.exec("delete from message where rowid = (select max(rowid) from message) and epoch = 2 and position > 3");
      db.exec("delete from turn where id = 'trn_x'; delete from thread where id = 'thr_x'");
      db.exec("delete from text_move where seq > 80; delete from top_up where id > 80; delete from act where id > 80");
      db.exec("delete from exchange where number = 90; delete from turn_message where position = 90");
    }
    expect(await problems(store, ANN.org)).toEqual([]);
  });

  it("shows counts of the memories' words that are not those of their texts", async () => {
    for (const table of ["unit_term", "unit_speaker", "memory_count"]) {
      const [, name = "", counted = "", ...others] = columnsOf(table).map((column) => column.name);
      db.exec(`create table kept as select * from ${table}`);
      for (const change of [
        `update ${table} set ${counted} = ${counted} + 1 where ${name} = (select min(${name}) from ${table})`,
        `update ${table} set ${name} = ${name} || 'x' where ${name} = (select max(${name}) from ${table})`,
        `delete from ${table} where ${name} = (select max(${name}) from ${table})`,
        `insert into ${table} select ${["scope", `${name} || 'x'`, counted, ...others].join()} from ${table} limit 1`,
        `update ${table} set scope = scope + 9`,
      ]) {
        db.exec(change);
        expect(await problems(store, ANN.org), change).not.toEqual([]);
        db.exec(`delete from ${table}; insert into ${table} select * from kept`);
      }
      db.exec("drop table kept");
    }
    for (const [change, back] of [
      ["update memory_scope set number = number + 50", "update memory_scope set number = number - 50"],
      ["update memory set row = row + 50", "update memory set row = row - 50"],
      ["update unit set id = id + 50", "update unit set id = id - 50"],
    ]) {
      db.exec(change ?? "");
      expect(await problems(store, ANN.org), change).not.toEqual([]);
      db.exec(back ?? "");
    }
    expect(await problems(store, ANN.org)).toEqual([]);
  });

  it("shows texts that were blanked without an erasure, also those of a contact who was erased before", async () => {
    const again = await open(store, scopeOf("gone"));
    await exchange(store, again, "I am back");
    await exchange(store, again, "I am back", { failed: true });
    expect(await problems(store, ANN.org)).toEqual([]);
    const rows = db.prepare<[], { place: number; text: string }>(
      `select rowid as place, text from piece where contact = 'gone' and text is not null`,
    );
    for (const { place, text } of rows.all()) {
      db.prepare("update piece set text = null where rowid = ?").run(place);
      expect(await problems(store, ANN.org), text).not.toEqual([]);
      db.prepare("update piece set text = ? where rowid = ?").run(text, place);
    }
    expect(await problems(store, ANN.org)).toEqual([]);
  });

  it("shows an end that was cut off, with its turns, by the anchor and only by it", async () => {
    const thread = await open(store, scopeOf("bob"));
    const short = await store.head(ANN.org);
    db.exec("create temp table sums as select * from tally");
    await exchange(store, thread, "one");
    const anchor = await store.head(ANN.org);
    for (const table of [
      "turn_event",
      "turn_message",
      "request",
      "slot",
      "outbox",
      "message",
      "epoch",
      "event",
      "turn",
    ]) {
      db.exec(`delete from ${table} where contact = 'bob'`);
    }
    const scope = `(select number from memory_scope where contact = 'bob')`;
    db.exec(`insert into unit_words (unit_words, rowid, terms)
      select 'delete', id, terms from unit where id >> 26 in ${scope}`);
    for (const table of ["memory", "unit_term", "unit_speaker"])
      db.exec(`delete from ${table} where scope in ${scope}`);
    db.exec(`delete from unit where id >> 26 in ${scope}; delete from memory_scope where contact = 'bob'`);
    db.exec(`delete from chain where seq > ${short.seq}`);
    db.exec("update thread set turns = 0 where contact = 'bob'");
    expect(await problems(store, ANN.org)).toContainEqual(expect.stringContaining("its sum of turns"));
    db.exec("delete from tally; insert into tally select * from sums");
    expect(await problems(store, ANN.org)).toEqual([]);
    expect(await problems(store, ANN.org, short)).toEqual([]);
    expect(await problems(store, ANN.org, anchor)).toMatchObject([/anchor: the record ends at link/]);
  });

  it("says where and what, in a sentence", async () => {
    db.exec("update request set base = 1 where n = 2");
    db.exec(`update shared_piece set text = replace(text, 'honest', 'dishonest')`);
    const sentence = (await problems(store, ANN.org)).join("\n");
    expect(sentence).toMatch(
      /^turn trn_\w+: .*requests 2 prompt is not the recorded one|changed after it was recorded/m,
    );
    expect(sentence).toMatch(/^piece \w{64}: the shared text is not what its digest says/m);
  });

  it("is not rebuilt: neither from a changed text nor from changed rows", async () => {
    const [thread] = await store.threads(ANN, 1);
    if (!thread) throw new Error("no thread");
    const [turn] = await store.turns(ANN, thread.id);
    if (!turn) throw new Error("no turn");
    const changes = [
      ["update piece set text = replace(text, 'one', 'two')", "update piece set text = replace(text, 'two', 'one')"],
      ["update request set taint = 'platform'", "update request set taint = 'contact'"],
      ["update message set trust = 'operator'", "update message set trust = 'contact'"],
    ];
    for (const [change = "", back = ""] of changes) {
      db.exec(`${change} where contact = 'ann'`);
      await expect(store.rebuild(ANN, turn.id, 2), change).rejects.toMatchObject({ code: "record_broken" });
      db.exec(`${back} where contact = 'ann'`);
    }
    expect(await store.rebuild(ANN, turn.id, 2)).toMatchObject({ wire: "anthropic:claude-sonnet-4-5" });
  });

  const bits = spread(
    Array.from({ length: 1_000 }, (_, n) => n),
    200,
  );
  it(bits.title("shows every flipped bit that alters a row: of a thousand, anywhere in the file"), async () => {
    await fillMore();
    db.pragma("wal_checkpoint(TRUNCATE)");
    const whole = readFileSync(join(folder, "record.sqlite"));
    const was = dumped(whole);
    const unseen: string[] = [];
    let altered = 0;
    const flips = fc.sample(fc.nat(whole.length * 8 - 1), 1_000);
    for (const bit of bits.cases.map((n) => flips[n] ?? 0)) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const is = dumped(flipped);
      if (is === was) continue;
      altered++;
      if (!(await isFound(flipped))) unseen.push(difference(was, is));
    }
    expect(unseen).toEqual([]);
    expect(altered).toBeGreaterThan(0.3 * bits.cases.length);
  }, 600_000);

  it("shows an index, a trigger or a table that is not as Strata made it, a word that was taken from the search index, and a setting of it", async () => {
    for (const [change, sentence] of [
      ["drop index event_waiting", /index event_waiting of event is gone/],
      ["drop trigger vector_superseded", /trigger vector_superseded of memory is gone/],
      [
        "create trigger spy after insert on event begin delete from act; end",
        /trigger spy of event is none of Strata's/,
      ],
      ["alter table life add column mood text", /table life of life is not what Strata makes/],
      ["insert into unit_words (unit_words, rank) values ('secure-delete', 0)", /search index leaves erased words/],
      ["insert into unit_words (unit_words, rowid, terms) select 'delete', id, terms from unit limit 1", /is damaged/],
    ] as const) {
      db.exec("savepoint before");
      db.exec(change);
      db.exec("release before");
      expect((await problems(store, ANN.org)).join("\n"), change).toMatch(sentence);
    }
  });
});

/** Every row of every table, read from the tables themselves; of what cannot be read, why. */
function dumped(file: Buffer): string {
  const bytes = Buffer.from(file);
  // The file alone: it has no write-ahead log here.
  if (bytes[18] === 2 && bytes[19] === 2) bytes.fill(1, 18, 20);
  try {
    const copy = new BetterSqlite3(bytes, { readonly: true });
    try {
      const all = (sql: string): string => JSON.stringify(copy.prepare(sql).raw().all());
      const tables = copy.prepare<[], string>(
        "select name from sqlite_schema where type = 'table' and sql not like '%using fts5%' order by name",
      );
      const rows = tables
        .pluck()
        .all()
        .map((name) => `${name} ${all(`select * from "${name}" not indexed`)}`);
      return [...rows, `schema ${all("select * from sqlite_schema")}`].join("\n");
    } finally {
      copy.close();
    }
  } catch (thrown) {
    return String(thrown);
  }
}

/** Whether opening and verifying the file reports it. */
async function isFound(bytes: Buffer): Promise<boolean> {
  const path = join(folder, "flipped.sqlite");
  for (const name of [path, `${path}-wal`, `${path}-shm`]) rmSync(name, { force: true });
  writeFileSync(path, bytes);
  let opened: Store | undefined;
  try {
    opened = await openSqlite(path, { parts });
    for (const org of await opened.organizations())
      for await (const finding of opened.verify(org)) if (finding.type === "problem") return true;
    return false;
  } catch {
    return true;
  } finally {
    await opened?.close().catch(() => undefined);
  }
}

/** The change of a missed flip. */
function difference(was: string, is: string): string {
  const [before, after] = [was.split("\n"), is.split("\n")];
  const line = before.findIndex((one, i) => one !== after[i]);
  const [a = "", b = ""] = [before[line], after[line]];
  const from = [...a].findIndex((sign, i) => sign !== b[i]);
  return `${a.slice(0, a.indexOf(" "))}: ${a.slice(Math.max(0, from - 60), from + 20)} -> ${b.slice(Math.max(0, from - 20), from + 20)}`;
}
