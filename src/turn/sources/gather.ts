import {
  type Agent,
  asStrataError,
  type Layer,
  type LayerContent,
  type LayerId,
  type Source,
  StrataError,
} from "../../protocol/index.ts";
import { allowance } from "./allowance.ts";
import { clock } from "./clock.ts";
import type { GatherContext, Timer } from "./context.ts";
import { own } from "./own.ts";

/** What the sources gave, one content for each layer asked for, and what went wrong on the way. */
export interface Gathered {
  readonly contents: ReadonlyMap<LayerId, LayerContent>;
  readonly notes: readonly Note[];
}

/** A source that failed or was late: a line for the log. */
interface Note {
  readonly layer: LayerId;
  readonly says: string;
}

/** How one source ended. */
type Ended = { readonly content: LayerContent } | { readonly because: string; readonly cause?: unknown };

/**
 * Asks the sources of these layers side by side; none takes longer than the agent's `budgets.source`. A source that
 * fails or is late gives an empty layer and a note (law 13).
 * @throws StrataError `source_failed` naming a required layer, `turn_cancelled` or what the signal's reason is
 */
export async function gather(agent: Agent, layers: readonly Layer[], context: GatherContext): Promise<Gathered> {
  const end = deadline(agent.budgets.source, context);
  try {
    const asked = layers.map((layer) =>
      Promise.race([ask(agent, layer, { ...context, signal: end.signal }), end.reached]),
    );
    return collect(layers, await Promise.all(asked));
  } finally {
    end.clear();
  }
}

/** Never rejects, so a source that fails after the deadline disturbs nobody. */
async function ask(agent: Agent, layer: Layer, context: Asking): Promise<Ended> {
  try {
    return { content: await contentOf(agent, layer, context) };
  } catch (thrown) {
    return { because: thrown instanceof Error ? thrown.message : String(thrown), cause: thrown };
  }
}

/** A context whose signal is aborted when the turn ends and when the time is up. */
type Asking = GatherContext & { readonly signal: AbortSignal };

async function contentOf(agent: Agent, layer: Layer, context: Asking): Promise<LayerContent> {
  const { source } = layer;
  const fill = context.live?.[source.kind];
  if (fill !== undefined) return fill(layer, context);
  switch (source.kind) {
    case "text":
      return { kind: "text", text: source.text };
    case "clock":
      return clock(source.timezone, context.at);
    case "allowance":
      return allowance(agent, context);
    case "own":
      return own(source.name, context, context.signal);
    default:
      return { kind: "empty", because: "nothing here fills it" };
  }
}

interface Deadline {
  /** Tells when the time is up; rejects when the turn is stopped. */
  readonly reached: Promise<Ended>;
  /** For those who work on: aborted when the time is up, when the turn is stopped, and when nobody waits any more. */
  readonly signal: AbortSignal;
  clear(): void;
}

function deadline(milliseconds: number, { signal, timer = realTimer }: GatherContext): Deadline {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const late = new AbortController();
  const stop = (): void => {
    reject(asStrataError(signal?.reason, "turn_cancelled"));
    late.abort(signal?.reason);
  };
  const cancel = timer(milliseconds, () => {
    resolve({ because: `it returned nothing within ${milliseconds} ms` });
    late.abort();
  });
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  // With no layers nobody waits for it.
  promise.catch(() => {});
  return {
    reached: promise,
    signal: late.signal,
    clear: () => {
      cancel();
      late.abort();
      signal?.removeEventListener("abort", stop);
    },
  };
}

const realTimer: Timer = (milliseconds, fire) => {
  const timeout = setTimeout(fire, milliseconds);
  return () => clearTimeout(timeout);
};

function collect(layers: readonly Layer[], ends: readonly Ended[]): Gathered {
  const contents = new Map<LayerId, LayerContent>();
  const notes: Note[] = [];
  for (const [i, end] of ends.entries()) {
    const layer = layers[i];
    if (layer === undefined) continue;
    if ("content" in end) {
      contents.set(layer.id, end.content);
      continue;
    }
    if (layer.required) throw failed(layer, end);
    contents.set(layer.id, { kind: "empty", because: `its source failed: ${end.because}` });
    notes.push({
      layer: layer.id,
      says: `the ${nameOf(layer.source)} source of layer ${layer.id} failed: ${end.because}`,
    });
  }
  return { contents, notes };
}

function failed({ id, source }: Layer, end: Extract<Ended, { because: string }>): StrataError {
  const says = `the required layer ${id} has no content, its ${nameOf(source)} source failed: ${end.because}; run the turn again, or make the layer optional`;
  return new StrataError("source_failed", says, { layer: id, source: nameOf(source) }, end.cause);
}

const nameOf = (source: Source): string => (source.kind === "own" ? source.name : source.kind);
