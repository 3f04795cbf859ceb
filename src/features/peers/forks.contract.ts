import { type Request, readFrames, untrusted } from "../../protocol/index.ts";
import type { Store, Thread } from "../../store/index.ts";
import { collect, OPERATOR } from "../../turn/index.contract.ts";
import { cardOf, rulesOf, seenOf, simulate } from "../../wire/index.ts";
import { organism } from "./index.contract.ts";

const yaml = (budgets = "") => `organization: home
entry: [one]
agents:
  one:
    description: Thinks in parts.
    peers: [{name: one, share: fork}]
    budgets: {${budgets}turn: {modelCalls: 400, toolCalls: 400}}
    layers:
      - {id: core, rank: 0, text: Think in parts.}
`;

/** What a message asks for: a number of forks, each of which forks the same number of times again. */
interface Wish {
  readonly canary: string;
  readonly forks: number;
  readonly deeper: number;
}

const CANARY = /<[\w-]+>/g;

/** A model that does as the newest message or question says, and repeats its canary in all that it says. */
function reply({ messages }: Request) {
  const last = messages.at(-1);
  const frames = (last?.parts ?? []).flatMap((part) => (part.type === "text" ? readFrames(part.text) : []));
  const text =
    last?.role === "user" ? (frames.findLast(({ kind }) => kind === "peer" || kind === "message")?.text ?? "") : "";
  const found = /\{"canary".*?\}/.exec(text.replaceAll('\\"', '"'))?.[0];
  if (found === undefined) return "Done.";
  const { canary, forks, deeper }: Wish = JSON.parse(found);
  if (forks === 0) return `Said ${canary}.`;
  return {
    parts: Array.from({ length: forks }, (_, i) => {
      const inner: Wish = { canary: `${canary.slice(0, -1)}-${i}>`, forks: deeper, deeper: 0 };
      return { call: "ask_one", id: `${canary} ${i}`, input: { text: JSON.stringify(inner) } };
    }),
  };
}

/**
 * Conversations of several contacts side by side, whose agent forks itself again and again. Returns how many forks there were.
 * @throws Error if a fork was sent a word of another conversation, or of the run that asks, or did not begin with its caller's bytes
 */
export async function forkCanaries(seed: number, turns: number, store?: Store): Promise<number> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const script = Array.from({ length: turns * 30 }, () => reply);
  const { open, post, runtime, sentTo } = await organism(yaml(), { one: script }, store ? { store } : {});
  const threads: { readonly name: string; readonly thread: Thread; closed: string[]; sent: readonly string[] }[] = [];
  for (const contact of ["ann", "bob"])
    for (const key of ["one", "two"]) {
      const thread = await open("one", `${contact}-${seed}`, key);
      threads.push({ name: `${contact}-${key}-${seed}`, thread, closed: [], sent: [] });
    }
  let forks = 0;
  for (let n = 0; n < turns; n++) {
    const one = threads[chance(threads.length)];
    if (one === undefined) throw new Error("there are no threads");
    const wish: Wish = { canary: `<${one.name}-t${n}>`, forks: chance(4), deeper: chance(3) };
    const before = sentTo("one").length;
    await post(one.thread, { content: [{ type: "text", text: untrusted(JSON.stringify(wish)) }] });
    const end = (await collect(runtime.follow(OPERATOR, one.thread))).at(-1);
    if (end?.type === "failed") throw end.error;
    const sent = sentTo("one").slice(before);
    for (const request of sent.filter(isFork)) {
      forks += 1;
      const problem = problemOf(request, one, wish);
      if (problem !== undefined) throw new Error(`forks ${seed}: in turn ${n} of ${one.name}, ${problem}`);
    }
    one.closed.push(wish.canary);
    // The beginning of a next fork: everything is closed now, except the reply that was not sent yet.
    one.sent = sent.findLast((request) => !isFork(request))?.messages.map((message) => JSON.stringify(message)) ?? [];
  }
  return forks;
}

const isFork = ({ messages }: Request): boolean =>
  messages.some(({ parts }) =>
    parts.some((part) => part.type === "text" && readFrames(part.text).some(({ kind }) => kind === "peer")),
  );

function problemOf(
  request: Request,
  {
    closed,
    sent,
    name,
  }: { readonly closed: readonly string[]; readonly sent: readonly string[]; readonly name: string },
  wish: Wish,
): string | undefined {
  const messages = request.messages.map((message) => JSON.stringify(message));
  const seen = new Set(messages.join().match(CANARY) ?? []);
  const foreign = [...seen].find((canary) => !canary.startsWith(`<${name}-t`));
  if (foreign !== undefined) return `a fork was sent ${foreign}`;
  const own = [...seen].filter((canary) => canary.startsWith(wish.canary.slice(0, -1)));
  if (own.includes(wish.canary)) return "a fork was sent what its caller's open run was asked";
  // Its later requests contain its own questions.
  if (own.length > 1 && request.messages.at(-1)?.role === "user")
    return `a fork was sent more of that run than its question: ${own.join(", ")}`;
  const missing = closed.find((canary) => !seen.has(canary));
  if (missing !== undefined) return `a fork did not remember ${missing}`;
  const differs = sent.findIndex((message, i) => messages[i] !== message);
  return differs < 0 ? undefined : `message ${differs} of a fork is not its caller's`;
}

/** The model whose rules count. */
export const FORKED_BY = "anthropic:claude-sonnet-4-5";

/**
 * The bill for this many forks of a conversation of at least this many tokens, in tokens of uncached input, and the bill for as many cold
 * starts of the same requests.
 */
export async function forkCost({ forks, tokens }: { readonly forks: number; readonly tokens: number }) {
  const wish: Wish = { canary: "<cost>", forks, deeper: 0 };
  const words = "Tell me more of it. ".repeat(900);
  const script = Array.from({ length: 200 }, () => reply);
  const { open, say, sentTo, time } = await organism(
    yaml(`total: ${4 * tokens}, history: ${2 * tokens}, keep: ${tokens}, `),
    { one: script },
  );
  const thread = await open("one");
  const count = (text: string): number => Math.ceil(text.length / 3);
  const seen: ReturnType<typeof seenOf>[] = [];
  const add = (from: number) => {
    for (const request of sentTo("one").slice(from))
      seen.push(seenOf(request, count, { at: time.at, model: FORKED_BY }));
  };
  const size = () => seen.at(-1)?.blocks.reduce((sum, block) => sum + block.tokens, 0) ?? 0;
  while (size() < tokens) {
    const before = sentTo("one").length;
    await say(thread, { content: [{ type: "text", text: untrusted(words) }] });
    time.at += 20_000;
    add(before);
  }
  const before = sentTo("one").length;
  await say(thread, { content: [{ type: "text", text: untrusted(JSON.stringify(wish)) }] });
  add(before);
  const rules = rulesOf(cardOf(FORKED_BY));
  const bills = simulate(seen, rules);
  const forked = sentTo("one").flatMap((request, i) => (isFork(request) ? [i] : []));
  const costOf = (bill: (typeof bills)[number] | undefined): number => bill?.cost ?? 0;
  const warm = forked.reduce((sum, i) => sum + costOf(bills[i]), 0);
  const cold = forked.reduce((sum, i) => sum + costOf(simulate(seen.slice(i, i + 1), rules)[0]), 0);
  return { forks: forked.length, tokens: size(), warm, cold, ratio: warm / cold };
}
