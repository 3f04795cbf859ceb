import { z } from "zod";
import { agentKey, type StoredKeys } from "../../agents/index.ts";
import { secretProblem } from "../../guard/index.ts";
import { suggestion } from "../../protocol/index.ts";

const DELIVER = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: "an address that begins with https:// or http://" })
      .describe("The address that receives them by POST."),
    key: z.string().optional().describe("The name under `secrets` of the bearer token to send."),
    signing: z
      .string()
      .optional()
      .describe(
        "The name under `secrets` of the secret that signs each request, as Standard Webhooks has it (`webhook-id`, `webhook-timestamp`, `webhook-signature`).",
      ),
  })
  .optional()
  .describe(
    "Where `strata start` sends the replies that no client has received: one request each, with the reply's id as `Idempotency-Key`, retried until it is accepted. Default: they wait in the outbox until they are fetched.",
  );

/** Where replies are sent by themselves. */
export const KEYS = {
  deliver: agentKey(DELIVER, {
    check: (deliver, { secrets, refuse }) => {
      const literal = deliver && secretProblem(deliver.url);
      if (literal !== undefined) {
        const next = "name a secret under `secrets` and send it with `key`, so that it stands in no file and no record";
        refuse(["url"], `it ${literal}; ${next}`);
      }
      for (const member of ["key", "signing"] as const) {
        const name = deliver?.[member];
        if (name !== undefined && !secrets.includes(name))
          refuse([member], `no entry of \`secrets\` has that name${suggestion(name, secrets)}`);
      }
    },
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}
