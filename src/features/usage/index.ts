/** Usage: tokens sent and received, and their cost. */
import { z } from "zod";
import { dollars, number, type Style, table } from "../../print/index.ts";
import { type Agent, type Allowed, type ContactId, StrataError } from "../../protocol/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, list } from "../fields.ts";
import { type OperationContext, operation } from "../operation.ts";
import { TOKENS } from "../shapes.ts";

const TOTAL = z.object({ turns: z.number(), requests: z.number(), ...TOKENS.shape, dollars: z.number() });

const USAGE = z
  .object({
    agents: list(
      TOTAL.extend({
        agent: z.string(),
        priced: z.boolean().describe("whether the price of the current model is known; if not, no dollars are counted"),
      }),
    ),
    total: TOTAL,
  })
  .meta({ id: "Usage" });

type Total = Awaited<ReturnType<OperationContext["runtime"]["usage"]>>;

/** One agent's total. */
interface AgentTotal extends Total {
  readonly agent: string;
  readonly priced: boolean;
}

const usage = operation({
  name: "usage",
  does: "Add up tokens and dollars, as the providers reported them; failed turns cost money, too.",
  may: "read",
  at: "GET /v1/usage",
  takes: z.strictObject({
    agent: FIELDS.agent.optional(),
    contact: FIELDS.contact.optional().describe("with this contact only"),
  }),
  gives: USAGE,
  command: { examples: ["usage companion --as ann"], opens: "record" },
  run: async (world, { agent, contact = null }, { actor }) => {
    const agents = agent === undefined ? everyAgent(world, actor) : [world.runtime.recordedAgent(actor, agent)];
    const rows = await usageRows(world, agents, { actor, contact });
    return { agents: rows, total: rows.reduce(sum, NOTHING) };
  },
  show: ({ agents }, { style }) => usageTable(agents, style),
});

export const FEATURE: Feature = { name: "usage", operations: [usage] };

/** Also those no longer declared: their cost was paid. */
const everyAgent = ({ runtime }: OperationContext, actor: Allowed<"read">): readonly Agent[] => [
  ...runtime.agents(actor),
  ...runtime.formerAgents(actor),
];

/** A row for each agent that can know the contact. @throws StrataError `invalid_id` if none can */
async function usageRows(
  { runtime, cardOf, modelNameOf }: OperationContext,
  agents: readonly Agent[],
  { actor, contact }: { readonly actor: Allowed<"read">; readonly contact: ContactId | null },
): Promise<readonly AgentTotal[]> {
  const refused: StrataError[] = [];
  const rows = agents.map(async (agent): Promise<readonly AgentTotal[]> => {
    const { org, name } = agent;
    try {
      const total = await runtime.usage(actor, { org, agent: name, contact });
      const priced = agent.layers.length === 0 || cardOf(modelNameOf(agent)).priced;
      return [{ agent: name, ...total, priced }];
    } catch (thrown) {
      if (!(thrown instanceof StrataError) || thrown.code !== "invalid_id") throw thrown;
      refused.push(thrown);
      return [];
    }
  });
  const known = (await Promise.all(rows)).flat();
  const [why] = refused;
  if (known.length === 0 && why !== undefined) throw why;
  return known;
}

const NOTHING: Total = { turns: 0, requests: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, dollars: 0 };

function sum(one: Total, other: Total): Total {
  return {
    turns: one.turns + other.turns,
    requests: one.requests + other.requests,
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    dollars: one.dollars + other.dollars,
  };
}

const COLUMNS = [
  { head: "agent" },
  { head: "turns", right: true },
  { head: "requests", right: true },
  { head: "in", right: true },
  { head: "from cache", right: true },
  { head: "into cache", right: true },
  { head: "out", right: true },
  { head: "dollars", right: true },
] as const;

function usageTable(rows: readonly AgentTotal[], style: Style): readonly string[] {
  const all = { ...rows.reduce(sum, NOTHING), agent: "all", priced: !rows.some(isUncounted) };
  return table(COLUMNS, [...rows, ...(rows.length > 1 ? [all] : [])].map(cells), style);
}

/** Something was used of a model that has no price. */
const isUncounted = ({ priced, input, output }: AgentTotal): boolean => !priced && input + output > 0;

function cells(row: AgentTotal): readonly string[] {
  const counted = dollars(row.dollars);
  const unknown = row.dollars > 0 ? `${counted} and more` : "price unknown";
  return [
    row.agent,
    number(row.turns),
    number(row.requests),
    number(row.input),
    number(row.cacheRead),
    number(row.cacheWrite),
    number(row.output),
    isUncounted(row) ? unknown : counted,
  ];
}
