import { z } from "zod";
import {
  type Agent,
  type AgentName,
  type Allowed,
  type Credits,
  doneBy,
  SEEN_STATES,
  StrataError,
  SURVIVAL_TIERS,
  type SurvivalTier,
  TEXT_LIMITS,
  type TopUp,
  type TurnEvent,
  type Untrusted,
  usualPayment,
  type Vitals,
} from "../../protocol/index.ts";
import type { Position } from "../../store/index.ts";
import { accessTo, agentNamed, featureApi, type Run, type RunOptions, recordAct } from "../../turn/index.ts";
import { TIME } from "../fields.ts";
import { asleepFor, creditsOf, fundsLeft, isInWant, ownerOf, tierOf } from "./credits.ts";
import { type LifeParts, recordState, standingOf } from "./record.ts";
import { LIFE_STORE } from "./store.ts";
import { claimDue, claimNow, dueAt, tick } from "./tick.ts";
import { vitalsOf } from "./vitals.ts";

// The shapes of answers about how an agent lives by itself.

export const CREDITS = z
  .object({
    toppedUp: z.number(),
    spent: z.number(),
    balance: z.number(),
    lastDay: z.object({ spent: z.number(), hours: z.number() }),
  })
  .meta({ id: "Credits", description: "US dollars." });

export const LIFE = z
  .object({
    agent: z.string(),
    vitals: z.object({
      balance: z.number().optional(),
      runway: z.number().optional().describe("hours for which the balance lasts"),
      tier: z.enum(SURVIVAL_TIERS),
      wallet: z.string().optional(),
      native: z.object({ wei: z.string().describe("in digits"), at: TIME }).optional(),
      unread: z
        .object({ because: z.string(), at: TIME })
        .optional()
        .describe("why the last attempt to read the account failed"),
      turn: z.number(),
      state: z.enum(SEEN_STATES).describe("`in a turn` if another program runs the turn"),
      at: TIME,
    }),
    since: TIME.optional().describe("during a turn: when the turn began"),
    because: z.string().optional(),
    credits: CREDITS.optional(),
    asleep: z.string().optional().describe("why no turn begins until somebody pays"),
    nextTick: TIME.optional(),
  })
  .meta({ id: "Life", description: "The condition of an agent, and its credits." });

/** The condition of an agent, and its credits. In JSON, `vitals` has wei in digits. */
export type LifeView = Omit<z.output<typeof LIFE>, "agent" | "vitals"> & {
  readonly agent: AgentName;
  readonly vitals: Vitals;
};

/** US dollars that an agent has left, and how well it can pay for itself with them. */
export interface FundsView extends Pick<LifeView, "asleep"> {
  readonly balance: number;
  readonly tier: SurvivalTier;
}

/** How an agent lives: its state, its funds, and its own turns. @throws StrataError `not_allowed`, `agent_not_found` */
export interface LifeApi {
  /** `wait`: milliseconds that the first balance of its account is waited for in this program; without it hardly any. */
  life(actor: Allowed<"read">, agent: AgentName, options?: { readonly wait?: number }): Promise<LifeView>;
  /** The agent's funds alone; undefined if it lives without credits. */
  funds(actor: Allowed<"read">, agent: AgentName): Promise<FundsView | undefined>;
  /** @throws StrataError `invalid_input` if the agent lives without credits */
  topUp(
    actor: Allowed<"operate">,
    agent: AgentName,
    payment: { readonly dollars: number; readonly note: Untrusted },
  ): Promise<Credits>;
  topUps(actor: Allowed<"read">, agent: AgentName, limit: number, after?: Position): Promise<readonly TopUp[]>;
  /** One of its own turns, now; the events of `run`. @throws StrataError `out_of_credits`, `invalid_input` for `history: transcript` */
  tick(actor: Allowed<"operate">, agent: AgentName, options?: RunOptions): AsyncGenerator<TurnEvent>;
  /**
   * The same if a turn is due by the agent's `life.tick`; nothing if none is due or one is running. If several programs look at once, one
   * runs it. @throws StrataError as `tick`
   */
  tickDue(actor: Allowed<"operate">, agent: AgentName, options?: RunOptions): AsyncGenerator<TurnEvent>;
}

/** The functions of life, as `runtime.use` gives them. */
export const LIFE_API = featureApi<LifeApi>("life");

