import { setTimeout } from "node:timers/promises";
import { type Agent, type Allowed, authorize, type ContactId, canonicalJson } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { featureApi, type TurnParts } from "../../turn/index.ts";
import { limitReached } from "./errors.ts";
import { type Kind, LIMITS_STORE, type Subject, type Used } from "./store.ts";
import { rulesFor, spendSubject, subjectsOf } from "./subjects.ts";

/** A subject with limits, and what is used of them. */
export interface LimitView extends Subject {
  readonly used: Used;
}

/** One contact and one key whose limits are listed as well; none by default. */
export interface LimitsWish {
  readonly contact?: ContactId | undefined;
  readonly key?: string | undefined;
}

export interface LimitsApi {
  /**
   * The limits of these agents as far as the actor's access goes, and what is used of them: those of the organization, of keys and of
   * groups require access to all of it.
   */
  limits(actor: Allowed<"read">, agents: readonly Agent[], wish: LimitsWish): Promise<readonly LimitView[]>;
}

export const LIMITS_API = featureApi<LimitsApi>("limits");

/** What an agent may spend outside its turns, as on a trial, and how often it may call a model there. */
export interface SpendLimit {
  /** Half of what `limits` allow in a minute, one at least, so that contacts are answered meanwhile; infinite without a limit. */
  readonly callsPerMinute: number;
  /** Counts a call of a model, as soon as the last minute has room for it. @throws the signal's reason */
  call(signal: AbortSignal): Promise<void>;
  /** US dollars left to the agent and its organization; infinite without a limit. @throws StrataError `limit_reached` if nothing is left */
  left(): Promise<number>;
  count(dollars: number): Promise<void>;
}

/** Turns over such a store count there, and not in their own store, which nobody keeps. */
export const COUNTED_BY = new WeakMap<Store, SpendLimit>();

export function spendLimitOf(
  parts: Pick<TurnParts, "agents" | "clock" | "random" | "store">,
  agent: Agent,
): SpendLimit {
  const kept = parts.store.part(LIMITS_STORE);
  const limited = () => subjectsOf(agent, rulesFor(parts, agent), { contacts: [], keys: [] }, parts.clock.recorded());
  const subjects = () =>
    limited().flatMap((one) =>
      one.allowed.money === undefined ? [] : [{ ...one, allowed: { money: one.allowed.money } }],
    );
  const counted = () =>
    limited().flatMap((one) => {
      const { calls } = one.allowed;
      return calls === undefined ? [] : [{ ...one, allowed: { calls: Math.max(1, Math.floor(calls / 2)) } }];
    });
  return {
    callsPerMinute: Math.min(...counted().map(({ allowed }) => allowed.calls)),
    call: async (signal) => {
      const call = Buffer.from(parts.random(16)).toString("hex");
      for (;;) {
        signal.throwIfAborted();
        const [all, at] = [counted(), parts.clock.recorded()];
        const crossed = all.length === 0 ? undefined : await kept.takeOutside(agent.org, all, { call, at });
        if (crossed === undefined) return;
        await pauseFor((crossed.until ?? Number.POSITIVE_INFINITY) - at, signal);
      }
    },
    left: async () => {
      const [all, at] = [subjects(), parts.clock.recorded()];
      if (all.length === 0) return Number.POSITIVE_INFINITY;
      const crossed = await kept.crossed(agent.org, all, at);
      if (crossed !== undefined) throw limitReached(crossed, at);
      const used = await kept.used(agent.org, all, at);
      return Math.min(
        ...all.map(({ allowed: { money } }, i) => money.dollars - (used[i]?.spent ?? 0) - (used[i]?.held ?? 0)),
      );
    },
    count: async (dollars) => {
      const all = subjects();
      if (all.length > 0 && dollars > 0) await kept.spend(agent.org, all, dollars);
    },
  };
}

/** How often a call that waits asks again: another may have been settled, or its turn cancelled. Milliseconds. */
const LOOK = 1_000;

/** Waits so long, and no longer than until it is worth asking again. @throws the signal's reason */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  const pause = Math.min(Math.max(1, milliseconds), LOOK);
  await setTimeout(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
}

export const limitsApi = (parts: () => TurnParts): LimitsApi => ({
  limits: async (actor, agents, wish) => {
    const all = await Promise.all(agents.map((agent) => agentLimits(parts(), actor, agent, wish)));
    const views = new Map(all.flat().map((one) => [canonicalJson({ ...one }), one]));
    return [...views.values()];
  },
});

async function agentLimits(
  { agents, clock, store }: TurnParts,
  actor: Allowed<"read">,
  agent: Agent,
  { contact = actor.contact, key }: LimitsWish,
): Promise<readonly LimitView[]> {
  const { org, name } = agent;
  authorize(actor, { org, agent: name, contact: contact ?? null });
  const at = clock.recorded();
  const whose = { contacts: contact === undefined ? [] : [contact], keys: key === undefined ? [] : [key] };
  const all = [...subjectsOf(agent, rulesFor({ agents }, agent), whose, at), ...spendSubject(agent, at)];
  const subjects = all.filter(({ kind }) => isFor(actor, kind));
  const used = await store.part(LIMITS_STORE).used(org, subjects, at);
  return subjects.map((subject, i) => ({ ...subject, used: used[i] ?? { calls: 0, spent: 0, held: 0 } }));
}

/** An agent's use reveals its other contacts; a key's or the organization's use reveals other agents. */
function isFor(actor: Allowed<"read">, kind: Kind): boolean {
  if (kind === "contact") return true;
  return actor.contact === undefined && (kind === "agent" || actor.agent === undefined);
}
