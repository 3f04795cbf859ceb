import { z } from "zod";
import { count, dollars, number, oneLine } from "../../print/index.ts";
import { type AgentName, StrataError } from "../../protocol/index.ts";
import type { Job, JobWorld, Task } from "../../work/index.ts";
import { FIELDS, list } from "../fields.ts";
import { type Call, type Operation, type OperationContext, operation, seriesOperation } from "../operation.ts";
import type { Consolidated, EmbedProgress, VectorReport } from "./api-types.ts";
import { MEMORY_API } from "./api-types.ts";
import { EMBEDDED, SUMMARY, scopeOf, VECTORS } from "./shapes.ts";

const OF_AGENTS = z.strictObject({ agent: FIELDS.agent.optional() });

/** The named agent, otherwise all of them. */
const namesOf = (
  { runtime }: OperationContext,
  { actor }: Call<"view">,
  agent: AgentName | undefined,
): readonly AgentName[] => (agent === undefined ? runtime.agents(actor).map(({ name }) => name) : [agent]);

const showVectors = operation({
  name: "memory.vectors",
  does: "Show how many of the agents' memories have vectors of their `embedder`.",
  may: "read",
  at: "GET /v1/memories/vectors",
  takes: OF_AGENTS,
  gives: z.object({ agents: list(VECTORS) }),
  list: "agents",
  command: { examples: ["memory vectors companion"], opens: "record" },
  run: async (world, { agent }, call) => {
    const reports = namesOf(world, call, agent).map(async (name) => ({
      agent: name,
      ...(await world.runtime.use(MEMORY_API).vectorReport(call.actor, name)),
    }));
    return { agents: await Promise.all(reports) };
  },
  show: ({ agents }) => agents.flatMap(reportLines),
});

const embed = seriesOperation({
  name: "memory.embed",
  does: "Compute the missing vectors of memories, for agents with an `embedder`; a running server does this by itself.",
  may: "operate",
  at: "POST /v1/memories/embed",
  takes: OF_AGENTS,
  gives: EMBEDDED,
  list: "agents",
  command: { examples: ["memory embed companion"], opens: "record" },
  run: async function* (world, { agent }, call) {
    for (const name of namesOf(world, call, agent)) {
      const last = await embedded(world, name, call);
      const made = last && { made: last.made, refused: last.refused, tokens: last.tokens };
      yield { agent: name, ...(await world.runtime.use(MEMORY_API).vectorReport(call.actor, name)), ...made };
    }
  },
  each: (one) => [...madeLines(one), ...reportLines(one)],
});

/** Embeds all memories of one agent; gives the result, or `undefined` if nothing was missing. */
async function embedded({ runtime }: OperationContext, agent: AgentName, { actor, signal, progress }: Call<"operate">) {
  let last: EmbedProgress | undefined;
  try {
    for await (const step of runtime.use(MEMORY_API).embedMemories(actor, agent, signal)) {
      last = step;
      const { done, total } = step;
      const share = total === 0 ? 1 : done / total;
      progress(`${agent}, ${number(done)} of ${count(total, "memory", "memories")}`, share);
    }
  } catch (thrown) {
    if (signal.aborted) throw embeddingStopped(agent, last);
    throw thrown;
  }
  return last;
}

function embeddingStopped(agent: AgentName, last: EmbedProgress | undefined): StrataError {
  const { done = 0, total = 0 } = last ?? {};
  const message = `stopped after ${number(done)} of ${count(total, "memory", "memories")} of ${agent}; run it again to continue`;
  return new StrataError("turn_cancelled", message, { agent, done, total });
}

type OfAgent = { readonly agent: AgentName };

function reportLines({ agent, embedder, vectors: there, waiting, serving }: OfAgent & VectorReport): readonly string[] {
  if (embedder === undefined) {
    return [`${agent} has no embedder: its memories are found by their words. \`embedder\` in strata.yaml names one.`];
  }
  const old = Object.keys(serving).filter((model) => model !== embedder);
  const wait = waiting === 0 ? "no memory waits" : `${count(waiting, "memory waits", "memories wait")} for theirs`;
  return [
    `${agent} has ${count(there, "vector")} of ${embedder}; ${wait}.`,
    ...(old.length === 0 ? [] : [`Until they are complete, those of ${old.join(" and ")} are used.`]),
  ];
}

