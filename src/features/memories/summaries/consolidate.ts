import { STANDING_LINES, type SummaryGroup, stretchRequest } from "../../../compiler/index.ts";
import { clean, secretProblem } from "../../../guard/index.ts";
import {
  type Agent,
  asStrataError,
  type ContactScope,
  type Memory,
  type MemoryId,
  memoryId,
  type NewMemory,
  type OwnChannel,
  readFrames,
  type Scope,
  type StoreWrite,
  StrataError,
  type Trust,
  type TurnId,
  untrusted,
} from "../../../protocol/index.ts";
import { evictedIn, SAVE_MEMORY } from "../../../store/index.ts";
import {
  type Answer,
  agentNamed,
  checkSpend,
  inWindow,
  limitOf,
  type Parts,
  parametersOf,
  reach,
  type Summing,
  setupOf,
  summaryTurn,
  type TurnParts,
  type TurnSetup,
} from "../../../turn/index.ts";
import type { ConsolidateApi, Consolidated, ConsolidateWish } from "../api-types.ts";
import { everyMemory } from "../every-memory.ts";
import { consolidateIdle, type IdleRecord } from "./idle.ts";
import { type Due, inPieces, PAUSE, stretches } from "./stretches.ts";

/** The most tokens of a summary. */
const LONGEST = 400;

/** English has some three words for four tokens. */
const WORDS_PER_TOKEN = 0.7;

/** Summaries of conversations for people and programs, each call under its actor. */
export function consolidateApi(parts: () => TurnParts): ConsolidateApi {
  const record: IdleRecord = { done: new Map(), pausedUntil: new Map() };
  return {
    consolidate: (actor, scope, wish = {}) => consolidate(parts(), { actor, scope, asked: "instruction" }, wish),
    consolidateIdle: (actor, signal = new AbortController().signal, agent = undefined) =>
      consolidateIdle(parts(), {
        actor,
        only: agent,
        signal,
        record,
        consolidate: (scope, wish) => consolidate(parts(), { actor, scope, asked: "scheduled" }, { ...wish, signal }),
      }),
  };
}

/** The channel on which summaries are asked for. */
export const CONSOLIDATION = { name: "consolidation", holds: "the record of summaries" } as const satisfies OwnChannel;

interface ScopeSumming extends Pick<Summing, "actor" | "asked"> {
  readonly scope: Scope;
}

async function* consolidate(
  parts: TurnParts,
  { actor, scope: whose, asked }: ScopeSumming,
  wish: ConsolidateWish,
): AsyncGenerator<Consolidated> {
  const { groupBy = "session", limit = Number.POSITIVE_INFINITY, gap = PAUSE } = wish;
  const { signal = new AbortController().signal } = wish;
  const agent = agentNamed(parts, actor, whose.agent);
  const scope = await reach(parts, actor, whose);
  const setup = await setupOf(parts, { scope, version: agent.version }, {});
  checkModel(setup);
  const summing = { parts, setup, scope: contactOf(scope), channel: CONSOLIDATION.name, actor, asked, signal };
  let made = 0;
  for await (const group of groups(parts, summing.scope, {
    groupBy,
    ended: parts.clock.recorded() - Math.max(gap, PAUSE),
  })) {
    for (let rest = group.memories; rest.length > 0; ) {
      if (made >= limit || (await isBusy(parts, agent, scope))) return;
      const outcome = await sumUp(summing, { ...group, memories: rest });
      if (outcome === undefined) return;
      yield outcome;
      made++;
      rest = rest.slice(outcome.sources);
    }
  }
}

/** Another turn with the same contact takes precedence. */
async function isBusy(parts: TurnParts, agent: Agent, { contact }: Scope): Promise<boolean> {
  const because = await parts.steps.refusal(parts, { agent, alone: contact, waits: async () => true });
  return because?.code === "thread_busy";
}

function checkModel({ agent, model: { ref } }: TurnSetup): void {
  if (!["rehearsal", "recording", "none"].includes(ref)) return;
  const message = `${agent.name} is answered by ${ref}, which is not a model and cannot write summaries: name a model in strata.yaml`;
  throw new StrataError("invalid_input", message, { agent: agent.name, model: ref });
}

