import { randomBytes } from "node:crypto";
import { agentName, contactId, isKept, type Json, type Request, readFrames } from "../../protocol/index.ts";
import type { KillingStore } from "../../store/index.contract.ts";
import type { Store, Thread } from "../../store/index.ts";
import { collect, OPERATOR } from "../../turn/index.contract.ts";
import { organism } from "./index.contract.ts";

/** Programs that die at most so often over the life of one pair of conversations; the next lives to the end. */
const DEATHS = 8;
/** Statements that a program lives for, at most: a chain of three needs some 500. */
const LIFE = 400;

const NAMES = ["one", "two", "three"] as const;

const agentYaml = (name: string): string => `  ${name}:
    description: Does its part.
    peers: [${NAMES.join(", ")}]
    budgets: {turn: {modelCalls: 100, toolCalls: 200}}
    payload:
      type: Plan
      schema: {type: object, properties: {plan: {type: string}}, required: [plan], additionalProperties: false}
    layers:
      - {id: core, rank: 0, text: Do your part.}
`;
const YAML = `organization: home\nentry: [one]\nagents:\n${NAMES.map(agentYaml).join("")}`;

/** One agent's task: ask these, all at once or one after the other, then say its token with their answers. */
interface Plan {
  readonly token: string;
  readonly atOnce: boolean;
  readonly asks: readonly { readonly to: string; readonly plan: Plan }[];
}

/** The reference: the final answer of the agent with this plan, whatever happens on the way. */
const answerTo = ({ token, asks }: Plan): string => `${token}(${asks.map(({ plan }) => answerTo(plan)).join(",")})`;

/** How many threads of peers a plan begins, of whatever agents. */
const threadsOf = ({ asks }: Plan): number => asks.reduce((sum, { plan }) => sum + 1 + threadsOf(plan), 0);

type Chance = (most: number) => number;

function planOf(chance: Chance, token: string, depth: number): Plan {
  const width = depth === 0 ? 0 : chance(3);
  const asks = Array.from({ length: width }, (_, i) => ({
    to: NAMES[chance(NAMES.length)] ?? "one",
    plan: planOf(chance, `${token}.${i}`, depth - 1),
  }));
  return { token, atOnce: chance(2) === 0, asks };
}

/** A model that reads its plan out of the request, and how far it has come. */
function reply({ messages }: Request) {
  const plan = planIn(messages);
  const results = messages.flatMap(({ role, parts }) =>
    role === "tool" ? parts.map((part) => [part.id, answerIn(part.text)] as const) : [],
  );
  const done = new Map(results);
  const left = plan.asks.filter((_, i) => !done.has(idOf(plan, i)));
  if (left.length === 0) return `${plan.token}(${plan.asks.map((_, i) => done.get(idOf(plan, i))).join(",")})`;
  const next = plan.atOnce ? plan.asks.map((one, i) => ({ one, i })) : [firstLeft(plan, done)];
  return {
    parts: next
      .filter(({ i }) => !done.has(idOf(plan, i)))
      .map(({ one: { to, plan: inner }, i }) => ({
        call: `ask_${to}`,
        id: idOf(plan, i),
        input: { plan: JSON.stringify(inner) } satisfies Json,
      })),
  };
}

const idOf = ({ token }: Plan, i: number): string => `ask-${token}-${i}`;

function firstLeft(plan: Plan, done: ReadonlyMap<string, string>) {
  const i = plan.asks.findIndex((_, n) => !done.has(idOf(plan, n)));
  const one = plan.asks[i];
  if (one === undefined) throw new Error("nothing is left to ask");
  return { one, i };
}

function planIn(messages: Request["messages"]): Plan {
  const said = messages.flatMap(({ role, parts }) =>
    role === "user" ? parts.flatMap((part) => (part.type === "text" ? readFrames(part.text) : [])) : [],
  );
  const frame = said.find(({ kind }) => kind === "peer" || kind === "message");
  const given: { payload: { plan: string } } = JSON.parse(frame?.text ?? "");
  return JSON.parse(given.payload.plan);
}

/** The last line of a framed result is what the peer said. */
const answerIn = (text: string): string => readFrames(text)[0]?.text ?? text;

/**
 * Two conversations of one contact, each with a random plan of agents that ask each other, through programs that are killed after any
 * number of statements: the next one continues from the record. Returns how many died.
 * @throws Error if the record finally differs from the reference: an answer is lost, doubled, or crossed over (S1, S3)
 */
