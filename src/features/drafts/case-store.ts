import type { ContactId } from "../../protocol/index.ts";
import { type AgentOwner, atMost, eventWords, plain, type Tx } from "../../store/index.ts";
import { LEFT } from "./decision-store.ts";

/** A draft after which something was sent: its message, what the agent had written, and what was sent. Erased texts are empty. */
export interface DecidedCase {
  readonly id: string;
  readonly contact: ContactId;
  readonly message: string;
  readonly wrote: string;
  readonly sent: string;
  readonly at: number;
}

interface CaseRow extends Pick<DecidedCase, "id" | "contact" | "at"> {
  readonly wrote: string | null;
  readonly sent: string | null;
  /** One event of the turn; a row for each of them. */
  readonly heard: string | null;
}

/** The newest drafts of an agent that were sent, unchanged or edited, in one step. `kinds` are those of events that people wrote. */
export async function decidedCases(
  tx: Tx,
  { org, agent }: AgentOwner,
  { kinds, limit }: { readonly kinds: readonly string[]; readonly limit: number },
): Promise<readonly DecidedCase[]> {
  const rows = await tx.all(plain<CaseRow>(CASES, org, agent, atMost(limit), JSON.stringify(kinds)));
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((same): DecidedCase[] => {
    const [one] = same;
    if (one === undefined) return [];
    const { id, contact, at, wrote, sent } = one;
    const words = (text: string | null): string => String(JSON.parse(text ?? '""'));
    const heard = same.flatMap(({ heard: event }) => (event === null ? [] : [eventWords(event)]));
    return [{ id, contact, at, message: heard.join("\n"), wrote: words(wrote), sent: words(sent) }];
  });
}

const text = (of: string): string =>
  `(select text from piece where piece.org = one.org and piece.agent = one.agent and piece.contact = one.contact and piece.digest = ${of})`;

const CASES = `select one.draft as id, one.contact, one.at, ${text("draft.piece")} as wrote, ${text("one.piece")} as sent, ${text("event.piece")} as heard
  from (select * from draft_act where org = ? and agent = ? and verdict in ('approved', 'edited') and ${LEFT} order by link desc limit ?) as one
  join draft on draft.org = one.org and draft.agent = one.agent and draft.contact = one.contact and draft.id = one.draft
  left join turn_event on turn_event.org = one.org and turn_event.agent = one.agent and turn_event.contact = one.contact and turn_event.turn = draft.turn
  left join event on event.org = one.org and event.agent = one.agent and event.contact = one.contact and event.id = turn_event.event
    and event.retracted is null and event.kind in (select value from json_each(?))
  order by one.link desc, turn_event.position`;
