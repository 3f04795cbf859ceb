import { type ContactScope, isReserved, type StoredEvent, type ThreadId, type TurnId } from "../../protocol/index.ts";
import { type AgentOwner, atMost, eventWords, inOrder, plain, type Tx } from "../../store/index.ts";
import { DECISION } from "../drafts/config.ts";

/** Turns of the record that have not been learned from, and the link up to which they were read. */
export interface News {
  readonly turns: readonly (DeadTurn & Heard)[];
  readonly upto: number;
}

/** What a turn was about, and what the contact had said on its thread until then. */
export interface Heard {
  readonly situation: string;
  readonly said: readonly string[];
}

/** A turn that failed, or that a program began which did not live to its end. */
interface DeadTurn {
  readonly id: TurnId;
  readonly thread: ThreadId;
  readonly scope: ContactScope;
  readonly code: string | null;
  readonly attempt: number;
  readonly at: number;
}

/** Kinds of events that somebody outside or an operator writes: the platform's own teach nothing (law 12). */
export const SAID: readonly string[] = ["message", "call-ended", "instruction", "scheduled"];

/** What people wrote or asked for, without the platform's additions (law 12). */
export const joinSaidTexts = (events: readonly Pick<StoredEvent, "kind" | "content">[]): string =>
  events
    .filter(({ kind }) => SAID.includes(kind))
    .flatMap(({ content }) => content.flatMap((part) => ("text" in part ? part.text : [])))
    .join("\n");

/** How many messages of a contact are searched for words that a person may have repeated. */
const MOST_SAID = 50;
/** The most characters kept of a situation, of the wrong text, and of the right one. */
export const LONGEST = 2_000;

export async function news(tx: Tx, of: AgentOwner, after: number, limit: number): Promise<News> {
  const ended = await tx.all(plain<EndedRow>(ENDED, of.org, of.agent, after, atMost(limit)));
  const died = ended.filter(
    ({ status, attempt, code, contact }) =>
      !isReserved(contact) && code !== "turn_cancelled" && (status === "failed" || attempt > 1),
  );
  return {
    upto: ended.at(-1)?.link ?? after,
    turns: await inOrder(died, async ({ id, thread, contact, code, attempt, at }) => {
      const scope = { ...of, contact };
      return { id, thread, scope, code, attempt, at, ...(await heard(tx, scope, { thread, turn: id, at })) };
    }),
  };
}

interface EndedRow extends Pick<DeadTurn, "id" | "thread" | "code" | "attempt" | "at"> {
  readonly contact: ContactScope["contact"];
  readonly status: string;
  readonly link: number;
}

const ENDED = `select id, thread, contact, status, code, attempt, ended_at as at, link from turn
  where org = ? and agent = ? and link > ? and retracted is null order by link limit ?`;

export async function heard(
  tx: Tx,
  scope: ContactScope,
  { thread, turn, at }: { readonly thread: ThreadId; readonly turn: TurnId; readonly at: number },
): Promise<Heard> {
  const { org, agent, contact } = scope;
  const handled = await tx.all(plain<EventText>(HANDLED, org, agent, contact, turn));
  const said = await tx.all(plain<EventText>(SAID_BEFORE, org, agent, contact, thread, at, DECISION, MOST_SAID));
  const words = (rows: readonly EventText[]): readonly string[] =>
    rows.flatMap(({ text }) => (text === null ? [] : [eventWords(text)]));
  return { situation: words(handled).join("\n").slice(0, LONGEST), said: words(said) };
}

interface EventText {
  readonly text: string | null;
}

const OF_EVENT = `join piece on piece.org = event.org and piece.agent = event.agent and piece.contact = event.contact
  and piece.digest = event.piece`;

const HANDLED = `select piece.text from turn_event join event on event.org = turn_event.org and event.agent = turn_event.agent
    and event.contact = turn_event.contact and event.id = turn_event.event ${OF_EVENT}
  where turn_event.org = ? and turn_event.agent = ? and turn_event.contact = ? and turn_event.turn = ?
    and event.retracted is null and event.kind in (${SAID.map((kind) => `'${kind}'`).join(", ")}) order by turn_event.position`;

/** Without the quotes of drafts: what a person sent is not the contact's word. */
const SAID_BEFORE = `select piece.text from event ${OF_EVENT} where event.org = ? and event.agent = ? and event.contact = ?
  and event.retracted is null and event.thread = ? and event.trust = 'contact' and event.at <= ? and event.kind <> ?
  order by event.seq desc limit ?`;
