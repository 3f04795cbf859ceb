import { asStrataError, type Clock } from "../protocol/index.ts";
import type { Job, Notice, Task } from "./job.ts";

/** Does what is due until it is closed. It begins with a look at all jobs. */
export interface Dispatcher {
  /** Something has happened in this process: asks all jobs at once what is due. */
  readonly wake: () => void;
  /**
   * Starts nothing more, lets running tasks continue for this many milliseconds, then stops them and waits for their end, though not long
   * for a task that does not stop.
   */
  readonly close: (drain?: number) => Promise<void>;
}

/** Time, from outside. */
export interface Timers {
  readonly clock: Pick<Clock, "real">;
  /** Calls `act` once after this many milliseconds. Returns a function that cancels it. */
  readonly after: (milliseconds: number, act: () => void) => () => void;
}

export interface DispatcherParts<World> {
  readonly jobs: readonly Job<World>[];
  readonly world: World;
  readonly timers: Timers;
  readonly tell: (message: string) => void;
  /** At most this many tasks run at the same time. */
  readonly sideBySide?: number;
}

const SIDE_BY_SIDE = 24;
/** At most this many of one job for one agent. */
const OF_ONE = 4;
/** Jobs without their own `every` are asked at least this often, to notice what other processes did. Milliseconds. */
const LOOK = 5_000;
/** How long a job rests for an agent after it failed there: longer each time, up to a minute. Milliseconds. */
const jobPause = (tries: number): number => Math.min(5_000 * 2 ** (tries - 1), 60_000);
/** A task that takes longer no longer counts as running, so that a task that hangs blocks no other. Milliseconds. */
const LONG = 600_000;
/** How long `close` waits for tasks that ignore their signal. Milliseconds. */
const FAREWELL = 10_000;

interface Lane<World> {
  readonly job: Job<World>;
  ready: readonly Task[];
  /** When the job was last asked, and when it next falls due by itself. */
  looked: number;
  next: number | undefined;
  looking: boolean;
  again: boolean;
}

interface RunningJob {
  readonly of: string;
  readonly began: number;
}

/** The tasks of one job for one agent share a pause and a limit. */
const laneOf = (job: string, { agent }: Task): string => `${job} of ${agent}`;

/** The dispatcher of one process. */
export function inProcess<World>({ jobs, world, timers, ...rest }: DispatcherParts<World>): Dispatcher {
  const { sideBySide = SIDE_BY_SIDE } = rest;
  const tell = changesTo(rest.tell);
  const lanes = jobs.map((job): Lane<World> => {
    return { job, ready: [], looked: Number.NEGATIVE_INFINITY, next: undefined, looking: false, again: false };
  });
  const running = new Map<string, RunningJob>();
  const pauses = new Map<string, { readonly tries: number; readonly until: number }>();
  const choose = chooser({ running, isResting: (of) => (pauses.get(of)?.until ?? 0) > timers.clock.real() });
  const unended = new Set<Promise<void>>();
  const stop = new AbortController();
  let isClosing = false;
  let forget = (): void => undefined;

  const attend = (work: Promise<void>): void => {
    const ended = work.finally(() => unended.delete(ended));
    unended.add(ended);
  };

  /** Waits for the end of all that runs, but not longer than that. */
  const ended = async (most: number): Promise<void> => {
    const long = Promise.withResolvers<void>();
    const enough = timers.after(most, long.resolve);
    await Promise.race([Promise.all(unended), long.promise]);
    enough();
  };

  const look = async (lane: Lane<World>): Promise<void> => {
    lane.looking = true;
    do {
      lane.again = false;
      lane.looked = timers.clock.real();
      try {
        const { tasks, next } = await lane.job.due(world);
        Object.assign(lane, { ready: tasks, next });
        tell({ about: lane.job.name, message: "", isOver: true });
      } catch (thrown) {
        Object.assign(lane, { ready: [], next: undefined });
        if (isClosing) return;
        tell({
          about: lane.job.name,
          message: `The due jobs of ${lane.job.name} could not be read: ${errorMessage(thrown)}`,
        });
      }
    } while (lane.again && !isClosing);
    lane.looking = false;
    fill();
    arm();
  };

  /** A job that is expensive to ask is not asked more often than its `every` allows. */
  const wake = (): void => {
    if (isClosing) return;
    for (const lane of lanes) {
      if (lane.looking) lane.again = true;
      else if (timers.clock.real() - lane.looked >= (lane.job.every ?? 0)) attend(look(lane));
    }
  };

  const arm = (): void => {
    forget();
    if (isClosing) return;
    const times = [...lanes.map(({ next }) => next), ...[...pauses.values()].map(({ until }) => until)];
    const soonest = Math.min(...times.filter((time) => time !== undefined && time > timers.clock.real()).map(Number));
    forget = timers.after(Math.max(1, Math.min(LOOK, soonest - timers.clock.real())), () => {
      wake();
      arm();
    });
  };

  const fill = (): void => {
    const counts = ({ began }: RunningJob): boolean => timers.clock.real() - began < LONG;
    while (!isClosing && [...running.values()].filter(counts).length < sideBySide) {
      const chosen = choose(lanes, counts);
      if (chosen === undefined) return;
      attend(begin(chosen));
    }
  };

  const begin = async ({ lane, task }: Chosen<World>): Promise<void> => {
    const of = laneOf(lane.job.name, task);
    lane.ready = lane.ready.filter((one) => one !== task);
    running.set(task.key, { of, began: timers.clock.real() });
    try {
      for await (const notice of task.run(stop.signal)) tell(notice);
      pauses.delete(of);
      tell({ about: of, message: "", isOver: true });
    } catch (thrown) {
      const tries = (pauses.get(of)?.tries ?? 0) + 1;
      pauses.set(of, { tries, until: timers.clock.real() + jobPause(tries) });
      if (!stop.signal.aborted) tell({ about: of, message: `${task.trouble}: ${errorMessage(thrown)}` });
    } finally {
      running.delete(task.key);
      fill();
      arm();
    }
  };

  wake();
  arm();
  return {
    wake,
    close: async (drain = 0) => {
      isClosing = true;
      forget();
      if (drain > 0) await ended(drain);
      stop.abort();
      await ended(FAREWELL);
    },
  };
}

