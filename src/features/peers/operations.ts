import { z } from "zod";
import { printable, table } from "../../print/index.ts";
import type { Agent } from "../../protocol/index.ts";
import { list as listOf, OF_AGENT } from "../fields.ts";
import { operation } from "../operation.ts";
import type { Edge } from "./config.ts";
import { answerTypeOf } from "./payload.ts";

/** Described as any object: OpenAPI has no description of the recursive form. */
const SCHEMA = z.record(z.string(), z.unknown()).describe("a JSON Schema");

const PEERS = z
  .object({
    entry: z.boolean().describe("Whether the agent can be written to from outside."),
    takes: z.object({ type: z.string(), schema: SCHEMA }).optional().describe("Left out: it declares no payload."),
    peers: listOf(
      z.object({
        name: z.string(),
        description: z.string(),
        takes: z.object({ type: z.string(), schema: SCHEMA }),
        answers: z.string().optional().describe("The type of its answers; left out, they are text."),
        tools: listOf(z.string()).optional().describe("The only tools of its own that it may use; left out, all."),
      }),
    ),
  })
  .meta({ id: "Peers" });

const COLUMNS = [
  { head: "name" },
  { head: "takes" },
  { head: "answers with" },
  { head: "tools" },
  { head: "asked for", least: 20, wraps: true },
] as const;

const peerOf = (edge: Edge) => {
  const { name, description, payload, tools } = edge;
  const { type, schema } = payload;
  const answers = answerTypeOf(edge);
  const ends = { ...(answers !== undefined && { answers }), ...(tools && { tools: [...tools] }) };
  return { name, description, takes: { type, schema }, ...ends };
};

const list = operation({
  name: "peer.list",
  does: "List whom an agent may ask, what each peer takes, and what the agent takes itself.",
  may: "operate",
  at: "GET /v1/agents/{agent}/peers",
  takes: OF_AGENT,
  gives: PEERS,
  command: { examples: ["peer list greeter"], opens: "data" },
  run: async ({ runtime }, { agent: name }, { actor }) => {
    const { entry = true, payload, peers = [] } = runtime.agent(actor, name);
    const takes = payload && { type: payload.type, schema: payload.schema };
    return { entry, ...(takes && { takes }), peers: peers.map(peerOf) };
  },
  show: ({ entry, takes, peers }, { style, given: { agent } }) => [
    `${agent} ${entry ? "can" : "cannot"} be written to from outside${takes ? `, and takes \`${takes.type}\`` : ""}.`,
    ...(peers.length === 0
      ? [`${agent} may ask nobody; \`peers\` in strata.yaml says whom it may.`]
      : table(
          COLUMNS,
          peers.map(({ name, description, takes: { type }, answers = "text", tools }) =>
            [name, type, answers, tools?.join(", ") ?? "all", description].map(printable),
          ),
          style,
        )),
  ],
});

const GRAPH = z
  .object({
    mermaid: z.string().describe("The graph in the language Mermaid."),
    edges: listOf(z.object({ from: z.string(), to: z.string(), takes: z.string() })),
  })
  .meta({ id: "PeerGraph" });

const graph = operation({
  name: "peer.graph",
  does: "Draw who may ask whom, as a graph in the language Mermaid.",
  may: "operate",
  at: "GET /v1/peers/graph",
  takes: z.object({}),
  gives: GRAPH,
  command: { examples: ["peer graph"], opens: "data" },
  run: async ({ runtime }, _, { actor }) => graphOf(runtime.agents(actor)),
  show: ({ mermaid }) => mermaid.trimEnd().split("\n"),
});

/** All agents that are an entry, ask somebody or are asked. What the graph shows of each is its name and what it takes. */
function graphOf(agents: readonly Agent[]): z.output<typeof GRAPH> {
  const edges = agents.flatMap(({ name: from, peers = [] }) =>
    peers.map(({ name: to, payload }) => ({ from: String(from), to, takes: payload.type })),
  );
  const shown = agents.filter(({ entry }) => entry !== undefined);
  const ids = new Map(shown.map(({ name }, i) => [String(name), `a${i + 1}`]));
  const nodes = shown.map(({ name, entry }) => `  ${ids.get(name)}${entry ? `(["${name}"])` : `["${name}"]`}`);
  const outside = shown.filter(({ entry }) => entry).map(({ name }) => `  outside((" ")) --> ${ids.get(name)}`);
  const arrows = edges.map(({ from, to, takes }) => `  ${ids.get(from)} -- "${takes}" --> ${ids.get(to)}`);
  return { mermaid: `${["flowchart LR", ...nodes, ...outside, ...arrows].join("\n")}\n`, edges };
}

export const OPERATIONS = [list, graph];
