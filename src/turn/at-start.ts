import { type Compilation, memoriesTold } from "../compiler/index.ts";
import {
  asStrataError,
  type ContactScope,
  type Epoch,
  frozenIn,
  type Memory,
  type MemoryId,
} from "../protocol/index.ts";
import { rulesOf } from "../wire/index.ts";
import type { Parts } from "./parts.ts";
import { limitOf } from "./setup.ts";
import { type Gathered, type SavedMemory, savedMemory } from "./sources/index.ts";
import type { TurnSetup } from "./steps.ts";

/** The thread as the turn finds it. */
interface Found {
  readonly scope: ContactScope;
  readonly epoch: Epoch | undefined;
  readonly undone?: ReadonlySet<string>;
}

/** What stands at the start of the request that is made, as far as it is known before. */
export interface AtStart {
  readonly memory: Pick<SavedMemory, "frozen" | "forgotten">;
  /** For the sources: what the model sees of the thread, and what was saved where any of it stands frozen. */
  readonly seen: {
    readonly epoch: Found["epoch"];
    readonly frozen: readonly MemoryId[];
    readonly saved?: readonly Memory[];
  };
  readonly saved: readonly Memory[];
  readonly notes: Gathered["notes"];
}

/** Reads what was saved. Where that cannot be read, nothing is frozen anew, and what stands frozen stays (law 13). */
export async function atStart(parts: Parts, setup: TurnSetup, { scope, epoch, undone }: Found): Promise<AtStart> {
  const { agent, card, count } = setup;
  // What stands at the start of a turn that stands alone is read once: freezing it saves nothing, unless it is asked for.
  if (agent.history === "log" && agent.recall !== "frozen")
    return { memory: { forgotten: false }, saved: [], seen: seenWith(epoch, [], []), notes: [] };
  const read = card.cache === "none" ? 1 : rulesOf(card).multipliers.read;
  const known = { scope, epoch, store: parts.store, count, read, limit: limitOf(setup), at: parts.clock() };
  const context = { ...known, ...(undone && { undone }) };
  try {
    const { saved, ...found } = await savedMemory(agent, context);
    const memory = { ...found, forgotten: found.forgotten || (await isToldForgotten(parts, saved, { scope, epoch })) };
    const fresh = memory.frozen?.items.map(({ id }) => id) ?? [];
    const frozen = epoch === undefined || memory.forgotten ? fresh : frozenIn(epoch);
    return { memory, saved, seen: seenWith(epoch, frozen, saved), notes: [] };
  } catch (thrown) {
    const layer = agent.layers.find(({ source }) => source.kind === "recall");
    const says = `what was saved could not be read: ${asStrataError(thrown).message}`;
    const notes = layer === undefined ? [] : [{ layer: layer.id, says }];
    return { memory: { forgotten: false }, saved: [], seen: seenWith(epoch, frozenIn(epoch), []), notes };
  }
}

/** Whether the running epoch tells of a memory that is gone altogether; what was superseded is told by what took its place. */
async function isToldForgotten({ store }: Parts, saved: readonly Memory[], { scope, epoch }: Found): Promise<boolean> {
  const there = new Set(saved.map(({ id }) => id));
  for (const id of memoriesTold(epoch?.transcript ?? [])) {
    if (there.has(id) || (await store.memory(scope, id)) || (await store.memory({ ...scope, contact: null }, id)))
      continue;
    return true;
  }
  return false;
}

/** The same after the request was made: a cut takes away what was seen, and what was to stand frozen may have had no room. */
export function seenOtherwise({ seen, saved }: AtStart, { epoch }: Compilation): AtStart["seen"] | undefined {
  const frozen = frozenIn(epoch);
  const same = frozen.length === seen.frozen.length && frozen.every((id, i) => id === seen.frozen[i]);
  const isCut = seen.epoch !== undefined && seen.epoch.cut !== epoch.cut;
  return same && !isCut ? undefined : seenWith(epoch, frozen, saved);
}

const seenWith = (epoch: Found["epoch"], frozen: readonly MemoryId[], saved: readonly Memory[]): AtStart["seen"] => ({
  epoch,
  frozen,
  ...(frozen.length > 0 && { saved }),
});
