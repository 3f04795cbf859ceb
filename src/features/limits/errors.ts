import { count } from "../../print/index.ts";
import { errorKind, isoSecond, StrataError } from "../../protocol/index.ts";
import type { Counted, Crossed } from "./store.ts";
import { isSpend } from "./subjects.ts";

export const LIMIT_REACHED = errorKind("limit_reached", {
  status: 429,
  exit: 7,
  retry: true,
  isPause: true,
  message: "a limit of calls or of money would be crossed",
});

/** Names a counted subject in a sentence. */
export function calledBy({ kind, agent, contact, name }: Counted): string {
  switch (kind) {
    case "organization":
      return "the organization";
    case "agent":
      return `the agent ${agent}`;
    case "contact":
      return `the contact ${contact} of ${agent}`;
    case "key":
      return `the key ${name}`;
    case "group":
      return `the group ${name}`;
  }
}

/** Why a call is not made that `budgets.spend` has no money for. */
function overSpend(
  { subject: { agent, allowed }, until, used, most = 0 }: Omit<Crossed, "what">,
  now: number,
): StrataError {
  const { dollars = 0, per = "ever" } = allowed.money ?? {};
  const held = used.held > 0 ? `, and $${used.held.toFixed(4)} are reserved for calls under way` : "";
  const period = per === "ever" ? "" : ` a UTC ${per}`;
  const when =
    until === undefined
      ? "raise budgets.spend.dollars, or lower budgets.reply"
      : `it answers again from ${isoSecond(until)} on, or with a higher budgets.spend.dollars`;
  const message = `${agent} has spent $${used.spent.toFixed(4)} of the $${dollars} it may spend${period}${held}, and the next call of its model can cost $${most.toFixed(4)}; ${when}`;
  const retryAfter = until === undefined ? undefined : Math.max(1, Math.ceil((until - now) / 1_000));
  return new StrataError("spend_limit", message, { agent, ...(until !== undefined && { until, retryAfter }) });
}

/** Why a call is not made, and from when on it may be. */
export function limitReached(crossed: Crossed, now: number): StrataError {
  const { subject, what, until, used } = crossed;
  if (isSpend(subject)) return overSpend(crossed, now);
  const { calls, money } = subject.allowed;
  const who = calledBy(subject);
  const retryAfter = until === undefined ? undefined : Math.max(1, Math.ceil((until - now) / 1_000));
  const details = {
    ...{ kind: subject.kind, what },
    ...(subject.agent !== "" && { agent: subject.agent }),
    ...(subject.contact !== "" && { contact: subject.contact }),
    ...(subject.name !== "" && { name: subject.name }),
    ...(until !== undefined && { until, retryAfter }),
  };
  const next = until === undefined ? "raise the limit in strata.yaml" : `try again at ${isoSecond(until)}`;
  // Whoever sends a message again without an `externalId` would have it answered twice.
  const when = `${next}; a message that was sent is kept, and need not be sent again`;
  if (what === "calls")
    return LIMIT_REACHED.of(`${who} has used up its ${count(calls ?? 0, "model call")} a minute; ${when}`, details);
  const period = money === undefined || money.per === "ever" ? "" : ` a UTC ${money.per}`;
  const sums = `$${used.spent.toFixed(4)} of $${money?.dollars}${period} are spent`;
  const held = used.held > 0 ? ` and $${used.held.toFixed(4)} reserved for calls under way` : "";
  return LIMIT_REACHED.of(
    `the next call of a model could cost more than ${who} has left: ${sums}${held}; ${when}`,
    details,
  );
}
