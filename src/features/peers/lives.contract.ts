import { randomBytes } from "node:crypto";
import type { Script } from "../../models/index.ts";
import {
  agentName,
  asStrataError,
  contactId,
  isKept,
  type Request,
  readFrames,
  type StoredEvent,
} from "../../protocol/index.ts";
import type { KillingStore } from "../../store/index.contract.ts";
import type { Store, Thread } from "../../store/index.ts";
import { collect, OPERATOR } from "../../turn/index.contract.ts";
import type { AnswerStep } from "../../turn/index.ts";
import { PEER_API } from "./api.ts";
import { payloadIn, peerAnswer } from "./handler.ts";
import { loadYaml, organism } from "./index.contract.ts";

/** `one` and `two` are entries and may forget; `relay` has a handler, forwards its input, and answers with the reply. */
const ENTRIES = ["one", "two"] as const;
const NAMES = [...ENTRIES, "relay"] as const;

/** Minutes, except the last two. */
const RULES = { ttl: 60, grace: 10, due: 5, threads: 3, slots: 9 } as const;

const MINUTE = 60_000;
/** The time between lives, after which all earlier conversations are over. */
const BETWEEN = 1_000 * 60 * MINUTE;
/** Of more lives than these, the first begin again in 2026: a time has four digits for its year. */
const SEEDS = 50_000;
const BEGIN = Date.UTC(2026, 10, 21);

const buffer = `buffer: {ttlHours: ${RULES.ttl / 60}, graceMinutes: ${RULES.grace}, threads: ${RULES.threads}, slots: ${RULES.slots}}`;
const agentYaml = (name: string): string => `  ${name}:
    description: Does its part.
    peers: [${NAMES.map((to) => (name === "relay" ? to : `{name: ${to}, seconds: ${RULES.due * 60}}`)).join(", ")}]
    ${name === "relay" ? "" : buffer}
    budgets: {turn: {modelCalls: 1000, toolCalls: 1000}}
    payload:
      type: Plan
      schema: {type: object, properties: {plan: {type: string}}, required: [plan], additionalProperties: false}
    layers:
      - {id: core, rank: 0, text: Do your part.}
`;
const YAML = `organization: home\nentry: [${ENTRIES.join(", ")}]\nagents:\n${NAMES.map(agentYaml).join("")}`;

/** One agent's task: ask these, all at once or one after the other, then say its token with their answers. */
interface Plan {
  readonly token: string;
  readonly atOnce: boolean;
  readonly asks: readonly { readonly to: string; readonly plan: Plan }[];
}

type Chance = (most: number) => number;

/** Somebody's conversation, as the reference knows it. */
interface Talk {
  readonly agent: (typeof ENTRIES)[number];
  readonly contact: string;
  readonly key: string;
  readonly said: Plan[];
  thread?: Thread;
  /** Messages since its last run ended. */
  inRun: number;
  /** How many turns were kept, how many ended, when it was last active, and since when it has been warned without activity. */
  turns: number;
  ended: number;
  last: number;
  warned?: number | undefined;
}

/** What happened over many lives. */
export type LivesTally = Record<
  "steps" | "deaths" | "chains" | "late" | "warned" | "pruned" | "full" | "intruders",
  number
>;

export const NO_LIVES: LivesTally = {
  steps: 0,
  deaths: 0,
  chains: 0,
  late: 0,
  warned: 0,
  pruned: 0,
  full: 0,
  intruders: 0,
};

/** A life across the programs that run it. */
interface Life {
  readonly store: Store;
  readonly chance: Chance;
  readonly seed: number;
  readonly talks: Talk[];
  /** Calls whose time ran out before their answer came. */
  readonly late: Set<string>;
  readonly sent: string[];
  readonly tally: LivesTally;
  now: number;
}

type Program = Awaited<ReturnType<typeof organism>>;

/** One step. If the program dies in it, the next one repeats it, so it must be idempotent. */
type Step = (program: Program) => Promise<void>;

const DEATHS = 4;
/** Statements that a program lives for, at most. */
const LIFE = 1_500;
const STEPS = 40;

