import { z } from "zod";
import { agentKey, type Kept } from "../../agents/index.ts";
import { suggestion } from "../../protocol/index.ts";

const DELIVER = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: "an address that begins with https:// or http://" })
      .describe("A server that takes them by POST."),
    key: z.string().optional().describe("The name under `secrets` of what is sent as a bearer token."),
  })
  .optional()
  .describe(
    "Where `strata start` sends the replies that nobody listened to: one request each, with the reply's id as `Idempotency-Key`, tried again until it is taken. Default: they wait in the outbox for whoever asks.",
  );

/** Where replies are sent by themselves. */
export const KEYS = {
  deliver: agentKey(DELIVER, {
    check: (deliver, { secrets, refuse }) => {
      if (deliver?.key === undefined || secrets.includes(deliver.key)) return;
      refuse(["key"], `no entry of \`secrets\` has that name${suggestion(deliver.key, secrets)}`);
    },
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends Kept<typeof KEYS> {}
}
