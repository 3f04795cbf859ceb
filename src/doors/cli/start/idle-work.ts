import type { App } from "../../../app.ts";
import { asStrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { every, onceEach } from "./every.ts";

/** How often a server looks for what can be summed up, in milliseconds. */
const EVERY = 60_000;

/** Sums up in idle time what agents declare with `consolidate`. Gives the way to stop it. What fails is told once. */
export function consolidateInIdleTime(
  { note, style, terminal }: Context,
  { runtime, operator }: App,
): () => Promise<void> {
  const tell = onceEach((trouble) => note(style.yellow(trouble)));
  const sumUp = async (signal: AbortSignal): Promise<void> => {
    try {
      for (const { agent, because } of await runtime.consolidateIdle(operator, signal))
        tell(`What was said with ${agent} could not be summed up: ${because}`);
    } catch (thrown) {
      tell(`Nothing was summed up in idle time: ${asStrataError(thrown).message}`);
    }
  };
  return every(EVERY, () => [["summaries", sumUp]], terminal.repeat);
}