/**
 * A random life of some conversations of two contacts with two agents: they are opened, written to, asked on over chains, left alone,
 * warned and closed, while answers come late and programs die anywhere. A reference model checks some rules: admission, idleness, and the
 * last message of each conversation.
 * @throws Error if the record or an answer differs from the reference (S1 to S5)
 */
export async function liveThrough({ store, mortal }: KillingStore, seed: number, tally: LivesTally): Promise<void> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance: Chance = (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const life: Life = {
    store,
    chance,
    seed,
    talks: [],
    late: new Set(),
    sent: [],
    tally,
    now: BEGIN + (seed % SEEDS) * BETWEEN,
  };
  const dead = new Set<string>();
  let left = STEPS;
  let current: Step | undefined;
  for (let isOver = false; !isOver; ) {
    const holder = `life-${seed}-${dead.size}`;
    const died = await mortal(dead.size < DEATHS ? chance(LIFE) : Number.POSITIVE_INFINITY, async () => {
      for (const talk of life.talks) await lookAt(life, talk);
      const program = await begun(life, holder, (one) => !dead.has(one.replace(/\/.*$/, "")));
      for (; left > 0; left--) {
        current ??= nextStep(life);
        await current(program);
        current = undefined;
        tally.steps++;
      }
      await untilQuiet(life, program);
      await closeAll(life, program);
      isOver = true;
    });
    if (!died) continue;
    dead.add(holder);
    tally.deaths++;
  }
  const wrong = await problemsOf(life);
  if (wrong.length > 0) throw new Error(`life ${seed} after ${dead.size} deaths: ${wrong.join("; ")}`);
}

/** The same for all programs of all lives. */
let project: ReturnType<typeof loadYaml> | undefined;

async function begun(life: Life, holder: string, alive: (holder: string) => boolean): Promise<Program> {
  const script = Array.from({ length: 2_000 }, () => (request: Request) => {
    life.sent.push(JSON.stringify(request.messages));
    return reply(request);
  });
  const clock = { real: () => life.now, recorded: () => life.now };
  project ??= loadYaml(YAML);
  return organism(project, Object.fromEntries(NAMES.map((name) => [name, script])), {
    store: life.store,
    steps: [{ answer: RELAY }],
    parts: { holder, alive, random: randomBytes, clock },
  });
}

function nextStep(life: Life): Step {
  const kind = life.chance(12);
  if (kind < 1) return opening(life);
  if (kind < 4) return saying(life);
  if (kind < 9) return running(life);
  if (kind < 10) return waiting(life, 1 + life.chance(4));
  if (kind < 11) return life.chance(2) === 0 ? waiting(life, RULES.ttl) : warning(life);
  return intruding(life);
}

function planOf(chance: Chance, token: string, to: string, depth: number): Plan {
  const width = depth === 0 ? 0 : chance(to === "relay" ? 2 : 3);
  const asks = Array.from({ length: width }, (_, i) => {
    const next = NAMES[chance(NAMES.length)] ?? "one";
    return { to: next, plan: planOf(chance, `${token}.${i}`, next, depth - 1) };
  });
  return { token, atOnce: chance(2) === 0, asks };
}

/** The reference of an answer. A call whose time ran out came to nothing. */
function answerTo({ token, asks }: Plan, late: ReadonlySet<string>): string {
  const said = asks.map(({ plan }, i) => (late.has(callIn(token, i)) ? LATE : answerTo(plan, late)));
  return `${token}(${said.join(",")})`;
}

const LATE = "late";
const callIn = (token: string, i: number): string => `ask-${token}-${i}`;

