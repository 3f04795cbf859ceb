import { sql } from "kysely";
import {
  type AgentName,
  type ContactScope,
  type Digest,
  isBatch,
  isKept,
  type ModelRef,
  type OrgId,
  type Scope,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import { editsOfTurn } from "../agent/texts.ts";
import { ownText, sharedTexts } from "../record/pieces.ts";
import type { ChainHead, Paging, RequestRecord, RequestStart, SentRequest, TurnRecord } from "../records.ts";
import { toBreakpoints, toEnd, toEvent, toParameters, toReply, toTotals } from "../rows.ts";
import { atMost, fixed, owner, plain, query, type Sql, within } from "../statement.ts";
import type { Row } from "../tables.ts";
import { batchMemberOf, sendersOf, toSteps } from "../threads/batch-members.ts";
import { callsOfTurn } from "../threads/open-calls.ts";
import { inOrder, type Tx } from "../tx.ts";
import { eventsOfTurn } from "./handled-events.ts";
import { readRequest, requestRows } from "./requests.ts";

/** A turn in scope, as recorded. */
export async function turn(tx: Tx, scope: Scope, id: TurnId): Promise<TurnRecord | undefined> {
  const row = await findTurn(tx, scope, id);
  return row && (await toTurn(tx, row));
}

/** A thread's turns, oldest first. */
export async function turns(tx: Tx, scope: Scope, thread: ThreadId, page?: Paging): Promise<readonly TurnRecord[]> {
  const wanted = { ...within(scope), thread };
  const all = query
    .selectFrom("turn")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .orderBy("seq");
  const beyond = page?.after ? all.where("seq", ">", page.after.at) : all;
  const rows = await tx.all(page ? beyond.limit(atMost(page.limit)) : beyond);
  return inOrder(rows, (row) => toTurn(tx, row));
}

/** The row of a turn in scope. */
export async function findTurn(tx: Tx, scope: Scope, id: TurnId): Promise<Row<"turn"> | undefined> {
  const { contact } = scope;
  if (contact !== null) return tx.first(turnOf({ ...scope, contact, id }));
  const wanted = { ...within(scope), id };
  return tx.first(
    query
      .selectFrom("turn")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

const turnOf = fixed((at: ContactScope & { readonly id: TurnId }) =>
  query
    .selectFrom("turn")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** The status is part of the query text: if it were a value, SQLite could not see that the index of running turns applies. */
export const runningTurn = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("turn")
    .select(["id", "attempt", "upto"])
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .where("status", "=", sql.lit("running")),
);

/** The row of a turn in scope. @throws StrataError `turn_not_found` */
export async function foundTurn(tx: Tx, scope: Scope, id: TurnId): Promise<Row<"turn">> {
  const row = await findTurn(tx, scope, id);
  if (row) return row;
  throw new StrataError("turn_not_found", `turn ${id} is not in reach: list the turns of its thread`, { turn: id });
}

async function toTurn(tx: Tx, row: Row<"turn">): Promise<TurnRecord> {
  const { id, thread, seq, status, attempt, version, model, wire, mode } = row;
  const calls = status === "waiting" ? await callsOfTurn(tx, row, id) : [];
  const end = toEnd(row, row.words === null ? null : await ownText(tx, row, row.words), calls);
  const batchMember = await batchMemberOf(tx, row, id);
  const edits = await editsOfTurn(tx, row.org, id);
  const link = row.link === null ? undefined : await linkAt(tx, row, row.link);
  return {
    id,
    thread,
    scope: { org: row.org, agent: row.agent, contact: row.contact },
    seq,
    status,
    attempt,
    ...(end && { end }),
    version,
    ...(model !== null && { model }),
    ...(wire !== null && { wire }),
    ...(mode !== null && { mode }),
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.totals !== null && { totals: toTotals(row.totals) }),
    ...(row.steps !== null && { steps: toSteps(row.steps) }),
    requests: await inOrder(await requestRows(tx, row, id), (request) => readRequest(tx, request)),
    events: (await eventsOfTurn(tx, row, id)).map(toEvent),
    ...(edits.length > 0 && { edits }),
    ...(batchMember && { batch: batchMember.batch }),
    ...(isBatch(row) && { senders: await sendersOf(tx, row) }),
    run: row.run,
    ...(link && { link }),
  };
}

async function linkAt(tx: Tx, scope: ContactScope, seq: number): Promise<ChainHead | undefined> {
  const wanted = { org: scope.org, seq };
  return tx.first(
    query
      .selectFrom("chain")
      .select(["org", "seq", "hash"])
      .where((eb) => eb.and(wanted)),
  );
}

/** Enough requests to see how a thread is used. Written into the query, like every limit that is used often. */
const NEWEST = 64;

/** Read newest first, by the index of the thread's turns, and returned oldest first. */
export async function sent(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly PlacedRequest[]> {
  const rows = await tx.all(plain<AnsweredRequest>(NEWEST_ANSWERED, scope.org, scope.agent, scope.contact, thread));
  const textOf = await sharedTexts(
    tx,
    scope.org,
    rows.flatMap(({ marks: breakpoints, parameters }) => [breakpoints, parameters]),
  );
  // Most repeat one of few texts.
  const breakpointsOf = readOnce(textOf, toBreakpoints);
  const parametersOf = readOnce(textOf, toParameters);
  return rows.reverse().map(({ seq, wire, status, epoch, base, own, marks: breakpoints, parameters, at }) => ({
    seq,
    wire: wire ?? "",
    kept: isKept({ status }),
    epoch,
    base,
    own,
    breakpoints: breakpointsOf(breakpoints),
    parameters: parametersOf(parameters),
    at,
  }));
}

/** With the place of its turn. */
export type PlacedRequest = SentRequest & { readonly seq: number };

/** What `sent` gives once another turn has ended: its requests behind those of before. */
export function sentWith(
  before: readonly PlacedRequest[],
  { seq, status, wire }: Pick<Row<"turn">, "seq" | "status" | "wire">,
  requests: readonly RequestRecord[],
): readonly PlacedRequest[] {
  const own = requests.flatMap(({ epoch, base, own, breakpoints, parameters, at, reply }): readonly PlacedRequest[] => {
    if (reply === null) return [];
    // As they will be read.
    const marks = toBreakpoints(JSON.stringify(breakpoints));
    const asked = toParameters(JSON.stringify(parameters));
    return [
      { seq, wire: wire ?? "", kept: isKept({ status }), epoch, base, own, breakpoints: marks, parameters: asked, at },
    ];
  });
  return [...before, ...own].filter((one) => one.seq > seq - NEWEST).slice(-NEWEST);
}

function readOnce<T>(textOf: (digest: Digest) => string, read: (text: string) => T): (digest: Digest) => T {
  const known = new Map<Digest, T>();
  return (digest) => {
    const found = known.get(digest) ?? read(textOf(digest));
    known.set(digest, found);
    return found;
  };
}

type AnsweredRequest = Pick<Row<"turn">, "seq" | "wire" | "status"> &
  Pick<Row<"request">, "epoch" | "base" | "own" | "marks" | "parameters" | "at">;

/**
 * Selects the newest turns first, and then the requests of each. Otherwise PostgreSQL would read all requests that the contact ever made,
 * if it assumes that they are few. SQLite does this by itself.
 */
const selectNewest = (
  request: string,
): string => `select turn.seq, turn.wire, turn.status, request.epoch, request.base, request.own, request.marks,
    request.parameters, request.at
  from (select * from turn where org = ? and agent = ? and contact = ? and thread = ? order by seq desc limit ${NEWEST}) as turn
  ${request} order by turn.seq desc, request.n desc limit ${NEWEST}`;

const OF_TURN = `request.org = turn.org and request.agent = turn.agent and request.contact = turn.contact and request.turn = turn.id
  and request.finish is not null`;

const NEWEST_ANSWERED: Sql = {
  sqlite: selectNewest(`join request on ${OF_TURN}`),
  postgres: selectNewest(
    `cross join lateral (select * from request where ${OF_TURN} order by n desc limit ${NEWEST}) as request`,
  ),
};

/** The provider's id of the newest answer that the thread got from this model, if it is known. */
export async function lastAnswer(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  wire: ModelRef,
): Promise<string | undefined> {
  const row = await tx.first(plain<LastAnswer>(LAST_ANSWER, scope.org, scope.agent, scope.contact, thread));
  if (row === undefined || row.wire !== wire || row.reply === null) return undefined;
  const text = await ownText(tx, scope, row.reply);
  return text === null ? undefined : toReply(text).id;
}

type LastAnswer = Pick<Row<"turn">, "wire"> & Pick<Row<"request">, "reply">;

const LAST_ANSWER = `select turn.wire, request.reply
  from (select * from turn where org = ? and agent = ? and contact = ? and thread = ? order by seq desc limit 3) as turn
  join request on ${OF_TURN} order by turn.seq desc, request.n desc limit 1`;

/** Uses the index that also serves for what the agent has spent. */
export async function starts(
  tx: Tx,
  org: OrgId,
  agent: AgentName,
  except: readonly string[],
): Promise<readonly RequestStart[]> {
  const newest = query
    .selectFrom("request")
    .innerJoin("thread", (join) =>
      join.onRef("thread.org", "=", "request.org").onRef("thread.id", "=", "request.thread"),
    )
    .select(["request.thread", "request.at"])
    .where("request.org", "=", org)
    .where("request.agent", "=", agent)
    .orderBy("request.at", "desc")
    .limit(sql.lit(128));
  return tx.all(except.length === 0 ? newest : newest.where("thread.channel", "not in", except));
}
