/** Payloads that come from outside with a type alone: the type says which agent gets them. */
import { z } from "zod";
import { didYouMean, errorKind, type Json, type NewEvent, StrataError } from "../../protocol/index.ts";
import type { Parts } from "../../turn/index.ts";
import { forContact, MESSAGE, MESSAGE_API, SENT, type SentMessage } from "../messages/index.ts";
import { runOperation } from "../run-operation.ts";
import { PEER_API, type PeerApi } from "./api.ts";
import { JSON_OBJECT, TEXT } from "./payload.ts";

/** No entry, or more than one, accepts the type. */
export const NO_LISTENER = errorKind("no_listener", {
  status: 404,
  exit: 3,
  retry: false,
  message: "no agent, or several, can be sent a payload of that type from outside",
});

export const routeApi = ({ agents }: Parts): Pick<PeerApi, "listenerFor"> => ({
  listenerFor: ({ org, agent: own, role }, payloadType) => {
    const entries = agents.all.flatMap(({ name, payload, ...one }) =>
      one.org === org && one.entry === true && (own ?? name) === name ? [{ name, type: (payload ?? TEXT).type }] : [],
    );
    const takers = entries.filter(({ type }) => type === payloadType);
    const [only] = takers;
    if (only !== undefined && takers.length === 1) return only.name;
    const type = JSON.stringify(payloadType);
    // Contacts do not learn which agents there are.
    const next = role === "contact" ? "" : nextStep(payloadType, entries);
    const message =
      only === undefined
        ? `no agent under \`entry\` accepts payloads of the type ${type}${next}`
        : `payloads of the type ${type} are accepted by ${listed(takers.map(({ name }) => name))}: ${TO_ONE}`;
    throw NO_LISTENER.of(message, { payloadType });
  },
});

const TO_ONE =
  "send it to one of them by name, as a part of the type `payload`, with `strata message send --agent NAME --content` or POST /v1/agents/NAME/messages";

/** How many agents an error names. */
const SHOWN = 20;
const listed = (names: readonly string[]): string =>
  `${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? ", …" : ""}`;

function nextStep(payloadType: string, entries: readonly { readonly name: string; readonly type: string }[]): string {
  if (entries.length === 0) return "; declare it as `payload` of an agent that `entry` names";
  const types = entries.map(({ type }) => type);
  return (
    didYouMean(payloadType, types) ||
    `; these are accepted: ${listed(entries.map(({ name, type }) => `${type} (${name})`))}`
  );
}

export const payloadContent = (payloadType: string, payload: Json): NewEvent["content"] => [
  { type: "payload", payloadType, payload },
];

/** The command line gives it as text. */
const PAYLOAD = z
  .unknown()
  .describe("the payload, a JSON object")
  .transform((given, { issues }) => {
    try {
      return JSON_OBJECT.parse(typeof given === "string" ? JSON.parse(given) : given);
    } catch {
      issues.push({ code: "custom", input: given, message: "a JSON object" });
      return z.NEVER;
    }
  });

const OPTIONAL = { contact: true, channel: true, key: true, name: true, number: true, externalId: true } as const;

export const send = runOperation({
  name: "payload.send",
  does: "Send a payload to the one agent under `entry` that accepts its type, and get the answer.",
  may: "post",
  at: "POST /v1/payloads",
  takes: MESSAGE.pick({ ...OPTIONAL, follow: true, seconds: true }).extend({
    payloadType: z.string().min(1).max(100).describe("the type, which one agent under `entry` accepts"),
    payload: PAYLOAD,
  }),
  gives: SENT,
  command: {
    words: ["payloadType", "payload"],
    stdin: "payload",
    contact: "me",
    names: { externalId: "id" },
    usual: { channel: "chat", key: "chat" },
    without: ["seconds"],
    examples: [`payload send Greeting '{"name": "Ann"}' --as ann`],
    opens: "everything",
  },
  run: async function* ({ runtime }, given, { actor, signal }) {
    const { payloadType, payload, contact, channel = "http", key = "main", ...how } = forContact(given, actor);
    const agent = runtime.use(PEER_API).listenerFor(actor, payloadType);
    if (contact === undefined) throw new StrataError("invalid_input", "name the `contact` that sends the payload");
    const content = payloadContent(payloadType, payload);
    const message = { to: { agent, contact, channel, key }, content, kind: "message", ...how } as const;
    return yield* runtime.use(MESSAGE_API).sendMessage(actor, message, signal);
  },
  seconds: ({ seconds }) => seconds,
  soFar: (event): SentMessage => ({ event, state: "running" }),
  show: ({ state, event }) => (state === "queued" ? [`${event.id} waits on ${event.thread}.`] : []),
});