/** The doors to agents' lives, for operators. */
export function lifeApi(parts: () => LifeParts, run: Run): LifeApi {
  return {
    life: async (actor, name, { wait = 0 } = {}) => {
      const { agent } = accessTo(parts(), actor, name);
      if (agent.life?.account !== undefined && wait > 0) await parts().accounts?.first(agent.life.account, wait);
      return lifeOf(parts(), agent);
    },
    funds: async (actor, name) => fundsOf(parts(), accessTo(parts(), actor, name).agent),
    topUp: async (actor, name, payment) => {
      const { agent } = accessTo(parts(), actor, name);
      return topUp(parts(), agent, { ...payment, ...doneBy(actor), at: parts().clock.recorded() });
    },
    topUps: async (actor, name, limit, after) =>
      parts()
        .store.part(LIFE_STORE)
        .topUps(accessTo(parts(), actor, name).owner, limit, after),
    async *tick(actor, name, options = {}) {
      const access = accessTo(parts(), actor, agentNamed(parts(), actor, name).name);
      checkTicks(access.agent);
      await claimNow(parts(), access.agent);
      await recordAct(access, "tick", "a turn of its own");
      yield* tick(parts(), access.agent, { run, options });
    },
    async *tickDue(actor, name, options = {}) {
      const { agent } = accessTo(parts(), actor, name);
      if (agent.life?.tick === undefined) return;
      checkTicks(agent);
      const due = await claimDue(parts(), agent);
      if (due !== undefined) yield* tick(parts(), agent, { run, options, due });
    },
  };
}

async function lifeOf(parts: LifeParts, agent: Agent): Promise<LifeView> {
  const { life, name } = agent;
  const [vitals, standing, funds] = await Promise.all([
    vitalsOf(parts, agent),
    standingOf(parts, ownerOf(agent)),
    fundsLeft(parts, agent),
  ]);
  const asleep = asleepFor(funds);
  const { since, because, tickedAt } = standing;
  const nextTick = dueAt(agent, tickedAt, vitals.at);
  return {
    agent: name,
    vitals,
    ...(life && since !== undefined && { since }),
    ...(life && because !== undefined && { because }),
    ...(life?.credits && { credits: await creditsOf(parts, agent) }),
    ...(asleep !== undefined && { asleep }),
    ...(nextTick !== undefined && { nextTick }),
  };
}

async function fundsOf(parts: LifeParts, agent: Agent): Promise<FundsView | undefined> {
  const rules = agent.life?.credits;
  if (rules === undefined) return undefined;
  const funds = await fundsLeft(parts, agent);
  const asleep = asleepFor(funds);
  return { balance: funds.left, tier: tierOf(funds.left, rules), ...(asleep !== undefined && { asleep }) };
}

/** More than this is a slip of the finger. US dollars. */
const MOST = 1_000_000;

async function topUp(parts: LifeParts, agent: Agent, payment: Omit<TopUp, "id">): Promise<Credits> {
  const { dollars, note: words } = payment;
  if (agent.life?.credits === undefined) {
    const message = `${agent.name} has no credits configured; declare \`life: {credits: {}}\` for it in strata.yaml`;
    throw new StrataError("invalid_input", message, { agent: agent.name });
  }
  if (!Number.isFinite(dollars) || dollars === 0 || Math.abs(dollars) > MOST) {
    const message = `a payment is a number of US dollars up to ${MOST.toLocaleString("en-US")}, or a negative number to correct a mistake; this one is ${dollars}`;
    throw new StrataError("invalid_input", message, { dollars });
  }
  if (words.length > TEXT_LIMITS.reason) {
    const message = `a note has at most ${TEXT_LIMITS.reason} characters; this one has ${words.length}`;
    throw new StrataError("invalid_input", message, { length: words.length });
  }
  const owner = ownerOf(agent);
  if (dollars < 0 && (await parts.store.part(LIFE_STORE).topUps(owner, 1)).length === 0) {
    const message = `${agent.name} has no credits yet, so there is no payment to correct; pay first, with \`strata credits add ${usualPayment(agent.life.credits)} ${agent.name}\` or \`POST /v1/agents/${agent.name}/credits\``;
    throw new StrataError("invalid_input", message, { agent: agent.name, dollars });
  }
  await parts.store.part(LIFE_STORE).topUp(owner, payment);
  const credits = await creditsOf(parts, agent);
  // Only from the sleep that the want of them was: it waits for its next message or tick.
  const wakes = credits.balance > 0;
  await recordState(parts, owner, (record) =>
    wakes && record?.state === "sleeping" && isInWant(record.because) ? { state: "idle" } : undefined,
  );
  return credits;
}

/** @throws StrataError `invalid_input` for an agent that cannot have its own turns */
function checkTicks({ name, life, history }: Agent): void {
  if (life === undefined) {
    const message = `${name} only answers; declare \`life: {tick: 60}\` for it in strata.yaml, for a turn of its own each hour`;
    throw new StrataError("invalid_input", message, { agent: name });
  }
  if (history === "log") return;
  const message = `${name} has \`history: ${history}\`, but turns of its own need \`history: log\``;
  throw new StrataError("invalid_input", message, { agent: name });
}