/** The agent's own scope has no contact: its own turns write there, and people. */
function contactOf({ org, agent, contact }: Scope): ContactScope {
  if (contact !== null) return { org, agent, contact };
  const message = `${agent}'s own memories belong to no contact, and only a contact's are summarized: name a contact`;
  throw new StrataError("invalid_input", message, { agent });
}

/** One summary, asked for and saved, all or nothing; none at all where another program makes one just now. */
async function sumUp(summing: Summing, group: Group): Promise<Consolidated | undefined> {
  const { parts, setup, scope } = summing;
  await checkSpend({ parts, setup });
  const maxTokens = Math.min(LONGEST, parametersOf(setup).maxTokens);
  const room = { words: Math.floor(maxTokens * WORDS_PER_TOKEN), limit: limitOf(setup), count: setup.count };
  const { said, compile } = stretchRequest(group.memories, byOf(group), room);
  if (said === 0) throw tooSmall(setup);
  const { memories, ...about } = { ...group, memories: group.memories.slice(0, said) };
  const keep = (answer: Answer, { taint, turn }: { readonly taint: Trust; readonly turn: TurnId }) =>
    summaryToWrites(summing, { ...group, memories }, { answer, trust: taint, turn });
  const summed = await unlessBusy(summaryTurn(summing, { message: saying(group, said), maxTokens, compile, keep }));
  if (summed === undefined) return undefined;
  if ("failed" in summed) throw summed.failed;
  const { turn, totals, reports } = summed;
  const outcome = { ...about, sources: said, turn, usage: totals.usage, dollars: totals.dollars };
  if ("because" in summed) return { ...outcome, because: summed.because };
  const [first] = summed.writes;
  const summary = await savedAs(parts, scope, { id: memoryId(first?.id ?? ""), memories });
  return { ...outcome, summary, evicted: evictedIn(reports) };
}

const saying = (group: Group, said: number): string =>
  "session" in group ? `Sum up ${said} messages of ${group.session}.` : `Sum up ${said} memories about ${group.topic}.`;

/** Nothing where another program summarizes what the same contact said. */
async function unlessBusy<T>(turn: Promise<T>): Promise<T | undefined> {
  try {
    return await turn;
  } catch (thrown) {
    if (asStrataError(thrown).code === "thread_busy") return undefined;
    throw thrown;
  }
}

function tooSmall(setup: TurnSetup): StrataError {
  const { name } = setup.agent;
  const limit = limitOf(setup);
  const what = `${name} may send ${limit} tokens, which is too little for a memory to sum up`;
  const details = { agent: name, limit, what };
  return inWindow(setup, new StrataError("budget_too_small", `${what}: raise budgets.total`, details));
}

/** The memory that an answer becomes: it carries what it was made from, and is trusted no more than any of it. */
async function summaryToWrites(
  { parts, scope }: Summing,
  group: Group,
  { answer, trust, turn }: { readonly answer: Answer; readonly trust: Trust; readonly turn: TurnId },
): Promise<readonly StoreWrite[] | { readonly because: string }> {
  const { text, lastingWishes } = readAnswer(joinTextParts(answer), group);
  const because = whyNoSummary(answer, [text, ...lastingWishes.map(({ content }) => content)].join("\n"), text);
  if (because !== undefined) return { because };
  const sources = group.memories.map(({ id }) => id);
  const done = await summedUp(parts, scope, byOf(group));
  if (sources.some((source) => done.has(source))) return { because: "another program has summarized it meanwhile" };
  const [first, last] = [group.memories[0], group.memories.at(-1)];
  const summary: NewMemory = {
    kind: "summary",
    content: untrusted(text),
    tags: "topic" in group ? [group.topic] : [],
    trust,
    by: "agent",
    ...("session" in group && { session: group.session }),
    sources,
    at: last?.at ?? parts.clock.recorded(),
    ...(first && { validFrom: first.at }),
  };
  const { at } = summary;
  const facts = lastingWishes.map((one): NewMemory => ({ kind: "fact", ...one, trust, by: "agent", sources, at }));
  return [summary, ...facts].map((memory) => SAVE_MEMORY.plan({ memory: { ...memory, turn } }));
}

/** More that holds for good is said in no conversation; what follows is made up. */
const MOST_STANDING = 8;

