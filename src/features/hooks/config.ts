import { z } from "zod";
import { agentKey, type StoredKeys } from "../../agents/index.ts";
import { suggestion } from "../../protocol/index.ts";

const HOOK = z.strictObject({
  signing: z.string().describe("The name under `secrets` of the secret with which the sender signs."),
});

/** By which channels messages come as signed webhooks. */
export const KEYS = {
  hooks: agentKey(
    z
      .record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a channel of a-z, 0-9, `_` and `-`"), HOOK)
      .optional()
      .describe(
        "Channels whose messages a provider posts to `/v1/hooks/AGENT/CHANNEL` of `strata start`, each signed as Standard Webhooks has it. Default: none.",
      ),
    {
      check: (hooks, { secrets, refuse }) => {
        for (const [channel, { signing }] of Object.entries(hooks ?? {}))
          if (!secrets.includes(signing))
            refuse([channel, "signing"], `no entry of \`secrets\` has that name${suggestion(signing, secrets)}`);
      },
    },
  ),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}
