import { z } from "zod";
import {
  agentKey,
  frozenKey,
  type KeyLayer,
  type KeyPlace,
  type StoredKeys,
  sharedKey,
  slug,
} from "../../agents/index.ts";
import { layerId, suggestion, trusted } from "../../protocol/index.ts";
import { answerTypeOf, JSON_OBJECT, type Payload, payloadOf, STORED_PAYLOAD, WRITTEN_PAYLOAD } from "./payload.ts";
import { LAST, SHARES, STORED_SHARE } from "./share-policy.ts";
import { askedText, peersText } from "./wording.ts";

/** The tools by which an agent asks its peers: this, and the peer's name. */
export const ASK = "ask_";

/** The part of a tool's name after the prefix. */
const CALLABLE = /^[a-z0-9_-]{1,60}$/;

const PEER = z.strictObject({
  name: slug().describe("The agent that it may ask."),
  tools: z
    .array(z.string().min(1).max(64))
    .max(100)
    .optional()
    .describe(
      "Which of its own tools the asked agent may use when this one asks it; `ask_NAME` is the tool by which it asks its own peer of that name. Default: all.",
    ),
  share: z
    .union([SHARES, LAST], "`none`, `summary`, `full`, `fork` or `{last: N}`")
    .optional()
    .describe(
      "How much of its conversation the asked agent sees with each question: `none`, `summary` (which its own model writes), `{last: N}`, `full`, or `fork`: an agent that asks itself goes on from its own conversation, up to its last finished reply. Default: `none`.",
    ),
  updates: z
    .boolean()
    .optional()
    .describe(
      "Whether the asked agent may tell this one something before it answers, with the tool `enqueue_parent`. Default: false.",
    ),
  seconds: z
    .int()
    .min(1)
    .max(31_536_000)
    .optional()
    .describe(
      "Seconds to wait for an answer. Then the asking agent continues without it, and an answer that comes later is a new event for it. Default: `ttlHours` of its `buffer`; without that, no limit.",
    ),
});

const PEERS = z
  .array(
    z.union(
      [slug(), PEER],
      "a name, or a map with `name`, and if wanted `tools` and `share`: `none`, `summary`, `full`, `fork` or `{last: N}`",
    ),
  )
  .max(50)
  .optional()
  .describe(
    "The agents that it may ask, each with a separate tool, `ask_` and the name: names, or maps with `name`, `tools`, `share`, `seconds` and `updates`. Default: none.",
  );
type WrittenPeers = z.output<typeof PEERS>;

const ENTRY = z
  .array(slug())
  .max(1_000)
  .optional()
  .describe(
    "The agents that can be written to from outside, of those that have `payload` or `peers` or are a peer of another. Default: none of these. All others can.",
  );

const STORED_PEERS = z
  .array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      payload: STORED_PAYLOAD,
      answers: z.exactOptional(JSON_OBJECT),
      tools: z.exactOptional(z.array(z.string()).readonly()),
      share: z.exactOptional(STORED_SHARE),
      seconds: z.exactOptional(z.number()),
      updates: z.exactOptional(z.literal(true)),
    }),
  )
  .readonly();

/** A peer that an agent may ask, as declared with the agent. */
export type Edge = z.output<typeof STORED_PEERS>[number];

const namesIn = (value: WrittenPeers): readonly string[] =>
  (value ?? []).map((one) => (typeof one === "string" ? one : one.name));

/** Another agent's value under a key of this feature, which was checked with that key's own form. */
const readKey = <Form extends z.ZodType>({ agents }: KeyPlace, name: string, key: string, form: Form): z.output<Form> =>
  form.parse(Reflect.get(agents[name] ?? {}, key));

/** The payload that an agent accepts. Errors are reported where it is declared. */
function payloadAt(place: KeyPlace, name: string): Payload {
  const written = readKey(place, name, "payload", WRITTEN_PAYLOAD);
  return payloadOf(written, { ...place, refuse: () => undefined, checkSchema: () => undefined });
}

function freezePeers(value: WrittenPeers, place: KeyPlace): readonly Edge[] | undefined {
  if (value === undefined || value.length === 0) return undefined;
  return value.flatMap((one): Edge[] => {
    const { name, tools, share = "none", seconds, updates } = typeof one === "string" ? { name: one } : one;
    const callee = place.agents[name];
    // It was refused.
    if (callee === undefined) return [];
    const { description, output } = callee;
    const edge = { name, description, payload: payloadAt(place, name) };
    return [
      {
        ...edge,
        ...(output !== undefined && { answers: output }),
        ...(tools && { tools }),
        ...(share !== "none" && { share }),
        ...(seconds && { seconds }),
        ...(updates && { updates }),
      },
    ];
  });
}

/** Why a name is none of an agent in the file. */
const undeclared = (name: string, { agents }: KeyPlace): string =>
  `the file declares no agent \`${name}\`${suggestion(name, Object.keys(agents))}`;

function checkPeers(value: WrittenPeers, place: KeyPlace): void {
  const { agents, refuse } = place;
  const names = namesIn(value);
  for (const [i, written] of (value ?? []).entries()) {
    const edge = typeof written === "string" ? { name: written } : written;
    const { name } = edge;
    if (names.indexOf(name) < i) refuse([i], "is listed twice");
    if (agents[name] === undefined) refuse([i], undeclared(name, place));
    if (!CALLABLE.test(name))
      refuse([i], "the name of a peer becomes a tool's: at most 60 of a-z, 0-9, `_` and `-`, and no `.`");
    checkEdge(i, edge, place);
  }
}