function madeLines({ agent, made, refused = 0, tokens = 0 }: OfAgent & Partial<EmbedProgress>): readonly string[] {
  if (made === undefined) return [];
  const not = refused === 0 ? "" : `; ${count(refused, "text")} the provider refused`;
  return [`${agent}: ${count(made, "vector")} made${tokens === 0 ? "" : ` of ${count(tokens, "token")}`}${not}.`];
}

const GROUPS = ["session", "topic"] as const;

const consolidate = seriesOperation({
  name: "memory.consolidate",
  does: "Let the agent's model summarize a contact's ended conversations, or what is remembered about each subject; the summaries become memories.",
  may: "operate",
  at: "POST /v1/memories/consolidate",
  takes: z.strictObject({
    agent: FIELDS.agent,
    contact: FIELDS.contact.describe("about which contact"),
    groupBy: z.enum(GROUPS).default("session").describe("a summary of each conversation, or of each subject"),
    limit: FIELDS.limit,
  }),
  gives: SUMMARY,
  list: "summaries",
  command: {
    contact: "me",
    examples: ["memory consolidate companion --as ann", "memory consolidate --as ann --group-by topic --limit 5"],
    opens: "everything",
  },
  run: async function* (world, { groupBy, limit, ...whose }, { actor, signal, progress }) {
    let made = 0;
    for await (const one of world.runtime
      .use(MEMORY_API)
      .consolidate(actor, scopeOf(world, actor, whose), { groupBy, limit, signal })) {
      yield one;
      progress(count(++made, "summary", "summaries"));
    }
  },
  each: (one) => [summaryLine(one)],
  end: (all, { given: { contact, groupBy } }) => [all.length === 0 ? noneLine(contact, groupBy) : totalLine(all)],
});

const noneLine = (whom: string, group: (typeof GROUPS)[number]): string =>
  group === "session"
    ? `No conversation with ${whom} needs a summary: those of 4 messages and more do, half an hour after their last message.`
    : `No subject remembered about ${whom} needs a summary: those with 4 memories and more do, half an hour after they came up.`;

function summaryLine(one: Consolidated): string {
  const of =
    "session" in one
      ? `${count(one.sources, "message")} of ${one.session}`
      : `${count(one.sources, "memory", "memories")} about ${one.topic}`;
  if ("because" in one) return `${of}: no summary, for ${one.because} (${one.turn}).`;
  const { summary, evicted } = one;
  const gone = evicted.length === 0 ? "" : ` (less useful memories were deleted to make room: ${evicted.join(", ")})`;
  return `${summary.id} summarizes ${of}: ${oneLine(summary.content, 100)}${gone}`;
}

function totalLine(all: readonly Consolidated[]): string {
  const made = all.filter((one) => "summary" in one).length;
  const tokens = all.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
  const sum = all.reduce((so, one) => so + one.dollars, 0);
  return `${count(made, "summary", "summaries")}, ${count(tokens, "token")}, ${dollars(sum)}; \`strata memory forget ID\` removes one.`;
}

/** Operations that derive vectors and summaries from memories. */
export const UPKEEP_OPERATIONS: readonly Operation[] = [showVectors, embed, consolidate];

/** Agents with `consolidate` summarize conversations that have been silent for a while. */
const idle: Job = {
  name: "summaries.idle",
  // It looks through all that was said to an agent.
  every: 60_000,
  due: async (world) => {
    const agents = world.runtime.agents(world.operator).filter(({ consolidate }) => consolidate !== undefined);
    return { tasks: agents.map(({ name }) => summing(world, name)) };
  },
};

const summing = ({ runtime, operator }: JobWorld, agent: AgentName): Task => ({
  agent,
  key: `summaries of ${agent}`,
  trouble: "No summary could be written when idle",
  async *run(signal) {
    for (const { because } of await runtime.use(MEMORY_API).consolidateIdle(operator, signal, agent))
      yield {
        about: `summaries of ${agent}`,
        message: `What was said with ${agent} could not be summarized: ${because}`,
      };
  },
});

export const UPKEEP_JOBS: readonly Job[] = [idle];