/** What every agent with a model does: it reads its plans out of the request, and how far it has come with them. */
function reply({ messages }: Request): Exclude<Script<Request>, (request: Request) => unknown> {
  const results = new Map<string, string>();
  let plans: Plan[] = [];
  for (const { role, parts } of messages) {
    if (role === "assistant") {
      // The message answered everything before it.
      if (parts.every(({ type }) => type !== "call")) plans = [];
      continue;
    }
    for (const part of parts) {
      if (part.type === "result") results.set(part.id, readFrames(part.text)[0]?.text ?? part.text);
      // What a cut keeps was answered.
      if (part.type === "text")
        plans.push(...readFrames(part.text).flatMap(({ kind, text }) => (kind === "earlier" ? [] : planIn(text))));
    }
  }
  const calls = plans.flatMap((plan) => {
    const left = plan.asks
      .map((one, i) => ({ ...one, id: callIn(plan.token, i) }))
      .filter(({ id }) => !results.has(id));
    return plan.atOnce ? left : left.slice(0, 1);
  });
  if (calls.length > 0)
    return {
      parts: calls.map(({ to, plan, id }) => ({ call: `ask_${to}`, id, input: { plan: JSON.stringify(plan) } })),
    };
  const answers = plans.map(({ token, asks }) => {
    const said = asks.map((_, i) => results.get(callIn(token, i)) ?? "");
    return `${token}(${said.map((one) => (TOKEN.test(one) ? one : LATE)).join(",")})`;
  });
  return answers.length === 0 ? "noted" : answers.join(" ");
}

/** A token names the life and the conversation. */
const TOKEN = /^t\d+-\d+-/;

function planIn(text: string): readonly Plan[] {
  const found: { readonly payload?: { readonly plan?: string } } = text.startsWith("{") ? JSON.parse(text) : {};
  return found.payload?.plan === undefined ? [] : [JSON.parse(found.payload.plan)];
}

/** Like a handler: it forwards its question, and answers with the reply. */
const RELAY: AnswerStep = {
  by: "relay",
  effect: "none",
  alone: ({ name }) => name === "relay",
  answer: async ({ parts, setup, lease }, { events }) => {
    if (setup.agent.name !== "relay") return undefined;
    const { thread } = lease.claim;
    const [first] = await parts.store.slots(thread.scope, thread.id, { limit: 1 });
    const event = events.at(-1);
    const payload = first === undefined ? payloadIn(event ?? { content: [] }).payload : first.payload;
    const [plan] = planIn(JSON.stringify({ payload }));
    if (plan === undefined || event === undefined) throw new Error("the relay got no plan");
    const [ask] = plan.asks;
    if (event.kind !== "answer" && ask !== undefined)
      return peerAnswer(setup.agent, { to: ask.to, payload: { plan: JSON.stringify(ask.plan) } });
    const said = event.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return peerAnswer(setup.agent, { payload: `${plan.token}(${event.kind === "answer" ? said : ""})` });
  },
};

const conversationOf = ({ agent, contact, key }: Talk) => ({
  agent: agentName(agent),
  contact: contactId(contact),
  channel: "test",
  key,
});

/** Whether something on the thread is to be done, or waited for. */
const isBusy = async ({ store }: Life, { thread }: Talk): Promise<boolean> =>
  thread !== undefined &&
  ((await store.untaken(thread.scope, thread.id)).length > 0 ||
    (await store.openCalls(thread.scope, thread.id)).length > 0);

const isWarned = async (life: Life, talk: Talk): Promise<boolean> =>
  talk.warned !== undefined && !(await isBusy(life, talk));

/** Whether a warning is the last word on it, and there is still time. */
async function hasWarning({ store, now }: Life, { thread, warned }: Talk): Promise<boolean> {
  const last = thread && (await store.untaken(thread.scope, thread.id)).at(-1);
  const at = last === undefined ? warned : last.kind === "warning" ? last.at : undefined;
  return at !== undefined && at > now - RULES.grace * MINUTE;
}

/** The reference for whether a conversation is over. */
const isOver = async (life: Life, talk: Talk): Promise<boolean> =>
  talk.warned !== undefined && life.now >= talk.warned + RULES.grace * MINUTE && (await isWarned(life, talk));

const isIdle = async (life: Life, talk: Talk): Promise<boolean> =>
  talk.warned === undefined && life.now - talk.last >= RULES.ttl * MINUTE && !(await isBusy(life, talk));