/** What the edge shares, and the tools that it adds or leaves. */
function checkEdge(i: number, { name, tools = [], share, updates }: z.output<typeof PEER>, place: KeyPlace): void {
  const { agents, refuse } = place;
  const callee = agents[name];
  if (updates && (share === "fork" || callee?.layers.length === 0))
    refuse([i, "updates"], "`enqueue_parent` is a tool, and a fork or an agent without layers gets none: leave it out");
  if (share === "fork") checkFork(i, { name, tools }, place);
  if (callee === undefined) return;
  const own = [
    ...callee.tools.map((tool) => (typeof tool === "string" ? tool : tool.name)),
    ...namesIn(readKey(place, name, "peers", PEERS)).map((peer) => `${ASK}${peer}`),
  ];
  for (const [n, tool] of tools.entries())
    if (!own.includes(tool))
      refuse([i, "tools", n], `\`${name}\` itself has no \`${tool}\` among its \`tools\`${suggestion(tool, own)}`);
}

/** A fork continues with its caller's own bytes, so both sides are one version of one agent. */
function checkFork(
  i: number,
  { name, tools }: { readonly name: string; readonly tools: readonly string[] },
  { name: own, agent, refuse }: KeyPlace,
): void {
  const other = "share `full`, `summary` or `{last: N}` instead";
  if (name !== own)
    refuse([i, "share"], `an agent is forked only where it asks itself, and \`${name}\` is another one: ${other}`);
  if (tools.length > 0) refuse([i, "tools"], "a fork has all tools of its agent: leave `tools` out");
  if (agent.history === "log" || agent.layers.length === 0)
    refuse([i, "share"], `a fork goes on from a conversation that a model sees, and this agent has none: ${other}`);
}

/** Agents that others reach only by declaration: those with a payload or peers, and those that are peers. */
function isListener(place: KeyPlace): boolean {
  const { name, agents } = place;
  const peersOf = (one: string) => namesIn(readKey(place, one, "peers", PEERS));
  return (
    readKey(place, name, "payload", WRITTEN_PAYLOAD) !== undefined ||
    readKey(place, name, "peers", PEERS) !== undefined ||
    Object.keys(agents).some((one) => peersOf(one).includes(name))
  );
}

/** What holds where `buffer` does not say it. */
export const LIFETIME = { slots: 1_000, threads: 10_000, graceMinutes: 10 } as const;

const BUFFER = z
  .strictObject({
    slots: z
      .int()
      .min(2)
      .max(1_000_000)
      .optional()
      .describe("Messages that one conversation may hold, replies included. Default 1,000."),
    threads: z
      .int()
      .min(1)
      .max(10_000_000)
      .optional()
      .describe("Conversations that the agent may have. A further one is refused with 429. Default 10,000."),
    ttlHours: z
      .number()
      .min(0.001)
      .max(100_000)
      .optional()
      .describe("Hours without any message after which the agent is warned in a turn. Default: never."),
    graceMinutes: z
      .number()
      .min(0)
      .max(100_000)
      .optional()
      .describe("Minutes after the warning until the conversation is closed, if nothing arrives. Default 10."),
  })
  .optional()
  .describe("Limits of the agent's conversations. Default: none.");

/** A layer of the platform's words, and of the operator's if they describe a peer. A reply may repeat its names. */
const platformLayer = (id: string, text: string): KeyLayer => ({
  id: layerId(id),
  mutability: "immutable",
  scope: "agent",
  trust: "operator",
  minimum: 0,
  required: true,
  private: false,
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  source: { kind: "text", text: trusted(text) },
});

/** The block that names the peers. */
export function peersLayers(edges: readonly Edge[]): readonly KeyLayer[] {
  const shown = edges.map((edge) => ({ ...edge, tool: `${ASK}${edge.name}`, answerType: answerTypeOf(edge) }));
  return [{ ...platformLayer("peers", peersText(shown)), apart: true }];
}

/** What an agent takes, which peers it may ask, and whether it can be reached from outside. */
export const KEYS = {
  payload: frozenKey({
    written: WRITTEN_PAYLOAD,
    stored: STORED_PAYLOAD,
    layers: ({ type }: Payload) => [platformLayer("asked", askedText(type))],
    freeze: (value, place: KeyPlace) => (value === undefined ? undefined : payloadOf(value, place)),
    locks: ({ xsd }: Payload): Readonly<Record<string, string>> => (xsd === undefined ? {} : { xsd }),
  }),
  peers: frozenKey({
    written: PEERS,
    stored: STORED_PEERS,
    tools: (value: WrittenPeers) => namesIn(value).map((name) => `${ASK}${name}`),
    layers: peersLayers,
    freeze: freezePeers,
    check: checkPeers,
  }),
  buffer: sharedKey(agentKey(BUFFER)),
  entry: sharedKey(
    frozenKey({
      written: ENTRY,
      stored: z.boolean(),
      freeze: (value: z.output<typeof ENTRY>, place: KeyPlace) =>
        isListener(place) ? value?.includes(place.name) === true : undefined,
      check: (value: z.output<typeof ENTRY>, place: KeyPlace) => {
        const { name, agents, refuse } = place;
        // It is at the top of the file: reported once, with the first agent.
        if (name !== Object.keys(agents)[0]) return;
        for (const [i, one] of (value ?? []).entries())
          if (agents[one] === undefined) refuse([i], undeclared(one, place));
      },
    }),
  ),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/tool.ts" {
  interface ToolReader extends StoredKeys<typeof KEYS> {}
}
