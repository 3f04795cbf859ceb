import { type Script, scripted } from "../../models/index.ts";
import { type Agent, asStrataError, type Request, untrusted } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { collect, OPERATOR } from "../../turn/index.contract.ts";
import { PEER_API } from "./api.ts";
import { asks, GREETER, organism } from "./index.contract.ts";

const YAML = GREETER.replace(
  "    peers: [shouter]",
  "    buffer: {ttlHours: 24, threads: 1000000}\n    peers: [shouter]",
);
const HOUR = 3_600_000;
/** The number of conversations open at a time. */
const AT_ONCE = 20;

/** What a program holds in memory besides its record. */
interface Live {
  readonly timers: number;
  readonly leases: number;
  readonly turns: number;
  readonly heap: number;
}

/** It asks the shouter, and says nothing more to a warning. */
const greet: Script<Request> = ({ messages }) =>
  messages.some(({ role }) => role === "tool") ? "It is said." : asks("shouter", { name: "Ada" }, "ask");

/**
 * Opens the given number of conversations, each with a chain over an edge, leaves them idle, warns them, and lets them end.
 * @returns what was live after the first few, and at the end
 */
export async function openAndPrune(
  store: Store,
  chains: number,
): Promise<{ readonly first: Live; readonly last: Live }> {
  const time = { at: Date.UTC(2026, 10, 21) };
  const clock = { real: () => time.at, recorded: () => time.at };
  // Each turn has a separate model, because a scripted one keeps what it was sent.
  const modelOf = async ({ name }: Agent) => scripted(name === "greeter" ? [greet, greet] : ["HELLO ADA."]).model;
  const on = await organism(YAML, {}, { store, parts: { clock, modelOf } });
  const live = async (): Promise<Live> => {
    globalThis.gc?.();
    const { running, waiting } = on.runtime.load();
    return {
      timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
      leases: (await store.leases(OPERATOR.org)).length,
      turns: running + waiting,
      heap: process.memoryUsage().heapUsed,
    };
  };
  let first: Live | undefined;
  for (let begun = 0; begun < chains; begun += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, chains - begun) }, (_, i) => `guest-${begun + i}`);
    const content = [{ type: "text", text: untrusted("Greet Ada.") }] as const;
    const threads = await Promise.all(some.map((contact) => on.open("greeter", contact)));
    for (const thread of threads) await on.post(thread, { content, at: time.at });
    await Promise.all(threads.map((thread) => collect(on.runtime.follow(OPERATOR, thread))));
    time.at += 24 * HOUR;
    const idle = await on.runtime.use(PEER_API).idle(OPERATOR, on.agent.name);
    if (idle.length !== threads.length) throw new Error(`${idle.length} of ${threads.length} conversations are idle`);
    for (const thread of idle) await on.runtime.use(PEER_API).warn(OPERATOR, thread);
    await Promise.all(idle.map((thread) => collect(on.runtime.run(OPERATOR, thread))));
    time.at += HOUR;
    for (const thread of threads) {
      const refused = await on.post(thread, { content, at: time.at }).then(
        () => "taken",
        (thrown) => asStrataError(thrown).code,
      );
      if (refused !== "thread_pruned") throw new Error(`${thread.id} is not over: ${refused}`);
    }
    first ??= await live();
  }
  const last = await live();
  if (first === undefined) throw new Error("no conversation was opened");
  return { first, last };
}
