import { setTimeout } from "node:timers/promises";
import type { Agent, StrataError, ThreadId } from "../../protocol/index.ts";
import type { RunningTurn, TurnParts, TurnSteps } from "../../turn/index.ts";
import { limitReached } from "./errors.ts";
import { type AskedCall, type Crossed, LIMITS_STORE, type PaidTurn, paidBy, type Subject } from "./store.ts";
import { isKey, keyName, rulesFor, subjectsOf } from "./subjects.ts";

/** How often a call that waits asks again: another may have been settled, or its turn cancelled. Milliseconds. */
const LOOK = 1_000;

/** So many refusals are remembered: a thread that is forgotten is refused once more. */
const MOST_REFUSALS = 10_000;

/** A thread whose last turn was refused a call. It is asked for no other before then, unless its agent's limits change. */
interface Refusal {
  readonly agent: Agent;
  readonly rules: Agent["limits"];
  readonly crossed: Crossed;
}

/** Reserves each call of a model for everybody whose call it is. An agent without limits asks the store for nothing. */
export function limitSteps(): TurnSteps {
  const keysOf = new WeakMap<RunningTurn, Promise<readonly string[]>>();
  const refusals = new Map<ThreadId, Refusal>();
  const subjects = async (turn: RunningTurn, rules: Agent["limits"]): Promise<readonly Subject[]> => {
    const known = keysOf.get(turn) ?? payingKeys(turn, rules);
    keysOf.set(turn, known);
    const { claim } = turn.lease;
    const contacts = (claim.batchMembers ?? [claim]).map(({ thread }) => thread.scope.contact);
    return subjectsOf(turn.setup.agent, rules, { contacts, keys: await known }, turn.parts.clock.recorded());
  };
  return {
    received: ({ agents }, _, actor) =>
      isKey(actor.id) && agents.all.some(({ limits }) => countsKeys(limits)) ? paidBy(actor.id) : undefined,
    checkStart: async (parts, { agent, thread, waits, recorded }) => {
      const rules = rulesFor(parts, agent);
      if (rules === undefined || recorded !== undefined) return undefined;
      const at = parts.clock.recorded();
      const contacts = thread === undefined ? [] : [thread.scope.contact];
      const all = subjectsOf(agent, rules, { contacts, keys: [] }, at);
      const crossed = all.length === 0 ? undefined : await keptBy(parts).crossed(agent.org, all, at);
      if (crossed === undefined || (rules.wait && crossed.what === "calls") || !(await waits())) return undefined;
      return limitReached(crossed, at);
    },
    blockedThreads: async (parts, agent) => {
      const blocked = new Map<ThreadId, StrataError>();
      for (const [thread, { agent: of, rules, crossed }] of refusals) {
        if (of.org !== agent.org || of.name !== agent.name) continue;
        const { until = Number.POSITIVE_INFINITY } = crossed;
        if (until > parts.clock.recorded() && rules === rulesFor(parts, agent))
          blocked.set(thread, limitReached(crossed, parts.clock.recorded()));
        else refusals.delete(thread);
      }
      return blocked;
    },
    allowance: {
      countsMoney: (parts, agent) => countsMoney(rulesFor(parts, agent)),
      reserve: async (turn, most) => {
        const rules = rulesFor(turn.parts, turn.setup.agent);
        if (rules === undefined) return undefined;
        const { org } = turn.setup.agent;
        for (;;) {
          const asked = askedBy(turn, most);
          const all = await subjects(turn, rules);
          const crossed = all.length === 0 ? undefined : await keptBy(turn.parts).take(org, all, asked);
          if (crossed === undefined) return (dollars) => keptBy(turn.parts).settle(org, { call: asked.call, dollars });
          const pause = (crossed.until ?? Number.POSITIVE_INFINITY) - asked.at;
          if (!rules.wait || pause >= turn.limitsLeft().seconds * 1_000) {
            if (refusals.size >= MOST_REFUSALS) refusals.clear();
            refusals.set(turn.lease.claim.thread.id, { agent: turn.setup.agent, rules, crossed });
            throw limitReached(crossed, asked.at);
          }
          await rest(Math.min(pause, LOOK), turn.lease.signal);
        }
      },
    },
  };
}

const keptBy = ({ store }: TurnParts) => store.part(LIMITS_STORE);

const countsKeys = (rules: Agent["limits"]): boolean => rules?.key !== undefined || rules?.groups !== undefined;

function countsMoney(rules: Agent["limits"]): boolean {
  if (rules === undefined) return false;
  const { agent, contact, key, organization, groups = {} } = rules;
  return [agent, contact, key, organization, ...Object.values(groups)].some((one) => one?.dollars !== undefined);
}

/** Who has posted what the turn is about, where that counts. */
async function payingKeys(
  { parts, lease: { claim } }: RunningTurn,
  rules: Agent["limits"],
): Promise<readonly string[]> {
  if (!countsKeys(rules)) return [];
  const turn: PaidTurn = {
    events: claim.events.map(({ id }) => id),
    ...(claim.continues && { run: claim.continues.id }),
    ...(claim.thread.caller && { call: claim.thread.caller.call }),
  };
  return (await keptBy(parts).payers(claim.thread.scope.org, turn)).map(keyName);
}

function askedBy({ parts: { clock, random, alive }, lease: { claim } }: RunningTurn, most: number): AskedCall {
  const call = Buffer.from(random(16)).toString("hex");
  const { thread, holder } = claim;
  return {
    call,
    most,
    scope: thread.scope,
    thread: thread.id,
    holder,
    at: clock.recorded(),
    real: clock.real(),
    alive,
  };
}

/** @throws the signal's reason */
async function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(Math.max(1, milliseconds), undefined, { signal }).catch(() => signal.throwIfAborted());
}
