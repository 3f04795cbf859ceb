import { chooseMode, compile, requestOf, roomIn } from "../../compiler/index.ts";
import { identityTexts } from "../../features/organization/index.ts";
import { tokenCounter } from "../../models/index.ts";
import {
  type Agent,
  type CountTokens,
  contactId,
  type Epoch,
  eventId,
  isJsonObject,
  type Json,
  type JsonObject,
  type LayerContent,
  type Ledger,
  type ModelRef,
  type OwnSource,
  type Request,
  type StoredEvent,
  spoken,
  type Tool,
  type ToolReader,
  type TranscriptMessage,
  threadId,
  turnId,
  untrusted,
} from "../../protocol/index.ts";
import { declaredTexts } from "../../turn/index.ts";
import { gather } from "../../turn/sources/index.ts";
import { toolset } from "../../turn/tools/index.ts";
import type { RenderVariant } from "../../wire/index.ts";
import type { Declared } from "../declare.ts";

/** An agent's first two requests, and how the first one's sections fared. */
export interface Rendered {
  readonly requests: readonly Omit<Request, "breakpoints">[];
  readonly ledger: Ledger;
}

/** What is rendered, for which agent and model. */
export interface Rendering {
  readonly declared: Declared;
  readonly agent: Agent;
  readonly model: ModelRef;
  readonly count: CountTokens;
}

/** A counter as the model's turns would begin with. */
export const counterFor = ({ cardOf }: Declared, model: ModelRef): Promise<CountTokens> =>
  tokenCounter({ factor: cardOf(model).tokenFactor });

/**
 * The first request of a new thread and the one after it, as the engine renders them: sources of the operator's own are not
 * asked, nothing is sent or stored.
 * @throws StrataError `budget_too_small`
 */
export async function renderIn(world: RenderVariant, { declared, agent, model, count }: Rendering): Promise<Rendered> {
  const shown = world.reversed?.includes("maps") ? { ...agent, layers: agent.layers.toReversed() } : agent;
  const card = declared.cardOf(model);
  const { reply, limit } = roomIn(card.contextWindow, agent.budgets);
  const parameters = { maxTokens: Math.min(reply, card.maxOutputTokens), ...outputOf(agent) };
  const tools = schemasOf(declared, { ...agent, ...(card.loadsTools && { loadsTools: true }) }, world);
  const input = {
    agent: shown,
    turn: TURN,
    mode: chooseMode({ agent, window: card.contextWindow, tools, contents: initialTexts(agent), count }),
    limit,
    tools,
    count,
  };
  const contents = await contentsOf(shown, world);
  const first = compile({ ...input, contents, epoch: undefined, events: [message(1)] });
  const epoch: Epoch = { ...first.epoch, transcript: [...first.own, REPLY] };
  const second = compile({ ...input, contents, epoch, events: [message(2)] });
  return { requests: [first, second].map((one) => requestOf(one, parameters)), ledger: first.ledger };
}

const outputOf = ({ output }: Agent): { readonly output?: JsonObject } => (output === undefined ? {} : { output });

/** The same in every render: a message from outside at its own time, whatever the clock says. */
const AT = Date.UTC(2026, 0, 31, 8);
const NO_CHANCE = "0".repeat(26);
const TURN = turnId(`trn_${NO_CHANCE}`);
const THREAD = threadId(`thr_${NO_CHANCE}`);

const message = (seq: number): StoredEvent => ({
  id: eventId(`evt_${NO_CHANCE}`),
  thread: THREAD,
  seq,
  status: "pending",
  kind: "message",
  trust: "contact",
  channel: "lint",
  content: [{ type: "text", text: untrusted("I would like to know what you can do.") }],
  at: AT + seq * 60_000,
});

const REPLY: TranscriptMessage = {
  message: { role: "assistant", parts: [{ type: "text", text: spoken("This and that.") }] },
  trust: "contact",
  tokens: 8,
  turn: TURN,
};

/** The tools as they would be offered, read again from the registered ones. */
function schemasOf({ tools }: Declared, reader: Agent & ToolReader, { reversed = [] }: RenderVariant) {
  const own = reader.tools.map((name) => tools.get(name)).filter((tool) => tool !== undefined);
  const described = own.map((tool) => describedTo(reader, tool));
  const given = described.map((tool) => (reversed.includes("maps") ? turnedAround(tool) : tool));
  const registered = toolset(reversed.includes("tools") ? given.toReversed() : given);
  return registered.schemas(reversed.includes("tools") ? reader.tools.toReversed() : reader.tools, reader);
}

function describedTo(reader: ToolReader, tool: Tool): Tool {
  const { schemaFor, ...rest } = tool;
  return schemaFor === undefined ? tool : { ...rest, schema: schemaFor(reader) };
}

const turnedAround = (tool: Tool): Tool => ({
  ...tool,
  schema: { ...tool.schema, input: keysReversed(tool.schema.input) },
});

const keysReversed = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object)
      .toReversed()
      .map(([key, value]) => [key, reversedWithin(value)]),
  );

const reversedWithin = (value: Json): Json =>
  isJsonObject(value) ? keysReversed(value) : Array.isArray(value) ? value.map(reversedWithin) : value;

/** The prefix's texts before any edit. */
const initialTexts = (agent: Agent) => new Map([...declaredTexts(agent), ...identityTexts(agent)]);

/** The kinds that the turn itself fills; all others belong to features. */
const OWN_KINDS: ReadonlySet<string> = new Set(["text", "clock", "allowance", "own"]);

/** The live layers' contents: different in each world, because none of them may be before the tail. */
async function contentsOf(agent: Agent, world: RenderVariant) {
  const layers = agent.layers.filter(({ scope }) => scope === "turn");
  const given = untrusted(`Found in the world ${world.name}.`);
  const names = layers.flatMap(({ source }) => (source.kind === "own" ? [source.name] : []));
  const sources = names.map((name): [string, OwnSource] => [
    name,
    { name, trust: "contact", load: async () => [{ text: given }] },
  ]);
  const scope = { org: agent.org, agent: agent.name, contact: contactId("lint") };
  const filled: LayerContent = { kind: "items", items: [{ kind: "memory", text: given, trust: "contact", at: AT }] };
  const kinds = layers.map(({ source }) => source.kind).filter((kind) => !OWN_KINDS.has(kind));
  const { contents } = await gather(agent, layers, {
    scope,
    events: [message(1)],
    at: Date.now(),
    count: (text) => text.length,
    live: Object.fromEntries(kinds.map((kind) => [kind, async () => filled])),
    sources: new Map(sources),
  });
  const all = [...initialTexts(agent), ...contents];
  return new Map(world.reversed?.includes("maps") ? all.toReversed() : all);
}
