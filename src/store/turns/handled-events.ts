import type { ContactScope, TurnId } from "../../protocol/index.ts";
import { textOf } from "../record/pieces.ts";
import type { WithText } from "../rows.ts";
import { fixed, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** An event with its place among those of its turn. */
export type HandledEvent = WithText<Row<"event">> & { readonly position: number };

/** What a turn that ended had to handle, in order; with the text of each. */
export async function eventsOfTurn(tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly HandledEvent[]> {
  return (await tx.all(handledEvents({ ...owner(scope), turn }))).sort((a, b) => a.position - b.position);
}

const handledEvents = fixed((at: ContactScope & { readonly turn: TurnId }) =>
  query
    .selectFrom("turn_event")
    .innerJoin("event", (join) =>
      join.onRef("event.org", "=", "turn_event.org").onRef("event.id", "=", "turn_event.event"),
    )
    .selectAll("event")
    .select([textOf("event").as("text"), "turn_event.position"])
    // Said so that no index serves: each event is found by its id, and never among all of the contact's.
    .where("event.agent", "is not distinct from", at.agent)
    .where("event.contact", "is not distinct from", at.contact)
    .where("turn_event.org", "=", at.org)
    .where("turn_event.turn", "=", at.turn)
    .where("turn_event.agent", "=", at.agent)
    .where("turn_event.contact", "=", at.contact),
);