/** Does it, and compares the error that it ends in with the one that the reference foresees. */
async function expected(what: string, code: string | undefined, work: () => Promise<unknown>): Promise<void> {
  const came = await work().then(
    () => undefined,
    (thrown) => {
      const error = asStrataError(thrown);
      if (error.code === "unexpected") throw thrown;
      return error.code;
    },
  );
  if (came !== code) throw new Error(`${what} came to ${came ?? "pass"} instead of ${code ?? "passing"}`);
}

/** A conversation begins, if its agent has room for one. */
function opening(life: Life): Step {
  const { chance, seed, talks, tally } = life;
  const agent = ENTRIES[chance(2)] ?? "one";
  const talk: Talk = {
    agent,
    contact: `life-${seed}-${chance(2)}`,
    key: `k${talks.length}`,
    said: [],
    turns: 0,
    ended: 0,
    inRun: 0,
    last: life.now,
  };
  let refused: Talk | null | undefined;
  return async ({ runtime, store }) => {
    // Whatever waits for a turn or an answer stays open, however long; the time of the answer does not matter.
    const rests: Talk[] = [];
    let busy = 0;
    let isOneWarned = false;
    for (const one of talks.filter((other) => other.agent === agent)) {
      if (await hasWarning(life, one)) isOneWarned = true;
      if (await isBusy(life, one)) busy++;
      else if (one.last > life.now - (RULES.ttl + RULES.grace) * MINUTE && !(await isOver(life, one))) rests.push(one);
    }
    const isFull = busy + rests.length >= RULES.threads;
    const oldest = rests.toSorted(
      (a, b) => a.last - b.last || (String(a.thread?.id) < String(b.thread?.id) ? -1 : 1),
    )[0];
    // If this is repeated, it was warned before.
    if (isFull && refused === undefined && oldest !== undefined) {
      const isLive = oldest.warned === undefined && !(await isIdle(life, oldest));
      // One at a time.
      refused = isLive && !isOneWarned ? oldest : null;
    }
    await expected(`opening ${talk.key}`, isFull ? "buffer_full" : undefined, async () => {
      talk.thread = await runtime.open(OPERATOR, conversationOf(talk));
    });
    if (talk.thread !== undefined) talks.push(talk);
    else tally.full++;
    if (refused === undefined || refused === null || refused.thread === undefined) return;
    const waits = (await store.untaken(refused.thread.scope, refused.thread.id)).map(({ kind }) => kind);
    if (waits.join() !== "warning") throw new Error(`${refused.key}, the oldest, has ${waits} instead of a warning`);
    refused.last = life.now;
  };
}

/** A message in a conversation, refused if that is over or full. */
function saying(life: Life): Step {
  const { chance, seed, talks, tally } = life;
  const talk = talks[chance(talks.length)];
  if (talk === undefined) return opening(life);
  const plan = planOf(chance, `t${seed}-${talks.indexOf(talk)}-${talk.said.length}`, talk.agent, 2);
  let foreseen: string | undefined;
  let [isFirst, isTooMuch] = [true, false];
  return async ({ runtime, store }) => {
    const { thread } = talk;
    if (thread === undefined) return;
    if (isFirst) {
      // Each of many questions in one run gets half of the rest, until nothing is left.
      if (!(await isBusy(life, talk))) talk.inRun = 0;
      isTooMuch = talk.inRun >= 3;
      const slots = (await store.slots(thread.scope, thread.id)).length;
      const over = await isOver(life, talk);
      foreseen = over ? "thread_pruned" : slots >= RULES.slots ? "thread_full" : undefined;
      isFirst = false;
    }
    if (isTooMuch) return;
    const content = [{ type: "payload", payloadType: "Plan", payload: { plan: JSON.stringify(plan) } }] as const;
    const event = { kind: "message", trust: "contact", channel: "test", at: life.now, content } as const;
    const externalId = `${plan.token} ${talk.contact}`;
    await expected(`saying ${plan.token}`, foreseen, () => runtime.post(OPERATOR, thread, [{ ...event, externalId }]));
    if (foreseen === "thread_pruned") tally.pruned++;
    if (foreseen === "thread_full") tally.full++;
    if (foreseen !== undefined) return;
    talk.said.push(plan);
    talk.inRun++;
    talk.last = life.now;
    tally.chains += plan.asks.length;
  };
}

