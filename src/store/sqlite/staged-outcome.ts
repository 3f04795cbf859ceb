import { NO_USAGE } from "../../protocol/index.ts";
import type { StagedReply } from "../batch.ts";
import type { Claim, TurnEnd, TurnOutcome } from "../store.ts";

/** What a turn of several senders is for one of them: its end and the reply. What was sent and paid for stands in the turn of all. */
export function outcomeFor({ thread, events }: Claim, outcome: TurnOutcome): TurnOutcome {
  const { at, model, wire, mode, deliverAfter } = outcome;
  const told = outcome.replies?.find((one) => one.thread === thread.id);
  return {
    end: endFor(outcome.end, told, events.length),
    at,
    model,
    wire,
    mode,
    epochs: [],
    messages: [],
    requests: [],
    writes: [],
    approvals: [],
    totals: { rounds: 0, calls: 0, usage: NO_USAGE, dollars: 0, milliseconds: 0 },
    outbox: told?.outbox ?? outcome.outbox,
    memories: [],
    unremembered: told?.unremembered ?? [],
    log: true,
    ...(deliverAfter !== undefined && { deliverAfter }),
  };
}

/** A failure is told without its words: they may be another sender's. */
function endFor(end: TurnEnd, told: StagedReply | undefined, handled: number): TurnEnd {
  if (end.status === "failed") {
    const message = "the turn that handled these messages with those of other senders failed; they keep waiting";
    return { status: "failed", code: end.code, message };
  }
  if (told) return { ...end, reply: told.reply };
  if (handled > 0) {
    const message = "the agent's credits ended before these messages were answered; they keep waiting";
    return { status: "failed", code: "out_of_credits", message };
  }
  const message = "these messages had no room beside those of other senders; they keep waiting for the next turn";
  return { status: "failed", code: "turn_cancelled", message };
}
