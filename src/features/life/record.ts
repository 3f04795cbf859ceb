import type { SeenState } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import type { TurnParts } from "../../turn/index.ts";
import { heldNow, isClosedChannel, retryWhileBusy } from "../../turn/index.ts";
import type { Accounts } from "./accounts.ts";
import { isWaiting, type RunningStates } from "./states.ts";
import { LIFE_STORE, type LifeRecord } from "./store.ts";

/** The parts, and the states of the agents' running turns in this program. */
export interface LifeParts extends TurnParts {
  readonly running: RunningStates;
  /** The agents' account balances; unknown if absent. */
  readonly accounts?: Accounts | undefined;
}

/** What to write next. `more`: another step follows at once. */
interface Step extends Pick<LifeRecord, "state" | "because" | "failed" | "tickedAt"> {
  readonly more?: true;
}

/** The next step after the recorded state; nothing if that is already right. */
type Plan = (record: LifeRecord | undefined) => Promise<Step | undefined> | Step | undefined;

/** How often a change is retried because another writer changed the state first. */
const TRIES = 20;

/** Records the agent's state, step by step. False if others kept changing it. */
export async function recordState(parts: LifeParts, owner: AgentOwner, plan: Plan): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const record = await parts.store.part(LIFE_STORE).life(owner);
    const step = await plan(record);
    if (step === undefined) return true;
    const { more = false, ...next } = step;
    const move = { ...keptOf(record, next), ...next, from: record?.state, at: parts.clock.recorded() };
    const moved = await retryWhileBusy(() => parts.store.part(LIFE_STORE).moveLife(owner, move));
    if (moved && !more) return true;
  }
  return false;
}

/** What stays: when its last own turn began and, while it is faulted, which turn failed. */
function keptOf(record: LifeRecord | undefined, { state, because }: Step): Pick<LifeRecord, "tickedAt" | "failed"> {
  const { tickedAt, failed } = record ?? {};
  const isSame = record?.state === state && because === undefined;
  return { ...(tickedAt !== undefined && { tickedAt }), ...(isSame && failed && { failed }) };
}

/** Why an agent is faulted whose program ended in the middle of a turn. */
export const INTERRUPTED = "its program ended in the middle of a turn";

/** Whether a turn of the agent runs on another thread than its `own`, in this program or in another. */
export async function othersRun(parts: LifeParts, owner: AgentOwner, own: readonly string[]): Promise<boolean> {
  for (const { thread, scope } of await heldNow(parts, owner.org)) {
    if (scope.agent !== owner.agent || own.includes(thread)) continue;
    // A summary of conversations is not a turn of the agent's life, and a question to a sub-agent is part of another turn.
    const held = await parts.store.thread(scope, thread);
    if (held !== undefined && !isClosedChannel(parts, held.channel)) return true;
  }
  return false;
}

/**
 * What the agent is doing: in this program by its running turns; in another program it is in a turn, and the exact step is unknown. A
 * recorded step of a turn that no longer runs is a fault, which the next turn repairs.
 */
export async function standingOf(
  parts: LifeParts,
  owner: AgentOwner,
): Promise<Partial<Pick<LifeRecord, "since" | "because" | "tickedAt">> & { readonly state: SeenState }> {
  const record = await parts.store.part(LIFE_STORE).life(owner);
  const running = parts.running.states(owner).at(-1);
  const { since, tickedAt } = record ?? {};
  const rest = { ...(since !== undefined && { since }), ...(tickedAt !== undefined && { tickedAt }) };
  if (running !== undefined) return { ...rest, state: running };
  if (record === undefined) return { state: "bootstrapping" };
  if (isWaiting(record.state)) {
    const because = await whyOf(parts, owner, record);
    return { ...rest, ...(because !== undefined && { because }), state: record.state };
  }
  if (await othersRun(parts, owner, [])) return { ...rest, state: "in a turn" };
  return { ...rest, state: "faulted", because: INTERRUPTED };
}

/** Why it waits. A failed turn's error is read from the turn, because it may quote a contact. */
async function whyOf(
  { store }: LifeParts,
  owner: AgentOwner,
  { because, failed }: LifeRecord,
): Promise<string | undefined> {
  if (failed === undefined) return because;
  const end = (await store.turn({ ...owner, contact: null }, failed.turn))?.end;
  return end?.status === "failed" ? end.message : `turn ${failed.turn} failed: ${failed.code}`;
}
