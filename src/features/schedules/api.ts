import {
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  type ContactScope,
  type DoneBy,
  doneBy,
  eventId,
  issueId,
  SELF,
  StrataError,
  suggestion,
  type TurnEvent,
  threadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import {
  accessTo,
  agentNamed,
  featureApi,
  keepVersion,
  type Run,
  type RunOptions,
  recordAct,
  type TurnParts,
} from "../../turn/index.ts";
import { SCHEDULE, type Schedule } from "./config.ts";
import { SCHEDULE_STORE, type SchedulePause } from "./store.ts";
import { nextTime, timesBetween } from "./times.ts";

/** An agent's schedules. @throws StrataError `not_allowed`, `agent_not_found` */
export interface ScheduleApi {
  /** The agent's schedules: whether a run is due, or may have been missed, and when the next is. */
  schedules(
    actor: Allowed<"operate">,
    agent: AgentName,
  ): Promise<
    readonly {
      readonly schedule: NonNullable<Agent["schedules"]>[number];
      readonly isDue: boolean;
      /** Absent if it never comes, or is paused. */
      readonly next?: number;
      /** Since when it is paused, and by whom. */
      readonly paused?: DoneBy & { readonly since: number };
      /** How many runs have begun and not ended well, and why the next try must wait or the last one failed. */
      readonly waits?: { readonly runs: number; readonly because: string };
    }[]
  >;
  /** What the last look at a schedule found about its clock; reported once. */
  scheduleNews(actor: Allowed<"operate">, agent: AgentName, schedule: string): ScheduleNews | undefined;
  /**
   * Pauses a schedule, or lets it continue; runs due meanwhile are skipped, not missed. False if it already is in that state.
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

/** The functions of schedules, as `runtime.use` gives them. */
export const SCHEDULE_API = featureApi<ScheduleApi>("schedules");

/** Said to an agent without a layer for it. The sentence is stored, so it names the time. */
export const WORDING = {
  waited: (messages: number): string =>
    `When this began, ${messages === 1 ? "1 message was waiting for a turn of its" : `${messages} messages were waiting for turns of their`} own.`,
} as const;

/** What happened to the times of a schedule's runs. */
interface ScheduleNews {
  /** By how many milliseconds the clock was set back. */
  readonly setBack: number;
  /** Runs that came due and were not begun in time. */
  readonly missed: number;
  /** How many of them are made up. */
  readonly madeUp: number;
}

/** A smaller clock adjustment is not reported, in milliseconds. */
const JUMP = 2_000;
/** How many missed runs are made up. */
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

/** An agent's schedules, for operators. */
export function scheduleApi(parts: () => TurnParts, run: Run): ScheduleApi {
  const come = new Map<string, Come>();
  const news = new Map<string, ScheduleNews>();
  return {
    schedules: async (actor, name) => {
      const { agent } = accessTo(parts(), actor, name);
      const now = parts().clock.recorded();
      const pauses = await pausesOf(parts(), agent);
      const waits = await waitsOf(parts(), agent);
      return (agent.schedules ?? []).map((schedule) => {
        const pause = pauses.get(schedule.name);
        if (pause?.isPaused) {
          const { by, byId, at } = pause;
          return { schedule, isDue: false, paused: { since: at, by, ...(byId !== undefined && { byId }) } };
        }
        const known = since(come.get(scheduleKey(agent, schedule))?.until, pause, now);
        const isSetBack = known !== undefined && known > now;
        const next = nextTime(schedule, isSetBack ? now : (known ?? now));
        const waiting = waits.get(schedule.name);
        // Runs missed before this program began are not known yet: they are looked up with the first run.
        const isDue = known === undefined || isSetBack || (next !== undefined && next <= now);
        return { schedule, isDue, ...(next !== undefined && { next }), ...(waiting && { waits: waiting }) };
      });
    },
    scheduleNews: (actor, name, which) => {
      const { agent } = accessTo(parts(), actor, name);
      const key = scheduleKey(agent, scheduleOf(agent, which));
      const found = news.get(key);
      news.delete(key);
      return found;
    },
    pauseSchedule: async (actor, name, which, isPaused) => {
      const { agent, owner } = accessTo(parts(), actor, name);
      const { name: schedule } = scheduleOf(agent, which);
      const change = { schedule, isPaused, ...doneBy(actor), at: parts().clock.recorded() };
      return parts().store.part(SCHEDULE_STORE).pauseSchedule(owner, change);
    },
    async *runSchedule(actor, name, which, options = {}) {
      const access = accessTo(parts(), actor, agentNamed(parts(), actor, name).name);
      const schedule = scheduleOf(access.agent, which);
      await recordAct(access, "schedule", schedule.name);
      const at = parts().clock.recorded();
      const thread = await beginRun(parts(), access.agent, schedule, { at, key: `${which} ${at} by hand` });
      yield* run(thread, { mode: schedule.mode, replyTo: "outbox", ...options });
    },
    async *runDueSchedule(actor: Allowed<"view">, name: AgentName, which: string, options: RunOptions = {}) {
      const { agent } = accessTo(parts(), actor, name);
      const schedule = scheduleOf(agent, which);
      const key = scheduleKey(agent, schedule);
      const now = parts().clock.recorded();
      const pause = (await pausesOf(parts(), agent)).get(schedule.name);
      if (pause?.isPaused) return;
      const found =
        come.get(key) ?? (await foundOf(parts(), agent, { schedule: schedule.name, ...doneBy(actor), at: now }));
      const known = since(found.until, pause, now) ?? now;
      // A clock that was set back must not silence it. What ran already has its thread, and does not run again.
      const until = Math.min(known, now);
      const { left } = found;
      const threads = [...left];
      const times = timesBetween(schedule, until, now, MOST_MISSED);
      const begun = timesToRun(schedule, times, now);
      const isMissed = (at: number): boolean => now - at > LATE;
      const clockNews = {
        setBack: known - until,
        missed: times.filter(isMissed).length,
        madeUp: begun.filter(isMissed).length,
      };
      if (clockNews.setBack > JUMP || clockNews.missed > 0) news.set(key, clockNews);
      for (const at of begun)
        threads.push(await beginRun(parts(), agent, schedule, { at, key: `${which} ${new Date(at).toISOString()}` }));
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

/** What came due while it was paused counts as done; a pause of a clock that was set back since says nothing. */
const since = (until: number | undefined, pause: SchedulePause | undefined, now: number): number | undefined =>
  until === undefined || pause === undefined || pause.at > now ? until : Math.max(until, pause.at);

const scheduleKey = ({ org, name }: Agent, { name: which, cron, timezone }: Schedule): string =>
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
function timesToRun({ missed }: Schedule, times: readonly number[], now: number): readonly number[] {
  if (missed === "all") return times;
  if (typeof missed === "number") return times.slice(-missed);
  const last = times.slice(-1);
  return missed === "once" ? last : last.filter((at) => now - at <= LATE);
}

/** One run is one separate thread: if several programs begin it, all get the same. */
async function beginRun(
  parts: TurnParts,
  agent: Agent,
  { text, mode }: Schedule,
  { at, key }: { readonly at: number; readonly key: string },
): Promise<Thread> {
  const { org, name, version } = agent;
  const scope: ContactScope = { org, agent: name, contact: SELF };
  await keepVersion(parts, agent);
  const opened = threadId(issueId("thread", parts.clock.real(), parts.random(10)));
  const thread = await parts.store.openThread(scope, { id: opened, channel: SCHEDULE.name, key, version, at });
  const id = eventId(issueId("event", parts.clock.real(), parts.random(10)));
  const waiting = agent.layers.some(({ source, modes }) => source.kind === "obligations" && modes[mode] !== "absent")
    ? 0
    : await parts.store.inboxCount({ org, agent: name });
  const message = waiting === 0 ? text : `${text}\n\n${WORDING.waited(waiting)}`;
  const content = [{ type: "text", text: untrusted(message) }] as const;
  const occasion = {
    id,
    kind: "scheduled",
    trust: "operator",
    channel: SCHEDULE.name,
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

/**
 * What a program that has just begun finds: the time of the last run that any program has begun, or when a new schedule was first looked
 * at.
 */
async function foundOf(
  parts: TurnParts,
  agent: Agent,
  look: DoneBy & { readonly schedule: string; readonly at: number },
): Promise<Come> {
  const { schedule } = look;
  const owner = { org: agent.org, agent: agent.name };
  const own = await parts.store.threads({ ...owner, contact: SELF }, LOOKED_AT, { channel: SCHEDULE.name });
  const runs = own.filter(({ key }) => key.startsWith(`${schedule} `));
  const times = runs.map(({ key }) => Date.parse(key.slice(schedule.length + 1))).filter((at) => !Number.isNaN(at));
  // Databases of earlier versions have a thread that says when a schedule was first looked at.
  times.push(...own.filter(({ key }) => key === schedule).map(({ createdAt }) => createdAt));
  const until =
    times.length > 0
      ? times.reduce((latest, at) => Math.max(latest, at))
      : await parts.store.part(SCHEDULE_STORE).beginSchedule(owner, look);
  return { until, left: await waitingOf(parts, runs.toReversed()) };
}

/** By schedule: which of its runs have begun and not ended well, and why. */
async function waitsOf(
  parts: TurnParts,
  agent: Agent,
): Promise<ReadonlyMap<string, { runs: number; because: string }>> {
  const owner = { org: agent.org, agent: agent.name, contact: SELF };
  const found = new Map<string, { runs: number; because: string }>();
  for (const thread of await parts.store.threads(owner, LOOKED_AT, { channel: SCHEDULE.name, isDue: true })) {
    const name = thread.key.slice(0, thread.key.indexOf(" "));
    const known = found.get(name);
    found.set(
      name,
      known ? { ...known, runs: known.runs + 1 } : { runs: 1, because: await whyWaits(parts, agent, thread) },
    );
  }
  return found;
}

/** Why no turn may begin there now; otherwise the last turn's error. */
async function whyWaits(parts: TurnParts, agent: Agent, thread: Thread): Promise<string> {
  const refused = await parts.steps.refusal(parts, { agent, thread, waits: async () => true });
  if (refused !== undefined) return refused.message;
  const last = (await parts.store.turns(thread.scope, thread.id)).at(-1);
  if (last?.end?.status === "failed") return last.end.message;
  return "no program with background work, such as `strata start`, has run it yet";
}

async function waitingOf({ store }: TurnParts, threads: readonly Thread[]): Promise<readonly Thread[]> {
  const waits = threads.map(({ scope, id }) => store.isDue(scope, id));
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
