import { z } from "zod";
import { frozenKey, type KindsOf, type StoredKeys, sourceForm } from "../../agents/index.ts";

const CONSOLIDATE = z
  .strictObject({
    after: z.int().min(30).max(43_200).describe("The fewest minutes after a contact's last message."),
    groupBy: z
      .enum(["session", "topic", "both"])
      .default("session")
      .describe("What a summary is about: a conversation, or what was said and saved about one subject."),
  })
  .optional()
  .describe(
    "When idle, `strata start` lets the agent's model summarize what was said, as memories beside the messages. Default: only `strata memory consolidate` does this.",
  );

/** When conversations are summarized. */
export const KEYS = {
  consolidate: frozenKey({
    written: CONSOLIDATE,
    stored: z.strictObject({ after: z.number(), groupBy: z.exactOptional(z.enum(["topic", "both"])) }).readonly(),
    // An agent with the default has the version it always had.
    freeze: (value) => {
      if (value === undefined) return undefined;
      const { after, groupBy } = value;
      return groupBy === "session" ? { after } : { after, groupBy };
    },
  }),
};

/** Where a memory came from. */
export const SOURCES = {
  recall: sourceForm({
    fills: "memories that fit the message",
    takes: ["limit"],
    kept: { limit: z.number() },
    make: ({ limit = 12 }) => ({ limit }),
  }),
  recent: sourceForm({
    fills: "the newest memories",
    takes: ["limit"],
    kept: { limit: z.number() },
    make: ({ limit = 5 }) => ({ limit }),
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
