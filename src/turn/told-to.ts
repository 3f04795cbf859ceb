import { type Actor, asStrataError, type ErrorCode, may, StrataError, type TurnEvent } from "../protocol/index.ts";

type Kind = TurnEvent["type"];

/** Deny by default: what a turn tells somebody who may not read the record of it. Thoughts may quote the prompt. */
const TO_CONTACTS: readonly Kind[] = ["turn-start", "text-delta", "unanswered", "done", "failed"];

/** What names layers or shows the ledger: for those who may have a request explained. */
const EXPLAINS: readonly Kind[] = ["note", "compiled", "refused", "reasoning-delta", "withheld", "overtaken"];

/** What a contact may know of a refusal, word for word: nothing of the inside stands in these. */
const OPEN: readonly ErrorCode[] = ["thread_busy", "thread_not_found", "not_allowed", "turn_cancelled"];

/** The turn as the actor may hear of it: all to an operator, no ledger to a member, and to a contact only what is said to it. */
export function toldTo(actor: Actor, events: AsyncIterable<TurnEvent>): AsyncIterable<TurnEvent> {
  return may(actor, "explain") ? events : cutFor(actor, events);
}

async function* cutFor(actor: Actor, events: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent> {
  if (may(actor, "read")) {
    for await (const event of events) if (!EXPLAINS.includes(event.type)) yield event;
    return;
  }
  try {
    for await (const event of events) if (TO_CONTACTS.includes(event.type)) yield withoutInside(event);
  } catch (thrown) {
    throw withoutReason(asStrataError(thrown));
  }
}

function withoutInside(event: TurnEvent): TurnEvent {
  switch (event.type) {
    case "turn-start": {
      const { model: _, ...rest } = event;
      return rest;
    }
    case "done": {
      const { totals: _, ...rest } = event;
      return rest;
    }
    case "failed":
      return { type: "failed", turn: event.turn, error: withoutReason(event.error) };
    default:
      return event;
  }
}

/** The code says enough to try again or not; the sentence is for whoever runs the agent, who finds it in the record. */
function withoutReason(error: StrataError): StrataError {
  if (OPEN.includes(error.code)) return error;
  return new StrataError(
    error.code,
    "the message could not be answered; it keeps waiting, and the operator can see why",
  );
}
