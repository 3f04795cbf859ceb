import { z } from "zod";
import { agentKey, type KindsOf, type StoredKeys, slug, sourceForm } from "../../agents/index.ts";
import { suggestion } from "../../protocol/index.ts";

/** The tools by which an assistant does something as its member: this, and the operation's name with `_`. */
export const DO = "do_";

export const toolOf = (operation: string): string => `${DO}${operation.replace(".", "_")}`;

const MEMBER = z.strictObject({
  agents: z.array(slug()).min(1).max(20).describe("The agents whose data the member reaches."),
  contacts: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(100)
    .optional()
    .describe("The only contacts of these agents whom the member reaches. Default: all of them."),
});

const ASSISTANT = z
  .strictObject({
    operations: z
      .array(z.string().regex(/^[a-z]+\.[a-z]+$/, "an operation, as `draft.list`"))
      .min(1)
      .max(50)
      .describe("What its tools do, by the names of operations: what a member may not do is no tool."),
    members: z
      .record(slug(), MEMBER)
      .describe("Whom it serves, by the ids of `members` of `business`, and how far each of them reaches."),
  })
  .optional()
  .describe(
    "Makes the agent the assistant of members of the organization: each talks with it in conversations of their own, as the contact of their id, and its tools act with their rights. Default: it talks with contacts.",
  );

type WrittenAssistant = z.output<typeof ASSISTANT>;

/** Whether an agent serves members. */
export const KEYS = {
  assistant: agentKey(ASSISTANT, {
    tools: (declared: WrittenAssistant) => (declared?.operations ?? []).map(toolOf),
    toolAt: (declared: WrittenAssistant, tool) => [
      "operations",
      (declared?.operations ?? []).findIndex((one) => toolOf(one) === tool),
    ],
    check: (declared, { name, agents, refuse }) => {
      if (declared === undefined) return;
      // `business` checks that its members belong to the organization; it may be at the top of the file.
      for (const [id, { agents: reached }] of Object.entries(declared.members)) {
        for (const [i, one] of reached.entries()) {
          if (one === name) refuse(["members", id, "agents", i], "an assistant does nothing to itself");
          else if (agents[one] === undefined)
            refuse(["members", id, "agents", i], `there is no agent \`${one}\`${suggestion(one, Object.keys(agents))}`);
        }
      }
    },
  }),
};

export const SOURCES = {
  member: sourceForm({
    fills: "which member an `assistant` serves in this conversation",
    isOurs: true,
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
