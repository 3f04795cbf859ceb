import { type Agent, errorKind, type NewEvent, type PayloadPart, StrataError } from "../../protocol/index.ts";
import type { Outside } from "../../turn/index.ts";
import { payloadIn } from "./handler.ts";
import { payloadFinding, TEXT } from "./payload.ts";

/** An agent that only other agents may ask. */
export const NOT_AN_ENTRY = errorKind("not_an_entry", {
  status: 403,
  exit: 6,
  retry: false,
  message: "that agent cannot be written to from outside",
});

/**
 * Refuses input from outside if the agent is not an entry, or if the payload, or the text, is not what it takes.
 * @throws StrataError `not_an_entry`, `invalid_input`
 */
export async function admitOutside({ agent, events }: Outside): Promise<void> {
  // Scheduled input from its own declaration has no outside sender.
  if (agent.entry === false && !events.some(({ kind }) => kind === "scheduled")) {
    const message = `${agent.name} cannot be written to from outside, because \`entry\` in strata.yaml does not name it; write to an agent that \`entry\` names, or add it there`;
    throw NOT_AN_ENTRY.of(message, { agent: agent.name });
  }
  for (const event of events) {
    const parts = event.content.filter((part) => part.type === "payload");
    for (const part of parts) await admitPayload(agent, part);
    if (parts.length === 0 && event.kind === "message") await admitText(agent, event);
  }
}

async function admitPayload({ name, payload }: Agent, given: PayloadPart): Promise<void> {
  const { payloadType } = given;
  // An agent that declares no payload accepts all other types unchecked.
  const accepted = payload ?? (payloadType === TEXT.type ? TEXT : undefined);
  if (accepted === undefined) return;
  const { type } = accepted;
  if (payloadType !== type) {
    const message = `${name} accepts payloads of the type ${type}, and this one has the type ${payloadType}`;
    throw new StrataError("invalid_input", message, { agent: name, payloadType });
  }
  const finding = await payloadFinding(accepted, given.payload);
  if (finding === undefined) return;
  const message = `${name} does not accept this payload: ${finding}`;
  throw new StrataError("invalid_input", message, { agent: name, payloadType: type });
}

/** Text is admitted where the declared payload may be `{ text }`. */
async function admitText({ name, payload }: Agent, event: NewEvent): Promise<void> {
  if (payload === undefined || (await payloadFinding(payload, payloadIn(event).payload)) === undefined) return;
  const { type } = payload;
  const message = `${name} accepts no text, but payloads of the type ${type}: send one with \`strata payload send ${type}\` or POST /v1/payloads`;
  throw new StrataError("invalid_input", message, { agent: name, payloadType: type });
}
