import { randomBytes } from "node:crypto";
import { z } from "zod";
import { allToolFamilies } from "../../app/entry/features.ts";
import type { Script } from "../../models/index.ts";
import {
  type AgentName,
  agentName,
  contactId,
  type Json,
  type Request,
  type ThreadId,
  TRUSTS,
  type Trust,
  untrusted,
} from "../../protocol/index.ts";
import type { Store, Thread, TurnRecord } from "../../store/index.ts";
import { OPERATOR } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { memoryTools } from "../memories/index.ts";
import { promptTools } from "../texts/index.ts";
import { loadYaml, organism } from "./index.contract.ts";

type Chance = (most: number) => number;

const NAMES = ["a", "b", "c", "d"] as const;
/** Tools that act outside are refused (`send`) or need approval (`pay`) once the turn has outside input. */
const TOOLS = ["look", "send", "pay", "memory_save", "update_prompt_layer"] as const;
const EDITED = "notes";

/** An agent of a random graph, as declared. */
interface Declared {
  readonly tools: readonly string[];
  readonly peers: readonly { readonly name: string; readonly tools?: readonly string[] }[];
  readonly turn: {
    readonly modelCalls: number;
    readonly toolCalls: number;
    readonly seconds: number;
    readonly maxCost: number;
  };
}

/** What was tried in many graphs. */
export type RightsTally = Record<"graphs" | "threads" | "ran" | "edits" | "dollars", number>;

export const NO_RIGHTS: RightsTally = { graphs: 0, threads: 0, ran: 0, edits: 0, dollars: 0 };

function graphOf(chance: Chance): ReadonlyMap<string, Declared> {
  const some = <One>(all: readonly One[]): readonly One[] => all.filter(() => chance(3) > 0);
  const tools = new Map(NAMES.map((name) => [name, some(TOOLS)]));
  return new Map(
    NAMES.map((name) => [
      name,
      {
        tools: tools.get(name) ?? [],
        peers: some(NAMES).map((to) => ({ name: to, ...(chance(2) === 0 && { tools: some(tools.get(to) ?? []) }) })),
        turn: {
          modelCalls: 3 + chance(30),
          toolCalls: 4 + chance(90),
          seconds: 5 + chance(100),
          maxCost: (4 + chance(80)) / 1_000,
        },
      },
    ]),
  );
}

/** Tokens of the longest reply. */
const REPLY = 400;

const yamlOf = (graph: ReadonlyMap<string, Declared>): string =>
  `organization: home\nentry: [a]\nagents:\n${[...graph]
    .map(
      ([name, { tools, peers, turn }]) => `  ${name}:
    description: Does whatever it can.
    tools: ${JSON.stringify(tools)}
    peers: ${JSON.stringify(peers)}
    budgets: {reply: ${REPLY}, turn: ${JSON.stringify(turn)}}
    layers:
      - {id: core, rank: 0, text: Do whatever you can.}
      - {id: ${EDITED}, rank: 60, text: Nothing yet., mutability: versioned}
`,
    )
    .join("")}`;

/** A model that calls every tool it has heard of, offered or not, and finally says so. */
function greedy(chance: Chance): Script<Request> {
  return ({ messages }) => {
    const rounds = messages.filter(({ role }) => role === "assistant").length;
    // No more than was counted and asked for: a provider that bills more of it costs that much more.
    const usage = { input: 100, output: REPLY };
    if (rounds >= 2 + chance(2)) return { parts: [{ text: "Done." }], usage };
    const inputs: Readonly<Record<string, Json>> = {
      memory_save: { content: `The door is open ${chance(1_000_000)}.` },
      update_prompt_layer: { layer_id: EDITED, content: `Open the door ${chance(1_000_000)}.` },
    };
    const calls = [...TOOLS, ...NAMES.map((name) => `ask_${name}`)].filter(() => chance(3) > 0);
    return {
      usage,
      parts: calls.map((name) => ({
        call: name,
        id: `${name} ${chance(1_000_000_000)}`,
        input: inputs[name] ?? (name.startsWith("ask_") ? { text: "Go on." } : {}),
      })),
    };
  };
}

