import { z } from "zod";
import { agentSpec, sealAgent, vaultOf } from "../agents/index.ts";
import { reviveAgent } from "../app/entry/agents.ts";
import { allChannels, allFeatures, allParts } from "../app/entry/features.ts";
import { openRuntime, type RuntimeParts } from "../app/entry/runtime.ts";
import { memoryTools } from "../features/memories/index.ts";
import { type Script, scripted } from "../models/index.ts";
import {
  type Agent,
  type Allowed,
  actorId,
  agentName,
  allow,
  type Budgets,
  type Clock,
  contactId,
  DEFAULT_BUDGETS,
  type Layer,
  layerId,
  type Model,
  type NewEvent,
  orgId,
  type Request,
  type Tool,
  type TurnEvent,
  toolName,
  trusted,
  untrusted,
} from "../protocol/index.ts";
import { openSqlite, type Store, type Thread } from "../store/index.ts";
import { cardOf } from "../wire/index.ts";
import type { RunOptions, Runtime, TurnSteps } from "./index.ts";
import { defineTool, toolset } from "./tools/index.ts";

export const ORG = orgId("home");
export const OPERATOR = allow({ org: ORG, id: actorId("token:operator"), role: "operator" }, "operate");
const WHOLE = { full: "whole", compact: "whole", minimal: "whole" } as const;

const layer = (one: Partial<Omit<Layer, "id">> & Pick<Layer, "rank" | "source"> & { readonly id: string }): Layer => ({
  mutability: "immutable",
  scope: "agent",
  trust: "operator",
  minimum: 0,
  required: false,
  modes: WHOLE,
  ...one,
  id: layerId(one.id),
});

/** An agent as small as it can be and still have every kind of layer. */
export function sampleAgent(change: Partial<Agent> = {}, name = "helper"): Agent {
  const rest = {
    org: ORG,
    name: agentName(name),
    description: "for tests",
    layers: [
      layer({
        id: "precedence",
        rank: 0,
        scope: "all",
        trust: "platform",
        source: { kind: "text", text: trusted("A lower layer wins.") },
      }),
      layer({ id: "identity", rank: 10, source: { kind: "text", text: trusted("You are a helper.") } }),
      layer({
        id: "clock",
        rank: 50,
        scope: "turn",
        mutability: "live",
        trust: "platform",
        source: { kind: "clock", timezone: "UTC" },
      }),
      layer({
        id: "recall",
        rank: 60,
        scope: "turn",
        mutability: "live",
        trust: "contact",
        source: { kind: "recall", limit: 5 },
      }),
    ],
    tools: [toolName("memory_save"), toolName("memory_search"), toolName("ring"), toolName("look")],
    recall: "auto",
    history: "transcript",
    summaries: false,
    mode: "full",
    budgets: DEFAULT_BUDGETS,
    ...change,
  } as const;
  return sealAgent(rest);
}

/** A tool that acts outside (`ring`) and one that only looks (`look`), with what they did. */
function sampleTools(rung: string[]): readonly Tool[] {
  return [
    defineTool({
      name: "ring",
      description: "Rings a bell.",
      input: z.strictObject({ bell: z.string() }),
      effect: "external",
      trust: "contact",
      run: async ({ bell }) => {
        rung.push(bell);
        return { text: untrusted(`rang ${bell}`), failed: false };
      },
    }),
    defineTool({
      name: "look",
      description: "Looks at something; breaks when told to.",
      input: z.strictObject({ at: z.string() }),
      effect: "none",
      trust: "contact",
      run: async ({ at }) => {
        if (at === "the sun") throw new Error("too bright");
        if (at === "for ever") return new Promise<never>(() => undefined);
        return { text: untrusted(at.startsWith("long") ? "long ".repeat(20_000) : `saw ${at}`), failed: false };
      },
    }),
  ];
}

