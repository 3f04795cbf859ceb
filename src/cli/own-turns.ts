import type { App } from "../app.ts";
import { type AgentName, asStrataError } from "../protocol/index.ts";
import type { Context } from "./context.ts";

/** How often a server looks which agents' own turns are due, and how well they can pay; in milliseconds. */
const EVERY = 5_000;

/**
 * Runs the agents' own turns that are due while a server runs, each agent's beside those of the others, and tells when an agent
 * runs low. Gives the way to stop it: a turn that runs is stopped and waits for the next start.
 */
export function runOwnTurns({ note, style }: Context, { runtime, operator }: App): () => Promise<void> {
  const stop = new AbortController();
  const running = new Map<string, Promise<void>>();
  const last = new Map<string, string>();
  /** Tells what is not what was told last of the same. */
  const tell = (about: string, says: string): void => {
    if (says !== "" && last.get(about) !== says) note(style.yellow(says));
    last.set(about, says);
  };
  const turn = async (name: AgentName): Promise<void> => {
    const about = `turn of ${name}`;
    try {
      for await (const event of runtime.tickDue(operator, name, { signal: stop.signal })) {
        if (event.type === "done") tell(about, "");
        if (event.type === "failed" && !stop.signal.aborted)
          tell(about, `A turn of ${name}'s own failed: ${event.error.message}`);
      }
    } catch (thrown) {
      const { code, message } = asStrataError(thrown);
      // That it has no credits is told as how it lives.
      if (code !== "out_of_credits") tell(about, `${name} had no turn of its own: ${message}`);
    }
  };
  const purse = async (name: AgentName): Promise<void> => {
    try {
      const { tier, balance } = (await runtime.funds(operator, name)) ?? UNPAID;
      if (tier !== "Normal" || last.has(name)) tell(name, livesOn(name, tier, balance));
    } catch (thrown) {
      tell(name, `It is not known what ${name} lives on: ${asStrataError(thrown).message}`);
    }
  };
  const once = (key: string, work: () => Promise<void>): void => {
    if (running.has(key)) return;
    running.set(
      key,
      work().finally(() => running.delete(key)),
    );
  };
  const look = (): void => {
    for (const { name, life } of runtime.agents(operator)) {
      if (life?.tick !== undefined) once(`turn ${name}`, () => turn(name));
      if (life?.credits !== undefined) once(`purse ${name}`, () => purse(name));
    }
  };
  const timer = setInterval(look, EVERY);
  look();
  return async () => {
    clearInterval(timer);
    stop.abort();
    await Promise.all(running.values());
  };
}

/** Of an agent that lives on no credits any more. */
const UNPAID = { tier: "Normal", balance: Number.POSITIVE_INFINITY } as const;

/** What an operator should know of an agent's money. It changes with the tier and not with each cent. */
function livesOn(name: AgentName, tier: string, balance: number): string {
  const add = `\`strata credits add 5 --agent ${name}\` tops it up`;
  if (balance <= 0) return `${name} has no credits left and sleeps; what waits for it keeps waiting. ${add}.`;
  return tier === "Normal" ? `${name} has credits again.` : `${name} runs low on credits: it is ${tier}. ${add}.`;
}
