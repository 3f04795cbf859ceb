import { randomBytes } from "node:crypto";
import { z } from "zod";
import {
  ANSWER_KIND,
  contactId,
  eventId,
  isKept,
  issueId,
  type Message,
  ownKind,
  type Request,
  threadId,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { KillingStore } from "../../store/index.contract.ts";
import type { Caller, Start, Store, Thread } from "../../store/index.ts";
import { collect, message, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../index.contract.ts";
import { defineTool, toolset } from "../tools/index.ts";
import { answersLater } from "./waits.ts";

/** Programs that die at most so often over one run; the next lives to the end. */
const DEATHS = 12;
/** A run needs some 250 statements, so that half of all programs die within it. */
const LIFE = 160;

const AGENT = sampleAgent({ tools: ["look", "ring", "ask_client", "ask_agent"].map(toolName) });
const PEER = "peer";
const QUESTION = "What is the time?";

/**
 * One message to a run that waits for a client and then for an agent, through programs that are killed after any number of statements: the
 * next one goes on with what the record says. Returns how many died.
 * @throws Error where the record does not say in the end that each step was taken once
 */
export async function surviveKills({ store, mortal }: KillingStore, seed: number): Promise<number> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const contact = `killed-${seed}`;
  const dead = new Set<string>();
  const rung: string[] = [];
  for (;;) {
    const holder = `${contact}-${dead.size}`;
    const isFollowing = chance(2) === 0;
    const died = await mortal(dead.size < DEATHS ? chance(LIFE) : Number.POSITIVE_INFINITY, async () => {
      const script = Array.from({ length: 9 }, () => reply);
      const alive = (one: string): boolean => !dead.has(one.replace(/\/.*$/, ""));
      const parts = { tools: tools(contact, rung), holder, alive, random: randomBytes };
      await goOn(await testRuntime(script, { agent: AGENT, store, parts }), { contact, isFollowing });
    });
    if (!died) break;
    dead.add(holder);
  }
  const wrong = await problemsOf(store, contact);
  if (rung.length > 1) wrong.push(`it rang ${rung.length} times`);
  if (wrong.length > 0) throw new Error(`run ${seed} after ${dead.size} deaths: ${wrong.join("; ")}`);
  return dead.size;
}

/** Tools that answer at once, one of which acts outside, and tools whose answers come later. */
const tools = (contact: string, rung: string[]) => {
  const tool = (name: string, effect: "none" | "external", run: Parameters<typeof defineTool>[0]["run"]) =>
    defineTool({ name, description: name, input: z.strictObject({}), effect, trust: "contact", run });
  return toolset([
    tool("look", "none", async () => ({ text: untrusted("saw it"), failed: false })),
    tool("ring", "external", async () => {
      rung.push(contact);
      return { text: untrusted("rang"), failed: false };
    }),
    tool("ask_client", "none", async (_, context) => answersLater(context, { waitsFor: "client" })),
    tool("ask_agent", "none", async (_, context) =>
      answersLater(context, { waitsFor: "agent", starts: (caller) => [question(contact, caller)] }),
    ),
  ]);
};

/** The agent asks itself, on a separate thread. */
function question(contact: string, caller: Caller): Start {
  const at = Date.now();
  const opening = {
    id: threadId(issueId("thread", at, randomBytes(10))),
    channel: PEER,
    key: caller.call,
    version: AGENT.version,
    at,
    caller,
  };
  const id = eventId(issueId("event", at, randomBytes(10)));
  const content = [{ type: "text", text: untrusted(QUESTION) }] as const;
  return {
    scope: { org: OPERATOR.org, agent: AGENT.name, contact: contactId(contact) },
    opening,
    events: [{ id, kind: ownKind("peer"), trust: "agent", channel: PEER, content, at }],
  };
}

const hasResult = (messages: readonly Message[], id: string): boolean =>
  messages.some((one) => one.role === "tool" && one.parts.some((part) => part.id === id));

/** A model that knows by what it is sent how far the run has come, whichever program asks it. */
function reply({ messages }: Request) {
  if (JSON.stringify(messages).includes(QUESTION)) return "Twelve.";
  const call = (name: string, id: string) => ({ call: name, id, input: {} });
  if (!hasResult(messages, "ask-1"))
    return { parts: [call("look", "look-1"), call("ring", "ring-1"), call("ask_client", "ask-1")] };
  return hasResult(messages, "ask-2") ? "All is answered." : { parts: [call("ask_agent", "ask-2")] };
}

/** What any program does that serves the conversation: post once, run what is due, and answer for the client. */
async function goOn(
  { runtime, store, time }: TestRuntime,
  { contact, isFollowing }: { readonly contact: string; readonly isFollowing: boolean },
): Promise<void> {
  const conversation = { agent: AGENT.name, contact: contactId(contact), channel: "test", key: "main" };
  const { thread } = await runtime.openAndPost(OPERATOR, conversation, [message("Begin.", time.at, contact)]);
  const run = async (one: Thread): Promise<void> => {
    const how = isFollowing && one.id === thread.id ? runtime.follow : runtime.runDue;
    const end = (await collect(how(OPERATOR, one))).at(-1);
    if (end?.type === "failed") throw end.error;
  };
  for (let round = 0; round < 9; round++) {
    await run(thread);
    const [open] = (await store.openCalls(thread.scope, thread.id)).filter((one) => one.state === "open");
    if (open?.waitsFor === "client") {
      const said = { kind: ANSWER_KIND, trust: "contact", channel: "test", at: time.at, answers: open.id } as const;
      const content = [{ type: "text", text: untrusted("noon") }] as const;
      const id = eventId(issueId("event", Date.now(), randomBytes(10)));
      await store.receive(thread.scope, thread.id, [{ ...said, id, content, externalId: `answer ${open.id}` }]);
    }
    for (const called of await store.calledThreads(thread.scope, thread.id)) await run(called);
    if (open === undefined && (await store.pending(thread.scope, thread.id)).length === 0) return;
  }
  throw new Error("the run does not come to its end");
}

const ROLES = "user assistant tool tool assistant tool assistant";

/** What is wrong with the record of a run that has ended. */
async function problemsOf(store: Store, contact: string): Promise<string[]> {
  const scope = { org: OPERATOR.org, agent: AGENT.name, contact: contactId(contact) };
  const threads = await store.threads(scope, 9);
  const [own, called] = [threads.find(({ caller }) => caller === undefined), threads.filter(({ caller }) => caller)];
  if (own === undefined) return ["its thread is not there"];
  const all = await store.turns(scope, own.id);
  const kept = all.filter(isKept);
  const answers = (await Promise.all(called.map(({ id }) => store.turns(scope, id)))).flat();
  const roles = (await store.epoch(scope, own.id))?.transcript.map(({ message: { role } }) => role).join(" ");
  const taken = kept.flatMap(({ events }) => events.map(({ id }) => id));
  const found = {
    statuses: kept.map(({ status }) => status).join(" "),
    runs: new Set(kept.map(({ run }) => run)).size,
    roles,
    taken: `${taken.length} events, ${new Set(taken).size} of them different`,
    answered: answers.filter(isKept).length,
    running: [...all, ...answers].filter(({ status }) => status === "running").length,
    open: (await store.openCalls(scope, own.id)).length,
  };
  const wanted: typeof found = {
    statuses: "waiting waiting done",
    runs: 1,
    roles: ROLES,
    taken: "3 events, 3 of them different",
    answered: 1,
    running: 0,
    open: 0,
  };
  return Object.entries(wanted).flatMap(([what, want]) => {
    const is = Object.entries(found).find(([name]) => name === what)?.[1];
    return is === want ? [] : [`${what}: ${is} instead of ${want}`];
  });
}
