import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { firstRuns } from "../../../tests/spread.ts";
import {
  actorId,
  asStrataError,
  type ContactScope,
  callId,
  type Epoch,
  type ThreadId,
  type TurnId,
  toolName,
} from "../../protocol/index.ts";
import type { NewOpenCall } from "../call-records.ts";
import { newFolder } from "../contract/folder.contract.ts";
import { ANN, epochOf, nextCall, open, opening, PARTS, ran, said, scopeOf, take } from "../contract/sample.contract.ts";
import { openStore, type Store, type Thread } from "../index.ts";
import { tablesOfToday } from "../postgres/fresh.contract.ts";
import { plain } from "../statement.ts";
import { sent } from "../turns/turns.ts";
import type { StorePart } from "../tx.ts";
import { currentEpoch } from "./fork.ts";
import { openKnownEpochs } from "./known-epochs.ts";
import { callsAtEnd } from "./open-calls.ts";

interface Raw {
  readonly whole: (scope: ContactScope, thread: ThreadId) => Promise<Epoch | undefined>;
  readonly sent: (scope: ContactScope, thread: ThreadId) => Promise<unknown>;
  readonly calls: (scope: ContactScope, thread: ThreadId) => Promise<unknown>;
  readonly blank: (thread: ThreadId, nth: number) => Promise<number>;
  readonly change: (thread: ThreadId) => Promise<number>;
}

/** Reads an epoch, what was sent and what is open as if nothing was known, and changes rows as no function of the store does. */
const RAW: StorePart<Raw> = {
  name: "raw",
  tables: {},
  erase: async () => undefined,
  functions: ({ reading, writing }) => ({
    whole: reading((tx, scope: ContactScope, thread: ThreadId) => currentEpoch(tx, scope, thread)),
    sent: reading(async (tx, scope: ContactScope, thread: ThreadId) =>
      (await sent(tx, scope, thread)).map(({ seq: _, ...request }) => request),
    ),
    calls: reading(callsAtEnd),
    blank: writing((tx, thread: ThreadId, nth: number) =>
      tx.changed(
        plain(
          `update piece set text = null where digest = (select piece from message where thread = ?
             order by epoch desc, position limit 1 offset ${nth})`,
          thread,
        ),
      ),
    ),
    change: writing((tx, thread: ThreadId) =>
      tx.changed(
        plain(
          `update message set trust = 'operator', rolling = case when rolling like 'f%' then 'e' else 'f' end || substr(rolling, 2) where thread = ? and position =
             (select max(position) from message as last where last.thread = message.thread and last.epoch = message.epoch)`,
          thread,
        ),
      ),
    ),
  }),
};
const parts = [...PARTS, RAW];

const BOB = scopeOf("bob");
const OPERATOR = { org: ANN.org, id: actorId("token:operator"), role: "operator" } as const;

const deed = fc.record({
  by: fc.nat(1),
  on: fc.nat(3),
  does: fc.oneof(
    { weight: 8, arbitrary: fc.constant("done" as const) },
    { weight: 2, arbitrary: fc.constantFrom("failed" as const, "cut" as const, "fork" as const, "lost" as const) },
    { weight: 2, arbitrary: fc.constantFrom("waits" as const, "cancels" as const) },
    { weight: 1, arbitrary: fc.constantFrom("erased" as const, "blank" as const, "changed" as const) },
  ),
  text: fc.constantFrom("Hi", "Where is it?", "Thanks"),
  nth: fc.nat(2),
});
type Deed = typeof deed extends fc.Arbitrary<infer D> ? D : never;

/** A call that a program has to answer, while other messages go first. */
const asks = (): NewOpenCall => {
  const id = callId(nextCall());
  return { id, call: `made ${id}`, tool: toolName("open_door"), waitsFor: "client", keeps: false };
};

/** The result of a read, or its error. */
const read = (what: Promise<Epoch | undefined>): Promise<unknown> => what.catch((thrown) => asStrataError(thrown).code);

interface World {
  readonly stores: readonly [Store, Store];
  readonly threads: Thread[];
  forks: number;
}