interface Ran {
  readonly tool: string;
  readonly thread: ThreadId;
  readonly taint: Trust;
}

/** Who began it: an outsider, or the operator. */
const BEGINNERS = [
  { kind: "message", trust: "contact" },
  { kind: "instruction", trust: "operator" },
] as const;

/**
 * A random graph of agents whose models try everything: no thread of the chain does what its agent, its edges, its caller or its initiator
 * may not.
 * @throws Error that names what went too far
 */
export async function keepRights(store: Store, seed: number, tally: RightsTally): Promise<void> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance: Chance = (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const graph = graphOf(chance);
  const beginner = BEGINNERS[chance(2)] ?? BEGINNERS[0];
  const ran: Ran[] = [];
  const own = (name: "look" | "send" | "pay") =>
    defineTool({
      name,
      description: name,
      input: z.object({}),
      effect: name === "look" ? "none" : "external",
      trust: name === "look" ? "contact" : "agent",
      ...(name === "send" && { tainted: "refuse" }),
      ...(name === "pay" && { tainted: "ask" }),
      run: (_, { thread, taint }) => {
        ran.push({ tool: name, thread, taint });
        return `${name} was done.`;
      },
    });
  const project = loadYaml(yamlOf(graph));
  const agentOf = ({ agent }: { readonly agent: AgentName }) => project.agents.get(agent);
  const tools = [own("look"), own("send"), own("pay"), ...memoryTools(store), ...promptTools({ store, agentOf })];
  const script = Array.from({ length: 400 }, () => greedy(chance));
  const contact = `rights-${seed}`;
  const on = await organism(project, Object.fromEntries(NAMES.map((name) => [name, script])), {
    store,
    parts: { tools: toolset(tools, await allToolFamilies()), random: randomBytes },
  });
  const thread = await on.open("a", contact);
  await on.say(thread, { ...beginner, content: [{ type: "text", text: untrusted("Begin.") }] });
  const all = await livedOf(store, contact);
  const wrong = wrongIn(all, { graph, ran, began: beginner.trust });
  if (wrong.length > 0) throw new Error(`graph ${seed}, begun by the ${beginner.trust}: ${wrong.join("; ")}`);
  tally.graphs++;
  tally.threads += all.length;
  tally.dollars += all.flatMap(({ turns }) => turns).reduce((sum, { totals }) => sum + (totals?.dollars ?? 0), 0);
  tally.edits += all.flatMap(({ turns }) => turns).flatMap(({ edits = [] }) => edits).length;
  tally.ran += ran.length;
}

interface Chain {
  readonly graph: ReadonlyMap<string, Declared>;
  readonly ran: readonly Ran[];
  readonly began: Trust;
}

/** A thread with its turns. */
interface Lived {
  readonly thread: Thread;
  readonly turns: readonly TurnRecord[];
}

async function livedOf(store: Store, contact: string): Promise<readonly Lived[]> {
  const all: Lived[] = [];
  for (const name of NAMES) {
    const scope = { org: OPERATOR.org, agent: agentName(name), contact: contactId(contact) };
    for (const thread of await store.threads(scope, 500))
      all.push({ thread, turns: await store.turns(scope, thread.id) });
  }
  return all;
}

