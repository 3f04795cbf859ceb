import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { ANN, exchange, open, PARTS, ran, said, scopeOf, take } from "../contract/sample.contract.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import type { Claim } from "../records.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import { settle } from "../turns/settle.ts";
import { sent } from "../turns/turns.ts";
import type { Tx } from "../tx.ts";
import { type Connected, connect, EVERYTHING } from "./database.ts";
import { openPostgres } from "./open.ts";

const { make, url } = databases();
const toClose: (Store | Connected)[] = [];
afterEach(async () => {
  for (const one of toClose.splice(0)) await one.close();
});

/** How many rows were read so far, by an index or not: in the transaction, and in those before it that the connection has not reported yet. */
const READ = "select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as rows from pg_stat_xact_user_tables";

async function rowsRead(tx: Tx): Promise<number> {
  return (await tx.column(plain<number>(READ)))[0] ?? 0;
}

/** What of a turn's rows another turn has otherwise; `k` counts them. */
const OF_ONE_TURN: Readonly<Record<string, string>> = {
  piece: "'digest', x.digest || k",
  turn: "'id', x.id || k, 'seq', x.seq + k, 'link', null",
  event: "'id', x.id || k, 'seq', x.seq + k, 'turn', x.turn || k",
  turn_event: "'turn', x.turn || k, 'event', x.event || k",
  turn_message: "'turn', x.turn || k",
  request: "'turn', x.turn || k",
  slot: "'turn', x.turn || k, 'position', x.position + 2 * k",
  outbox: "'id', x.id || k, 'turn', x.turn || k",
};

/** Makes a thread that much longer at once: with copies of one of its turns. */
async function lengthen(db: Connected, { turn, thread }: Claim, by: number): Promise<void> {
  await db.within(EVERYTHING).write(async (tx) => {
    const [turns = 0] = await tx.column(plain<number>(`select turns from thread where id = '${thread.id}'`));
    for (const [table, changes] of Object.entries(OF_ONE_TURN)) {
      const whose = `contact = '${thread.scope.contact}'`;
      const one = table === "piece" ? whose : `${whose} and ${table === "turn" ? "id" : "turn"} = '${turn}'`;
      const changed = `to_jsonb(x) || jsonb_build_object(${changes})`;
      await tx.run(
        plain(`insert into ${table} select (jsonb_populate_record(null::${table}, ${changed})).*
          from (select * from ${table} where ${one} limit 5) as x, generate_series(${turns + 1}, ${turns + by}) as k`),
      );
    }
    await tx.run(plain(`update thread set turns = ${turns + by + 1} where id = '${thread.id}'`));
  });
}

describe.skipIf(server === undefined)(title("a long thread on PostgreSQL"), () => {
  it("reads no more rows in a turn than a shorter one, also of a contact whom the server has not counted yet", async () => {
    const address = url(await make());
    const store = await openPostgres(address, { parts: PARTS });
    const db = await connect(address, { random: randomBytes, limits: MEMORY_LIMITS, patience: 900, parts: PARTS });
    toClose.push(store, db);
    const first = await open(store, scopeOf("bob"));
    await lengthen(db, (await exchange(store, first, "hello")).claim, 300);
    await db.within(EVERYTHING).write((tx) => tx.run(plain("analyze")));
    const thread = await open(store, ANN);
    const { claim } = await exchange(store, thread, "hello");
    const rows = async (): Promise<number> => {
      await store.receive(ANN, thread.id, [said("tell me of the sea")]);
      const now = await take(store, thread);
      const readBy = async (tx: Tx, work: () => Promise<unknown>): Promise<number> => {
        const before = await rowsRead(tx);
        await work();
        return (await rowsRead(tx)) - before;
      };
      const asked = await db.within(ANN).read((tx) => readBy(tx, () => sent(tx, ANN, thread.id)));
      const ended = await db.within(ANN).write((tx) => readBy(tx, () => settle(tx, now, ran(now).outcome)));
      return asked + ended;
    };
    await lengthen(db, claim, 300);
    const short = await rows();
    await lengthen(db, claim, 900);
    expect(await rows()).toBeLessThan(short + 100);
  });
});