export interface TestRuntime {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly parts: RuntimeParts;
  readonly agent: Agent;
  readonly sent: readonly Request[];
  readonly rung: readonly string[];
  /** The threads' clock; move it at will. */
  readonly time: { at: number };
  readonly open: (contact?: string, actor?: Allowed<"post">) => Promise<Thread>;
  /** Posts one contact message and runs a turn. */
  readonly say: (thread: Thread, text: string, options?: RunOptions) => Promise<TurnEvent[]>;
}

/** Features that only a test has: nothing but their steps. */
export const testFeatures = (steps: readonly TurnSteps[] = []): RuntimeParts["features"] =>
  steps.map((one, i) => ({ name: `test-only-${i + 1}`, operations: [], steps: one }));

/** A runtime over real SQLite with a scripted model: everything else is real. */
export async function testRuntime(
  script: readonly Script<Request>[],
  options: {
    readonly agent?: Agent;
    readonly store?: Store;
    readonly parts?: Partial<Omit<RuntimeParts, "clock">> & { readonly clock?: Partial<Clock> };
    readonly budgets?: Partial<Budgets>;
    /** Each of a feature that only the test has. */
    readonly steps?: readonly TurnSteps[];
  } = {},
): Promise<TestRuntime> {
  const agent =
    options.agent ??
    sampleAgent(options.budgets === undefined ? {} : { budgets: { ...DEFAULT_BUDGETS, ...options.budgets } });
  const store = options.store ?? (await openSqlite(":memory:", { parts: await allParts() }));
  const { model, sent } = scripted(script);
  const rung: string[] = [];
  const time = { at: Date.UTC(2026, 10, 21, 9, 30) };
  let chance = 0;
  const parts: RuntimeParts = {
    agents: { all: [agent], spec: agentSpec, revive: reviveAgent },
    store,
    tools: toolset([...memoryTools(store), ...sampleTools(rung)]),
    toolsOver: async (over) => toolset([...memoryTools(over), ...sampleTools(rung)]),
    removeFiles: async () => undefined,
    filesOf: async () => [],
    renameFiles: async () => undefined,
    channels: await allChannels(),
    sources: new Map(),
    vault: vaultOf([]),
    cardOf,
    observe: () => undefined,
    modelOf: async (): Promise<Model> => model,
    counterOf: async () => (text) => Math.ceil(Buffer.byteLength(text) / 3),
    random: (n) => Uint8Array.from({ length: n }, (_, i) => (i < 4 ? (++chance >> (8 * i)) & 255 : 7)),
    holder: "test",
    alive: () => true,
    features: [...(await allFeatures()), ...testFeatures(options.steps)],
    ...options.parts,
    clock: { recorded: () => time.at, real: () => Date.now(), ...options.parts?.clock },
  };
  const runtime = openRuntime(parts);
  const open = (contact = "ann", actor: Allowed<"post"> = OPERATOR): Promise<Thread> =>
    runtime.open(actor, { agent: agent.name, contact: contactId(contact), channel: "test", key: "main" });
  const say = async (thread: Thread, text: string, how: RunOptions = {}): Promise<TurnEvent[]> => {
    await runtime.post(OPERATOR, thread, [message(text, time.at)]);
    return collect(runtime.run(OPERATOR, thread, how));
  };
  return { runtime, store, parts, agent, sent, rung, time, open, say };
}

export const message = (text: string, at: number, externalId?: string): NewEvent => ({
  kind: "message",
  trust: "contact",
  channel: "test",
  content: [{ type: "text", text: untrusted(text) }],
  at,
  ...(externalId === undefined ? {} : { externalId }),
});

export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The last event: how the turn ended. */
export function endOf(events: readonly TurnEvent[]): Extract<TurnEvent, { type: "done" | "failed" }> {
  const last = events.at(-1);
  if (last?.type !== "done" && last?.type !== "failed") throw new Error(`the turn ended in ${last?.type ?? "nothing"}`);
  return last;
}
