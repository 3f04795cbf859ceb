import type { Outcome, Task } from "./task.ts";

/** A place where one slice runs at a time, and which can be ended whatever the slice does. */
export interface Seat {
  /** Undefined: the seat has ended before the slice. */
  run(task: Task): Promise<Outcome | undefined>;
  /** Milliseconds of CPU time that it has used so far, as far as the system can tell. */
  used(): Promise<number | undefined>;
  end(): Promise<void>;
}

/**
 * The answers of what runs on a seat, one at a time; undefined once it has ended. A race with the promise of its end would keep each answer in
 * memory until then.
 */
export class Answers<Answer> {
  #waits: ((answer: Answer | undefined) => void) | undefined;
  #hasEnded = false;

  next(): Promise<Answer | undefined> {
    return new Promise((done) => {
      if (this.#hasEnded) done(undefined);
      else this.#waits = done;
    });
  }

  give(answer: Answer | undefined): void {
    this.#waits?.(answer);
    this.#waits = undefined;
  }

  end(): void {
    this.#hasEnded = true;
    this.give(undefined);
  }
}
