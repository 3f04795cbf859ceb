import { type Agent, isKept, ownStop, type StrataError } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import type { Beginning, CommitResult, Ending, Phase, RunningTurn, TurnParts, TurnSteps } from "../../turn/index.ts";
import {
  asleepFor,
  creditsLeft,
  type FundsLeft,
  fundsLeft,
  OUT_OF_CREDITS,
  outOfCredits,
  ownerOf,
  throttled,
  tierNow,
} from "./credits.ts";
import { INTERRUPTED, type LifeParts, othersRun, recordState } from "./record.ts";
import { isWaiting, type RunningState } from "./states.ts";
import type { LifeRecord } from "./store.ts";
import { firstRead, vitalsOf, vitalsText } from "./vitals.ts";

/**
 * What a turn does with the state of an agent that lives by itself: recorded at its start and end, in memory between. If several turns run
 * at once, the first to begin and the last to end write. Replaying a recording is not a turn of its life.
 */
export function lifeSteps(own: Pick<LifeParts, "running" | "accounts">): TurnSteps {
  const states = new WeakMap<RunningTurn, RunningState>();
  const withRunning = (parts: TurnParts): LifeParts => ({ ...parts, ...own });
  return {
    setup: async (parts, setup, { options: { recorded } }) => {
      if (recorded !== undefined) return setup;
      const tier = await tierNow(parts, setup.agent);
      return { ...setup, tier, limits: throttled(setup.limits, tier, setup.agent) };
    },
    checkStart: (parts, beginning) => refuseUnpaid(withRunning(parts), beginning),
    prepare: (_, agent, signal) => firstRead(own, agent, signal),
    onStart: async (turn) => {
      if (turn.setup.agent.life === undefined || turn.recorded !== undefined) return;
      states.set(turn, await beginLifeTurn(withRunning(turn.parts), turn));
    },
    sources: (parts, agent) => {
      if (agent.life === undefined) return { vitals: async () => NO_LIFE };
      let asked: ReturnType<typeof vitalsOf> | undefined;
      return {
        vitals: async (_, { events: [first] }) => {
          asked ??= vitalsOf(withRunning(parts), agent);
          return vitalsText(await asked, first?.at);
        },
      };
    },
    phase: (turn, phase) => {
      const state = states.get(turn);
      if (state !== undefined && state.state !== STATES[phase]) state.enterState(STATES[phase]);
    },
    funds: {
      stop: CREDITS,
      error: OUT_OF_CREDITS,
      unanswered: "the agent's credits ended before these messages were answered; they keep waiting",
      holds: ({ life }) => life?.credits !== undefined,
      // A recording is answered for nothing: no credits are needed for it.
      left: async ({ parts, setup, recorded }) =>
        recorded === undefined ? creditsLeft(parts, setup.agent) : Number.POSITIVE_INFINITY,
      refusal: (agent, left) => outOfCredits(agent, { left }),
    },
    ended: async (turn, ending, kept) => {
      const state = states.get(turn);
      states.delete(turn);
      if (state !== undefined) await endLifeTurn(withRunning(turn.parts), turn, { state, ending, kept });
    },
  };
}

const CREDITS = ownStop("credits", "the agent has no credits left; `strata credits add DOLLARS` tops it up");

const NO_LIFE = { kind: "empty", because: "the agent does not live by itself" } as const;

/** What an agent does in each phase of a turn. */
const STATES = { asking: "inferring", acting: "executing actions", committing: "persisting" } as const satisfies Record<
  Phase,
  RunningState["state"]
>;

/** Stops a turn that cannot be paid for, if something waits or is about to: it keeps waiting. */
async function refuseUnpaid(parts: LifeParts, { agent, waits, recorded }: Beginning): Promise<StrataError | undefined> {
  if (recorded !== undefined || agent.life?.credits === undefined) return undefined;
  const funds = await fundsLeft(parts, agent);
  if (funds.want === undefined || !(await waits())) return undefined;
  await fallAsleep(parts, agent, funds);
  return outOfCredits(agent, funds);
}

/** Without credits it sleeps, and says why. */
async function fallAsleep(parts: LifeParts, agent: Agent, funds: FundsLeft): Promise<void> {
  const owner = ownerOf(agent);
  const because = asleepFor(funds);
  await recordState(parts, owner, async (record) => {
    if (record?.state === "sleeping" && record.because === because) return undefined;
    const before = await beforeMove(parts, owner, { record });
    if (before !== "waits") return before;
    return { state: "sleeping", ...(because !== undefined && { because }) };
  });
}

/** The turn begins from any state in which the agent waits, including a fault and a state left by a program that died during a turn. */
async function beginLifeTurn(parts: LifeParts, { setup, lease }: RunningTurn): Promise<RunningState> {
  const owner = ownerOf(setup.agent);
  let from: LifeRecord["state"] = "idle";
  await recordState(parts, owner, async (record) => {
    const before = await beforeMove(parts, owner, { record, own: threadsOf(lease) });
    if (before !== "waits") return before;
    from = record?.state ?? from;
    return { state: "loading context" };
  });
  const state = parts.running.begin(owner, from);
  state.enterState("loading context");
  return state;
}

/** The turn's threads: its own, and those of several senders. */
const threadsOf = ({ claim }: RunningTurn["lease"]): readonly string[] =>
  [claim, ...(claim.batchMembers ?? [])].map(({ thread }) => thread.id);

/** What must be written first: that it was born, or that a turn was interrupted; nothing may be written while another of its turns runs. */
async function beforeMove(
  parts: LifeParts,
  owner: AgentOwner,
  { record, own = [] }: { readonly record: LifeRecord | undefined; readonly own?: readonly string[] },
): Promise<
  "waits" | { readonly state: LifeRecord["state"]; readonly because?: string; readonly more: true } | undefined
> {
  if (record === undefined) return { state: "bootstrapping", more: true };
  if (isWaiting(record.state)) return "waits";
  const runs = parts.running.states(owner).length > 0 || (await othersRun(parts, owner, own));
  return runs ? undefined : { state: "faulted", because: INTERRUPTED, more: true };
}

/** A turn that is over. */
interface LifeTurnEnd {
  readonly state: RunningState;
  readonly ending: Ending;
  readonly kept: CommitResult;
}

/** The turn is over, in the record or without it: the agent sleeps, or is faulted until the next turn. Never throws. */
async function endLifeTurn(parts: LifeParts, turn: RunningTurn, { state, ending, kept }: LifeTurnEnd): Promise<void> {
  const owner = ownerOf(turn.setup.agent);
  try {
    state.enterState(isKept(ending) ? "sleeping" : "faulted");
    const own = kept === "lost" ? threadsOf(turn.lease) : [];
    const others = parts.running.states(owner).length > 1 || (await othersRun(parts, owner, own));
    if (!others) await recordEnd(parts, turn, ending);
  } catch {
    // The turn is over whatever happens to this write: the next one finds a step without a running turn, and repairs it.
  } finally {
    state.end();
  }
}

async function recordEnd(parts: LifeParts, { setup: { agent }, lease }: RunningTurn, ending: Ending): Promise<void> {
  const because = asleepFor(await fundsLeft(parts, agent));
  await recordState(parts, ownerOf(agent), () => {
    // Without the error's sentence, which may quote a contact and is kept with the turn. A turn that ended for lack of credits needs no
    // repair: the agent sleeps as it does before a turn.
    if (!isKept(ending) && !OUT_OF_CREDITS.is(ending.error))
      return { state: "faulted", failed: { turn: lease.claim.turn, code: ending.error.code } };
    return { state: "sleeping", ...(because !== undefined && { because }) };
  });
}
