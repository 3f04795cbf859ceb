import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import {
  type CoreErrorCode,
  type Embedded,
  type Embedder,
  type ErrorKind,
  type ModelRef,
  StrataError,
} from "../protocol/index.ts";
import { becauseOf, type CalledModel, cancelled, modelError, splitRef } from "./failure.ts";
import { LONGEST_ASKED, pauseAfter, type Retry } from "./retry.ts";

/** The names of an embedding model, and what its errors must not contain. */
export interface EmbedderBinding {
  readonly ref: ModelRef;
  readonly secrets?: readonly string[];
  /** If omitted, no call is repeated. */
  readonly retry?: Retry | undefined;
}

/** The part of the AI SDK's embedding models that is used. It is the same in all versions since the third. */
export type EmbeddingModel = Pick<EmbeddingModelV4, "maxEmbeddingsPerCall" | "supportsParallelCalls" | "doEmbed">;

/** Turns any embedding model of the AI SDK's provider interface into an `Embedder`, and hides the provider's formats. */
export function bindEmbedder(model: EmbeddingModel, { ref, secrets = [], retry }: EmbedderBinding): Embedder {
  const asked = { ref, secrets };
  return {
    ref,
    embed: async (texts, { signal, once = false }) => {
      const manner = { asked, retry: once ? undefined : retry, signal };
      const calls = callsOf(texts, (await model.maxEmbeddingsPerCall) ?? MOST_TEXTS);
      const atOnce = (await model.supportsParallelCalls) ? AT_ONCE : 1;
      const answers: Embedded[] = [];
      for (let n = 0; n < calls.length; n += atOnce) {
        const group = calls.slice(n, n + atOnce);
        answers.push(...(await Promise.all(group.map((call) => asking(model, call, manner)))));
      }
      return {
        vectors: ofOneLength(
          answers.flatMap(({ vectors }) => vectors),
          asked,
        ),
        tokens: answers.reduce((sum, { tokens }) => sum + tokens, 0),
      };
    },
  };
}

/** The most texts of one call: more would make it slow, and a failure expensive. */
const MOST_TEXTS = 96;
const MOST_CHARACTERS = 96_000;

/** Parallel calls, if the model permits several. */
const AT_ONCE = 4;

function callsOf(texts: readonly string[], most: number): readonly (readonly string[])[] {
  const calls: string[][] = [];
  let characters = 0;
  for (const text of texts) {
    const open = calls.at(-1);
    characters += text.length;
    if (open === undefined || open.length >= Math.min(most, MOST_TEXTS) || characters > MOST_CHARACTERS) {
      calls.push([text]);
      characters = text.length;
    } else open.push(text);
  }
  return calls;
}

interface Manner {
  readonly asked: CalledModel;
  readonly retry: Retry | undefined;
  readonly signal: AbortSignal;
}

async function asking(model: EmbeddingModel, texts: readonly string[], manner: Manner): Promise<Embedded> {
  const { asked, retry, signal } = manner;
  for (let tries = 1; ; tries++) {
    try {
      return readEmbeddings(await answerOrAbort(model, texts, signal), texts.length, asked);
    } catch (thrown) {
      if (signal.aborted) throw cancelled(asked, signal.reason);
      const pause = retry && pauseAfter(thrown, tries, retry);
      if (retry === undefined || pause === undefined || pause.asked > LONGEST_ASKED || tries > retry.times)
        throw embedError(thrown, asked, tries);
      await retry.sleep(pause.milliseconds, signal).catch(() => {
        throw cancelled(asked, signal.reason);
      });
    }
  }
}

type Answer = Awaited<ReturnType<EmbeddingModel["doEmbed"]>>;

