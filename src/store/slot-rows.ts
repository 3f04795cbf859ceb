/** Rows of a thread's history to records. */
import {
  ANSWER_KIND,
  type CallLimits,
  type StoredEvent,
  type Trust,
  type Untrusted,
  untrusted,
} from "../protocol/index.ts";
import type { Slot, Thread } from "./records.ts";
import { eventWords, partiesIn, toEventText, toJson, type WithText } from "./rows.ts";
import type { Row } from "./tables.ts";

/** A slot. Who spoke is stored as a role; the names are the thread's own. */
export function toSlot(row: WithText<Row<"slot">> & Pick<Row<"thread">, "initiator" | "target">): Slot {
  const { thread, position: index, turn, kind, at, agent, contact, speaker } = row;
  const { initiator, target } = partiesIn(row).parties ?? { initiator: contact, target: agent };
  const said = kind === "reply" || row.text === null ? undefined : toEventText(row.text);
  const sender = senderOf({ ...said, kind, trust: speaker }, { contact, ...partiesIn(row) });
  const [from, to] = kind === "reply" ? [target, initiator] : [sender.name, target];
  const role = kind === "reply" ? "agent" : sender.role;
  return { thread, index, turn, from, to, role, kind, text: slotText(row), ...payloadIn(row), at };
}

/** Whether it is the answer of another agent, which alone is stored with what it used. */
const isFromAgent = ({ kind, used }: { readonly kind: string; readonly used?: CallLimits | undefined }): boolean =>
  kind === ANSWER_KIND && used !== undefined;

/** Whether a slot is the answer of another agent that came too late to be the result of its call. */
export const isLateAnswer = ({ kind, text }: WithText<Row<"slot">>): boolean =>
  text !== null && kind !== "reply" && isFromAgent({ ...toEventText(text), kind });

/**
 * Who sent an event: the agent, where one asked, answered or told something; else the platform, or whoever the thread's messages are from.
 * Whether it is a contact follows from the role: contacts may have any name.
 */
export function senderOf(
  { kind, trust, name, used }: Pick<StoredEvent, "trust" | "name" | "used"> & { readonly kind: string },
  { contact, parties }: Pick<Thread, "parties"> & { readonly contact: string },
): { readonly role: Trust; readonly name: string } {
  // Everybody else only claims a name.
  if (name !== undefined && (kind === "peer" || isFromAgent({ kind, used }))) return { role: "agent", name };
  if (trust === "platform") return { role: trust, name: trust };
  if (parties !== undefined) return { role: "agent", name: parties.initiator };
  return { role: trust, name: trust === "contact" ? contact : trust };
}

function payloadIn({ kind, text }: WithText<Row<"slot">>): Pick<Slot, "payload" | "payloadType"> {
  if (kind === "reply" || text === null) return {};
  const part = toEventText(text).content.find(({ type }) => type === "payload");
  return part?.type === "payload" ? { payload: part.payload, payloadType: part.payloadType } : {};
}

/** The words of a slot. History is data for whoever reads it, the agent's own words too. */
function slotText(row: WithText<Row<"slot">>): Untrusted {
  if (row.text === null) return untrusted("");
  return untrusted(row.kind === "reply" ? String(toJson(row.text)) : eventWords(row.text));
}