async function act({ stores, threads, ...world }: World, one: Deed): Promise<void> {
  const store = stores[one.by] ?? stores[0];
  const other = stores[1 - one.by] ?? stores[0];
  const at = one.on % threads.length;
  const thread = threads[at];
  if (thread === undefined) return;
  const { scope, id } = thread;
  if (one.does === "erased") {
    if (scope.contact !== BOB.contact) return;
    await store.eraseContact(BOB, OPERATOR, 9);
    threads.splice(0, threads.length, ...threads.filter((of) => of.scope.contact !== BOB.contact));
    threads.push(await open(store, BOB));
    return;
  }
  if (one.does === "cancels") return void (await store.cancelCalls(scope, id));
  if (one.does === "blank") return void (await store.part(RAW).blank(id, one.nth));
  if (one.does === "changed") return void (await store.part(RAW).change(id));
  if (one.does === "fork") {
    const turn: TurnId | null = (await store.turns(scope, id)).findLast(({ status }) => status === "done")?.id ?? null;
    const key = `fork ${threads.length} ${one.text} ${world.forks}`;
    threads.push(await store.openThread(scope, opening(key, { forkedFrom: { thread: id, turn } })));
    return;
  }
  const stood = await read(store.part(RAW).whole(scope, id));
  if (typeof stood === "string") return;
  await store.receive(scope, id, [said(one.text)]);
  const claim = await take(store, thread);
  expect(claim.epoch).toEqual(stood);
  const before = claim.epoch;
  const isCut = one.does === "cut" && before !== undefined;
  const epochs = isCut ? [epochOf(before.n + 1, before.transcript.slice(-2), { reason: "cut", cut: 2 })] : undefined;
  const end = one.does === "waits" && { more: { end: { status: "waiting", reply: null, calls: [asks()] } as const } };
  const how = { reply: one.text, failed: one.does === "failed", ...(epochs && { epochs }), ...end };
  const { outcome } = ran(claim, how);
  if (one.does === "lost") {
    const again = await take(other, thread, { holder: "worker-2", alive: () => false });
    expect(again.epoch).toEqual(stood);
    await other.settle(again, ran(again, { reply: "taken over" }).outcome);
    await expect(store.settle(claim, outcome)).rejects.toMatchObject({ code: "lease_lost" });
  } else await store.settle(claim, outcome);
}

function knownContract({ numRuns, title }: ReturnType<typeof firstRuns>, address: () => Promise<string>): void {
  it(title("are read as from the tables, whatever two programs and an erasure do"), async () => {
    const where = await address();
    const stores = [await openStore(where, { parts }), await openStore(where, { parts })] as const;
    let contact = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 3, maxLength: 14 }), async (deeds) => {
        const scope = scopeOf(`ann ${++contact}`);
        const threads = [
          await open(stores[0], scope),
          await open(stores[0], scope, "other"),
          await open(stores[0], BOB),
        ];
        for (const [forks, one] of deeds.entries()) {
          await act({ stores, threads, forks: forks + 100 * contact }, one);
          for (const { scope, id } of threads) {
            const whole = await read(stores[0].part(RAW).whole(scope, id));
            for (const store of stores) {
              expect(await read(store.epoch(scope, id))).toEqual(whole);
              const turns = (await store.thread(scope, id))?.turns;
              expect(await store.sent(scope, id, turns)).toEqual(await store.part(RAW).sent(scope, id));
              expect(await store.openCalls(scope, id, turns)).toEqual(await store.part(RAW).calls(scope, id));
            }
          }
        }
      }),
      { numRuns, interruptAfterTimeLimit: 200_000 },
    );
    for (const store of stores) await store.close();
  });
}

describe("epochs that are known, in SQLite", () => {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  knownContract(firstRuns(40, 20), async () => join(folder, "strata.db"));
});

describe.skipIf(server === undefined)(title("epochs that are known, in PostgreSQL"), () => {
  const { make, url } = databases();
  knownContract(firstRuns(10, 5), async () => url(await make(await tablesOfToday(parts))));
});

describe("epochs that are known", () => {
  const known = (n: number, characters: number) => ({
    row: {
      ...ANN,
      thread: "thr" as ThreadId,
      n,
      reason: "first",
      cut: 0,
      mode: "full",
      prefix: "",
      entries: "",
      turn: "",
      start: 0,
    } as never,
    epoch: epochOf(n),
    end: { epoch: n, position: 0, rolling: null },
    characters,
  });

  it("are bounded by what they hold: those that were asked for longest ago go first", () => {
    const epochs = openKnownEpochs(10_000);
    const ids = ["a", "b", "c", "d"] as ThreadId[];
    for (const [n, id] of ids.slice(0, 3).entries()) epochs.put(ANN, id, known(n, 2_000));
    expect(epochs.get(ANN, ids[0] as ThreadId)?.end.epoch).toBe(0);
    epochs.put(ANN, ids[3] as ThreadId, known(3, 3_000));
    expect(ids.map((id) => epochs.get(ANN, id)?.end.epoch)).toEqual([0, undefined, 2, 3]);
    epochs.put(ANN, ids[3] as ThreadId, known(3, 20_000));
    expect(ids.map((id) => epochs.get(ANN, id)?.end.epoch)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("law 5 are a scope's own, and gone once its contact is erased", () => {
    const epochs = openKnownEpochs();
    const id = "thr" as ThreadId;
    for (const scope of [ANN, BOB]) epochs.put(scope, id, known(1, 10));
    expect(epochs.get(scopeOf("ann", "another"), id)).toBeUndefined();
    epochs.forget(ANN);
    expect([ANN, BOB].map((scope) => epochs.get(scope, id) !== undefined)).toEqual([false, true]);
  });
});
