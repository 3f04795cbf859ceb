import { memoriesShown } from "../../compiler/index.ts";
import {
  type Agent,
  asStrataError,
  type Layer,
  type LayerContent,
  type LayerId,
  type Memory,
  type Source,
  trusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import {
  type FoundThread,
  type FrozenBlock,
  limitOf,
  type TurnParts,
  type TurnSetup,
  type TurnSteps,
} from "../../turn/index.ts";
import type { Gathered, LiveSource, LiveSources } from "../../turn/sources/index.ts";
import { rulesOf } from "../../wire/index.ts";
import { recall } from "./recall/recall.ts";
import { finderOf, recent } from "./recall/recent.ts";
import { savedMemory } from "./recall/saved.ts";
import type { Vectors } from "./vectors/embed.ts";
import { notRecalled } from "./wording.ts";

/** What memories need of the world outside. */
export interface MemoryPorts {
  /** Makes vectors for the store's searches; without it they use words alone. */
  readonly vectors?: Vectors;
}

/** What a turn does with memories: saved ones are frozen at its start, and those that fit its message are recalled. */
export function memorySteps({ vectors }: MemoryPorts): TurnSteps {
  return {
    frozenBlock: frozenMemories,
    sources: ({ store }, agent) => memorySources(store, agent),
    gathered: ({ name }, layers, { contents, notes }) => ({
      contents: withoutDoubles(layers, contents),
      notes: [...notes, ...vectorNotes(vectors?.trouble(name), layers)],
    }),
  };
}

/** Fills layers with `source: recall` and `source: recent`. */
export function memorySources(store: MemoryReads, agent: Agent): LiveSources {
  const known = { readsStore: true, whenFailed: trusted(notRecalled(finderOf(agent))) } as const;
  const recalls: LiveSource = (layer, context) => recall(agent, layer, mostShown(layer), { ...context, store });
  const recents: LiveSource = (layer, context) =>
    recent({ agent, layer, limit: mostShown(layer) }, { ...context, store });
  return { recall: Object.assign(recalls, known), recent: Object.assign(recents, known) };
}

type MemoryReads = Pick<Store, "searchMemories" | "memoriesBeside" | "memory" | "memories" | "memoryStats">;

const mostShown = ({ source }: Layer): number =>
  source.kind === "recall" || source.kind === "recent" ? source.limit : 0;

/** Removes from the recent memories what recall already shows. */
export function withoutDoubles(
  layers: readonly Layer[],
  contents: ReadonlyMap<LayerId, LayerContent>,
): Gathered["contents"] {
  const itemsIn = (kind: Source["kind"]) =>
    layers.flatMap(({ id, source }) => {
      const content = source.kind === kind ? contents.get(id) : undefined;
      return content?.kind === "items" ? [{ id, content }] : [];
    });
  const recalled = new Set(
    itemsIn("recall").flatMap(({ content }) => content.items.flatMap(({ id, ids }) => ids ?? id)),
  );
  const others = itemsIn("recent").map(({ id, content }): [LayerId, LayerContent] => {
    const items = content.items.filter((item) => !recalled.has(item.id));
    return [id, items.length > 0 ? { ...content, items } : { kind: "empty", because: "recall shows all of it" }];
  });
  return new Map([...contents, ...others]);
}

/** Notes that memories were searched by words alone, although they should not have been: the turn continues (law 13). */
function vectorNotes(message: string | undefined, layers: readonly Layer[]): Gathered["notes"] {
  const layer = layers.find(({ source }) => source.kind === "recall");
  return message === undefined || layer === undefined ? [] : [{ layer: layer.id, message }];
}

/** Reads the saved memories. If that fails, nothing new is frozen, and what is already frozen stays (law 13). */
async function frozenMemories(
  parts: TurnParts,
  setup: TurnSetup,
  { scope, epoch, undone }: FoundThread,
): Promise<FrozenBlock | undefined> {
  const { agent, card, count } = setup;
  // A single turn without history reads its start only once: freezing saves nothing there, unless it is asked for.
  if (agent.history === "log" && agent.recall !== "frozen") return undefined;
  const read = card.cache === "none" ? 1 : rulesOf(card).multipliers.read;
  const known = { scope, epoch, store: parts.store, count, read, limit: limitOf(setup), at: parts.clock.recorded() };
  try {
    const found = await savedMemory(agent, { ...known, ...(undone && { undone }) });
    const forgotten = found.forgotten || (await showsForgotten(parts, found.saved, { scope, epoch }));
    return { ...found, forgotten, notes: [] };
  } catch (thrown) {
    const layer = agent.layers.find(({ source }) => source.kind === "recall");
    const message = `what was saved could not be read: ${asStrataError(thrown).message}`;
    return { forgotten: false, saved: [], notes: layer === undefined ? [] : [{ layer: layer.id, message }] };
  }
}

/** Whether the running epoch shows a memory that was deleted; a superseded one is covered by its replacement. */
async function showsForgotten(
  { store }: TurnParts,
  saved: readonly Memory[],
  { scope, epoch }: FoundThread,
): Promise<boolean> {
  const there = new Set(saved.map(({ id }) => id));
  for (const id of memoriesShown(epoch?.transcript ?? [])) {
    if (there.has(id) || (await store.memory(scope, id)) || (await store.memory({ ...scope, contact: null }, id)))
      continue;
    return true;
  }
  return false;
}
