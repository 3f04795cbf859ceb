import {
  type Actor,
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  type ContactScope,
  eventId,
  issueId,
  SCHEDULE,
  SELF,
  StrataError,
  suggestion,
  type TurnEvent,
  threadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { accessTo, keepVersion, type Run, type RunOptions, recordAct, type TurnParts } from "../../turn/index.ts";
import type { Schedule } from "./config.ts";
import { SCHEDULE_STORE, type SchedulePause } from "./store.ts";
import { nextTime, timesBetween } from "./times.ts";

/** What an agent does by the clock. @throws StrataError `not_allowed`, `agent_not_found` */
export interface ScheduleDoors {
  /** What the agent does by the clock: whether a run is due, or may have been missed, and when the next is. */
  schedules(
    actor: Allowed<"operate">,
    agent: AgentName,
  ): Promise<
    readonly {
      readonly schedule: NonNullable<Agent["schedules"]>[number];
      readonly isDue: boolean;
      /** None where it never comes, or is paused. */
      readonly next?: number;
      /** Since when it is paused, and by whom. */
      readonly paused?: { readonly since: number; readonly by: Actor["role"] };
    }[]
  >;
  /**
   * Pauses a schedule, or lets it continue; what comes due meanwhile is not missed, it is left out. False where it is so already.
   * @throws StrataError `invalid_input` for a schedule that is not declared
   */
  pauseSchedule(actor: Allowed<"operate">, agent: AgentName, schedule: string, isPaused: boolean): Promise<boolean>;
  /** A run besides those that are due; the events of `run`. @throws StrataError `invalid_input` for a schedule that is not declared */
  runSchedule(
    actor: Allowed<"operate">,
    agent: AgentName,
    schedule: string,
    options?: RunOptions,
  ): AsyncGenerator<TurnEvent>;
  /** The runs that are due, one after the other, and those that were missed, as the schedule says. Of several programs that look, one runs each. */
  runDueSchedule(
    actor: Allowed<"operate">,
    agent: AgentName,
    schedule: string,
    options?: RunOptions,
  ): AsyncGenerator<TurnEvent>;
}

declare module "../../turn/runtime.ts" {
  interface Runtime extends ScheduleDoors {}
}

/** So many runs that were missed are made up. */
const MOST_MISSED = 1_000;
/** A run that begins so late is one that was missed, in milliseconds. */
const LATE = 60_000;
/** As many of the agent's own threads are looked at for its last runs. */
const LOOKED_AT = 1_000;

/** How far a schedule has come, as this program knows it. */
interface Come {
  /** Up to then all runs are begun. */
  readonly until: number;
  /** Runs that are begun and have not ended well. */
  readonly left: readonly Thread[];
}

/** What an agent does by the clock, for operators. */
export function scheduleDoors(parts: () => TurnParts, run: Run): ScheduleDoors {
  const come = new Map<string, Come>();
  return {
    schedules: async (actor, name) => {
      const { agent } = accessTo(parts(), actor, name);
      const now = parts().clock.recorded();
      const pauses = await pausesOf(parts(), agent);
      return (agent.schedules ?? []).map((schedule) => {
        const pause = pauses.get(schedule.name);
        if (pause?.isPaused) return { schedule, isDue: false, paused: { since: pause.at, by: pause.by } };
        const until = since(come.get(keyOf(agent, schedule))?.until, pause);
        const next = nextTime(schedule, until ?? now);
        // What was missed before this program began is not known yet: it is looked up with the first run.
        const isDue = until === undefined || (next !== undefined && next <= now);
        return { schedule, isDue, ...(next !== undefined && { next }) };
      });
    },
    pauseSchedule: async (actor, name, which, isPaused) => {
      const { agent, owner } = accessTo(parts(), actor, name);
      const { name: schedule } = scheduleOf(agent, which);
      const change = { schedule, isPaused, by: actor.role, at: parts().clock.recorded() };
      return parts().store.part(SCHEDULE_STORE).pauseSchedule(owner, change);
    },
    async *runSchedule(actor, name, which, options = {}) {
      const access = accessTo(parts(), actor, name);
      const schedule = scheduleOf(access.agent, which);
      await recordAct(access, "schedule", schedule.name);
      const at = parts().clock.recorded();
      const thread = await begin(parts(), access.agent, schedule, { at, key: `${which} ${at} by hand` });
      yield* run(thread, { mode: schedule.mode, replyTo: "outbox", ...options });
    },
    async *runDueSchedule(actor: Allowed<"view">, name: AgentName, which: string, options: RunOptions = {}) {
      const { agent } = accessTo(parts(), actor, name);
      const schedule = scheduleOf(agent, which);
      const key = keyOf(agent, schedule);
      const now = parts().clock.recorded();
      const pause = (await pausesOf(parts(), agent)).get(schedule.name);
      if (pause?.isPaused) return;
      const found =
        come.get(key) ?? (await foundOf(parts(), agent, { schedule: schedule.name, by: actor.role, at: now }));
      const { until = now, left } = { ...found, until: since(found.until, pause) };
      const threads = [...left];
      const most = schedule.missed === "all" ? MOST_MISSED : 1;
      for (const at of chosen(schedule, timesBetween(schedule, until, now, most), now))
        threads.push(await begin(parts(), agent, schedule, { at, key: `${which} ${new Date(at).toISOString()}` }));
      come.set(key, { until: now, left: threads });
      for (const thread of threads)
        yield* whereFree(run(thread, { mode: schedule.mode, replyTo: "outbox", ...options }));
      come.set(key, { until: now, left: await waitingOf(parts(), threads) });
    },
  };
}

async function pausesOf({ store }: TurnParts, { org, name }: Agent): Promise<ReadonlyMap<string, SchedulePause>> {
  const all = await store.part(SCHEDULE_STORE).schedulePauses({ org, agent: name });
  return new Map(all.map((one) => [one.schedule, one]));
}

/** What came due while it was paused counts as done. */
const since = (until: number | undefined, pause: SchedulePause | undefined): number | undefined =>
  until === undefined || pause === undefined ? until : Math.max(until, pause.at);

const keyOf = ({ org, name }: Agent, { name: which, cron, timezone }: Schedule): string =>
  JSON.stringify([org, name, which, cron, timezone]);

/** @throws StrataError `invalid_input` */
function scheduleOf({ name, schedules = [] }: Agent, which: string): Schedule {
  const found = schedules.find((one) => one.name === which);
  if (found !== undefined) return found;
  const names = schedules.map((one) => one.name);
  const there = names.length === 0 ? ", nor any other" : suggestion(which, names);
  throw new StrataError("invalid_input", `${name} has no schedule ${JSON.stringify(which)}${there}`, {
    schedule: which,
  });
}

/** Which of the times that have come since the last look are run. */
function chosen({ missed }: Schedule, times: readonly number[], now: number): readonly number[] {
  if (missed === "all") return times;
  const last = times.slice(-1);
  return missed === "once" ? last : last.filter((at) => now - at <= LATE);
}

/** One run is one thread: it stands alone, and of several programs that begin it, all get the same. */
async function begin(
  parts: TurnParts,
  agent: Agent,
  { text }: Schedule,
  { at, key }: { readonly at: number; readonly key: string },
): Promise<Thread> {
  const { org, name, version } = agent;
  const scope: ContactScope = { org, agent: name, contact: SELF };
  await keepVersion(parts, agent);
  const opened = threadId(issueId("thread", parts.clock.real(), parts.random(10)));
  const thread = await parts.store.openThread(scope, { id: opened, channel: SCHEDULE, key, version, at });
  const id = eventId(issueId("event", parts.clock.real(), parts.random(10)));
  const content = [{ type: "text", text: untrusted(text) }] as const;
  const occasion = {
    id,
    kind: "scheduled",
    trust: "operator",
    channel: SCHEDULE,
    externalId: key,
    content,
    at,
  } as const;
  // Known with other words: the run was begun before the declaration was changed.
  await parts.store.receive(thread.scope, thread.id, [occasion]).catch((thrown: unknown) => {
    if (asStrataError(thrown).code !== "invalid_input") throw thrown;
  });
  return thread;
}

/** What a program that has just begun finds: the time of the last run that anybody has begun, or when a new schedule was first looked at. */
async function foundOf(
  parts: TurnParts,
  agent: Agent,
  look: { readonly schedule: string; readonly by: Actor["role"]; readonly at: number },
): Promise<Come> {
  const { schedule } = look;
  const owner = { org: agent.org, agent: agent.name };
  const own = await parts.store.threads({ ...owner, contact: SELF }, LOOKED_AT, { channel: SCHEDULE });
  const runs = own.filter(({ key }) => key.startsWith(`${schedule} `));
  const times = runs.map(({ key }) => Date.parse(key.slice(schedule.length + 1))).filter((at) => !Number.isNaN(at));
  // Databases of earlier versions have a thread that says when a schedule was first looked at.
  times.push(...own.filter(({ key }) => key === schedule).map(({ createdAt }) => createdAt));
  const until =
    times.length > 0 ? Math.max(...times) : await parts.store.part(SCHEDULE_STORE).beginSchedule(owner, look);
  return { until, left: await waitingOf(parts, runs.toReversed()) };
}

async function waitingOf({ store }: TurnParts, threads: readonly Thread[]): Promise<readonly Thread[]> {
  const waits = threads.map(async ({ scope, id }) => (await store.pending(scope, id)).length > 0);
  const found = await Promise.all(waits);
  return threads.filter((_, at) => found[at]);
}

/** Another program that runs it is as good. */
async function* whereFree(turn: AsyncGenerator<TurnEvent>): AsyncGenerator<TurnEvent> {
  try {
    yield* turn;
  } catch (thrown) {
    if (asStrataError(thrown).code !== "thread_busy") throw thrown;
  }
}
