import type { Seat } from "./seat.ts";
import type { Outcome, Task } from "./task.ts";

export interface PoolOptions {
  /** Slices that run at the same time. */
  readonly seats: number;
  /** Slices that may wait for a seat; more are refused as `busy`. Default: 1,000. */
  readonly waiting?: number;
}

/** Milliseconds of CPU time that a slice may use beyond its limit, at which its VM interrupts it, before its seat is ended. */
const BEYOND = 150;
/** Milliseconds between two checks of a slice that runs. */
const CHECK_EVERY = 100;
/** Milliseconds of wall-clock time after which a slice is ended, whatever CPU time is measured. */
const LONGEST = 60_000;
/** A slice gets this many times its CPU time on its second try. */
const SECOND_TRY = 2;

/**
 * Runs slices, each on a separate seat. A slice that hangs in a way that its VM cannot interrupt is ended with its seat, and another seat
 * is opened. A slice that used too much CPU time is tried again with twice as much: a first run may pay for what others did to the caches.
 */
export class Pool {
  readonly #open: () => Promise<Seat>;
  readonly #options: Required<PoolOptions>;
  readonly #free: Seat[] = [];
  readonly #waiting: ((seat: Promise<Seat>) => void)[] = [];
  #seats = 0;
  #closed = false;

  constructor(open: () => Promise<Seat>, { seats, waiting = 1_000 }: PoolOptions) {
    this.#open = open;
    this.#options = { seats, waiting };
  }

  /** @throws Error if no seat can be opened, or one answers with something else than an outcome */
  async run(task: Task): Promise<Outcome> {
    const first = await this.#once(task);
    if (first.kind !== "failed" || first.reason !== "cpu") return first;
    const { cpuMs } = task.limits;
    const second = await this.#once({ ...task, limits: { ...task.limits, cpuMs: cpuMs * SECOND_TRY } });
    if (second.kind !== "failed" || second.reason !== "cpu") return second;
    return { ...second, message: cpuSays(cpuMs) };
  }

  /** Ends the free seats. The others end when their slice has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#free.splice(0).map((seat) => seat.end()));
  }

  async #once(task: Task): Promise<Outcome> {
    if (this.#free.length === 0 && this.#seats >= this.#options.seats && this.#waiting.length >= this.#options.waiting)
      return failedOutcome("busy", "too many handlers wait already; try again later", 0);
    const seat = await this.#take();
    const watch = watched(seat, task.limits.cpuMs + BEYOND);
    let outcome: Outcome | undefined;
    try {
      outcome = await seat.run(task);
    } catch (thrown) {
      void seat.end();
      this.#replace();
      throw thrown;
    } finally {
      watch.end();
    }
    if (outcome !== undefined) {
      this.#give(seat);
      return outcome;
    }
    this.#replace();
    const used = watch.ended();
    if (used !== undefined) return failedOutcome("cpu", cpuSays(task.limits.cpuMs), used);
    return failedOutcome("memory", "it needed more memory than the cage has; make it keep less", 0);
  }

  async #take(): Promise<Seat> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#seats < this.#options.seats) return await this.#another();
    const { promise, resolve } = Promise.withResolvers<Seat>();
    this.#waiting.push(resolve);
    return await promise;
  }

  async #another(): Promise<Seat> {
    this.#seats++;
    try {
      return await this.#open();
    } catch (thrown) {
      this.#replace();
      throw thrown;
    }
  }

  /** A seat has ended, or could not be opened: the next that waits gets a new one, or the reason why there is none. */
  #replace(): void {
    this.#seats--;
    const next = this.#waiting.shift();
    if (next !== undefined) next(this.#another());
  }

  #give(seat: Seat): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next(Promise.resolve(seat));
    else if (this.#closed) void seat.end();
    else this.#free.push(seat);
  }
}

const cpuSays = (cpuMs: number): string =>
  `it used more than ${cpuMs} ms of CPU time, which is its limit, and with twice as much it did not end either; make it do less, or raise limits.cpuMs`;

const failedOutcome = (reason: "cpu" | "memory" | "busy", message: string, cpuMs: number): Outcome => ({
  kind: "failed",
  reason,
  message,
  stack: "",
  logs: [],
  cpuMs,
});

/**
 * Ends a seat whose slice uses more CPU time than it may. If that cannot be measured, wall-clock time counts; otherwise only a slice that runs
 * for a minute is ended by it.
 */
function watched(seat: Seat, most: number) {
  const began = performance.now();
  const before = seat.used();
  let ended: number | undefined;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const [was = 0, now] = [await before, await seat.used()];
    if (isOver) return;
    const time = performance.now() - began;
    const used = now === undefined ? time : now - was;
    if (used <= most && time <= LONGEST) {
      timer = setTimeout(look, CHECK_EVERY);
      return;
    }
    ended = used;
    await seat.end();
  };
  timer = setTimeout(look, CHECK_EVERY);
  return {
    end: () => {
      isOver = true;
      clearTimeout(timer);
    },
    ended: () => ended,
  };
}
