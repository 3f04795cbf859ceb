import { z } from "zod";
import { printable, table } from "../../print/index.ts";
import { FIELDS, list as listOf } from "../fields.ts";
import { operation } from "../operation.ts";
import type { Edge } from "./config.ts";
import { answerTypeOf } from "./payload.ts";

/** Described as any object: OpenAPI has no description of the recursive form. */
const SCHEMA = z.record(z.string(), z.unknown()).describe("a JSON Schema");

const ONE = z
  .object({
    agent: z.string(),
    entry: z.boolean().describe("Whether the agent can be written to from outside."),
    takes: z.object({ type: z.string(), schema: SCHEMA }).optional().describe("Left out: it declares no payload."),
    peers: listOf(
      z.object({
        name: z.string(),
        description: z.string(),
        takes: z.object({ type: z.string(), schema: SCHEMA }),
        answers: z.string().optional().describe("The type of its answers; left out, they are text."),
        tools: listOf(z.string()).optional().describe("The only tools of its own that it may use; left out, all."),
        shown: z.string().optional().describe("What it is shown of its caller's conversation; left out, nothing."),
      }),
    ),
  })
  .meta({ id: "Peers" });

const COLUMNS = [
  { head: "name" },
  { head: "takes" },
  { head: "answers with" },
  { head: "tools" },
  { head: "is shown" },
  { head: "asked for", least: 20, wraps: true },
] as const;

const peerOf = (edge: Edge) => {
  const { name, description, payload, tools, share } = edge;
  const { type, schema } = payload;
  const answers = answerTypeOf(edge);
  return {
    name,
    description,
    takes: { type, schema },
    ...(answers !== undefined && { answers }),
    ...(tools && { tools: [...tools] }),
    ...(share !== undefined && { shown: typeof share === "string" ? share : `last ${share.last}` }),
  };
};

const listPeers = operation({
  name: "peer.list",
  does: "List whom each agent may ask, what each peer takes and is shown, and what the agent takes itself.",
  may: "operate",
  at: "GET /v1/peers",
  takes: z.object({ agent: FIELDS.agent.optional() }),
  gives: z.object({ agents: listOf(ONE) }),
  list: "agents",
  command: { examples: ["peer list", "peer list greeter"], opens: "data" },
  run: async ({ runtime }, { agent: only }, { actor }) => {
    const found = only === undefined ? runtime.agents(actor) : [runtime.agent(actor, only)];
    return {
      agents: found.map(({ name, entry = true, payload, peers = [] }) => {
        const takes = payload && { type: payload.type, schema: payload.schema };
        return { agent: name, entry, ...(takes && { takes }), peers: peers.map(peerOf) };
      }),
    };
  },
  show: ({ agents }, { style }) =>
    agents.flatMap(({ agent, entry, takes, peers }) => [
      `${style.bold(agent)} ${entry ? "can" : "cannot"} be written to from outside${takes ? `, takes \`${takes.type}\`` : ""}${peers.length === 0 ? ", and may ask no other agent." : ", and may ask:"}`,
      ...(peers.length === 0
        ? []
        : table(
            COLUMNS,
            peers.map(({ name, description, takes: { type }, answers = "text", tools, shown = "nothing" }) =>
              [name, type, answers, tools?.join(", ") ?? "all", shown, description].map(printable),
            ),
            style,
          ).map((line) => `  ${line}`)),
    ]),
});

export const OPERATIONS = [listPeers];
