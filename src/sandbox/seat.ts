import type { Outcome, Task } from "./task.ts";

/** A place where one slice runs at a time, and which can be ended whatever the slice does. */
export interface Seat {
  /** Undefined: the seat has ended before the slice. */
  run(task: Task): Promise<Outcome | undefined>;
  /** Milliseconds of CPU time that it has used so far, as far as the system can tell. */
  used(): Promise<number | undefined>;
  end(): Promise<void>;
}