interface Chosen<World> {
  readonly lane: Lane<World>;
  readonly task: Task;
}

/** This many agents and contacts are remembered as served. */
const REMEMBERED = 10_000;

/** The next task to start: of the agent that was served longest ago, and of its least recently served contact, the first in line. */
function chooser({
  running,
  isResting,
}: {
  readonly running: ReadonlyMap<string, RunningJob>;
  readonly isResting: (of: string) => boolean;
}): <World>(lanes: readonly Lane<World>[], counts: (one: RunningJob) => boolean) => Chosen<World> | undefined {
  const served = new Map<string, number>();
  let serving = 0;
  return (lanes, counts) => {
    const places = Map.groupBy([...running.values()].filter(counts), ({ of }) => of);
    const checkStart = (job: string, task: Task): boolean => {
      const of = laneOf(job, task);
      return !running.has(task.key) && !isResting(of) && (places.get(of)?.length ?? 0) < OF_ONE;
    };
    const open = lanes.flatMap((lane) =>
      lane.ready.filter((task) => checkStart(lane.job.name, task)).map((task) => ({ lane, task })),
    );
    const since = ({ task: { agent, contact } }: (typeof open)[number]): readonly [number, number] => [
      served.get(agent) ?? 0,
      (contact && served.get(`${agent} ${contact}`)) ?? 0,
    ];
    const [first, ...others] = open;
    if (first === undefined) return undefined;
    let [chosen, [agent, contact]] = [first, since(first)];
    for (const one of others) {
      const [ofAgent, ofContact] = since(one);
      if (ofAgent > agent || (ofAgent === agent && ofContact >= contact)) continue;
      [chosen, [agent, contact]] = [one, [ofAgent, ofContact]];
    }
    if (served.size > REMEMBERED) served.clear();
    serving++;
    served.set(chosen.task.agent, serving);
    if (chosen.task.contact !== undefined) served.set(`${chosen.task.agent} ${chosen.task.contact}`, serving);
    return chosen;
  };
}

/** Reports a subject's notice only if it differs from the last reported one. */
function changesTo(tell: (message: string) => void): (notice: Notice) => void {
  const last = new Map<string, string>();
  return ({ about, message, isOver = false }) => {
    if (about === undefined) return tell(message);
    const isNew = isOver ? last.has(about) : last.get(about) !== message;
    if (isNew && message !== "") tell(message);
    if (isOver) last.delete(about);
    else last.set(about, message);
  };
}

const errorMessage = (thrown: unknown): string => asStrataError(thrown).message;
