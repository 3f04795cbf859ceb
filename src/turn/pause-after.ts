/** Milliseconds before what has failed is tried again, by the tries so far: half a minute, then twice as long each time, up to an hour. */
export const pauseAfter = (tries: number): number => Math.min(15_000 * 2 ** tries, 3_600_000);
