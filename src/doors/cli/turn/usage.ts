import type { Command } from "commander";
import type { App, UsageTotal } from "../../../app.ts";
import { type Agent, type ContactId, contactId, StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { nameGiven, type OfAgent, ofAgent } from "../shell/on-agent.ts";
import { chosenAgents, inRecord } from "../shell/session.ts";
import { dollars, number, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";

interface Options extends OfAgent {
  readonly as?: string;
}

/** One agent's total. */
interface Row extends UsageTotal {
  readonly agent: string;
  /** Whether the price of the model that answers now is known: where it is not, no dollars are counted. */
  readonly priced: boolean;
}

/** `strata usage`: what was sent and answered, and what it cost. */
export function declareUsage(program: Command, context: Context): void {
  ofAgent(program.command("usage"), "each agent")
    .description("sum up tokens and dollars, as the providers reported them; failed turns were paid for too")
    .option("--as <contact>", "with this contact only (default: all contacts)")
    .addHelpText("after", "\nExample:\n  $ strata usage companion --as ann")
    .action((named: string | undefined, options: Options, command: Command) => {
      const name = nameGiven(named, options);
      const contact = options.as === undefined ? null : contactId(options.as);
      return inRecord(context, command, async ({ app, json }) => {
        const rows = await rowsOf(app, chosenAgents(app, name), contact);
        if (json) context.json({ agents: rows, total: rows.reduce(sum, NOTHING) });
        else context.say(...usageTable(rows, context.style));
      });
    });
}

/** A row for each agent that can know the contact. @throws StrataError `invalid_id` where none can */
async function rowsOf(app: App, agents: readonly Agent[], contact: ContactId | null): Promise<readonly Row[]> {
  const refused: StrataError[] = [];
  const rows = agents.map(async (agent): Promise<readonly Row[]> => {
    const { org, name } = agent;
    try {
      const total = await app.runtime.usage(app.operator, { org, agent: name, contact });
      return [{ agent: name, ...total, priced: app.cardOf(app.modelNameOf(agent)).priced }];
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

const NOTHING: UsageTotal = { turns: 0, requests: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, dollars: 0 };

function sum(one: UsageTotal, other: UsageTotal): UsageTotal {
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

function usageTable(rows: readonly Row[], style: Style): readonly string[] {
  const all = { ...rows.reduce(sum, NOTHING), agent: "all", priced: !rows.some(isUncounted) };
  return table(COLUMNS, [...rows, ...(rows.length > 1 ? [all] : [])].map(cells), style);
}

/** Something was used of a model that has no price. */
const isUncounted = ({ priced, input, output }: Row): boolean => !priced && input + output > 0;

function cells(row: Row): readonly string[] {
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
