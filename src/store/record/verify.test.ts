import { expect, it } from "vitest";
import { allParts } from "../../app/entry/features.ts";
import { APPROVAL_STORE } from "../../features/approvals/store.ts";
import { OUTBOX_STORE } from "../../features/deliveries/store.ts";
import { actorId, untrusted } from "../../protocol/index.ts";
import {
  ANN,
  asked,
  exchange,
  HAND,
  holding,
  NOW,
  OWNER,
  onEachDatabase,
  open,
  problems,
  said,
  scopeOf,
} from "../index.contract.ts";
import type { Store } from "../index.ts";
import { columnsIn, coverOf } from "./columns.ts";

const parts = [...(await allParts()), HAND];

/** A message that was handled and one that waits, a reply that was delivered and one that waits, and calls of each state. */
async function fill(store: Store): Promise<void> {
  const thread = await open(store);
  const [approved, denied, waiting] = [asked(), asked(), asked()];
  const { outcome } = await exchange(store, thread, "one", { more: holding(approved, denied, waiting) });
  await exchange(store, thread, "two");
  await store.part(OUTBOX_STORE).deliver(ANN, { id: outcome.replyId }, NOW + 1);
  for (const [{ id }, verdict] of [
    [approved, "approved"],
    [denied, "denied"],
  ] as const)
    await store
      .part(APPROVAL_STORE)
      .decideApproval(ANN, id, { verdict, by: "operator", note: untrusted("ok"), at: NOW });
  await store.receive(ANN, thread.id, [said("three")]);
  const gone = await open(store, scopeOf("gone"));
  await exchange(store, gone, "forget me");
  await store.eraseContact(gone.scope, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
}

const HANDLED =
  "update event set status = 'consumed', turn = (select turn from turn_event where turn_event.event = event.id) where seq < 3";
const DELIVERED = "update outbox set status = case when delivered_at is null then 'waiting' else 'delivered' end";

/** What an attacker with access to the database would change, the expected answer, and the way back. */
const AIMED: readonly (readonly [what: string, sql: string, sentence: RegExp, back: string])[] = [
  [
    "a handled message waits again",
    "update event set status = 'pending', turn = null where seq = 1",
    /it handled event evt_\w+, which does not say so/,
    HANDLED,
  ],
  [
    "a handled message is taken back",
    "update event set status = 'withdrawn' where seq = 1",
    /handled it, but it is marked as withdrawn/,
    HANDLED,
  ],
  [
    "a handled message names another turn",
    "update event set turn = (select max(id) from turn where contact = 'ann') where seq = 1 and contact = 'ann'",
    /it names turn trn_\w+, which did not handle it/,
    HANDLED,
  ],
  [
    "a message that waits is marked as handled",
    "update event set status = 'consumed' where seq = 3",
    /marked as handled, but it names no turn/,
    "update event set status = 'pending' where seq = 3",
  ],
  [
    "a reply is marked as delivered",
    "update outbox set status = 'delivered' where status = 'waiting'",
    /marked as delivered, but no time of delivery/,
    DELIVERED,
  ],
  [
    "a reply that arrived waits again",
    "update outbox set status = 'waiting' where status = 'delivered'",
    /marked as waiting, but a time of delivery/,
    DELIVERED,
  ],
  [
    "an agent version is deleted",
    "delete from agent_version",
    /declaration of agent version \w+, with which it ran, is gone/,
    "insert into agent_version select distinct org, agent, version, version, 1 from turn",
  ],
  [
    "an agent version has another text",
    "update agent_version set piece = (select min(digest) from shared_piece where digest != piece)",
    /its declaration is that of another version/,
    "update agent_version set piece = version",
  ],
  [
    "an agent version is another one",
    "update agent_version set version = 'another'",
    /with which it ran, is gone/,
    "update agent_version set version = piece",
  ],
  [
    "a key is added of somebody of whom there is nothing",
    "insert into contact_key select org, agent, 'zoe', key from contact_key where contact = 'ann'",
    /key of contact zoe of agent companion: it is the key of somebody of whom there is nothing/,
    "delete from contact_key where contact = 'zoe'",
  ],
  [
    "a key is added of a contact who was erased",
    `insert into contact_key select org, agent, (select contact from thread where erased_link is not null), key
     from contact_key where contact = 'ann'`,
    /its contact was erased, and the key with all else/,
    "delete from contact_key where contact in (select contact from thread where erased_link is not null)",
  ],
  [
    "a call that waits is approved",
    "update approval set status = 'approved' where status = 'waiting'",
    /marked as approved, which is not what its decision/,
    "update approval set status = 'waiting' where decided_at is null",
  ],
  [
    "a call that was approved has run",
    "update approval set status = 'done' where status = 'approved'",
    /marked as done, which is not what its decision and its result say/,
    "update approval set status = 'approved' where status = 'done'",
  ],
  [
    "a conversation has had fewer turns",
    "update thread set turns = 1 where turns = 2",
    /it counts 1 turns, but 2 ended on it/,
    "update thread set turns = 2 where contact = 'ann'",
  ],
];

onEachDatabase("a record that somebody else has changed", parts, (openStore) => {
  it("25.3 does not verify after any of the changes that were aimed at it", async () => {
    const store = await openStore();
    await fill(store);
    const hand = store.part(HAND);
    for (const [what, sql, sentence, back] of AIMED) {
      expect(await hand.change(OWNER, sql), what).toBeGreaterThan(0);
      expect((await problems(store, ANN.org)).join("\n"), what).toMatch(sentence);
      await hand.change(OWNER, back);
    }
    expect(await problems(store, ANN.org)).toEqual([]);
    await store.close();
  });

  it("25.3 says which columns may change without a trace, and since which link others are kept", async () => {
    const store = await openStore();
    await fill(store);
    const columns = [];
    for await (const finding of store.verify(ANN.org)) if (finding.type === "covered") columns.push(...finding.columns);
    const named = columns.flatMap(({ table, columns: names, by }) => (by === "nothing" ? [[table, names]] : []));
    expect(Object.fromEntries(named)).toMatchObject({
      thread: ["key", "version", "last_activity", "fence", "holder", "lease_until", "stop_fence"],
      outbox: ["status", "delivered_at", "holder", "lease_until", "tries", "due", "failed", "confirmed_at"],
    });
    expect(columns).toContainEqual({ table: "turn", columns: ["own"], by: "links", from: 1 });
    expect(columns).toContainEqual({ table: "event", columns: ["proof"], by: "links", from: null });
    await store.close();
  });

  it("25.3 has no column of which nobody has declared how it is covered, and none that is declared twice", async () => {
    const store = await openStore();
    const found = await store.part(HAND).rows(OWNER, {
      sqlite: `select one.name as "table", col.name as name from sqlite_schema as one, pragma_table_info(one.name) as col
        where one.type = 'table'`,
      postgres: `select table_name::text as table, column_name::text as name from information_schema.columns
        where table_schema = current_schema`,
    });
    const there = found.map(({ table, name }) => `${table}.${name}`).filter((name) => !OF_THE_DATABASE.test(name));
    const declared = [...coverOf(parts)].flatMap(([table, { linked, derived, volatile }]) =>
      [linked, derived, volatile].flatMap(columnsIn).map((name) => `${table}.${name}`),
    );
    expect(declared.sort()).toEqual(there.sort());
    await store.close();
  });
});

/** The database's internal data, checked by its own check: the steps of the schema and the search index. */
const OF_THE_DATABASE = /^(migration|memory_index|unit_words?\w*)\./;
