import {
  type AgentName,
  type ContactId,
  type EventId,
  type OrgId,
  OUTSIDE_KINDS,
  type TurnId,
} from "../../protocol/index.ts";
import { idsOf, type Lineage, plain, type Retracting, type StorePart, type Tx } from "../../store/index.ts";
import { DO } from "./config.ts";

/** What assistants have read about others: it is removed when that is retracted, or its contact erased. */
export const ASSISTANT_STORE = {
  name: "assistant",
  tables: {},
  functions: () => ({}),
  erase: async () => undefined,
  derived: assistantsDerived,
} satisfies StorePart;

/** What may quote a contact in a conversation: a tool's result with its turn, or the platform's message. */
interface Quoting {
  readonly contact: ContactId;
  readonly turn: TurnId | null;
  readonly event: EventId | null;
  readonly text: string;
  readonly at: number;
}

/** Turns in which an assistant has read anything of a lineage, found by the ids in its tools' results. */
async function assistantsDerived(tx: Tx, retracting: Retracting): Promise<void> {
  const { org, lineages } = retracting;
  const assistants = await agentsWith(tx, org);
  if (assistants.length === 0) return;
  const sought = await Promise.all(
    lineages()
      .filter(({ scope }) => !assistants.includes(scope.agent))
      .map(async (lineage) => ({ lineage, ids: await idsOf(tx, lineage) })),
  );
  for (const agent of assistants) {
    for (const { contact, turn, event, text, at } of await tx.all(
      plain<Quoting>(QUOTING, ...[org, agent, org, agent, org, agent]),
    )) {
      const found = sought.filter((one) => quotes(text, one));
      if (found.length === 0) continue;
      const scope = { org, agent, contact };
      if (event !== null) retracting.addNotices(scope, [event]);
      // Of an erased contact nothing stays that a model said after it had read of them.
      else if (turn !== null && found.some(({ lineage }) => lineage.isErased)) retracting.addTurns(scope, at, [turn]);
      else if (turn !== null) retracting.hide(scope, at, [turn]);
    }
  }
}

interface Sought {
  readonly lineage: Lineage;
  readonly ids: ReadonlySet<string>;
}

/** A result is JSON within JSON, whose quotation marks are escaped. */
function quotes(text: string, { lineage: { scope, isErased }, ids }: Sought): boolean {
  const named = text.match(/[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}/g) ?? [];
  if (named.some((id) => ids.has(id))) return true;
  return isErased === true && text.replaceAll("\\", "").includes(`"contact":${JSON.stringify(scope.contact)}`);
}

/** The agents that have tools of operations, as their prompts say. */
async function agentsWith(tx: Tx, org: OrgId): Promise<readonly AgentName[]> {
  const found = new Set<AgentName>();
  for (const tools of await tx.column(plain<string>(TOOLS, org)))
    for (const agent of await tx.column(plain<AgentName>(WITH_TOOLS, org, tools))) found.add(agent);
  return [...found].sort();
}

/** The beginning of a tool's name, as SQL looks for it. */
const NAME = DO.replace("_", "\\_");
const TOOLS = `select digest from shared_piece where org = ? and text like '%"name":"${NAME}%' escape '\\'`;
const WITH_TOOLS = `select distinct epoch.agent from epoch join shared_piece on shared_piece.org = epoch.org
  and shared_piece.digest = epoch.prefix where epoch.org = ? and shared_piece.text like '%' || ? || '%'`;

const resultsIn = (table: string, turn: string): string =>
  `select one.contact, one.${turn} as turn, null as event, piece.text, turn.started_at as at from ${table} as one
    join turn on turn.org = one.org and turn.agent = one.agent and turn.contact = one.contact and turn.id = one.${turn}
    join piece on piece.org = one.org and piece.agent = one.agent and piece.contact = one.contact and piece.digest = one.piece
    where one.org = ? and one.agent = ? and piece.text like '%"tool":"${NAME}%' escape '\\'`;
/** Also the outcome of calls that a person confirmed. */
const QUOTING = `${resultsIn("message", "came_with")} union all ${resultsIn("turn_message", "turn")} union all
  select event.contact, null as turn, event.id as event, piece.text, event.at as at from event
    join piece on piece.org = event.org and piece.agent = event.agent and piece.contact = event.contact and piece.digest = event.piece
    where event.org = ? and event.agent = ? and event.retracted is null and piece.text is not null
    and event.kind not in (${OUTSIDE_KINDS.map((kind) => `'${kind}'`).join(", ")})`;
