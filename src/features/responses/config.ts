import { z } from "zod";
import { agentKey, type StoredKeys, sharedKey } from "../../agents/index.ts";

const RESPONSES = z
  .strictObject({
    seconds: z.int().min(1).max(2_592_000).default(3_600).describe("Seconds for which a reply is used again."),
  })
  .optional()
  .describe(
    "A contact who asks the same again, where all else that is sent is the same, too, gets the same reply without a call of the model. Only replies without tool calls are kept. Default: each message is answered anew.",
  );

/** Whether replies are used again. */
export const KEYS = { responseCache: sharedKey(agentKey(RESPONSES)) };

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}
