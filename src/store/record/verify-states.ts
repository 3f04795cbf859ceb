import { sql } from "kysely";
import { isKept, type OrgId } from "../../protocol/index.ts";
import { plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { BATCH, page, problem, type Step } from "./chain.ts";

/** What no link repeats because it follows from other rows: it is worked out again. */

/** The next agent versions: each has its text, which is the one that its version is the digest of. */
export async function checkVersions(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const versions = query
    .selectFrom("agent_version")
    .leftJoin("shared_piece", (join) =>
      join.onRef("shared_piece.org", "=", "agent_version.org").onRef("shared_piece.digest", "=", "agent_version.piece"),
    )
    .select(["agent_version.agent", "agent_version.version", "agent_version.piece", "shared_piece.digest"])
    .where("agent_version.org", "=", org)
    .where(sql<boolean>`agent_version.agent || '/' || agent_version.version > ${after}`)
    .orderBy(sql`agent_version.agent || '/' || agent_version.version`)
    .limit(BATCH);
  const rows = (await tx.all(versions)).map((row) => ({ ...row, name: `${row.agent}/${row.version}` }));
  const problems = rows.flatMap(({ name, digest, piece, version }) => {
    if (digest === null) return [problem(`agent version ${name}`, "its declaration is gone")];
    return piece === version ? [] : [problem(`agent version ${name}`, "its declaration is that of another version")];
  });
  return { problems, checked: {}, ...page(rows.at(-1)?.name, rows.length) };
}

type EventState = Pick<Row<"event">, "id" | "status" | "turn"> & {
  readonly erased: number | null;
  readonly ended: Row<"turn">["status"] | null;
  readonly handled: number;
};

/** The next events: one that a turn handled names that turn and waits no more, and no other names one. */
export async function checkEvents(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const rows = await tx.all(plain<EventState>(EVENT_STATES, org, after));
  const problems = rows.flatMap((row) => {
    const sentence = wrongState(row);
    return sentence === undefined ? [] : [problem(`event ${row.id}`, sentence)];
  });
  return { problems, checked: {}, ...page<string>(rows.at(-1)?.id, rows.length) };
}

const EVENT_STATES = `select event.id, event.status, event.turn, thread.erased_link as erased, turn.status as ended,
  case when exists (select 1 from turn_event where turn_event.org = event.org and turn_event.agent = event.agent
    and turn_event.contact = event.contact and turn_event.turn = event.turn and turn_event.event = event.id) then 1 else 0 end as handled
  from event
  left join thread on thread.org = event.org and thread.agent = event.agent and thread.contact = event.contact and thread.id = event.thread
  left join turn on turn.org = event.org and turn.agent = event.agent and turn.contact = event.contact and turn.id = event.turn
  where event.org = ? and event.id > ? order by event.id limit ${BATCH}`;

function wrongState({ status, turn, erased, ended, handled }: EventState): string | undefined {
  if (turn !== null) {
    if (status !== "consumed") return `turn ${turn} handled it, but it is marked as ${status}`;
    const isRight = handled === 1 && ended !== null && isKept({ status: ended });
    return isRight ? undefined : `it names turn ${turn}, which did not handle it`;
  }
  if (status === "consumed" && erased === null) return "it is marked as handled, but it names no turn";
  return undefined;
}

/** The next threads: each counts the turns that ended on it. */
export async function checkTurnCounts(tx: Tx, org: OrgId, after: string): Promise<Step<string>> {
  const rows = await tx.all(
    plain<Pick<Row<"thread">, "id" | "turns"> & { readonly ended: number }>(COUNTS, org, after),
  );
  const problems = rows
    .filter(({ turns, ended }) => turns !== ended)
    .map(({ id, turns, ended }) => problem(`thread ${id}`, `it counts ${turns} turns, but ${ended} ended on it`));
  return { problems, checked: {}, ...page<string>(rows.at(-1)?.id, rows.length) };
}

const COUNTS = `select id, turns, (select count(*) from turn where turn.org = thread.org and turn.agent = thread.agent
    and turn.contact = thread.contact and turn.thread = thread.id and turn.status != 'running') as ended
  from thread where org = ? and id > ? order by id limit ${BATCH}`;

/** The key that was checked last. */
interface KeyCursor {
  readonly agent: string;
  readonly contact: string;
}

/** Where a check of the keys begins. No agent is empty. */
export const FIRST_KEY: KeyCursor = { agent: "", contact: "" };

/** The next keys of contacts: each belongs to a contact with data, and an erased contact has none. */
export async function checkKeys(tx: Tx, org: OrgId, after: KeyCursor): Promise<Step<KeyCursor>> {
  const rows = await tx.all(plain<KeyState>(keysWith(tx.parts), org, after.agent, after.contact));
  const problems = rows.flatMap(({ agent, contact, known, erased }) => {
    const where = contact === "" ? `key of agent ${agent}` : `key of contact ${contact} of agent ${agent}`;
    if (known === 0) return [problem(where, "it is the key of somebody of whom there is nothing")];
    return erased === 1 ? [problem(where, "its contact was erased, and the key with all else")] : [];
  });
  return { problems, checked: {}, ...page<KeyCursor>(rows.at(-1), rows.length) };
}

type KeyState = Pick<Row<"contact_key">, "agent" | "contact"> & { readonly known: number; readonly erased: number };

const ofKey = (table: string, more = ""): string =>
  `exists (select 1 from ${table} where ${table}.org = contact_key.org and ${table}.agent = contact_key.agent and ${table}.contact = contact_key.contact${more})`;

const existsForAgent = (table: string): string =>
  `exists (select 1 from ${table} where ${table}.org = contact_key.org and ${table}.agent = contact_key.agent)`;

/** The agent's own key digests what its acts and erased signatures name, too. */
const keysWith = (parts: Tx["parts"]): string => `select agent, contact,
    case when ${["piece", "memory_scope", "thread", ...parts.flatMap(({ keyed = [] }) => keyed)].map((table) => ofKey(table)).join(" or ")} or (contact = ''
      and (${["agent_version", "act", "spent_signature"].map(existsForAgent).join(" or ")})) then 1 else 0 end as known,
    case when ${ofKey("thread", " and thread.erased_link is not null")}
      and not ${ofKey("thread", " and thread.erased_link is null")} then 1 else 0 end as erased
  from contact_key where org = ? and (agent, contact) > (?, ?) order by agent, contact limit ${BATCH}`;
