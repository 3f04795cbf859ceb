import type { ActorId, Agent, StrataError, ThreadId } from "../../protocol/index.ts";
import { type RunningTurn, type TurnParts, type TurnSteps, unpriced } from "../../turn/index.ts";
import { COUNTED_BY, pauseFor } from "./api.ts";
import { type PaidTurn, paidBy } from "./chain-store.ts";
import { limitReached } from "./errors.ts";
import { type AskedCall, type Crossed, LIMITS_STORE, type Subject } from "./store.ts";
import {
  declaredAs,
  isKey,
  isSpend,
  keyName,
  rulesFor,
  spendSubject,
  subjectsOf,
  subjectsOfChain,
} from "./subjects.ts";

/** How many refusals are remembered: a forgotten thread is refused again. */
const MOST_REFUSALS = 10_000;

/** A thread whose last turn was refused a call. It is asked for no other before then, unless its agent's limits change. */
interface Refusal {
  readonly agent: Agent;
  readonly declared: Agent;
  readonly crossed: Crossed;
}

/** Reserves each call of a model for everybody whose call it is. An agent without limits asks the store for nothing. */
export function limitSteps(): TurnSteps {
  const chains = new WeakMap<RunningTurn, ReturnType<typeof chainOf>>();
  const refusals = new Map<ThreadId, Refusal>();
  const subjects = async (
    turn: RunningTurn,
  ): Promise<{ readonly all: readonly Subject[]; readonly waits: boolean }> => {
    const known = chains.get(turn) ?? chainOf(turn);
    chains.set(turn, known);
    const { callers, payers } = await known;
    const { claim } = turn.lease;
    const contacts = (claim.batchMembers ?? [claim]).map(({ thread }) => thread.scope.contact);
    const chain = [turn.setup.agent, ...callers].map((agent) => ({ agent, rules: rulesFor(turn.parts, agent) }));
    const whose = { contacts, keys: payers.map(keyName) };
    const all = subjectsOfChain(chain, whose, turn.parts.clock.recorded());
    return { all, waits: chain.some(({ rules }) => rules?.wait === true) };
  };
  return {
    received: ({ agents }, _, actor) =>
      isKey(actor.id) && agents.all.some(({ limits }) => countsKeys(limits)) ? paidBy(actor.id) : undefined,
    checkStart: async (parts, { agent, thread, waits, recorded }) => {
      const rules = rulesFor(parts, agent);
      if (rules === undefined || recorded !== undefined || COUNTED_BY.has(parts.store)) return undefined;
      const at = parts.clock.recorded();
      const contacts = thread === undefined ? [] : [thread.scope.contact];
      const all = subjectsOf(agent, rules, { contacts, keys: [] }, at);
      const crossed = all.length === 0 ? undefined : await keptBy(parts).crossed(agent.org, all, at);
      if (crossed === undefined || (rules.wait && crossed.what === "calls") || !(await waits())) return undefined;
      return limitReached(crossed, at);
    },
    blockedThreads: async (parts, agent) => {
      const blocked = new Map<ThreadId, StrataError>();
      for (const [thread, { agent: of, declared, crossed }] of refusals) {
        if (of.org !== agent.org || of.name !== agent.name) continue;
        const { until = Number.POSITIVE_INFINITY } = crossed;
        if (until > parts.clock.recorded() && declared === declaredAs(parts, agent))
          blocked.set(thread, limitReached(crossed, parts.clock.recorded()));
        else refusals.delete(thread);
      }
      return blocked;
    },
    allowance: {
      countsMoney: (parts, agent) => countsMoney(rulesFor(parts, agent)),
      reserve: async (turn, most) => {
        const { parts, setup } = turn;
        const isLimited = parts.agents.all.some(({ limits }) => limits !== undefined);
        if (!isLimited && setup.agent.budgets.spend === undefined) return undefined;
        const outside = COUNTED_BY.get(parts.store);
        if (outside !== undefined) {
          await outside.call(turn.lease.signal);
          return undefined;
        }
        const declared = declaredAs(parts, setup.agent);
        const { org } = setup.agent;
        for (;;) {
          const asked = askedBy(turn, most);
          const { all: limited, waits } = isLimited ? await subjects(turn) : { all: [], waits: false };
          const all = [...limited, ...spendSubject(setup.agent, asked.at)];
          if (all.length === 0) return undefined;
          // Its callers' money pays for it, and the start of the turn knew nothing of them.
          if (!setup.prices.priced && all.some(({ allowed }) => allowed.money))
            throw unpriced(setup.agent.name, setup.model.ref);
          const crossed = await keptBy(parts).take(org, all, asked);
          if (crossed === undefined) return (dollars) => keptBy(turn.parts).settle(org, { call: asked.call, dollars });
          const pause = (crossed.until ?? Number.POSITIVE_INFINITY) - asked.at;
          const isUnderWay = isSpend(crossed.subject) && crossed.used.held > 0;
          if (!(waits || isUnderWay) || pause >= turn.limitsLeft().seconds * 1_000) {
            if (refusals.size >= MOST_REFUSALS) refusals.clear();
            refusals.set(turn.lease.claim.thread.id, { agent: turn.setup.agent, declared, crossed });
            throw limitReached(crossed, asked.at);
          }
          await pauseFor(pause, turn.lease.signal);
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

/** Who posted the turn's events, if that counts, and the agents that wait for its answer. */
async function chainOf({
  parts,
  setup,
  lease: { claim },
}: RunningTurn): Promise<{ readonly callers: readonly Agent[]; readonly payers: readonly ActorId[] }> {
  const { all } = parts.agents;
  const { caller, scope } = claim.thread;
  if (caller === undefined && !countsKeys(rulesFor(parts, setup.agent))) return { callers: [], payers: [] };
  const turn: PaidTurn = {
    events: claim.events.map(({ id }) => id),
    ...(claim.continues && { run: claim.continues.id }),
    ...(caller && { call: caller.call }),
  };
  const { callers, payers } = await keptBy(parts).chain(scope.org, turn);
  return { callers: all.filter(({ org, name }) => org === scope.org && callers.includes(name)), payers };
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
