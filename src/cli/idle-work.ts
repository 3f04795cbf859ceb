import type { App } from "../app.ts";
import { asStrataError } from "../protocol/index.ts";
import type { Context } from "./context.ts";

/** How often a server looks for what can be summed up, in milliseconds. */
const EVERY = 60_000;

/** Sums up in idle time what agents declare with `consolidate`. Gives the way to stop it. What fails is told once. */
export function consolidateInIdleTime({ note, style }: Context, { runtime, operator }: App): () => Promise<void> {
  const stop = new AbortController();
  const told = new Set<string>();
  const tell = (trouble: string): void => {
    if (!told.has(trouble)) note(style.yellow(trouble));
    told.add(trouble);
  };
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    try {
      for (const { agent, because } of await runtime.consolidateIdle(operator, stop.signal))
        tell(`What was said with ${agent} could not be summed up: ${because}`);
    } catch (thrown) {
      tell(`Nothing was summed up in idle time: ${asStrataError(thrown).message}`);
    } finally {
      working = undefined;
    }
  };
  const look = (): void => {
    working ??= work();
  };
  const timer = setInterval(look, EVERY);
  look();
  return async () => {
    clearInterval(timer);
    stop.abort();
    await working;
  };
}
