import { allParts } from "../../src/app/entry/features.ts";
import { asks, GREETER, organism } from "../../src/features/peers/index.contract.ts";
import type { Script } from "../../src/models/index.ts";
import { type Request, untrusted } from "../../src/protocol/index.ts";
import { openStore } from "../../src/store/index.ts";
import { OPERATOR } from "../../src/turn/index.contract.ts";

/** What so many chains cost that are begun at once: each is three turns, of two agents, with a model that answers at once. */
export interface ChainsCost {
  readonly database: "sqlite" | "postgres";
  readonly chains: number;
  readonly perSecond: number;
  /** From the message to the end of its chain, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Bytes of memory that stay when all have ended. */
  readonly kept: number;
}

const greet: Script<Request> = ({ messages }) =>
  messages.some(({ role }) => role === "tool") ? "It is said." : asks("shouter", { name: "Ada" }, "ask");

/** Begins them all at once on an empty database, and follows each to its end. */
export async function chainsCost(
  database: ChainsCost["database"],
  address: string,
  chains: number,
): Promise<ChainsCost> {
  const store = await openStore(address, { keptOut: () => false, parts: await allParts(), mayCopy: false });
  try {
    const on = await organism(
      GREETER,
      {
        greeter: Array.from({ length: 2 * chains }, () => greet),
        shouter: Array.from({ length: chains }, () => "HELLO ADA."),
      },
      { store, parts: { scheduling: { atOnce: 10, waiting: chains, chains: "depth" } } },
    );
    const content = [{ type: "text", text: untrusted("Greet Ada.") }] as const;
    const threads = [];
    for (let i = 0; i < chains; i++) threads.push(await on.open("greeter", `guest-${i}`));
    for (const thread of threads) await on.post(thread, { content });
    const [before, began] = [heap(), performance.now()];
    const times = await Promise.all(
      threads.map(async (thread) => {
        let last: string | undefined;
        for await (const event of on.runtime.follow(OPERATOR, thread)) last = event.type;
        if (last !== "done") throw new Error(`a chain ended with ${last}`);
        return performance.now() - began;
      }),
    );
    const took = performance.now() - began;
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(chains - 1, Math.floor(share * chains))] ?? Number.NaN;
    const { running, waiting } = on.runtime.load();
    if (running + waiting + (await store.leases(OPERATOR.org)).length > 0) throw new Error("something is still held");
    return { database, chains, perSecond: (chains / took) * 1_000, p50: at(0.5), p99: at(0.99), kept: heap() - before };
  } finally {
    await store.close();
  }
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
