import { z } from "zod";
import { agentKey, type KindsOf, type StoredKeys, sourceForm } from "../../agents/index.ts";
import { REPLY_TOOL } from "../../protocol/index.ts";

const INBOX = z
  .enum(["each", "batch"])
  .default("each")
  .describe(
    "Whose messages a turn of the inbox handles. `each`: those of one sender. `batch`: those of several, each in its own frame; the tool `reply_to_sender` sends each sender a reply of their own. `batch` needs `history: log`.",
  );

/** Whose messages a turn takes: a turn of several senders has no history, and its replies are texts that a tool sends. */
export const KEYS = {
  inbox: agentKey(INBOX, {
    tools: (inbox) => (inbox === "batch" ? [REPLY_TOOL] : []),
    check: (inbox, { agent, refuse }) => {
      if (inbox !== "batch") return;
      if (agent.history !== "log") refuse([], "`batch` needs `history: log`: a turn of several senders stands alone");
      if (agent.output !== undefined)
        refuse([], "`batch` sends its replies as texts, with a tool; remove `output` or use `each`");
    },
  }),
};

/** The messages that a turn handles: how many, from whom, their beginnings. */
export const SOURCES = {
  obligations: sourceForm({ fills: "what needs an answer", kept: {}, make: () => ({}) }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

declare module "../../protocol/layer.ts" {
  interface SourceKinds extends KindsOf<typeof SOURCES> {}
}
