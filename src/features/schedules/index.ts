/** Scheduled runs of agents: each is an operator's event on a separate thread, with as much of the prompt as it needs. */

import { z } from "zod";
import { count, duration, minute, oneLine, table } from "../../print/index.ts";
import { asStrataError, MODES } from "../../protocol/index.ts";
import type { Job, JobWorld, Notice, Task } from "../../work/index.ts";
import type { Feature } from "../feature.ts";
import { DONE_BY, FIELDS, given, list as listOf, OF_AGENT, TIME } from "../fields.ts";
import { operation, turnOperation } from "../operation.ts";
import { SCHEDULE_API, type ScheduleApi, scheduleApi } from "./api.ts";
import { KEYS, SCHEDULE } from "./config.ts";
import { SCHEDULE_STORE } from "./store.ts";

export { SCHEDULE_API, type ScheduleApi } from "./api.ts";
export { SCHEDULE } from "./config.ts";
export { SCHEDULE_STORE } from "./store.ts";

const NAMED = OF_AGENT.extend({ schedule: z.string().min(1).max(64).describe("the schedule's name") });

const SCHEDULES = z
  .object({
    schedules: listOf(
      z.object({
        name: z.string(),
        cron: z.string(),
        timezone: z.string(),
        text: z.string(),
        missed: z.union([z.enum(["skip", "once", "all"]), z.number()]),
        mode: z.enum(MODES),
        next: TIME.optional().describe("When it runs next; left out, never again, or it is paused."),
        paused: z
          .object({ since: TIME, ...DONE_BY })
          .optional()
          .describe("Since when it is paused, and by whom; left out, it is not."),
        waits: z
          .object({ runs: z.number(), because: z.string() })
          .optional()
          .describe("Runs that have begun and not ended well, and why; left out, none."),
      }),
    ),
  })
  .meta({ id: "Schedules" });

const listSchedules = operation({
  name: "schedule.list",
  does: "List what an agent does by the clock, and when each is due next.",
  may: "operate",
  at: "GET /v1/agents/{agent}/schedules",
  takes: OF_AGENT,
  gives: SCHEDULES,
  list: "schedules",
  command: { examples: ["schedule list companion"], opens: "data" },
  run: async ({ runtime }, { agent }, { actor }) => {
    const found = await runtime.use(SCHEDULE_API).schedules(actor, agent);
    return {
      schedules: found.map(({ schedule, next, paused, waits }) => ({
        ...schedule,
        ...given("next", next),
        ...given("paused", paused),
        ...given("waits", waits),
      })),
    };
  },
  show: ({ schedules }, { style, given: { agent } }) =>
    schedules.length === 0
      ? [`${agent} does nothing by the clock; \`schedules\` in strata.yaml says what it shall do.`]
      : [
          ...table(
            COLUMNS,
            schedules.map(({ name, cron, timezone, mode, missed, next, paused, text }) => [
              ...[
                name,
                paused ? "paused" : next === undefined ? "never" : minute(next),
                cron,
                timezone,
                mode,
                String(missed),
                oneLine(text),
              ],
            ]),
            style,
          ),
          ...schedules.flatMap(({ name, waits }) =>
            waits === undefined ? [] : [`${count(waits.runs, "run")} of ${name} waits: ${oneLine(waits.because)}`],
          ),
        ],
});

const COLUMNS = [
  { head: "name" },
  { head: "next (UTC)" },
  { head: "rule" },
  { head: "time zone" },
  { head: "mode" },
  { head: "missed" },
  { head: "does", least: 20, wraps: true },
] as const;

const runNow = turnOperation({
  name: "schedule.run",
  does: "Run one of an agent's schedules now, besides the times at which it is due.",
  may: "operate",
  at: "POST /v1/agents/{agent}/schedules/{schedule}/run",
  takes: NAMED.extend({ mode: FIELDS.mode.optional() }),
  command: { words: ["schedule"], examples: ["schedule run digest companion"], opens: "everything" },
  turn: ({ runtime }, { agent, schedule, mode }, { actor, signal }) =>
    runtime.use(SCHEDULE_API).runSchedule(actor, agent, schedule, { signal, ...given("mode", mode) }),
  idle: ({ schedule }) => `${schedule} runs already.`,
});

const PAUSED = z.object({
  schedule: z.string(),
  paused: z.boolean(),
  changed: z.boolean().describe("False if it was so already."),
});

