import { memoriesShown } from "../../../compiler/index.ts";
import { asStrataError, type Memory } from "../../../protocol/index.ts";
import { type Found, limitOf, type Standing, type TurnParts, type TurnSetup } from "../../../turn/index.ts";
import { rulesOf } from "../../../wire/index.ts";
import { savedMemory } from "./saved.ts";

/** Reads what was saved. Where that cannot be read, nothing is frozen anew, and what stands frozen stays (law 13). */
export async function standing(
  parts: TurnParts,
  setup: TurnSetup,
  { scope, epoch, undone }: Found,
): Promise<Standing | undefined> {
  const { agent, card, count } = setup;
  // What stands at the start of a turn that stands alone is read once: freezing it saves nothing, unless it is asked for.
  if (agent.history === "log" && agent.recall !== "frozen") return undefined;
  const read = card.cache === "none" ? 1 : rulesOf(card).multipliers.read;
  const known = { scope, epoch, store: parts.store, count, read, limit: limitOf(setup), at: parts.clock() };
  try {
    const found = await savedMemory(agent, { ...known, ...(undone && { undone }) });
    const forgotten = found.forgotten || (await showsForgotten(parts, found.saved, { scope, epoch }));
    return { ...found, forgotten, notes: [] };
  } catch (thrown) {
    const layer = agent.layers.find(({ source }) => source.kind === "recall");
    const says = `what was saved could not be read: ${asStrataError(thrown).message}`;
    return { forgotten: false, saved: [], notes: layer === undefined ? [] : [{ layer: layer.id, says }] };
  }
}

/** Whether the running epoch tells of a memory that is gone altogether; what was superseded is told by what took its place. */
async function showsForgotten(
  { store }: TurnParts,
  saved: readonly Memory[],
  { scope, epoch }: Found,
): Promise<boolean> {
  const there = new Set(saved.map(({ id }) => id));
  for (const id of memoriesShown(epoch?.transcript ?? [])) {
    if (there.has(id) || (await store.memory(scope, id)) || (await store.memory({ ...scope, contact: null }, id)))
      continue;
    return true;
  }
  return false;
}
