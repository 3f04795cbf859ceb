import { sql } from "kysely";
import type { AgentName, ContactScope, OrgId, ThreadId } from "../../protocol/index.ts";
import { sharedTexts } from "../record/pieces.ts";
import type { RequestStart, SentRequest } from "../records.ts";
import { toMarks, toParameters } from "../rows.ts";
import { owner } from "../scope.ts";
import { fixed, query } from "../statement.ts";
import type { Tx } from "../tx.ts";

/** Enough to tell how a thread is spoken in. Written into the query, as every limit that is asked for often. */
const NEWEST = sql.lit(64);

/** Read newest first, by the index of the thread's turns; given oldest first. */
export async function sent(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<readonly SentRequest[]> {
  const rows = await tx.all(newestAnswered({ ...owner(scope), thread }));
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

const newestAnswered = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("turn")
    .innerJoin("request", (join) =>
      join
        .onRef("request.org", "=", "turn.org")
        .onRef("request.agent", "=", "turn.agent")
        .onRef("request.contact", "=", "turn.contact")
        .onRef("request.turn", "=", "turn.id"),
    )
    .select([
      "turn.wire",
      "turn.status",
      "request.epoch",
      "request.base",
      "request.own",
      "request.marks",
      "request.parameters",
      "request.at",
    ])
    .where("turn.org", "=", at.org)
    .where("turn.agent", "=", at.agent)
    .where("turn.contact", "=", at.contact)
    .where("turn.thread", "=", at.thread)
    .where("request.finish", "is not", null)
    .orderBy("turn.seq", "desc")
    .orderBy("request.n", "desc")
    .limit(NEWEST),
);

/** By the index that also tells what the agent has spent. */
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
