import type { Repeat } from "../shell/terminal.ts";

/** What is done again and again while a server runs, until it is to stop. */
type Work = (signal: AbortSignal) => Promise<void>;

/**
 * Does each of the works at once and then every so many milliseconds, none twice at a time and each by itself: a slow one delays no
 * other. What there is to do is asked anew each time; a work is known by its name. Gives the way to stop, which waits for all that
 * run. What one throws ends the program: it tells its own trouble.
 */
export function every(
  milliseconds: number,
  works: () => readonly (readonly [name: string, work: Work])[],
  repeat: Repeat = inRealTime,
) {
  const stop = new AbortController();
  const running = new Map<string, Promise<void>>();
  const look = (): void => {
    for (const [name, work] of works()) {
      if (running.has(name)) continue;
      const run = work(stop.signal).finally(() => running.delete(name));
      running.set(name, run);
    }
  };
  const end = repeat(milliseconds, look);
  look();
  return async (): Promise<void> => {
    end();
    stop.abort();
    await Promise.all(running.values());
  };
}

const inRealTime: Repeat = (milliseconds, act) => {
  const timer = setInterval(act, milliseconds);
  return () => clearInterval(timer);
};

/** Tells each trouble once. */
export function onceEach(tell: (trouble: string) => void): (trouble: string, about?: string) => void {
  const told = new Set<string>();
  return (trouble, about = trouble) => {
    if (!told.has(about)) tell(trouble);
    told.add(about);
  };
}

/** Tells of each thing what is not what was told last; nothing to say ends what was. */
export function changesOf(tell: (says: string) => void): (about: string, says: string) => void {
  const last = new Map<string, string>();
  return (about, says) => {
    if (says !== "" && last.get(about) !== says) tell(says);
    last.set(about, says);
  };
}
