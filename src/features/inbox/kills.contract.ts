import { randomBytes } from "node:crypto";
import { z } from "zod";
import {
  type Agent,
  contactId,
  isKept,
  REPLY_TOOL,
  type Request,
  readFrames,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { KillingStore } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { collect, message, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { INBOX_API } from "./api.ts";
import { replyTool } from "./index.ts";

/** Programs that die at most so often over one run; the next lives to the end. */
const DEATHS = 8;
/** A turn needs some 150 statements. */
const LIFE = 240;
/** In all, of which a turn can answer few: messages that come meanwhile could displace what a turn has begun. */
const MESSAGES = 8;
const SENDERS = ["ann", "bob", "cid"];
const TURN = { modelCalls: 12, toolCalls: 6, seconds: 120 };

/**
 * Messages of several senders, each of which makes the agent act outside, through programs that are killed after any number of statements
 * while other messages come. Returns how many died.
 * @throws Error if anything was done twice, or a message was lost or handled twice
 */
export async function surviveBatchKills({ store, mortal }: KillingStore, seed: number): Promise<number> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const base = sampleAgent();
  const agent = sampleAgent(
    {
      history: "log",
      inbox: "batch",
      tools: [REPLY_TOOL, "ring"].map(toolName),
      layers: base.layers.filter(({ source }) => source.kind === "text"),
      budgets: { ...base.budgets, turn: TURN },
    },
    `killed-${seed}`,
  );
  const rung: string[] = [];
  const dead = new Set<string>();
  let posted = 0;
  /** Sent again if its program died over it: the id of the message keeps it one. */
  const post = async ({ runtime, time }: TestRuntime): Promise<void> => {
    if (posted >= MESSAGES) return;
    const contact = SENDERS[posted % SENDERS.length] ?? "ann";
    const to = { agent: agent.name, contact: contactId(contact), channel: "test", key: "main" };
    await runtime.openAndPost(OPERATOR, to, [message(`Ring bell-${posted}.`, time.at, `m-${posted}`)]);
    posted++;
  };
  for (;;) {
    const holder = `${agent.name}-${dead.size}`;
    const life = dead.size < DEATHS ? 1 + chance(LIFE) : Number.POSITIVE_INFINITY;
    const died = await mortal(life, async () => {
      const meanwhile = async (bell: string): Promise<void> => {
        rung.push(bell);
        if (chance(3) === 0) await post(stand);
      };
      const alive = (one: string): boolean => !dead.has(one.replace(/\/.*$/, ""));
      const parts = { tools: ringing(meanwhile), holder, alive, random: randomBytes };
      const script = Array.from({ length: 200 }, () => reply);
      const stand = await testRuntime(script, { agent, store, parts });
      await serve(stand, agent, async () => {
        for (let some = chance(3); some >= 0; some--) await post(stand);
        return posted < MESSAGES;
      });
    });
    if (!died) break;
    dead.add(holder);
  }
  const wrong = [...(await problemsOf(store, agent)), ...doubled(rung)];
  if (wrong.length > 0) throw new Error(`run ${seed} after ${dead.size} deaths: ${wrong.join("; ")}`);
  return dead.size;
}

const ringing = (ring: (bell: string) => Promise<void>) =>
  toolset([
    replyTool(),
    defineTool({
      name: "ring",
      description: "Rings a bell.",
      input: z.strictObject({ bell: z.string() }),
      effect: "external",
      trust: "contact",
      run: async ({ bell }) => {
        await ring(bell);
        return { text: untrusted(`rang ${bell}`), failed: false };
      },
    }),
  ]);

/** Turns until nothing waits and nothing more comes. */
async function serve({ runtime }: TestRuntime, { name }: Agent, more: () => Promise<boolean>): Promise<void> {
  for (let isMore = true; ; ) {
    isMore &&= await more();
    const events = await collect(runtime.use(INBOX_API).runInbox(OPERATOR, name));
    const end = events.at(-1);
    if (end?.type === "failed") throw end.error;
    if (end === undefined && !isMore) return;
  }
}

/** A model that rings the bell of each message, one after the other, and then answers each sender: the request shows what it has done. */
function reply({ messages }: Request) {
  const [first] = messages;
  const texts = first?.role === "user" ? first.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [];
  const frames = readFrames(texts.join("\n")).filter(({ kind }) => kind === "message");
  const said = new Set(messages.flatMap((one) => (one.role === "tool" ? one.parts.map(({ id }) => id) : [])));
  const bells = [...new Set(texts.join("\n").match(/bell-\d+/g))];
  const next = bells.find((bell) => !said.has(bell));
  if (next !== undefined) return { parts: [{ call: "ring", id: next, input: { bell: next } }] };
  const senders = [...new Set(frames.flatMap(({ name }) => name ?? []))].filter((sender) => !said.has(sender));
  if (said.size > bells.length || senders.length < 2) return "All is done.";
  return {
    parts: senders.map((sender) => ({ call: REPLY_TOOL, id: sender, input: { sender, text: `Dear ${sender}.` } })),
  };
}

const doubled = (rung: readonly string[]): readonly string[] =>
  Object.entries(Object.groupBy(rung, (bell) => bell)).flatMap(([bell, times = []]) =>
    times.length > 1 ? [`${bell} was rung ${times.length} times`] : [],
  );

/** Problems in the record of a run that has ended. */
async function problemsOf(store: Store, { org, name }: Agent): Promise<readonly string[]> {
  const threads = await store.threads({ org, agent: name, contact: null }, 99);
  const turnsOf = async (some: typeof threads) =>
    (await Promise.all(some.map(({ scope, id }) => store.turns(scope, id)))).flat();
  const own = await turnsOf(threads.filter(({ channel }) => channel === "test"));
  const taken = own.filter(isKept).flatMap(({ events }) => events.map(({ id }) => id));
  const different = new Set(taken).size;
  const waiting = (await store.inbox({ org, agent: name }, { now: Date.now(), limit: 99 })).length;
  const running = (await turnsOf(threads)).filter(({ status }) => status === "running").length;
  return [
    ...(taken.length === MESSAGES && different === MESSAGES
      ? []
      : [`${taken.length} messages were handled, ${different} of them different`]),
    ...(waiting === 0 ? [] : [`${waiting} messages wait`]),
    ...(running === 0 ? [] : [`${running} turns are running`]),
  ];
}
