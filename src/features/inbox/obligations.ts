import { clean } from "../../guard/index.ts";
import {
  type ContentItem,
  type EventPart,
  type LayerContent,
  REPLY_TOOL,
  type StoredEvent,
  trusted,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import { type GatherContext, senderOf, shorten } from "../../turn/sources/index.ts";

/** Characters of a message that are shown as its beginning, and how many messages are. */
const PREVIEW = 100;
const SHOWN = 20;

/** What the turn has to answer: how many messages, and of each its sender and its beginning. Nothing but the turn's own events. */
export function obligations(context: GatherContext): LayerContent {
  const waiting = context.events.filter(({ kind }) => kind !== "scheduled");
  if (waiting.length === 0) return { kind: "text", text: trusted("Nothing waits for an answer.") };
  const shown = waiting.length > SHOWN ? ` of the first ${SHOWN}` : "";
  const count = waiting.length === 1 ? "1 message waits" : `${waiting.length} messages wait`;
  const senders = new Set(waiting.map((event) => senderOf(event, context))).size;
  const how = senders > 1 ? ` ${ofSeveral(senders)}` : "";
  const intro = `${count} for an answer in this turn.${how} Sender and beginning${shown}:`;
  const items = waiting.slice(0, SHOWN).map((event) => itemOf(event, context));
  return { kind: "items", intro: trusted(intro), items };
}

const ofSeveral = (senders: number): string =>
  `They are of ${senders} senders: answer each with \`${REPLY_TOOL}\` and tell none what another wrote; your final text reaches nobody.`;

function itemOf(event: StoredEvent, context: GatherContext): ContentItem {
  const { trust, proof, at } = event;
  const name = nameOf(event, context);
  return {
    kind: "data",
    ...(name !== undefined && { name }),
    text: untrusted(beginning(event.content)),
    trust,
    ...(proof !== undefined && { proof }),
    at,
  };
}

/** A contact is named as its channel does, whatever it calls itself. */
function nameOf(event: StoredEvent, context: GatherContext): Untrusted | undefined {
  return event.trust === "contact" ? untrusted(senderOf(event, context)) : event.name;
}

function beginning(content: readonly EventPart[]): string {
  const said = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join(" ");
  return shorten(clean(untrusted(said)).replace(/\s+/gu, " ").trim(), PREVIEW);
}