/** One turn of whatever is due, in any order. */
const running = (life: Life): Step => {
  const which = life.chance(1_000);
  return async (program) => void (await runOne(life, program, which));
};

async function runOne(life: Life, { runtime, store }: Program, which: number): Promise<boolean> {
  const due: Thread[] = [];
  for (const { thread } of life.talks)
    if (thread !== undefined && (await store.pending(thread.scope, thread.id)).length > 0) due.push(thread);
  for (const name of NAMES)
    for (const one of await runtime.dueRuns(OPERATOR, agentName(name)))
      if (String(one.scope.contact).startsWith(`life-${life.seed}-`)) due.push(one);
  const next = due[which % due.length];
  if (next === undefined) return false;
  const end = (await collect(runtime.runDue(OPERATOR, next))).at(-1);
  if (end?.type === "failed") throw end.error;
  for (const talk of life.talks) await lookAt(life, talk);
  return true;
}

/** What its turns did, however the program that ran them ended. */
async function lookAt({ store, now, tally }: Life, talk: Talk): Promise<void> {
  if (talk.thread === undefined) return;
  const { scope, id } = talk.thread;
  // All turns with all their requests are much to read after each step.
  const { turns: ended = 0 } = (await store.thread(scope, id)) ?? {};
  if (ended === talk.ended) return;
  const turns = (await store.turns(scope, id)).filter(isKept);
  talk.ended = ended;
  if (turns.length === talk.turns) return;
  const event: StoredEvent | undefined = turns.at(-1)?.events.at(-1);
  [talk.turns, talk.last] = [turns.length, now];
  talk.warned = event?.kind === "warning" ? event.at : undefined;
  if (talk.warned !== undefined) tally.warned++;
}

/** Time passes, and calls whose time is up are answered. */
function waiting(life: Life, minutes: number): Step {
  let isFirst = true;
  return async ({ runtime, store }) => {
    if (isFirst) life.now += minutes * MINUTE;
    isFirst = false;
    for (const thread of await threadsOf(life)) {
      const open = (await store.openCalls(thread.scope, thread.id)).filter(({ state }) => state === "open");
      for (const { call, due } of open) if (due !== undefined && due <= life.now) life.late.add(call);
    }
    for (const name of NAMES) await runtime.answerOverdue(OPERATOR, agentName(name));
    for (const thread of await threadsOf(life)) {
      const open = (await store.openCalls(thread.scope, thread.id)).filter(({ state }) => state === "open");
      const left = open.find(({ call }) => life.late.has(call));
      if (left !== undefined) throw new Error(`${left.call} is still waited for`);
    }
  };
}

/** Conversations on which nothing happens are found, and warned. */
const warning =
  (life: Life): Step =>
  async ({ runtime, store }) => {
    for (const agent of ENTRIES) {
      const found = (await runtime.use(PEER_API).idle(OPERATOR, agentName(agent))).map(({ id }) => id);
      for (const talk of life.talks.filter((one) => one.agent === agent)) {
        if (talk.thread === undefined) continue;
        const isFound = found.includes(talk.thread.id);
        if (isFound !== (await isIdle(life, talk)))
          throw new Error(`${talk.key} is ${isFound ? "" : "not "}said to be idle`);
        if (!isFound) continue;
        const { scope, id } = talk.thread;
        await runtime.use(PEER_API).warn(OPERATOR, (await store.thread(scope, id)) ?? talk.thread);
        // The next program finds it warned.
        talk.last = life.now;
        if ((await store.untaken(talk.thread.scope, talk.thread.id)).length !== 1)
          throw new Error("it was warned twice");
      }
    }
  };

