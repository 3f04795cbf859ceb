import { toolsOfKeys } from "../../agents/index.ts";
import { countTools } from "../../compiler/index.ts";
import { count as counted, number } from "../../print/index.ts";
import { type Agent, type CountTokens, type ToolName, toolName } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { meantBy, type Toolset } from "../../turn/tools/index.ts";
import type { Rates, ThreadLength } from "../../wire/index.ts";
import { AGENT_KEYS } from "../entry/agents.ts";
import type { TextWarning } from "../entry/texts.ts";

/** Of how many of an agent's newest threads the turns are read, and how many turns of all of them. */
const LOOKED_AT = 50;
const MOST_TURNS = 1_000;
/** Fewer turns say little about unused tools. */
const LEAST_TURNS = 20;
/** Tools that a smaller share of conversations calls are worth deferring. */
const RARE = 0.2;

interface ToolReview {
  readonly store: Store;
  readonly tools: Toolset;
  readonly count: CountTokens;
  readonly rates: Rates;
  readonly length: ThreadLength;
  /** Of the model's card. */
  readonly loadsTools: boolean;
}

/** Tools that no turn has called, and those that few conversations have: what `defer` would save by the card's prices. */
export async function toolWarnings(
  agent: Agent,
  { store, tools, count, rates, length, loadsTools }: ToolReview,
): Promise<readonly TextWarning[]> {
  const { turns, threads, called } = await callsOf(agent, store, tools);
  if (turns < LEAST_TURNS) return [];
  const sent = tools.schemas(agent.tools, agent).filter(({ name }) => tools.get(name)?.forwards === undefined);
  const never = sent.filter(({ name }) => !called.has(name));
  // `defer` names only tools that stand under `tools`.
  const fixed = toolsOfKeys(AGENT_KEYS, agent);
  const rare = sent.filter(({ name }) => !fixed.includes(name) && (called.get(name) ?? 0) < RARE * threads);
  const shown = (reader: Agent): number =>
    countTools(tools.schemas(toolsWith(reader), { ...reader, loadsTools }), count);
  const deferred = { ...agent, defer: [...(agent.defer ?? []), ...rare.map(({ name }) => name)] };
  const tokens = rare.length === 0 ? 0 : shown(agent) - shown(deferred);
  const saved = Math.round(tokens * (rates.write + rates.read * (length.turns - 1)));
  const looked = `${counted(turns, "turn")} of ${counted(threads, "conversation")} were looked at`;
  const names = (of: typeof sent) => of.map(({ name }) => name).join(", ");
  const messages = [
    ...(never.length === 0 ? [] : [`no turn has called ${names(never)} (${looked}): take out what is not needed`]),
    ...(tokens <= 0
      ? []
      : [
          `fewer than a fifth of the conversations call ${names(rare)} (${looked}): under \`defer\` they take ${number(tokens)} tokens out of each request, which costs as much as ${number(saved)} uncached tokens in a conversation of ${number(length.turns)} turns, less what is found again`,
        ]),
  ];
  return messages.map((message) => ({ agent: agent.name, section: "tools", message }));
}

/** An agent's tools and those that come with its keys, such as the one that finds the deferred. */
const toolsWith = (agent: Agent): readonly ToolName[] => [
  ...new Set([...agent.tools, ...toolsOfKeys(AGENT_KEYS, agent).map(toolName)]),
];

/** How many of the newest conversations have called each tool, by the record: a cut takes calls out of a running conversation. */
async function callsOf({ org, name }: Agent, store: Store, tools: Toolset) {
  const threads = await store.threads({ org, agent: name, contact: null }, LOOKED_AT);
  const called = new Map<ToolName, number>();
  let [turns, talks] = [0, 0];
  for (const { scope, id } of threads) {
    if (turns >= MOST_TURNS) break;
    const read = await store.turns(scope, id, { limit: MOST_TURNS - turns });
    turns += read.length;
    if (read.length > 0) talks += 1;
    const parts = read.flatMap(({ requests }) => requests.flatMap(({ reply }) => reply?.parts ?? []));
    const here = parts.flatMap((part) => (part.type === "call" ? [meantBy(tools, part).tool] : []));
    for (const tool of new Set(here)) called.set(tool, (called.get(tool) ?? 0) + 1);
  }
  return { turns, threads: talks, called };
}
