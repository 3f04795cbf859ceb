import { z } from "zod";
import { agentKey, type StoredKeys, slug } from "../../agents/index.ts";
import { type Agent, MODES, type OwnChannel } from "../../protocol/index.ts";
import { cronProblem } from "./times.ts";

/** The channel of scheduled runs, each on a separate thread. Their contact is `SELF`, and their replies are for the operator. */
export const SCHEDULE = { name: "schedule" } as const satisfies OwnChannel;

const DECLARED = z.strictObject({
  name: slug().describe("What it is called."),
  cron: z
    .string()
    .max(100)
    .describe(
      "When it runs: minute, hour, day of the month, month and day of the week, as in `0 9 * * 1-5` for nine o'clock on working days.",
    ),
  timezone: z.string().max(60).default("UTC").describe("Whose clock that is, as in `Europe/Berlin`."),
  text: z.string().min(1).max(4_000).describe("The task for the agent."),
  missed: z
    .union([z.enum(["skip", "once", "all"]), z.int().min(1).max(1_000)])
    .default("once")
    .describe(
      "What becomes of runs for whose time no `strata start` was there: `skip` leaves them out, `once` makes the last of them up, a number so many of the last, and `all` each of them, 1,000 at most. A clock that is set forward and a machine that slept leave out runs, too.",
    ),
  mode: z
    .enum(MODES)
    .default("minimal")
    .describe("How much of the prompt a run is sent. What a layer is in each mode, its `modes` say."),
});

const SCHEDULES = z
  .array(DECLARED)
  .max(100)
  .default([])
  .describe(
    "What the agent does at certain times while `strata start` runs. Each run has a thread of its own. Default: nothing.",
  );

/** An agent's schedules. */
export const KEYS = {
  schedules: agentKey(SCHEDULES, {
    check: (schedules, { refuse }) => {
      for (const [i, { name, ...rule }] of schedules.entries()) {
        const problem = cronProblem(rule);
        if (problem !== undefined) refuse([i, problem.key], problem.expected);
        if (schedules.findIndex((one) => one.name === name) < i) refuse([i, "name"], `two schedules are named ${name}`);
      }
    },
  }),
};

declare module "../../protocol/agent.ts" {
  interface Agent extends StoredKeys<typeof KEYS> {}
}

export type Schedule = NonNullable<Agent["schedules"]>[number];
