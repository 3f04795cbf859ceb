import { z } from "zod";
import { agentKey, type StoredKeys, sharedKey } from "../../agents/index.ts";
import { type Agent, SPEND_PERIODS } from "../../protocol/index.ts";

const MEMBERS = z.strictObject({
  calls: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe("Calls of the model within any 60 seconds. Default: no limit."),
  dollars: z
    .number()
    .positive()
    .max(1_000_000)
    .optional()
    .describe("US dollars within `per`. A call that could cost more than is left is not made. Default: no limit."),
  per: z
    .enum(SPEND_PERIODS)
    .optional()
    .describe("The UTC day or month for which `dollars` are, or `ever`. Default: `day`."),
});

/** A period for calls would be misread: they are always those of a minute. */
const limited = <S extends z.ZodType<{ readonly dollars?: number | undefined; readonly per?: unknown }>>(
  members: S,
): S =>
  members.refine(({ per, dollars }) => per === undefined || dollars !== undefined, {
    path: ["per"],
    message: "is the period of `dollars`, and there are none; `calls` always count within any 60 seconds",
  });

const LIMIT = limited(MEMBERS);

const GROUP = limited(
  MEMBERS.extend({
    keys: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(1_000)
      .describe("The ids of the keys, as `strata key list` shows them. Together they have the limit."),
  }),
);

const NAME = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, "1 to 63 lower-case letters, digits and hyphens");

const LIMITS = z
  .strictObject({
    agent: LIMIT.optional().describe(
      "All turns of the agent together, with what other agents are asked for them. Default: no limit.",
    ),
    contact: LIMIT.optional().describe("Each contact of the agent by itself. Default: no limit."),
    key: LIMIT.optional().describe(
      "Each key by itself, with all agents: whoever posted the messages of a turn, and of the turns whose calls it answers. Default: no limit.",
    ),
    organization: LIMIT.optional().describe("All agents together. Default: no limit."),
    groups: z
      .record(NAME, GROUP)
      .optional()
      .describe("Several keys together, by the name of the group. Default: none."),
    wait: z
      .boolean()
      .optional()
      .describe(
        "A call that comes too early waits inside its turn until it may be made, where the turn's time allows that. Default: it is refused at once.",
      ),
  })
  .optional()
  .describe("How often the model is called, and what that may cost. Default: no limits.");

/** How much an agent may call its model. Members that an agent does not set come from the top of the file. */
export const KEYS = { limits: sharedKey(agentKey(LIMITS), "members") };

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

/** One such limit. */
export type Limit = NonNullable<NonNullable<Agent["limits"]>["agent"]>;
