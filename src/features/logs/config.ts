import { z } from "zod";
import { type KindsOf, sourceForm } from "../../agents/index.ts";
import { CONVERSATION_LIMITS } from "../../protocol/index.ts";

const { shown, compact } = CONVERSATION_LIMITS;

/** The last exchanges with the senders of a turn: `entries` of each, `compact` of them in compact mode. */
export const SOURCES = {
  conversation: sourceForm({
    fills: "the last exchanges with the senders",
    kept: { entries: z.number(), compact: z.number() },
    make: () => ({ entries: shown, compact }),
    unfit: ({ history }) =>
      history === "log"
        ? undefined
        : "the conversation is in the transcript already; set `history: log` or remove this layer",
  }),
};

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
