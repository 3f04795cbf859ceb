import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { OUTBOX_STORE } from "../features/deliveries/store.ts";
import { claiming, edited, NOW, open, PARTS, ran, said, scopeOf, take } from "./contract/sample.contract.ts";
import { openStore, type Store } from "./index.ts";

/** What a separate program of `race.test.ts` is told to do, as one line of JSON on its stdin. It answers with lines, and `END` after the last. */
export interface Deed {
  readonly address: string;
  readonly deed: "open" | "run" | "work" | "deliver" | "edit" | "go on";
  readonly count: number;
}

export const END = "end";

const ann = scopeOf("ann");

/** Opens conversations that others open too, and tells their ids. */
async function openAll(store: Store, count: number): Promise<void> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await open(store, ann, `key ${n}`)).id);
  console.log(JSON.stringify(ids));
}

/** Runs whatever it gets hold of, and tells which turns were its own. */
async function runAll(store: Store, count: number): Promise<void> {
  const turns: string[] = [];
  for (let n = 0; n < count; n++) {
    const thread = await open(store, ann, `key ${n}`);
    const claim = await take(store, thread, { holder: `program ${process.pid}` }).catch(() => undefined);
    if (!claim) continue;
    await store.settle(claim, ran(claim).outcome);
    turns.push(claim.turn);
  }
  console.log(JSON.stringify(turns));
}

/** Short, so that a stalled program soon loses its thread. */
const LEASE_MS = 1_500;

/** Runs a turn on every thread of which it gets hold, and tells when it began and how its commit went; until nothing waits. */
async function workAll(store: Store, count: number): Promise<void> {
  const holder = `program ${process.pid}`;
  const tell = (about: object): void => console.log(JSON.stringify({ ...about, at: Date.now() }));
  for (let left = await store.threads(ann, 1_000); left.length > 0; ) {
    const taken = new Set<string>();
    for (const thread of left) {
      const now = Date.now();
      const claimed = await store.claim(ann, thread.id, claiming({ holder, now, until: now + LEASE_MS }));
      if (claimed.state !== "idle") taken.add(thread.id);
      if (claimed.state !== "claimed") continue;
      const { claim } = claimed;
      tell({ thread: thread.id, turn: claim.turn, did: "begin" });
      await setTimeout(count);
      const did = await store.settle(claim, ran(claim).outcome).then(
        () => "commit",
        (thrown) => thrown.code,
      );
      tell({ thread: thread.id, turn: claim.turn, did });
    }
    left = left.filter(({ id }) => taken.has(id));
  }
}

/** Delivers until nothing is due any more, and tells what. */
async function deliverAll(store: Store): Promise<void> {
  const holder = `program ${process.pid}`;
  const given: string[] = [];
  const { dueDeliveries, noteDelivery } = store.part(OUTBOX_STORE);
  for (;;) {
    const due = await dueDeliveries(ann, { holder, now: NOW, until: NOW + 1, limit: 3 });
    if (due.length === 0) break;
    for (const { id } of due) {
      if (await noteDelivery(ann, holder, { outbox: id, at: NOW })) given.push(id);
    }
  }
  console.log(JSON.stringify(given));
}

/** Edits a text of agents that others edit too, and reports which of them has its text active. */
async function editAll(store: Store, count: number): Promise<void> {
  const active: string[] = [];
  for (let n = 0; n < count; n++) {
    const whose = scopeOf("ann", `agent-${n}`);
    const version = await store.editText(whose, edited(`by ${process.pid}`), NOW);
    if (version.active) active.push(whose.agent);
  }
  console.log(JSON.stringify(active));
}

/** Receives and answers until it is killed, and tells each message that was surely stored. */
async function goOn(store: Store): Promise<void> {
  const thread = await open(store, ann, "endless");
  for (let n = 0; ; n++) {
    const externalId = `${process.pid}-${n}`;
    await store.receive(ann, thread.id, [said(externalId, { externalId })]);
    console.log(externalId);
    const claim = await take(store, thread, { alive: () => false });
    await store.settle(claim, ran(claim, n % 5 === 4 ? { failed: true } : {}).outcome);
  }
}

const DEEDS = { open: openAll, run: runAll, work: workAll, deliver: deliverAll, edit: editAll, "go on": goOn };

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { address, deed, count }: Deed = JSON.parse(line);
    const store = await openStore(address, { parts: PARTS });
    await DEEDS[deed](store, count);
    await store.close();
    console.log(END);
  }
}
