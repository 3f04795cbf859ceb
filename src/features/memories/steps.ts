import type { Agent, Layer, LayerContent, LayerId, Source } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { TurnSteps } from "../../turn/index.ts";
import type { Gathered, LiveSources } from "../../turn/sources/index.ts";
import { recall } from "./recall/recall.ts";
import { recent } from "./recall/recent.ts";
import { standing } from "./recall/standing.ts";
import type { Vectors } from "./vectors/embed.ts";

/** What memories need of the world outside. */
export interface MemoryPorts {
  /** What makes vectors for the store's searches; left out, they go by words alone. */
  readonly vectors?: Vectors;
}

/** What a turn does with memories: what was saved stands at its start, what fits its message is recalled. */
export function memorySteps({ vectors }: MemoryPorts): TurnSteps {
  return {
    standing,
    sources: ({ store }, agent) => memorySources(store, agent),
    gathered: ({ name }, layers, { contents, notes }) => ({
      contents: withoutDoubles(layers, contents),
      notes: [...notes, ...vectorNotes(vectors?.trouble(name), layers)],
    }),
  };
}

/** Fills layers with `source: recall` and `source: recent`. */
export const memorySources = (store: Asked, agent: Agent): LiveSources => ({
  recall: (layer, context) => recall(agent, layer, limitOf(layer), { ...context, store }),
  recent: (layer, context) => recent({ agent, layer, limit: limitOf(layer) }, { ...context, store }),
});

type Asked = Pick<Store, "searchMemories" | "memoryRevisions" | "memory" | "memories" | "memoryStats">;

const limitOf = ({ source }: Layer): number =>
  source.kind === "recall" || source.kind === "recent" ? source.limit : 0;

/** What recall shows is not shown once more as recent. */
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

/** That memories were searched by words alone, where they should not have been: the turn goes on (law 13). */
function vectorNotes(says: string | undefined, layers: readonly Layer[]): Gathered["notes"] {
  const layer = layers.find(({ source }) => source.kind === "recall");
  return says === undefined || layer === undefined ? [] : [{ layer: layer.id, says }];
}
