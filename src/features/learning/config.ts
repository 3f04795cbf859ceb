import { z } from "zod";
import { type KindsOf, sourceForm } from "../../agents/index.ts";

/** So many corrections are shown where the layer does not say how many. */
const USUAL_CORRECTIONS = 3;

export const SOURCES = {
  corrections: sourceForm({
    fills: "what people changed in earlier drafts for the same contact, as far as it fits the message",
    takes: ["limit"],
    kept: { limit: z.number() },
    make: ({ limit = USUAL_CORRECTIONS }) => ({ limit }),
  }),
};

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
