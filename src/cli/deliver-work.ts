import type { App } from "../app.ts";
import { asStrataError } from "../protocol/index.ts";
import type { Context } from "./context.ts";

/** How often a server looks for replies that are due, in milliseconds. */
const EVERY = 5_000;

/** Sends replies of agents with `deliver` while a server runs. Gives the way to stop it. Each message's trouble is told once. */
export function deliverReplies({ note, style }: Context, { runtime, operator }: App): () => Promise<void> {
  const stop = new AbortController();
  const told = new Set<string>();
  const tell = (key: string, trouble: string): void => {
    if (!told.has(key)) note(style.yellow(trouble));
    told.add(key);
  };
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    try {
      for await (const { agent, outbox, failed, again } of runtime.deliverDue(operator, stop.signal)) {
        if (failed === undefined) continue;
        const next = again ? "it is tried again" : "it was tried too often and stays in the outbox";
        tell(`${outbox} ${again}`, `Reply ${outbox} of ${agent} was not taken (${failed}); ${next}.`);
      }
    } catch (thrown) {
      const { message } = asStrataError(thrown);
      tell(message, `Replies could not be sent: ${message}`);
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
