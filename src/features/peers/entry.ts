import { errorKind, StrataError } from "../../protocol/index.ts";
import type { Outside } from "../../turn/index.ts";
import { payloadFinding } from "./payload.ts";

/** An agent that only other agents may ask. */
export const NOT_AN_ENTRY = errorKind("not_an_entry", {
  status: 403,
  exit: 6,
  retry: false,
  message: "that agent cannot be written to from outside",
});

/**
 * Refuses input from outside if the agent is not an entry, or if the payload is not what it takes.
 * @throws StrataError `not_an_entry`, `invalid_input`
 */
export async function admitOutside({ agent, events }: Outside): Promise<void> {
  // Scheduled input from its own declaration has no outside sender.
  if (agent.entry === false && !events.some(({ kind }) => kind === "scheduled")) {
    const message = `${agent.name} cannot be written to from outside, because \`entry\` in strata.yaml does not name it; write to an agent that \`entry\` names, or add it there`;
    throw NOT_AN_ENTRY.of(message, { agent: agent.name });
  }
  if (agent.payload === undefined) return;
  const { type } = agent.payload;
  for (const part of events.flatMap(({ content }) => content)) {
    if (part.type !== "payload") continue;
    if (part.payloadType !== type) {
      const message = `${agent.name} accepts payloads of the type ${type}, and this one has the type ${part.payloadType}`;
      throw new StrataError("invalid_input", message, { agent: agent.name, payloadType: part.payloadType });
    }
    const finding = await payloadFinding(agent.payload, part.payload);
    if (finding === undefined) continue;
    const message = `${agent.name} does not accept this payload: ${finding}`;
    throw new StrataError("invalid_input", message, { agent: agent.name, payloadType: type });
  }
}
