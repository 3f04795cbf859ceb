import { z } from "zod";
import { agentKey, type KindsOf, type StoredKeys, sharedKey, sourceForm } from "../../agents/index.ts";

import { TRIAL_FIELDS } from "./gate/config.ts";

/** The channel on which digests are made. */
export const DIGEST_CHANNEL = "learning";

/** How many corrections are shown by default. */
const USUAL_CORRECTIONS = 3;

const LEARNING = z
  .strictObject({
    mode: z
      .enum(["approval", "auto"])
      .default("approval")
      .describe(
        "What becomes of a learning version that a digest writes. `approval`: it waits for an operator. `auto`: it becomes active where all its lessons are operators' and members' own words and it passed what judges it; any other waits.",
      ),
    every: z
      .int()
      .min(1)
      .max(10_080)
      .default(1_440)
      .describe("Minutes between two digests. One is made only where a new lesson is worth it."),
    ...TRIAL_FIELDS,
  })
  .optional()
  .describe(
    "Lets a digest fold lessons into the text of the layer with `source: learning`. Default: lessons are kept, and none is made.",
  );

/** Whether an agent digests what it has learned. */
export const KEYS = {
  learning: sharedKey(
    agentKey(LEARNING, {
      check: (declared, { agent, refuse }) => {
        const layers = agent.layers.filter(({ source }) => source === "learning");
        if (declared !== undefined && layers.length === 0) refuse([], "needs a layer with `source: learning`; add one");
        if (declared?.judge === "rehearsal") refuse(["judge"], "a model that can compare replies; `rehearsal` cannot");
      },
    }),
  ),
};

export const SOURCES = {
  corrections: sourceForm({
    fills: "what people changed in earlier drafts for the same contact, as far as it fits the message",
    takes: ["limit"],
    kept: { limit: z.number() },
    make: ({ limit = USUAL_CORRECTIONS }) => ({ limit }),
  }),
  learning: sourceForm({
    fills: "the rules of the learning version that was active when the conversation began",
    isStored: true,
    inTail: "only",
    kept: {},
    make: () => ({}),
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
