import { z } from "zod";
import { agentKey, type KindsOf, type StoredKeys, sourceForm } from "../../agents/index.ts";
import { type Agent, ownKind } from "../../protocol/index.ts";

/** The event that informs an agent about a decision. */
export const DECISION = ownKind("draft");

/** What happens to an agent's reply: it is sent, waits for a person, or is not sent at all. */
export const WAYS = ["send", "draft", "observe"] as const;
export type Way = (typeof WAYS)[number];

const WAY = z.enum(WAYS);

const DELIVERY = z
  .strictObject({
    way: WAY.default("send").describe(
      "What becomes of replies. `send`: they go out. `draft`: each reply waits until a person approves, edits or discards it (`strata draft`). `observe`: nobody gets a reply.",
    ),
    channels: z
      .record(z.string().min(1).max(64), WAY)
      .optional()
      .describe("The same for single channels, in place of `way`."),
    overdue: z
      .int()
      .min(1)
      .max(43_200)
      .default(240)
      .describe(
        "Minutes after which a draft that still waits counts as overdue: `attention` shows it. It is never sent.",
      ),
  })
  .optional()
  .describe("Whether what the agent writes goes out at once. Default: it does.");

/** How an agent's messages reach contacts. */
export const KEYS = {
  delivery: agentKey(DELIVERY, {
    check: (delivery, { agent, refuse }) => {
      const isSent =
        delivery === undefined ||
        [delivery.way, ...Object.values(delivery.channels ?? {})].every((way) => way === "send");
      if (!isSent && Reflect.get(agent, "inbox") === "batch")
        refuse([], "needs `inbox: each`, because a draft belongs to one conversation");
    },
  }),
};

export const SOURCES = {
  delivery: sourceForm({
    fills: "what becomes of the agent's reply: sent, a draft for a person, or read by nobody",
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

/** How the agent's replies on that channel are handled. */
export const wayOf = ({ delivery }: Agent, channel: string): Way =>
  delivery?.channels?.[channel] ?? delivery?.way ?? "send";

/** Milliseconds after which a draft is overdue. */
export const patienceOf = ({ delivery }: Agent): number => (delivery?.overdue ?? 240) * 60_000;
