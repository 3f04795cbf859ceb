import { asStrataError } from "../protocol/index.ts";

/** How often a write is tried while another program holds the database. Each try waits for the lock by itself. */
const TRIES = 3;

/** Writes down what must not be lost because the database is busy for a moment. */
export async function retryWhileBusy<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (thrown) {
      if (tries >= TRIES || asStrataError(thrown).code !== "store_busy") throw thrown;
    }
  }
}

/** Milliseconds before what has failed is tried again, by the tries so far: half a minute, then twice as long each time, up to an hour. */
export const pauseAfter = (tries: number): number => Math.min(15_000 * 2 ** tries, 3_600_000);
