import type { Agent } from "../../protocol/index.ts";
import { untrusted } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import { OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../../turn/index.contract.ts";
import { cardOf } from "../../wire/index.ts";
import type { LifeApi } from "./api.ts";
import { LIFE_API } from "./api.ts";
import type { Life } from "./config.ts";

export { type LocalChain, localChain } from "./local-chain.contract.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** The price of a reply that read 5,000 tokens: a cent and a half. */
export const DEAR = { usage: { input: 5_000 } };
export const COST = 0.015;

/** An agent that lives by itself. */
export const livingAgent = (life: Life, change: Partial<Agent> = {}): Agent =>
  sampleAgent({ history: "log", life, ...change });

type Options = NonNullable<Parameters<typeof testRuntime>[1]>;

export interface Living extends TestRuntime {
  readonly owner: AgentOwner;
  readonly pay: (dollars: number) => ReturnType<LifeApi["topUp"]>;
  readonly life: () => ReturnType<LifeApi["life"]>;
}

/** A stage for such an agent, whose model has a price. */
export async function livingRuntime(
  script: Parameters<typeof testRuntime>[0],
  life: Life = {},
  { agent = livingAgent(life), parts, ...options }: Options = {},
): Promise<Living> {
  const priced = { cardOf: () => cardOf("anthropic:claude-sonnet-4-5"), ...parts };
  const on = await testRuntime(script, { ...options, agent, parts: priced });
  const { runtime } = on;
  return {
    ...on,
    owner: { org: agent.org, agent: agent.name },
    pay: (dollars) => runtime.use(LIFE_API).topUp(OPERATOR, agent.name, { dollars, note: untrusted("") }),
    life: () => runtime.use(LIFE_API).life(OPERATOR, agent.name),
  };
}
