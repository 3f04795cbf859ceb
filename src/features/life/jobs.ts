import { oneLine } from "../../print/index.ts";
import { type AgentName, type CreditRules, usualPayment } from "../../protocol/index.ts";
import type { Job, JobWorld, Notice, Task } from "../../work/index.ts";
import type { LifeApi, LifeView } from "./api.ts";
import { LIFE_API } from "./api.ts";
import { OUT_OF_CREDITS } from "./credits.ts";
import { sleepsLine } from "./operations.ts";

/** Agents' own turns, each when it is due; a failed turn does not stop the next. */
const ticks: Job = {
  name: "life.ticks",
  due: async ({ runtime, operator, clock }) => {
    const ticking = runtime.agents(operator).filter(({ life }) => life?.tick !== undefined);
    const lives = await Promise.all(ticking.map(({ name }) => runtime.use(LIFE_API).life(operator, name)));
    const later = lives.flatMap(({ vitals, nextTick }) =>
      nextTick === undefined || nextTick <= vitals.at ? [] : [clock.real() + nextTick - vitals.at],
    );
    return {
      tasks: lives.filter(isDue).map(({ agent }) => ownTurn({ runtime, operator }, agent)),
      next: later.length === 0 ? undefined : Math.min(...later),
    };
  },
};

/** Without credits it stays due; that it sleeps is written down once. */
const isDue = ({ vitals, nextTick, asleep, because }: LifeView): boolean =>
  nextTick !== undefined && nextTick <= vitals.at && (asleep === undefined || because !== asleep);

/** Characters of a report. */
const REPORT = 300;

const ownTurn = ({ runtime, operator }: Pick<JobWorld, "runtime" | "operator">, agent: AgentName): Task => ({
  agent,
  key: `own turns of ${agent}`,
  trouble: `${agent} had no turn of its own`,
  async *run(signal): AsyncGenerator<Notice> {
    const about = `turns of ${agent}'s own`;
    try {
      for await (const event of runtime.use(LIFE_API).tickDue(operator, agent, { signal })) {
        if (event.type === "done") {
          yield { about, message: "", isOver: true };
          if (event.text.trim() !== "")
            yield { message: `${agent} reports of a turn of its own: ${oneLine(event.text, REPORT)}` };
        }
        if (event.type === "failed" && !signal.aborted && !OUT_OF_CREDITS.is(event.error))
          yield { about, message: `A turn of ${agent}'s own failed: ${event.error.message}` };
      }
    } catch (thrown) {
      // Missing credits are reported as part of how it lives.
      if (!OUT_OF_CREDITS.is(thrown)) throw thrown;
    }
  },
});

/** Reports when an agent with waiting work runs low, and when it has credits again. */
const credits: Job = {
  name: "life.credits",
  due: async (world) => {
    const paid = world.runtime.agents(world.operator).flatMap(({ name, life }) => {
      return life?.credits === undefined ? [] : [telling(world, name, life.credits)];
    });
    return { tasks: paid };
  },
};

const telling = ({ runtime, operator, isWanted }: JobWorld, agent: AgentName, rules: CreditRules): Task => ({
  agent,
  key: `credits of ${agent}`,
  trouble: `The credits of ${agent} could not be read`,
  async *run(): AsyncGenerator<Notice> {
    const funds = (await isWanted(agent)) ? await runtime.use(LIFE_API).funds(operator, agent) : undefined;
    const about = `credits of ${agent}`;
    if (funds?.tier === "Normal" && funds.asleep === undefined)
      yield { about, message: `${agent} has credits again.`, isOver: true };
    else if (funds !== undefined) yield { about, message: lowCreditsLine(agent, funds, rules) };
  },
});

type Funds = NonNullable<Awaited<ReturnType<LifeApi["funds"]>>>;

/** What an operator should know about an agent's money. It changes with the tier and not with each cent. */
function lowCreditsLine(name: AgentName, { tier, asleep }: Funds, rules: CreditRules): string {
  if (asleep !== undefined) return `${sleepsLine(name, asleep)}; its messages keep waiting.`;
  const add = `\`strata credits add ${usualPayment(rules)} --agent ${name}\` tops it up`;
  return `${name} is running out of credits: its tier is ${tier}. ${add}.`;
}

export const JOBS: readonly Job[] = [ticks, credits];
