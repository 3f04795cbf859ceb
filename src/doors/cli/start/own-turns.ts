import type { App } from "../../../app.ts";
import { sleepsLine } from "../../../features/life/index.ts";
import { type AgentName, asStrataError, type CreditRules, usualPayment } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { changesOf, every } from "./every.ts";

/** How often a server looks which agents' own turns are due, and how well they can pay; in milliseconds. */
const EVERY = 5_000;

/**
 * Runs the agents' own turns that are due while a server runs, each agent's beside those of the others, and tells when an agent
 * runs low that somebody wants. Gives the way to stop it: a turn that runs is stopped and waits for the next start.
 */
export function runOwnTurns(
  { note, style, terminal }: Context,
  { runtime, operator }: App,
  isWanted: (name: AgentName) => Promise<boolean>,
): () => Promise<void> {
  const tell = changesOf((says) => note(style.yellow(says)));
  const turn = async (name: AgentName, signal: AbortSignal): Promise<void> => {
    const about = `turn of ${name}`;
    try {
      for await (const event of runtime.tickDue(operator, name, { signal })) {
        if (event.type === "done") tell(about, "");
        if (event.type === "failed" && !signal.aborted && event.error.code !== "out_of_credits")
          tell(about, `A turn of ${name}'s own failed: ${event.error.message}`);
      }
    } catch (thrown) {
      const { code, message } = asStrataError(thrown);
      // That it has no credits is told as how it lives.
      if (code !== "out_of_credits") tell(about, `${name} had no turn of its own: ${message}`);
    }
  };
  const wasLow = new Set<AgentName>();
  const purse = async (name: AgentName, rules: CreditRules): Promise<void> => {
    if (!(await isWanted(name))) return;
    try {
      const { tier, asleep } = (await runtime.funds(operator, name)) ?? UNPAID;
      if (tier !== "Normal") wasLow.add(name);
      tell(name, wasLow.has(name) ? livesOn(name, { tier, asleep, rules }) : "");
    } catch (thrown) {
      tell(name, `It is not known what ${name} lives on: ${asStrataError(thrown).message}`);
    }
  };
  const pursesOf = (name: AgentName, rules: CreditRules | undefined) =>
    rules === undefined ? [] : [[`purse of ${name}`, () => purse(name, rules)] as const];
  return every(
    EVERY,
    () =>
      runtime
        .agents(operator)
        .flatMap(({ name, life }) => [
          ...(life?.tick === undefined
            ? []
            : [[`turn of ${name}`, (signal: AbortSignal) => turn(name, signal)] as const]),
          ...pursesOf(name, life?.credits),
        ]),
    terminal.repeat,
  );
}

/** Of an agent that lives on no credits any more. */
const UNPAID = { tier: "Normal", asleep: undefined } as const;

interface Lives {
  readonly tier: string;
  readonly asleep: string | undefined;
  readonly rules: CreditRules;
}

/** What an operator should know of an agent's money. It changes with the tier and not with each cent. */
function livesOn(name: AgentName, { tier, asleep, rules }: Lives): string {
  if (asleep !== undefined) return `${sleepsLine(name, asleep)}; what waits for it keeps waiting.`;
  const add = `\`strata credits add ${usualPayment(rules)} --agent ${name}\` tops it up`;
  return tier === "Normal" ? `${name} has credits again.` : `${name} runs low on credits: it is ${tier}. ${add}.`;
}
