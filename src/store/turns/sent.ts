import { sql } from "kysely";
import type { AgentName, ContactScope, OrgId, ThreadId } from "../../protocol/index.ts";
import { sharedTexts } from "../record/pieces.ts";
import type { RequestStart, SentRequest } from "../records.ts";
import { toMarks, toParameters } from "../rows.ts";
import { fixed, plain, query, type Sql } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** Enough requests to see how a thread is used. Written into the query, like every limit that is used often. */
const NEWEST = 64;

/** Read newest first, by the index of the thread's turns, and returned oldest first. */
export async function sent(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly SentRequest[]> {
  const rows = await tx.all(plain<Answered>(NEWEST_ANSWERED, scope.org, scope.agent, scope.contact, thread));
  const textOf = await sharedTexts(
    tx,
    scope.org,
    rows.flatMap(({ marks, parameters }) => [marks, parameters]),
  );
  return rows.reverse().map(({ wire, status, epoch, base, own, marks, parameters, at }) => ({
    wire: wire ?? "",
    kept: status === "done",
    epoch,
    base,
    own,
    marks: toMarks(textOf(marks)),
    parameters: toParameters(textOf(parameters)),
    at,
  }));
}

type Answered = Pick<Row<"turn">, "wire" | "status"> &
  Pick<Row<"request">, "epoch" | "base" | "own" | "marks" | "parameters" | "at">;

/**
 * Selects the newest turns first, and then the requests of each. Otherwise PostgreSQL would read all requests that the contact ever made,
 * if it assumes that they are few. SQLite does this by itself.
 */
const newest = (
  request: string,
): string => `select turn.wire, turn.status, request.epoch, request.base, request.own, request.marks,
    request.parameters, request.at
  from (select * from turn where org = ? and agent = ? and contact = ? and thread = ? order by seq desc limit ${NEWEST}) as turn
  ${request} order by turn.seq desc, request.n desc limit ${NEWEST}`;

const OF_TURN = `request.org = turn.org and request.agent = turn.agent and request.contact = turn.contact and request.turn = turn.id
  and request.finish is not null`;

const NEWEST_ANSWERED: Sql = {
  sqlite: newest(`join request on ${OF_TURN}`),
  postgres: newest(
    `cross join lateral (select * from request where ${OF_TURN} order by n desc limit ${NEWEST}) as request`,
  ),
};

/** Uses the index that also serves for what the agent has spent. */
export async function starts(
  tx: Tx,
  org: OrgId,
  agent: AgentName,
  [except, or]: readonly [string, string],
): Promise<readonly RequestStart[]> {
  return tx.all(newestStarts({ org, agent, except, or }));
}

interface StartsOf {
  readonly org: OrgId;
  readonly agent: AgentName;
  readonly except: string;
  readonly or: string;
}

const newestStarts = fixed((of: StartsOf) =>
  query
    .selectFrom("request")
    .innerJoin("thread", (join) =>
      join.onRef("thread.org", "=", "request.org").onRef("thread.id", "=", "request.thread"),
    )
    .select(["request.thread", "request.at"])
    .where("request.org", "=", of.org)
    .where("request.agent", "=", of.agent)
    .where("thread.channel", "!=", of.except)
    .where("thread.channel", "!=", of.or)
    .orderBy("request.at", "desc")
    .limit(sql.lit(128)),
);
