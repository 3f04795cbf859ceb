import type { DeliveryPorts } from "../../features/deliveries/index.ts";
import type { FilePorts } from "../../features/files/index.ts";
import { COLUMNS, columnsOf, type Feature, type ShadowParts } from "../../features/index.ts";
import type { JudgePorts } from "../../features/learning/index.ts";
import type { LifePorts } from "../../features/life/index.ts";
import type { MemoryPorts } from "../../features/memories/index.ts";
import { StrataError } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { createRuntime, type Parts, type Runtime, type Use } from "../../turn/index.ts";
import type { Toolset } from "../../turn/tools/index.ts";

/** What features need from outside. */
export interface World extends LifePorts, FilePorts, MemoryPorts, DeliveryPorts, JudgePorts {}

/** What a runtime is made from: the needs of turns, the needs of features, and the features. */
export interface RuntimeParts extends Parts, World {
  readonly features: readonly Feature<World>[];
  /** The tools, made over another store. */
  readonly toolsOver: (store: Store) => Promise<Toolset>;
}

/** The runtime with all that features add: their steps in every turn, and their functions. */
export function openRuntime(parts: RuntimeParts): Runtime {
  const opened = needsFirst(parts.features).map((feature) => ({ feature, own: feature.open?.(parts) }));
  const core = createRuntime(
    parts,
    opened.flatMap(({ feature, own }) => [feature.steps ?? [], own?.steps ?? []].flat()),
  );
  const key = {};
  const use: Use = (api) => {
    const functions = api.of(key);
    if (functions === undefined)
      throw new StrataError(
        "unexpected",
        `no feature of this runtime has the functions of ${api.name}; add the feature to the list, and name it in the \`needs\` of the features that use it`,
      );
    return functions;
  };
  COLUMNS.open(columnsOf(parts.features)).addTo(key);
  const shadow = (over: ShadowParts): Promise<Runtime> => shadowRuntime(parts, over);
  for (const { own } of opened) own?.api?.({ ...core, parts, use, shadow }).addTo(key);
  return { ...core.runtime, use };
}

/** Files, vectors and deliveries stay out of it: there is nothing outside that it could reach. */
async function shadowRuntime(parts: RuntimeParts, { store, clock, toolsOf }: ShadowParts): Promise<Runtime> {
  const { vectors: _, sendDelivery: __, ...same } = parts;
  const tools = toolsOf(await parts.toolsOver(store));
  const nothing = async (): Promise<void> => undefined;
  return openRuntime({
    ...same,
    store,
    clock,
    tools,
    removeFiles: nothing,
    renameFiles: nothing,
    filesOf: async () => [],
    observe: () => undefined,
  });
}

/** In the order of the list, except that each comes after those that it needs. */
function needsFirst(features: readonly Feature<World>[]): readonly Feature<World>[] {
  const sorted = new Set<Feature<World>>();
  const add = (feature: Feature<World>): void => {
    for (const name of feature.needs ?? []) for (const one of features) if (one.name === name) add(one);
    sorted.add(feature);
  };
  features.forEach(add);
  return [...sorted];
}
