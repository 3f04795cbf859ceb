import type { Agent, Reply } from "../../protocol/index.ts";
import type { AgentOwner, LifeRecord, Thread } from "../../store/index.ts";
import type { RunOptions } from "../run-options.ts";
import type { TurnSetup } from "../setup.ts";
import type { TurnParts } from "../spend-tracker.ts";
import type { Ending, Work } from "../work.ts";
import { asleepFor, type Means, meansOf, outOfCredits, ownerOf } from "./credits.ts";
import { INTERRUPTED, type LifeParts, othersRun, writeLife } from "./record.ts";
import { isWaiting } from "./states.ts";
import { firstRead } from "./vitals.ts";

/**
 * What a turn does with the state of an agent that lives by itself: written down at its start and at its end, in memory between.
 * Of several turns at once, the first to begin and the last to end write. A recording that is replayed is no turn of its life.
 */

/**
 * Lets no turn begin that nobody pays for.
 * @throws StrataError `out_of_credits` where something waits; it keeps waiting
 */
export async function checkCredits(
  parts: TurnParts,
  { agent }: TurnSetup,
  { thread, recorded }: Pick<RunOptions, "recorded"> & { readonly thread: Thread },
): Promise<void> {
  if (agent.life?.credits === undefined || recorded !== undefined) return;
  const means = await meansOf(parts, agent);
  if (means.want === undefined) return;
  if ((await parts.store.pending(thread.scope, thread.id)).length === 0) return;
  await fallAsleep(parts, agent, means);
  throw outOfCredits(agent, means);
}

/** Without credits it sleeps, and says why. */
export async function fallAsleep(parts: LifeParts, agent: Agent, means: Means): Promise<void> {
  const owner = ownerOf(agent);
  const because = asleepFor(means);
  await writeLife(parts, owner, async (record) => {
    if (record?.state === "sleeping" && record.because === because) return undefined;
    const before = await beforeMove(parts, owner, { record });
    if (before !== "waits") return before;
    return { state: "sleeping", ...(because !== undefined && { because }) };
  });
}

/** The turn begins: from wherever the agent waits, a fault and what a program left in the middle of a turn included. */
export async function wakes(work: Work): Promise<void> {
  const { parts, setup, lease, recorded } = work;
  if (setup.agent.life === undefined || recorded !== undefined) return;
  await firstRead(parts, setup.agent, lease.signal);
  const owner = ownerOf(setup.agent);
  let from: LifeRecord["state"] = "idle";
  await writeLife(parts, owner, async (record) => {
    const before = await beforeMove(parts, owner, { record, own: threadsOf(lease) });
    if (before !== "waits") return before;
    from = record?.state ?? from;
    return { state: "loading context" };
  });
  work.being = parts.lives.begin(owner, from);
  work.being.enter("loading context");
}

/** What the turn holds: its thread, and those of several senders. */
const threadsOf = ({ claim }: Work["lease"]): readonly string[] =>
  [claim, ...(claim.staged ?? [])].map(({ thread }) => thread.id);

/** What must be written first: that it was born, or that a turn was interrupted; nothing may be where another turn of it runs. */
async function beforeMove(
  parts: LifeParts,
  owner: AgentOwner,
  { record, own = [] }: { readonly record: LifeRecord | undefined; readonly own?: readonly string[] },
): Promise<
  "waits" | { readonly state: LifeRecord["state"]; readonly because?: string; readonly more: true } | undefined
> {
  if (record === undefined) return { state: "bootstrapping", more: true };
  if (isWaiting(record.state)) return "waits";
  const runs = (parts.lives?.states(owner) ?? []).length > 0 || (await othersRun(parts, owner, own));
  return runs ? undefined : { state: "faulted", because: INTERRUPTED, more: true };
}

/** Its model is asked, for the first time in the turn or once more. */
export function infers({ being }: Work): void {
  if (being !== undefined && being.state !== "inferring") being.enter("inferring");
}

/** Its model has answered: where it calls tools, the agent acts. */
export function acts({ being }: Work, { parts }: Reply): void {
  if (parts.some(({ type }) => type === "call")) being?.enter("executing actions");
}

/** What came of the turn is to be written down. */
export function persists({ being }: Work, { status }: Ending): void {
  if (status === "done") being?.enter("persisting");
}

/** The turn is over, in the record or without it: the agent sleeps, or is faulted until the next turn. Never throws. */
export async function rests(work: Work, ending: Ending, recorded: "recorded" | "lost" = "recorded"): Promise<void> {
  const { parts, setup, being, lease } = work;
  if (being === undefined) return;
  const owner = ownerOf(setup.agent);
  try {
    being.enter(ending.status === "done" ? "sleeping" : "faulted");
    const own = recorded === "lost" ? threadsOf(lease) : [];
    const others = parts.lives.states(owner).length > 1 || (await othersRun(parts, owner, own));
    if (!others) await writeEnd(work, ending);
  } catch {
    // The turn is over whatever is written of it: the next one finds a step that nobody runs, and heals it.
  } finally {
    being.end();
    work.being = undefined;
  }
}

async function writeEnd({ parts, setup: { agent }, lease }: Work, ending: Ending): Promise<void> {
  const because = asleepFor(await meansOf(parts, agent));
  await writeLife(parts, ownerOf(agent), () => {
    // Not its sentence, which may quote a contact: that stands with the turn.
    // One that its credits ended has nothing to mend: it sleeps as it does before a turn.
    if (ending.status === "failed" && ending.error.code !== "out_of_credits")
      return { state: "faulted", failed: { turn: lease.claim.turn, code: ending.error.code } };
    return { state: "sleeping", ...(because !== undefined && { because }) };
  });
}