const pause = operation({
  name: "schedule.pause",
  does: "Pause one of an agent's schedules until it is resumed; what comes due meanwhile is left out, not made up.",
  may: "operate",
  at: "POST /v1/agents/{agent}/schedules/{schedule}/pause",
  takes: NAMED,
  gives: PAUSED,
  command: { words: ["schedule"], examples: ["schedule pause digest companion"], opens: "data" },
  run: async ({ runtime }, { agent, schedule }, { actor }) => ({
    schedule,
    paused: true,
    changed: await runtime.use(SCHEDULE_API).pauseSchedule(actor, agent, schedule, true),
  }),
  show: ({ schedule, changed }, { agentWords }) => [
    `${schedule} is paused${changed ? "" : " already"}; \`strata schedule resume ${schedule}${agentWords}\` lets it go on.`,
  ],
});

const resume = operation({
  name: "schedule.resume",
  does: "Resume a paused schedule: it runs the next time it is due.",
  may: "operate",
  at: "POST /v1/agents/{agent}/schedules/{schedule}/resume",
  takes: NAMED,
  gives: PAUSED,
  command: { words: ["schedule"], examples: ["schedule resume digest companion"], opens: "data" },
  run: async ({ runtime }, { agent, schedule }, { actor }) => ({
    schedule,
    paused: false,
    changed: await runtime.use(SCHEDULE_API).pauseSchedule(actor, agent, schedule, false),
  }),
  show: ({ schedule, changed }, { agentWords }) => [
    `${schedule} ${changed ? "goes on" : "is not paused"}; \`strata schedule list${agentWords}\` tells when it runs next.`,
  ],
});

/** Scheduled runs, each when it is due; runs missed before the program began are looked up once. */
const runs: Job = {
  name: "schedules.runs",
  due: async ({ runtime, operator, clock }) => {
    const busy = runtime.agents(operator).filter(({ schedules = [] }) => schedules.length > 0);
    const found = await Promise.all(
      busy.map(async ({ name }) =>
        (await runtime.use(SCHEDULE_API).schedules(operator, name)).map((one) => ({ agent: name, ...one })),
      ),
    );
    const later = found.flat().flatMap(({ isDue, next }) => (isDue || next === undefined ? [] : [next]));
    return {
      tasks: found.flat().flatMap((one) => (one.isDue ? [task({ runtime, operator }, one)] : [])),
      next: later.length === 0 ? undefined : Math.max(clock.real(), Math.min(...later)),
    };
  },
};

type Due = Awaited<ReturnType<ScheduleApi["schedules"]>>[number] & { readonly agent: Task["agent"] };

const task = ({ runtime, operator }: Pick<JobWorld, "runtime" | "operator">, { agent, schedule }: Due): Task => ({
  agent,
  key: `schedule ${schedule.name} of ${agent}`,
  trouble: `${schedule.name} of ${agent} did not run`,
  async *run(signal): AsyncGenerator<Notice> {
    const about = `schedule ${schedule.name} of ${agent}`;
    try {
      for await (const event of runtime.use(SCHEDULE_API).runDueSchedule(operator, agent, schedule.name, { signal })) {
        if (event.type === "done") {
          yield { about, message: "", isOver: true };
          const words = event.text === "" ? "it said nothing" : `\`strata outbox list ${agent}\` shows its reply`;
          yield { message: `${schedule.name} of ${agent} ran: ${words}.` };
        }
        if (event.type === "failed" && !signal.aborted)
          yield { about, message: `${schedule.name} of ${agent} failed: ${event.error.message}` };
      }
      const news = runtime.use(SCHEDULE_API).scheduleNews(operator, agent, schedule.name);
      if (news !== undefined) yield* clockNotices(`${schedule.name} of ${agent}`, news);
    } catch (thrown) {
      // Missing credits are reported as part of how it lives.
      if (!asStrataError(thrown).traits.isPause) throw thrown;
    }
  },
});

const long = (milliseconds: number): string =>
  milliseconds < 7_200_000 ? duration(milliseconds) : count(Math.round(milliseconds / 3_600_000), "hour");

function* clockNotices(
  name: string,
  { setBack, missed, madeUp }: NonNullable<ReturnType<ScheduleApi["scheduleNews"]>>,
): Generator<Notice> {
  if (setBack > 0)
    yield {
      message: `The clock was set back by ${long(setBack)}: ${name} goes by the new time, and what it ran already does not run again.`,
    };
  if (missed > 0)
    yield {
      message: `${count(missed, "run")} of ${name} ${missed === 1 ? "was" : "were"} missed, because no program ran, the machine slept or the clock was set forward; ${madeUp} of them ${madeUp === 1 ? "is" : "are"} made up, as \`missed\` says.`,
    };
}

export const FEATURE: Feature = {
  name: "schedules",
  keys: KEYS,
  channels: [SCHEDULE],
  store: SCHEDULE_STORE,
  operations: [listSchedules, runNow, pause, resume],
  jobs: [runs],
  open: () => ({ api: ({ turnParts, run }) => SCHEDULE_API.open(scheduleApi(turnParts, run)) }),
};