/** Nobody from outside says anything on a thread between agents, by whatever name (S2). */
const intruding = (life: Life): Step => {
  const which = life.chance(1_000);
  return async ({ runtime, store }) => {
    const called = (await threadsOf(life)).filter(({ caller }) => caller !== undefined);
    const target = called[which % called.length];
    if (target === undefined) return;
    const before = (await store.untaken(target.scope, target.id)).length;
    const content = [{ type: "payload", payloadType: "Plan", payload: { plan: "{}" } }] as const;
    const event = { kind: "message", trust: "contact", channel: "peer", at: life.now, content } as const;
    const { channel, key, scope } = target;
    const named = { agent: scope.agent, contact: scope.contact, channel, key };
    for (const way of [
      () => runtime.post(OPERATOR, target, [event]),
      () => runtime.openAndPost(OPERATOR, named, [event]),
      () => runtime.open(OPERATOR, named),
    ]) {
      const came = await way().then(
        () => "pass",
        (thrown) => asStrataError(thrown).code,
      );
      if (came === "pass" || came === "unexpected") throw new Error(`an intrusion on ${target.id} came to ${came}`);
    }
    if ((await store.untaken(target.scope, target.id)).length !== before)
      throw new Error(`${target.id} heard an intruder`);
    life.tally.intruders++;
  };
};

async function untilQuiet(life: Life, program: Program): Promise<void> {
  for (let round = 0; round < 1_000; round++) if (!(await runOne(life, program, life.chance(1_000)))) return;
  throw new Error("the chains do not come to their end");
}

/** In the end, all conversations are left alone, warned and over, and nothing of them is held. */
async function closeAll(life: Life, program: Program): Promise<void> {
  life.now += RULES.ttl * MINUTE;
  await warning(life)(program);
  await untilQuiet(life, program);
  life.now += RULES.grace * MINUTE;
  for (const talk of life.talks)
    await expected(`opening ${talk.key} again`, "thread_pruned", () =>
      program.runtime.open(OPERATOR, conversationOf(talk)),
    );
  const held = await program.store.leases(OPERATOR.org);
  if (held.length > 0) throw new Error(`${held.length} threads are still held`);
}

/** Problems in the record at the end. */
async function problemsOf(life: Life): Promise<string[]> {
  const { store, talks, late, sent, tally } = life;
  const wrong: string[] = [];
  for (const thread of await threadsOf(life)) {
    const taken = (await store.turns(thread.scope, thread.id))
      .filter(isKept)
      .flatMap(({ events }) => events.map(({ id }) => id));
    if (new Set(taken).size !== taken.length) wrong.push(`${thread.id} took an event twice`);
    if ((await store.openCalls(thread.scope, thread.id)).length > 0) wrong.push(`${thread.id} still waits`);
    if ((await store.untaken(thread.scope, thread.id)).length > 0) wrong.push(`${thread.id} has events left`);
  }
  for (const { thread, said, key } of talks) {
    if (thread === undefined) continue;
    const ends = (await store.turns(thread.scope, thread.id)).map(({ end }) =>
      end?.status === "done" ? end.reply : "",
    );
    const answers = ends.flatMap((text) => (text ?? "").split(" ")).filter((text) => TOKEN.test(text));
    const wanted = said.map((plan) => answerTo(plan, late));
    if (answers.join(" ") !== wanted.join(" ")) wrong.push(`${key} was told ${answers} instead of ${wanted}`);
  }
  const asks = talks.flatMap(({ said }) => said).reduce((sum, plan) => sum + asksIn(plan), 0);
  const called = (await threadsOf(life)).filter(({ caller }) => caller !== undefined);
  if (called.length !== asks) wrong.push(`${called.length} threads were begun for ${asks} calls`);
  for (const one of sent)
    if (new Set([...one.matchAll(/t\d+-\d+-/g)].map(([token]) => token)).size > 1)
      wrong.push("a request holds two conversations");
  tally.late += late.size;
  return wrong;
}

const asksIn = ({ asks }: Plan): number => asks.reduce((sum, { plan }) => sum + 1 + asksIn(plan), 0);

async function threadsOf({ store, seed }: Life): Promise<readonly Thread[]> {
  const found: Thread[] = [];
  for (const name of NAMES)
    for (const contact of [0, 1])
      found.push(
        ...(await store.threads(
          { org: OPERATOR.org, agent: agentName(name), contact: contactId(`life-${seed}-${contact}`) },
          500,
        )),
      );
  return found;
}