/** The summary, and the lines that the model marked as wanted permanently. */
function readAnswer(
  answer: string,
  group: Group,
): { readonly text: string; readonly lastingWishes: readonly Pick<NewMemory, "content" | "tags">[] } {
  if (!("session" in group)) return { text: answer, lastingWishes: [] };
  const lastingWishes: Pick<NewMemory, "content" | "tags">[] = [];
  const kept = answer.split("\n").filter((line) => {
    const [tag, mark] = Object.entries(STANDING_LINES).find(([, begins]) => line.startsWith(begins)) ?? [];
    if (tag === undefined || mark === undefined) return true;
    const content = line.slice(mark.length).trim();
    if (content !== "" && lastingWishes.length < MOST_STANDING)
      lastingWishes.push({ content: untrusted(content), tags: [tag] });
    return false;
  });
  return { text: kept.join("\n").trim(), lastingWishes };
}

const joinTextParts = ({ parts }: Answer): string =>
  parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();

/** Why an answer cannot be kept as a summary. */
function whyNoSummary({ finish }: Answer, all: string, summary: string): string | undefined {
  if (finish !== "stop") return `the model did not finish it (${finish})`;
  if (summary === "") return "the model gave none";
  const plain = clean(untrusted(all));
  if (readFrames(plain).length > 0) return "the model's answer holds a frame that was shown to it";
  const secret = secretProblem(plain);
  return secret === undefined ? undefined : `the model's answer ${secret}`;
}

/** The summary as it is kept: if an identical one exists for other sources, it becomes one memory with the sources of both. */
async function savedAs(
  { store }: Parts,
  scope: Scope,
  { id, memories }: { readonly id: MemoryId; readonly memories: readonly Memory[] },
): Promise<Memory> {
  const own = await store.memory(scope, id);
  if (own !== undefined) return own;
  const [first] = memories;
  for await (const summary of everyMemory(store, scope, { kinds: ["summary"] })) {
    if (first !== undefined && summary.sources?.includes(first.id)) return summary;
  }
  throw new StrataError("memory_not_found", `the summary ${id} was deleted at the moment it was saved`, { id });
}

/** What one summary is made from, oldest first: a stretch of talk, or what is remembered of a subject. */
type Group = { readonly memories: readonly Memory[] } & ({ readonly session: string } | { readonly topic: string });

const byOf = (group: Group): SummaryGroup => ("session" in group ? "session" : "topic");

/** What ended before a time and is in no summary of its sort yet. */
async function* groups(
  parts: Parts,
  scope: ContactScope,
  { groupBy, ended }: { readonly groupBy: SummaryGroup; readonly ended: number },
): AsyncGenerator<Group> {
  const done = await summedUp(parts, scope, groupBy);
  yield* groupBy === "session" ? stretches(parts, scope, { done, ended }) : topics(parts, scope, { done, ended });
}

/** What the summaries of that kind cover, including superseded ones. A summary of a stretch names it, one of a subject does not. */
async function summedUp({ store }: Parts, scope: Scope, groupBy: SummaryGroup): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  for await (const { session, sources = [] } of everyMemory(store, scope, { kinds: ["summary"], superseded: true })) {
    if ((session === undefined) !== (groupBy === "topic")) continue;
    for (const source of sources) done.add(source);
  }
  return done;
}

/** Fewer memories are as short as their summary would be. */
const LEAST = 4;

/** What is remembered of one subject, oldest first. */
interface Subject {
  readonly topic: string;
  readonly memories: readonly Memory[];
}

/**
 * Messages and saved memories about the same things, regardless of their date, as long as they are older than the given time and not in any
 * summary of a subject. Grouped by words alone, without a model. Only what people and the agent said and saved, never summaries (law 12).
 */
async function* topics({ store, clock }: Parts, scope: Scope, { done, ended }: Due): AsyncGenerator<Subject> {
  const kinds = ["message", "fact", "block"] as const;
  const wish = { kinds, before: ended + 1, validAt: clock.recorded(), least: LEAST, except: done };
  for (const { topic, memories } of await store.memoryTopics(scope, wish)) {
    for (const piece of inPieces(memories)) yield { topic, memories: piece };
  }
}
