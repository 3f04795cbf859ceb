import { type StretchRequest, stretchRequest } from "../compiler/index.ts";
import { clean, secretProblem } from "../guard/index.ts";
import {
  type Actor,
  type AgentName,
  authorize,
  type Reply,
  type Request,
  readFrames,
  type Scope,
  StrataError,
  untrusted,
} from "../protocol/index.ts";
import { dollars } from "../wire/index.ts";
import { agentNamed } from "./access.ts";
import { type Cast, castOf, limitOf, parametersOf } from "./cast.ts";
import type { ConsolidateDoors, Consolidated, ConsolidateWish } from "./consolidate-doors.ts";
import { consolidateIdle, type IdleRecord } from "./consolidate-idle.ts";
import { newMemoryId } from "./memory-id.ts";
import type { Parts } from "./parts.ts";
import type { TurnParts } from "./purse.ts";
import { checkSpend, periodOf } from "./spend.ts";
import { PAUSE, type Stretch, stretches, summedUp } from "./stretches.ts";

/** Tokens of a summary at the most. */
const LONGEST = 400;

/** English has some three words for four tokens. */
const WORDS_PER_TOKEN = 0.7;

/** What summaries are made from: the parts of a turn, and what they have cost since this program began. */
export interface ConsolidateParts extends TurnParts {
  readonly bills: Map<AgentName, { readonly at: number; readonly dollars: number }[]>;
}

/** What people and programs do to have sums of what was said, each under the actor who asks. */
export function consolidateDoors(turnParts: () => TurnParts): ConsolidateDoors {
  const bills: ConsolidateParts["bills"] = new Map();
  const record: IdleRecord = { done: new Map(), rests: new Map() };
  const parts = (): ConsolidateParts => ({ ...turnParts(), bills });
  return {
    consolidate: (actor, scope, wish = {}) => consolidate(parts(), { actor, scope }, wish),
    consolidateIdle: (actor, signal = new AbortController().signal) => {
      const each = (scope: Scope, gap: number) => consolidate(parts(), { actor, scope }, { gap, signal });
      return consolidateIdle(parts(), { actor, signal, record, consolidate: each });
    },
  };
}

/** Who sums up, and for whom. */
interface Summing {
  readonly parts: ConsolidateParts;
  readonly cast: Cast;
  readonly scope: Scope;
  readonly signal: AbortSignal;
}

async function* consolidate(
  parts: ConsolidateParts,
  { actor, scope }: { readonly actor: Actor; readonly scope: Scope },
  { limit = Number.POSITIVE_INFINITY, gap = PAUSE, signal = new AbortController().signal }: ConsolidateWish,
): AsyncGenerator<Consolidated> {
  const agent = agentNamed(parts, actor, scope.agent);
  authorize(actor, "operate", scope);
  const cast = await castOf(parts, { scope, version: agent.version }, {});
  checkModel(cast);
  const summing = { parts, cast, scope, signal };
  let made = 0;
  for await (const stretch of stretches(parts, scope, parts.clock() - Math.max(gap, PAUSE))) {
    for (let rest = stretch.messages; rest.length > 0; ) {
      if (made >= limit || (await isTalking(parts, scope))) return;
      const outcome = await sumUp(summing, { ...stretch, messages: rest });
      if (outcome === undefined) break;
      yield outcome;
      made++;
      rest = rest.slice(outcome.messages);
    }
  }
}

function checkModel({ agent, model: { ref } }: Cast): void {
  if (!["rehearsal", "recording"].includes(ref)) return;
  const message = `${agent.name} is answered by ${ref}, which is no model and sums nothing up: name a model in strata.yaml`;
  throw new StrataError("invalid_input", message, { agent: agent.name, model: ref });
}

/** Whether a turn of the scope runs, in this program or in another: it has the model and the record to itself. */
async function isTalking({ store, wall, alive }: Parts, scope: Scope): Promise<boolean> {
  const held = await store.leases(scope.org);
  return held.some(
    ({ scope: { agent, contact }, holder, until }) =>
      agent === scope.agent && contact === scope.contact && until > wall() && alive(holder),
  );
}

