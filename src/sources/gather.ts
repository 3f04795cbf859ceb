import {
  type Agent,
  type ContactScope,
  type Layer,
  type LayerContent,
  type LayerId,
  never,
  type StoredEvent,
  StrataError,
} from "../protocol/index.ts";
import type { Store } from "../stores/index.ts";
import { clock } from "./clock.ts";
import { recall } from "./recall.ts";

/** What sources may know: whose turn it is, about what, and when. */
export interface GatherContext {
  readonly scope: ContactScope;
  readonly events: readonly StoredEvent[];
  /** The thread's time, milliseconds since 1970. */
  readonly at: number;
  readonly store: Pick<Store, "searchMemories">;
  readonly signal?: AbortSignal;
}

/** What the sources gave, and a sentence for each that gave nothing because of a failure. */
export interface Gathered {
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly notes: readonly { readonly layer: LayerId; readonly says: string }[];
}

/**
 * Asks the layers' sources side by side; each has `agent.budgets.source` milliseconds.
 * @throws StrataError `source_failed` when a required layer's source fails or is late
 */
export async function gather(agent: Agent, layers: readonly Layer[], context: GatherContext): Promise<Gathered> {
  const contents = new Map<LayerId, LayerContent>();
  const notes: { layer: LayerId; says: string }[] = [];
  await Promise.all(
    layers.map(async (layer) => {
      try {
        contents.set(layer.id, await inTime(ask(agent, layer, context), agent.budgets.source));
      } catch (thrown) {
        const says = thrown instanceof Error ? thrown.message : String(thrown);
        if (layer.required) throw failed(layer, says, thrown);
        contents.set(layer.id, { kind: "empty", because: says });
        notes.push({ layer: layer.id, says });
      }
    }),
  );
  return { contents, notes };
}

async function ask(agent: Agent, { source }: Layer, context: GatherContext): Promise<LayerContent> {
  switch (source.kind) {
    case "text":
      return { kind: "text", text: source.text };
    case "clock":
      return clock(context.at, source.timezone);
    case "recall":
      return recall(agent, source.limit, context);
    default:
      return never(source);
  }
}

/** The content, or a rejection when it is not there in time. What comes later is thrown away, its failure too. */
async function inTime(content: Promise<LayerContent>, milliseconds: number): Promise<LayerContent> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`it took longer than its ${milliseconds} ms`)), milliseconds);
  try {
    return await Promise.race([content, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function failed({ id }: Layer, says: string, cause: unknown): StrataError {
  return new StrataError(
    "source_failed",
    `the required layer ${id} has no content: ${says}; mend its source or make it optional`,
    { layer: id },
    cause,
  );
}
