import fc from "fast-check";
import { expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import { actorId, asStrataError, batchContact, spoken, toolName, untrusted } from "../../protocol/index.ts";
import type { Claim, Thread } from "../records.ts";
import type { Store } from "../store.ts";
import {
  ANN,
  claiming,
  NOW,
  newOutbox,
  newThread,
  type OpenStore,
  OWNER,
  open,
  problems,
  ran,
  said,
  scopeOf,
  VERSION,
} from "./sample.contract.ts";

const NAMES = ["ann", "bob", "cid"] as const;
type Name = (typeof NAMES)[number];

/** A turn of one sender or of all who wait, with the calls that it makes and how it ends. */
interface Run {
  readonly deed: "run";
  readonly alone: Name | undefined;
  /** For how many of the waiting messages there is room. */
  readonly taken: number;
  readonly calls: readonly string[];
  /** Which call is begun and never ends. */
  readonly cut: number;
  /** Which contact is erased before which call. */
  readonly erase: { readonly who: Name; readonly before: number } | undefined;
  readonly end: "done" | "failed" | "crash";
}

type Deed = Run | { readonly deed: "message" | "erase"; readonly who: Name };

const who = fc.constantFrom(...NAMES);
const run: fc.Arbitrary<Run> = fc.record({
  deed: fc.constant("run" as const),
  alone: fc.option(who, { nil: undefined, freq: 2 }),
  taken: fc.constantFrom(9, 9, 2, 1),
  calls: fc.array(fc.constantFrom("door", "door", "back"), { minLength: 1, maxLength: 3 }),
  cut: fc.constantFrom(9, 9, 9, 0, 1),
  erase: fc.option(fc.record({ who, before: fc.constantFrom(0, 1, 9) }), { nil: undefined, freq: 5 }),
  end: fc.constantFrom("done", "failed", "failed", "crash"),
});
const message = fc.record({ deed: fc.constant("message" as const), who });
const erase = fc.record({ deed: fc.constant("erase" as const), who });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: message },
  { weight: 6, arbitrary: run },
  { weight: 1, arbitrary: erase },
);

const ringing = {
  deed: "run",
  alone: undefined,
  taken: 9,
  calls: ["door"],
  cut: 9,
  erase: undefined,
  end: "done",
} as const;

/** The calls made for two messages stay known for the one that did not fit into the turn that has since ended. */
const LEFT_OUT: Deed[] = [
  { deed: "message", who: "ann" },
  { ...ringing, alone: "ann", end: "failed" },
  { ...ringing, alone: "ann", taken: 1 },
  { ...ringing, alone: "ann" },
];

interface World {
  readonly store: Store;
  /** For which message which call has acted. */
  readonly acted: Set<string>;
}

/** What holds of calls that act outside, whatever happens to the turns that make them. */
export function callContract(openStore: OpenStore): void {
  const { numRuns, title } = firstRuns(12, 5);
  it(
    title("law 7 no call acts twice for one message, and the result of one is shown only to those it was made for"),
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 2, maxLength: 12 }), async (deeds) => {
          const world = { store: await openStore(), acted: new Set<string>() };
          for (const name of NAMES) await write(world, name);
          for (const one of deeds) {
            if (one.deed === "run") await runTurn(world, one);
            else await (one.deed === "message" ? write : forget)(world, one.who);
          }
          expect(await problems(world.store, ANN.org)).toEqual([]);
          await world.store.close();
        }),
        { numRuns, examples: [[LEFT_OUT]] },
      );
    },
  );
}

async function write({ store }: World, name: Name): Promise<void> {
  const thread = await open(store, scopeOf(name));
  await store.receive(thread.scope, thread.id, [said("Ring")]);
}

const forget = ({ store }: World, name: Name): Promise<unknown> =>
  store.eraseContact(scopeOf(name), { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);

/** Whoever held a thread before is gone: what they began is taken up. */
async function runTurn(world: World, wish: Run): Promise<void> {
  const { store } = world;
  const thread = wish.alone === undefined ? await nextOf(store) : await open(store, scopeOf(wish.alone));
  if (thread === undefined) return;
  const claimed = await unlessRefused(() => store.claim(thread.scope, thread.id, claiming({ alive: () => false })));
  if (claimed?.state !== "claimed") return;
  // A turn that is taken up again has room for all that it had room for before.
  const isAgain = [claimed.claim, ...(claimed.claim.batchMembers ?? [])].some(({ attempt }) => attempt > 1);
  const claim = withRoom(claimed.claim, isAgain ? Number.POSITIVE_INFINITY : wish.taken);
  const isWhole = await unlessRefused(() => callAll(world, claim, wish));
  const { end } = wish;
  if (isWhole !== true || end === "crash") return;
  await unlessRefused(() => store.settle(claim, outcomeOf(claim, end)));
}

function nextOf(store: Store): Promise<Thread | undefined> {
  const id = newThread();
  const rest = { channel: "inbox", version: VERSION, most: 5, nameOf: String, except: [], at: NOW, now: NOW };
  return store.openBatch(OWNER, { ...rest, id, contact: batchContact(id), alive: () => false });
}

/** Errors of a turn whose thread was taken, or whose sender was erased while it ran. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    const codes: readonly string[] = ["thread_busy", "lease_lost", "thread_not_found"];
    if (!codes.includes(asStrataError(thrown).code)) throw thrown;
    return undefined;
  }
}

function withRoom(claim: Claim, taken: number): Claim {
  const events = claim.events.slice(0, taken);
  const staged = claim.batchMembers?.map((one) => ({
    ...one,
    events: one.events.filter((event) => events.includes(event)),
  }));
  return { ...claim, events, ...(staged && { batchMembers: staged }) };
}

const handledOf = ({ batchMembers: staged = [] }: Claim): readonly Claim[] =>
  staged.filter(({ events }) => events.length > 0);

/** Makes the turn's calls. Gives whether it came to its end. */
async function callAll(world: World, claim: Claim, { calls, cut, erase }: Run): Promise<boolean> {
  const { store, acted } = world;
  const { scope, id: thread } = claim.thread;
  const handled = handledOf(claim);
  const senders = handled.map((one) => ({ scope: one.thread.scope, thread: one.thread.id, turn: one.turn }));
  const mine: readonly string[] = senders.length === 0 ? [thread] : senders.map((one) => one.thread);
  for (const [i, bell] of calls.entries()) {
    if (erase?.before === i) await forget(world, erase.who);
    const ordinal = calls.slice(0, i + 1).filter((one) => one === bell).length;
    const key = { thread, turn: claim.turn, ordinal, tool: toolName("ring"), input: { bell }, senders };
    const journal = await store.beginCall(scope, key, NOW);
    if (journal.state === "done") for (const other of journal.outcome.text.split(" ")) expect(mine).toContain(other);
    if (journal.state !== "new") continue;
    for (const { id } of claim.events) {
      const act = `${id} ${bell} ${ordinal}`;
      expect(acted.has(act), `${act} acts again`).toBe(false);
      acted.add(act);
    }
    if (cut === i) return false;
    await store.endCall(scope, key, { text: untrusted(mine.join(" ")), failed: false }, NOW);
  }
  if (erase !== undefined && erase.before >= calls.length) await forget(world, erase.who);
  return true;
}

function outcomeOf(claim: Claim, end: "done" | "failed") {
  const replies = handledOf(claim).map(({ thread }) => {
    return { thread: thread.id, reply: spoken("Rung."), replyId: newOutbox(), unremembered: [] };
  });
  return ran(claim, { failed: end === "failed", ...(claim.batchMembers && { more: { replies } }) }).outcome;
}