/** One summary, asked for and saved, all or nothing; none at all where another program has made one meanwhile. */
async function sumUp(summing: Summing, { session, messages }: Stretch): Promise<Consolidated | undefined> {
  const { parts, cast, scope, signal } = summing;
  await checkSpend({ parts, cast });
  const { request, said, taint } = requestFor(cast, messages);
  const [first, last] = [messages[0], messages[said - 1]];
  if (first === undefined || last === undefined) throw tooSmall(cast);
  const reply = await ask(summing, request);
  const cost = { usage: reply.usage, dollars: bill(parts, cast, reply) };
  const text = textOf(reply);
  const problem = problemOf(reply, text);
  if (problem !== undefined) return { session, messages: said, because: problem, ...cost };
  const sources = messages.slice(0, said).map(({ id }) => id);
  const done = await summedUp(parts, scope);
  signal.throwIfAborted();
  if (sources.some((source) => done.has(source))) return undefined;
  const saved = await parts.store.saveMemory(scope, newMemoryId(parts), {
    kind: "summary",
    content: untrusted(text),
    tags: [],
    trust: taint,
    by: "agent",
    session,
    sources,
    at: last.at,
    validFrom: first.at,
  });
  return { session, messages: said, summary: saved.memory, evicted: saved.evicted, ...cost };
}

function requestFor(cast: Cast, messages: Stretch["messages"]): StretchRequest {
  const maxTokens = Math.min(LONGEST, parametersOf(cast).maxTokens);
  const words = Math.floor(maxTokens * WORDS_PER_TOKEN);
  return stretchRequest(messages, { words, maxTokens, limit: limitOf(cast), count: cast.count });
}

function tooSmall(cast: Cast): StrataError {
  const { name } = cast.agent;
  const limit = limitOf(cast);
  const message = `${name} may send ${limit} tokens, which is too little for a message to sum up: raise budgets.total`;
  return new StrataError("budget_too_small", message, { agent: name, limit });
}

/** Its words stream to nobody. @throws StrataError as `Model.send` */
async function ask({ parts, cast, signal }: Summing, request: Omit<Request, "marks">): Promise<Reply> {
  const ends = AbortSignal.any([signal, AbortSignal.timeout(cast.limits.seconds * 1_000)]);
  const sent: Request = { ...request, marks: [] };
  for await (const event of cast.model.send(sent, { signal: ends })) {
    if (event.type !== "reply") continue;
    parts.observe(cast.model.wire, sent, event.reply.usage.input);
    return event.reply;
  }
  throw new StrataError("model_failed", `${cast.model.ref} ended its stream without an answer; try again`);
}

const textOf = ({ parts }: Reply): string =>
  parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();

/** Why an answer is no summary that may be kept. */
function problemOf({ finish }: Reply, text: string): string | undefined {
  if (finish !== "stop") return `the model did not finish it (${finish})`;
  if (text === "") return "the model gave none";
  const plain = clean(untrusted(text));
  if (readFrames(plain).length > 0) return "the model's answer holds a frame that was shown to it";
  const secret = secretProblem(plain);
  return secret === undefined ? undefined : `the model's answer ${secret}`;
}

/** Counts what a summary cost against the agent's limit, for as long as this program runs. Dollars. */
function bill(parts: ConsolidateParts, { agent, prices }: Cast, { usage }: Reply): number {
  const { bills, purse, clock } = parts;
  const cost = dollars(usage, prices);
  const own = bills.get(agent.name) ?? [];
  if (!bills.has(agent.name)) {
    bills.set(agent.name, own);
    // Never closed: no record holds it.
    purse.open(agent, () => spentSince(own, periodOf(agent.budgets.spend?.per ?? "ever", clock()).since));
  }
  own.push({ at: clock(), dollars: cost });
  return cost;
}

const spentSince = (bills: readonly { readonly at: number; readonly dollars: number }[], since: number): number =>
  bills.reduce((sum, { at, dollars }) => sum + (at >= since ? dollars : 0), 0);