export async function surviveChains({ store, mortal }: KillingStore, seed: number): Promise<number> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance: Chance = (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const contact = `chain-${seed}`;
  const plans = [planOf(chance, `A${seed}`, 3), planOf(chance, `B${seed}`, 3)];
  const dead = new Set<string>();
  const sent: string[] = [];
  for (;;) {
    const holder = `${contact}-${dead.size}`;
    const died = await mortal(dead.size < DEATHS ? chance(LIFE) : Number.POSITIVE_INFINITY, async () => {
      const script = Array.from({ length: 400 }, () => (request: Request) => {
        sent.push(JSON.stringify(request.messages));
        return reply(request);
      });
      const alive = (one: string): boolean => !dead.has(one.replace(/\/.*$/, ""));
      const scripts = Object.fromEntries(NAMES.map((name) => [name, script]));
      const on = await organism(YAML, scripts, { store, parts: { holder, alive, random: randomBytes } });
      await goOn(on, { contact, plans, chance });
    });
    if (!died) break;
    dead.add(holder);
  }
  const wrong = [
    ...(await problemsOf(store, contact, plans)),
    ...sent.filter((one) => one.includes(`A${seed}`) && one.includes(`B${seed}`)).map(() => "a request holds both"),
  ];
  if (wrong.length > 0) throw new Error(`chains ${seed} after ${dead.size} deaths: ${wrong.join("; ")}`);
  return dead.size;
}

type Organism = Awaited<ReturnType<typeof organism>>;

interface Life {
  readonly contact: string;
  readonly plans: readonly Plan[];
  readonly chance: Chance;
}

/** What any program does that serves the conversations: post each once, and run whatever is due, in any order. */
async function goOn({ runtime, store, open, post }: Organism, { contact, plans, chance }: Life): Promise<void> {
  const begun: Thread[] = [];
  for (const [i, plan] of plans.entries()) {
    const thread = await open("one", contact, `conversation-${i}`);
    const content = [{ type: "payload", payloadType: "Plan", payload: { plan: JSON.stringify(plan) } }] as const;
    await post(thread, { content, externalId: `plan-${contact}-${i}` });
    begun.push(thread);
  }
  for (let round = 0; round < 500; round++) {
    const due = [];
    for (const thread of begun) if ((await store.pending(thread.scope, thread.id)).length > 0) due.push(thread);
    for (const name of NAMES)
      due.push(...(await runtime.dueRuns(OPERATOR, agentName(name))).filter(({ scope }) => scope.contact === contact));
    const next = due[chance(due.length)];
    if (next === undefined) return;
    const end = (await collect(runtime.runDue(OPERATOR, next))).at(-1);
    if (end?.type === "failed") throw end.error;
  }
  throw new Error("the chains do not come to their end");
}

/** Problems in the record once both have ended. */
async function problemsOf(store: Store, contact: string, plans: readonly Plan[]): Promise<string[]> {
  const threads = await threadsWith(store, contact);
  const own = threads.filter(({ caller }) => caller === undefined);
  const wrong: string[] = [];
  for (const thread of threads) {
    const turns = (await store.turns(thread.scope, thread.id)).filter(isKept);
    const taken = turns.flatMap(({ events }) => events.map(({ id }) => id));
    if (new Set(taken).size !== taken.length) wrong.push(`${thread.id} took an event twice`);
    if ((await store.openCalls(thread.scope, thread.id)).length > 0) wrong.push(`${thread.id} still waits`);
    if ((await store.untaken(thread.scope, thread.id)).length > 0) wrong.push(`${thread.id} has events left`);
    if (turns.filter(({ status }) => status === "done").length !== 1) wrong.push(`${thread.id} did not end once`);
  }
  for (const [i, plan] of plans.entries()) {
    const thread = own.find(({ key }) => key === `conversation-${i}`);
    const turns = thread === undefined ? [] : await store.turns(thread.scope, thread.id);
    const said = turns.find(({ status }) => status === "done")?.end;
    const reached = said?.status === "done" ? said.reply : undefined;
    if (reached !== answerTo(plan)) wrong.push(`it said ${reached} instead of ${answerTo(plan)}`);
  }
  const wanted = plans.reduce((sum, plan) => sum + threadsOf(plan), 0);
  const asked = threads.length - own.length;
  return asked === wanted ? wrong : [...wrong, `${asked} threads were begun for calls instead of ${wanted}`];
}

async function threadsWith(store: Store, contact: string): Promise<readonly Thread[]> {
  const found = [];
  for (const name of NAMES) {
    const scope = { org: OPERATOR.org, agent: agentName(name), contact: contactId(contact) };
    found.push(...(await store.threads(scope, 200)));
  }
  return found;
}
