import { ANSWER_KIND, type CallId, eventId, issueId, type ThreadId, untrusted } from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import type { Caller } from "../call-records.ts";
import type { ArrivingEvent } from "../records.ts";
import { ONE, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { OVERDUE as OVERDUE_SAYS } from "../wording.ts";
import { addEvents } from "./events.ts";
import { findThread } from "./threads.ts";

/** Who answers for the platform, and when: in recorded time and, for the id, in real time. */
export interface AnswerTimes {
  readonly now: number;
  readonly at: number;
}

/** The platform's own answer to a call that has none. */
export function platformAnswer(tx: Tx, { now, at }: AnswerTimes, call: CallId, message: string): ArrivingEvent {
  return {
    id: eventId(issueId("event", now, tx.random(10))),
    kind: ANSWER_KIND,
    trust: "platform",
    channel: "platform",
    content: [{ type: "text", text: untrusted(message) }],
    at,
    answers: call,
    failed: true,
  };
}

/** Answers each of the agent's calls whose time is up. Returns the threads on which something is due now. */
export async function answerOverdue(tx: Tx, of: AgentOwner, times: AnswerTimes): Promise<readonly ThreadId[]> {
  const late = await tx.all(
    plain<Row<"open_call">>(`${OVERDUE} and due <= ? order by due, id`, of.org, of.agent, times.now),
  );
  return inOrder(late, async (row) => {
    await addEvents(tx, row, row.thread, [platformAnswer(tx, times, row.id, OVERDUE_SAYS)]);
    return row.thread;
  });
}

/** When the next of the agent's calls is overdue, in real time; undefined if no open call has a time. */
export async function nextOverdue(tx: Tx, { org, agent }: AgentOwner): Promise<number | undefined> {
  return (await tx.first(plain<{ readonly due: number }>(`${OVERDUE} order by due limit 1`, org, agent)))?.due;
}

const OVERDUE = "select * from open_call where org = ? and agent = ? and state = 'open' and due is not null";

/**
 * The answer of a called thread for the call that it answers, once: its later replies are not passed on, and an erased caller gets none.
 * Part of a write transaction.
 */
export async function answerCaller(
  tx: Tx,
  called: Pick<Row<"thread">, "id" | "org" | "contact">,
  { thread, agent, call }: Caller,
  answer: Omit<ArrivingEvent, "answers" | "externalId">,
): Promise<void> {
  const scope = { org: called.org, agent, contact: called.contact };
  if ((await findThread(tx, scope, thread))?.erased_link !== null) return;
  const said = query
    .selectFrom("event")
    .select("id")
    .where((eb) => eb.and({ ...owner(scope), thread, answers: call, external_id: called.id }))
    .limit(ONE);
  if ((await tx.first(said)) !== undefined) return;
  await addEvents(tx, scope, thread, [{ ...answer, externalId: called.id, answers: call }]);
}