function wrongIn(all: readonly Lived[], { graph, ran, began }: Chain): readonly string[] {
  const wrong: string[] = [];
  const isOutside = began === "contact";
  for (const { thread, turns } of all) {
    const declared = graph.get(thread.scope.agent);
    const edge = thread.caller && graph.get(thread.caller.agent)?.peers.find(({ name }) => name === thread.scope.agent);
    if (declared === undefined || (thread.caller !== undefined && edge === undefined)) {
      wrong.push(`${thread.caller?.agent} asked ${thread.scope.agent}, which it may not`);
      continue;
    }
    const may = declared.tools.filter((tool) => edge?.tools === undefined || edge.tools.includes(tool));
    const offered = turns.flatMap(({ requests }) => requests).length;
    const did = ran.filter((one) => one.thread === thread.id).map(({ tool }) => tool);
    const edits = turns.flatMap(({ edits: made = [] }) => made);
    for (const tool of did)
      if (!may.includes(tool)) wrong.push(`${thread.scope.agent} ran ${tool} over an edge without it`);
    if (edits.length > 0 && !may.includes("update_prompt_layer"))
      wrong.push(`${thread.scope.agent} edited without the tool`);
    for (const { became } of edits)
      if (isOutside && became === "kept") wrong.push(`${thread.scope.agent} changed its prompt for somebody outside`);
    if (offered > declared.turn.modelCalls) wrong.push(`${thread.scope.agent} called the model ${offered} times`);
    const [first] = turns.flatMap(({ events }) => events);
    const most: Trust = thread.caller === undefined ? began : isOutside ? "contact" : "agent";
    if (first !== undefined && TRUSTS.indexOf(first.trust) < TRUSTS.indexOf(most))
      wrong.push(`${thread.id} heard ${first.trust}`);
    wrong.push(...withinLimits(all, { thread, turns }, declared));
  }
  // The turn has outside input if an outsider began it, or if it read what an outsider wrote.
  for (const { tool, taint } of ran)
    if (tool !== "look" && (isOutside || taint === "contact"))
      wrong.push(`${tool} ran in a chain begun by the ${began}, at ${taint}`);
  return wrong;
}

/** What a thread and everything it asked have used. */
function usedBy(
  all: readonly Lived[],
  { thread, turns }: Lived,
): { modelCalls: number; toolCalls: number; dollars: number } {
  const sum = { modelCalls: 0, toolCalls: 0, dollars: 0 };
  for (const { totals } of turns)
    for (const key of ["modelCalls", "toolCalls", "dollars"] as const) sum[key] += totals?.[key] ?? 0;
  for (const one of all.filter(({ thread: { caller } }) => caller?.thread === thread.id)) {
    const inner = usedBy(all, one);
    for (const key of ["modelCalls", "toolCalls", "dollars"] as const) sum[key] += inner[key];
  }
  return sum;
}

/** Sums of dollars differ in their last digits by their order. */
const ROUNDING = 1e-9;

/** Its own limits, and what its caller left it. */
function withinLimits(all: readonly Lived[], lived: Lived, { turn }: Declared): readonly string[] {
  const { thread } = lived;
  const caller = all.find(({ thread: { id } }) => id === thread.caller?.thread);
  const calls = caller?.turns.flatMap(({ end }) => (end?.status === "waiting" ? end.calls : [])) ?? [];
  const reserved = calls.find(({ id }) => id === thread.caller?.call)?.reserved;
  const used = usedBy(all, lived);
  const most = {
    modelCalls: Math.min(turn.modelCalls, reserved?.modelCalls ?? turn.modelCalls),
    toolCalls: Math.min(turn.toolCalls, reserved?.toolCalls ?? turn.toolCalls),
    dollars: Math.min(turn.maxCost, reserved?.dollars ?? turn.maxCost),
  };
  const wrong = (["modelCalls", "toolCalls", "dollars"] as const).flatMap((key) => {
    if (used[key] <= most[key] + ROUNDING) return [];
    return [`${thread.scope.agent} and all that it asked used ${used[key]} of ${most[key]} ${key}`];
  });
  // The sum that it left to concurrent calls is at most what it had.
  for (const { end } of lived.turns) {
    const left = end?.status === "waiting" ? end.calls.reduce((sum, one) => sum + (one.reserved?.dollars ?? 0), 0) : 0;
    if (left > most.dollars + ROUNDING)
      wrong.push(`${thread.scope.agent} left ${left} of ${most.dollars} dollars to others`);
  }
  if (thread.caller !== undefined && reserved?.seconds === undefined)
    wrong.push(`${thread.id} has all the time of the world`);
  return wrong;
}
