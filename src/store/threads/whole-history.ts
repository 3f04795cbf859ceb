import { type ContactScope, type ThreadId, untrusted } from "../../protocol/index.ts";
import { TEXT_OF } from "../record/pieces.ts";
import type { Slot, WholeHistoryEntry } from "../records.ts";
import { toEvent, type WithText, wordsOf } from "../rows.ts";
import { isLateAnswer, toSlot } from "../slot-rows.ts";
import { atMost, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { slotsOf } from "./threads.ts";

/** Of which turn of the thread. */
interface OfTurn {
  readonly turn_seq: number;
}

/** With the two agents of the called thread. */
type EventRow = WithText<Row<"event">> & Pick<Row<"thread">, "initiator" | "target"> & OfTurn;

/** Results come before the messages of the same turn, and before later questions. */
const [ANSWERED, SAID, ASKED] = [0, 1, 2];

/**
 * The newest messages of a thread, the oldest of them first, together with its agent's questions to other agents and their answers. Those
 * have no slots: a question is stored once, on the thread that it began, and an answer is the result of its call. Only an answer that came too
 * late has one; here it stands once, with the answers.
 */
export async function wholeHistory(
  tx: Tx,
  scope: ContactScope,
  id: ThreadId,
  limit: number,
): Promise<readonly WholeHistoryEntry[]> {
  const { org, agent, contact } = scope;
  const most = atMost(limit);
  const slots = await tx.all(
    slotsOf(scope, id)
      .innerJoin("turn", (join) =>
        join
          .onRef("turn.org", "=", "slot.org")
          .onRef("turn.agent", "=", "slot.agent")
          .onRef("turn.contact", "=", "slot.contact")
          .onRef("turn.id", "=", "slot.turn"),
      )
      .select("turn.seq as turn_seq")
      .orderBy("slot.position", "desc")
      .limit(most),
  );
  const asked = await tx.all(plain<EventRow>(QUESTIONS, org, contact, agent, id, most));
  const answers = await tx.all(plain<EventRow>(ANSWERS, org, agent, contact, id, most));
  const placed = [
    ...slots
      .filter((row) => !isLateAnswer(row))
      .map((row) => ({ at: [row.turn_seq, SAID, row.position], entry: entryOf(toSlot(row)) })),
    ...asked.map((row) => ({ at: [row.turn_seq, ASKED, row.seq], entry: eventEntry(row) })),
    ...answers.map((row) => ({ at: [row.turn_seq, ANSWERED, row.seq], entry: eventEntry(row) })),
  ];
  placed.sort((one, other) => one.at.reduce((order, place, i) => order || place - (other.at[i] ?? 0), 0));
  return placed.map(({ entry }) => entry).slice(-most);
}

const CALL =
  "open_call.org = thread.org and open_call.agent = thread.caller_agent and open_call.contact = thread.contact";
const TURN = "turn.org = open_call.org and turn.agent = open_call.agent and turn.contact = open_call.contact";

const QUESTIONS = `select event.*, ${TEXT_OF("event")} as text, thread.initiator, thread.target, turn.seq as turn_seq from thread
  join open_call on ${CALL} and open_call.id = thread.caller_call join turn on ${TURN} and turn.id = open_call.turn
  join event on event.org = thread.org and event.agent = thread.agent and event.contact = thread.contact and event.thread = thread.id
  where thread.org = ? and thread.contact = ? and thread.caller_agent = ? and thread.caller_thread = ? and event.kind = 'peer' and event.seq = 1
  order by turn.seq desc, event.seq desc limit ?`;

const ANSWERS = `select event.*, ${TEXT_OF("event")} as text, called.initiator, called.target, turn.seq as turn_seq from event
  join open_call on open_call.org = event.org and open_call.agent = event.agent and open_call.contact = event.contact
  and open_call.id = event.answers and open_call.waits_for = 'agent' join turn on ${TURN} and turn.id = event.turn
  left join thread as called on called.org = event.org and called.contact = event.contact and called.caller_agent = event.agent
  and called.caller_thread = event.thread and called.caller_call = open_call.id
  where event.org = ? and event.agent = ? and event.contact = ? and event.thread = ? and event.status = 'consumed'
  order by event.seq desc limit ?`;

const entryOf = ({ from, to, kind, text, payload, payloadType, at }: Slot): WholeHistoryEntry => ({
  ...{ from, to, kind, text, at },
  ...(payload !== undefined && payloadType !== undefined && { payload, payloadType }),
});

function eventEntry(row: EventRow): WholeHistoryEntry {
  const { kind, content, at, failed, answers } = toEvent(row);
  const { initiator, target } = row;
  // The platform's sentence stands for the agent that has no answer.
  const [from, to] = answers === undefined ? [initiator, target] : [target, initiator];
  const part = content.find(({ type }) => type === "payload");
  return {
    ...{ from: from ?? "", to: to ?? "", kind, text: untrusted(wordsOf(content)), at },
    ...(part?.type === "payload" && { payload: part.payload, payloadType: part.payloadType }),
    ...(failed && { failed }),
  };
}
