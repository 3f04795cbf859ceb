import { findSecrets } from "../../../guard/index.ts";
import {
  type Agent,
  type Embedder,
  type MemoryQuery,
  type ModelRef,
  type QueryVector,
  StrataError,
} from "../../../protocol/index.ts";
import type { EmbedParts } from "./embed-scope.ts";

/** The share of a source's time that the embedder may take: the search itself comes after it. */
const SHARE = 0.6;

/** More or longer text says nothing new about the question. */
const LONGEST = 4_000;
const MOST_TEXTS = 8;

/** Vectors of texts that were asked for, so that a turn that searches twice asks once. */
const MOST_KEPT = 256;

/** Makes vectors of queries. */
export interface QueryVectors {
  /**
   * The query as one vector for each model: the texts' vectors with their weights. A text that holds a secret is omitted, so that it is not
   * sent anywhere.
   * @throws StrataError as `Embedder.embed`, `model_failed` when the time is up
   */
  of(agent: Agent, models: readonly ModelRef[], query: MemoryQuery): Promise<readonly QueryVector[]>;
}

export function queryVectors({ embedderOf, clock }: Pick<EmbedParts, "embedderOf" | "clock">): QueryVectors {
  const kept = new Map<string, Float32Array>();
  // A source may search twice in its time, and has one signal for both.
  const begun = new WeakMap<AbortSignal, number>();
  const leftOf = (whole: number, signal: AbortSignal | undefined): number => {
    const since = (signal && begun.get(signal)) ?? clock.real();
    if (signal !== undefined) begun.set(signal, since);
    return Math.max(0, Math.ceil(since + whole - clock.real()));
  };
  return {
    of: async (agent, models, { texts, signal }) => {
      const asked = texts
        .filter(({ text }) => findSecrets(text).length === 0)
        .slice(0, MOST_TEXTS)
        .map(({ text, weight }) => ({ text: text.slice(0, LONGEST).toWellFormed().trim(), weight }))
        .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
      if (asked.length === 0) return [];
      const whole = Math.ceil(agent.budgets.source * SHARE);
      const wait = { whole, left: leftOf(whole, signal) };
      const made = models.map(async (model) => {
        const named = asked.map(({ text }) => text);
        const embedder = embedderOf(model);
        const vectors = await inTime(embedder, wait, signal, (stop) => vectorsOf({ embedder, kept }, named, stop));
        return { model, values: mean(vectors.map((values, i) => ({ values, weight: asked[i]?.weight ?? 1 }))) };
      });
      return Promise.all(made);
    },
  };
}

interface Making {
  readonly embedder: Embedder;
  readonly kept: Map<string, Float32Array>;
}

/** Each text's vector, requested unless it is known. */
async function vectorsOf(
  { embedder, kept }: Making,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const keyOf = (text: string): string => `${embedder.ref}\n${text}`;
  const unknown = [...new Set(texts)].filter((text) => !kept.has(keyOf(text)));
  const { vectors } = unknown.length === 0 ? { vectors: [] } : await embedder.embed(unknown, { signal, once: true });
  const known = new Map(texts.map((text) => [text, kept.get(keyOf(text))]));
  for (const [i, text] of unknown.entries()) {
    const vector = vectors[i];
    if (vector === undefined) continue;
    known.set(text, vector);
    kept.set(keyOf(text), vector);
  }
  for (const key of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST_KEPT))) kept.delete(key);
  return texts.flatMap((text) => known.get(text) ?? []);
}

/** A late answer is dropped: the search goes on by words alone. */
async function inTime<T>(
  { ref }: Embedder,
  { whole, left }: { readonly whole: number; readonly left: number },
  signal: AbortSignal | undefined,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(left);
  try {
    return await work(signal === undefined ? late : AbortSignal.any([signal, late]));
  } catch (thrown) {
    if (!late.aborted || signal?.aborted === true) throw thrown;
    const message = `${ref} returned no vector within ${whole} ms; raise \`budgets.source\`, of which this is a part, or name a faster embedder`;
    throw new StrataError("model_failed", message, { model: ref, milliseconds: whole });
  }
}

/** One direction for all of them, of length 1. */
function mean(vectors: readonly { readonly values: Float32Array; readonly weight: number }[]): Float32Array {
  const [first] = vectors;
  if (first === undefined) return new Float32Array();
  const sum = new Float64Array(first.values.length);
  for (const { values, weight } of vectors)
    for (const [i, number] of values.entries()) sum[i] = (sum[i] ?? 0) + weight * number;
  const length = Math.hypot(...sum) || 1;
  return Float32Array.from(sum, (number) => number / length);
}
