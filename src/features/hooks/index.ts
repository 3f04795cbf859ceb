/** Messages that a provider posts as signed webhooks. */

import { z } from "zod";
import { type Agent, actorId, allow, type EventId, StrataError, untrusted } from "../../protocol/index.ts";
import { featureApi, type Parts, type Use } from "../../turn/index.ts";
import { isSigned } from "../deliveries/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, line } from "../fields.ts";
import { MESSAGE_API } from "../messages/index.ts";
import { parsed } from "../parse.ts";
import { KEYS } from "./config.ts";

const MESSAGE = z.strictObject({
  contact: FIELDS.contact,
  text: z.string().regex(/\S/, "a text that says something").transform(untrusted),
  key: FIELDS.key.default("main"),
  line: z.string().min(1).max(64).optional(),
  name: line().transform(untrusted).optional(),
  number: line().transform(untrusted).optional(),
  kind: z.enum(["message", "call-ended"]).default("message"),
});

/** A request as it came: its three headers, the text that was signed, and that text as JSON. */
export interface HookRequest {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly text: string;
  readonly value: unknown;
}

export interface HookApi {
  /**
   * Stores a message that came as a signed webhook, for the background work to answer. One that comes twice is stored once.
   * @throws StrataError `unauthenticated` for a signature or a time that does not fit, or where no such hook is declared; `invalid_input`
   */
  receive(agent: string, channel: string, request: HookRequest): Promise<{ readonly event: EventId }>;
}

/** The functions of hooks, as `runtime.use` gives them. */
export const HOOK_API = featureApi<HookApi>("hooks");

function hookApi({ agents, vault, clock }: Parts, use: Use): HookApi {
  const signs = ({ hooks }: Agent, channel: string, { id, timestamp, signature, text }: HookRequest): boolean => {
    const hook = hooks !== undefined && Object.hasOwn(hooks, channel) ? hooks[channel] : undefined;
    if (hook === undefined || !id || !signature || !/^\d{1,12}$/.test(timestamp ?? "")) return false;
    const message = { id, timestamp: Number(timestamp), body: text, signature, now: clock.real() / 1_000 };
    return isSigned(vault.secret(hook.signing), message);
  };
  return {
    receive: async (name, channel, request) => {
      const agent = agents.all.find((one) => one.name === name && signs(one, channel, request));
      if (agent === undefined)
        throw new StrataError(
          "unauthenticated",
          "the webhook's signature or its time does not fit, or no such hook is declared: sign `ID.SECONDS.BODY` with the secret under `hooks` in strata.yaml, and send the request within five minutes",
        );
      const { contact, key, text, ...said } = parsed(MESSAGE, request.value, {
        whole: "the body",
        field: (field) => `\`${field}\` in the body`,
      });
      const { org } = agent;
      // No more than a program that passes messages on: the words are the contact's.
      const actor = allow({ org, agent: agent.name, id: actorId(`program:hook-${channel}`), role: "member" }, "post");
      const sending = use(MESSAGE_API).sendMessage(actor, {
        to: { agent: agent.name, contact, channel, key },
        content: [{ type: "text", text }],
        ...said,
        trust: "contact",
        externalId: request.id,
        follow: "queue",
      });
      for (let step = await sending.next(); ; step = await sending.next())
        if (step.done) return { event: step.value.event.id };
    },
  };
}

export const FEATURE: Feature = {
  name: "hooks",
  needs: ["deliveries", "messages"],
  keys: KEYS,
  operations: [],
  open: () => ({ api: ({ parts, use }) => HOOK_API.open(hookApi(parts, use)) }),
};
