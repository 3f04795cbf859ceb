import {
  type Agent,
  asStrataError,
  type Clock,
  type Embedder,
  type ModelRef,
  type Scope,
  type StrataError,
} from "../../../protocol/index.ts";
import type { NewVectors, Store, WaitingText } from "../../../store/index.ts";

/** How far one scope's vectors have come with one step. */
export interface Embedded {
  readonly model: ModelRef;
  /** Memories that were looked at. */
  readonly memories: number;
  /** Texts that got their vector with this step, and those that the provider would not take. */
  readonly made: number;
  readonly refused: number;
  /** As the provider reports them. */
  readonly tokens: number;
}

/** Memories that are read, embedded and kept together: the most that is lost when a step fails. */
const STEP = 64;

/**
 * Makes the vectors that one scope lacks, a step at a time, oldest first. While another model is in use, new memories get its vectors too,
 * so that search does not get worse until the wanted model has caught up.
 * @throws StrataError as `Embedder.embed` of the wanted model
 */
export async function* embedScope(
  parts: EmbedParts,
  scope: Scope,
  wanted: ModelRef,
  signal: AbortSignal,
): AsyncGenerator<Embedded> {
  await parts.store.dropVectors(scope, wanted);
  const serving = await parts.store.servingModels([scope]);
  for (const model of serving) {
    if (model === wanted) continue;
    try {
      yield* embedModel(parts, scope, model, signal);
    } catch (thrown) {
      // A model that is being replaced may be gone: its existing vectors are still used.
      if (signal.aborted) throw thrown;
    }
  }
  yield* embedModel(parts, scope, wanted, signal);
}

async function* embedModel(
  { store, embedderOf }: EmbedParts,
  scope: Scope,
  model: ModelRef,
  signal: AbortSignal,
): AsyncGenerator<Embedded> {
  for (;;) {
    signal.throwIfAborted();
    const waiting = await store.waitingTexts(scope, model, STEP);
    if (waiting === undefined) return;
    const { from, upto, memories, texts } = waiting;
    const { vectors, tokens } = await embedAll(embedderOf(model), texts, signal);
    await store.saveVectors(scope, model, { from, upto, vectors });
    const made = vectors.length;
    yield { model, memories, made, refused: texts.length - made, tokens };
  }
}

type Made = Pick<NewVectors, "vectors"> & { readonly tokens: number };

/** All texts; if the provider refuses them together, each separately, so that one refused text does not stop the others. */
async function embedAll(embedder: Embedder, texts: readonly WaitingText[], signal: AbortSignal): Promise<Made> {
  try {
    return await embed(embedder, texts, signal);
  } catch (thrown) {
    const refusal = asStrataError(thrown);
    if (signal.aborted || !isAboutTheTexts(refusal) || texts.length === 1) throw thrown;
    return oneByOne(embedder, texts, signal, refusal);
  }
}

/** An address or a model that is wrong refuses all; a text that is, mostly with one of these. */
const isAboutTheTexts = ({ code, details }: StrataError): boolean =>
  code === "model_refused" && [400, 413, 422].includes(Number(details?.["status"]));

/** After this many refusals in a row, the cause is taken to be the model and not the texts. */
const PATIENCE = 3;

async function oneByOne(
  embedder: Embedder,
  texts: readonly WaitingText[],
  signal: AbortSignal,
  refusal: StrataError,
): Promise<Made> {
  const all: Made[] = [];
  for (const [n, text] of texts.entries()) {
    try {
      all.push(await embed(embedder, [text], signal));
    } catch (thrown) {
      if (signal.aborted || !isAboutTheTexts(asStrataError(thrown))) throw thrown;
      if (n + 1 >= PATIENCE && all.length === 0) throw refusal;
    }
  }
  if (all.length === 0) throw refusal;
  return { vectors: all.flatMap(({ vectors }) => vectors), tokens: all.reduce((sum, { tokens }) => sum + tokens, 0) };
}

async function embed(embedder: Embedder, texts: readonly WaitingText[], signal: AbortSignal): Promise<Made> {
  if (texts.length === 0) return { vectors: [], tokens: 0 };
  const said = await embedder.embed(
    texts.map(({ text }) => text),
    { signal },
  );
  const vectors = texts.flatMap(({ memory, part }, i) => {
    const values = said.vectors[i];
    return values === undefined ? [] : [{ memory, part, values }];
  });
  return { vectors, tokens: said.tokens };
}

/** What vectors are made and searched with. */
export interface EmbedParts {
  readonly store: Store;
  /** The agents as they are declared now, with their embedders. */
  readonly agents: () => readonly Agent[];
  /** @throws StrataError `model_unknown`, `secret_missing`, … */
  readonly embedderOf: (ref: ModelRef) => Embedder;
  readonly clock: Pick<Clock, "real">;
}