/** The answer, unless `signal` is aborted first. If a model ignores the signal, its answer is abandoned. */
async function answerOrAbort(model: EmbeddingModel, texts: readonly string[], signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([model.doEmbed({ values: [...texts], abortSignal: signal }), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function readEmbeddings({ embeddings, usage }: Answer, wanted: number, asked: CalledModel): Embedded {
  if (embeddings.length !== wanted)
    throw unreadableAnswer(`it returned ${embeddings.length} vectors for ${wanted} texts`, asked);
  const vectors = embeddings.map((numbers) => unitVector(numbers));
  if (vectors.some((vector) => vector === undefined || vector.length === 0))
    throw unreadableAnswer("one of its vectors is not made of numbers", asked);
  // If a provider reports no tokens, some packages return NaN.
  return { vectors: vectors.filter((vector) => vector !== undefined), tokens: Number(usage?.tokens) || 0 };
}

function ofOneLength(vectors: readonly Float32Array[], asked: CalledModel): readonly Float32Array[] {
  const lengths = new Set(vectors.map(({ length }) => length));
  if (lengths.size > 1) throw unreadableAnswer(`its vectors have ${[...lengths].join(" and ")} numbers`, asked);
  return vectors;
}

/** The vector at length 1, so that angles and distances give the same order; undefined if it contains a value that is not a number. */
function unitVector(numbers: ArrayLike<number>): Float32Array | undefined {
  let squares = 0;
  for (let i = 0; i < numbers.length; i++) squares += (numbers[i] ?? 0) ** 2;
  if (!Number.isFinite(squares)) return undefined;
  const length = Math.sqrt(squares) || 1;
  return Float32Array.from(numbers, (number) => number / length);
}

/**
 * A provider's error as one of ours, with the codes of models. The thrown value is not kept as the cause: it holds the texts.
 */
function embedError(thrown: unknown, asked: CalledModel, tries: number): StrataError {
  if (thrown instanceof StrataError) return thrown;
  const { traits, details } = modelError(thrown, asked, { tries });
  const because = [becauseOf(thrown, asked), tries > 1 ? `tried ${tries} times` : ""].filter((part) => part !== "");
  return embeddingError(traits, because.join("; "), asked, details);
}

const unreadableAnswer = (why: string, asked: CalledModel): StrataError => embeddingError("model_failed", why, asked);

function embeddingError(
  kind: CoreErrorCode | ErrorKind,
  because: string,
  { ref }: CalledModel,
  details?: Readonly<Record<string, unknown>>,
): StrataError {
  const { provider, model } = splitRef(ref);
  const why = because === "" ? "" : ` (${because})`;
  const message = `${provider} returned no vectors for ${model}${why}; ${NEXT.get(typeof kind === "string" ? kind : kind.code) ?? "check the network and the provider's address"}`;
  return new StrataError(kind, message, details ?? { provider, model });
}

const NEXT: ReadonlyMap<string, string> = new Map([
  ["key_refused", "check the key, and that it may use this model"],
  ["rate_limited", "wait a minute, or raise the account's limits"],
  ["model_refused", "check that this is a model for embeddings, its provider's address and the account"],
]);

const DIMENSIONS = 512;
/** Letters in one piece of a word. */
const PIECES = [3, 4, 5] as const;

/**
 * Not a model: a text's vector counts the pieces of its words, each by its hash. Texts with words from
 * the same pieces get similar vectors (`Geburtstagskuchen` and `Kuchen zum Geburtstag`), synonyms do not. For tests, and to
 * try vectors without a key; it needs no network and gives the same result on every machine.
 */
export function rehearsalEmbedder(): Embedder {
  return {
    ref: "rehearsal",
    embed: async (texts, { signal }) => {
      signal.throwIfAborted();
      return { vectors: texts.map(vectorOf), tokens: 0 };
    },
  };
}

function vectorOf(text: string): Float32Array {
  const counts = new Float64Array(DIMENSIONS);
  for (const piece of piecesOf(text)) {
    const hash = hashOf(piece);
    const at = hash % DIMENSIONS;
    // The sign is chance as well: two pieces in one place are as likely to cancel out as to add up.
    counts[at] = (counts[at] ?? 0) + (hash & 0x8000_0000 ? -1 : 1);
  }
  return unitVector(counts) ?? new Float32Array(DIMENSIONS);
}

function* piecesOf(text: string): Generator<string> {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  for (const word of words) {
    const signs = [..." ", ...word, " "];
    for (const length of PIECES) {
      for (let at = 0; at + length <= signs.length; at++) yield signs.slice(at, at + length).join("");
    }
  }
}

/** FNV-1a over the code units, in 32 bits. */
function hashOf(piece: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < piece.length; i++) hash = Math.imul(hash ^ piece.charCodeAt(i), 0x0100_0193);
  return hash >>> 0;
}
