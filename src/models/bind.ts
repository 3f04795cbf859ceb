import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Model, ModelEvent, ModelRef, Request } from "../protocol/index.ts";
import { toCallOptions } from "./call-options.ts";
import { type Dialect, dialectOfRef } from "./dialect.ts";
import { type Asked, brokenOff, cancelled, modelError } from "./failure.ts";
import { finished, gathering, take } from "./reply.ts";

/** How a language model is known, and what its errors must not repeat. */
export interface Binding {
  readonly ref: ModelRef;
  readonly wire: ModelRef;
  readonly secrets?: readonly string[];
  /** How the provider wants its calls; left out, the wire's name tells. */
  readonly dialect?: Dialect;
}

/** Makes a `Model` of any model of the AI SDK's provider interface. Always streams; the provider's shapes end here. */
export function bindModel(languageModel: LanguageModelV4, binding: Binding): Model {
  const { ref, wire, secrets = [], dialect = dialectOfRef(wire) } = binding;
  const call = (request: Request) => toCallOptions(request, dialect);
  return {
    ref,
    wire,
    send: (request, { signal }) => send(languageModel, () => call(request), signal, { ref, secrets }),
  };
}

async function* send(
  languageModel: LanguageModelV4,
  call: () => LanguageModelV4CallOptions,
  signal: AbortSignal,
  asked: Asked,
): AsyncGenerator<ModelEvent> {
  try {
    const reply = gathering();
    for await (const part of stream(languageModel, { ...call(), abortSignal: signal }, signal)) {
      yield* take(reply, part);
    }
    const whole = finished(reply);
    if (whole === undefined) throw brokenOff(asked);
    yield { type: "reply", reply: whole };
  } catch (thrown) {
    throw signal.aborted ? cancelled(asked, signal.reason) : modelError(thrown, asked);
  }
}

/** The call's stream until it ends or `signal` is aborted; a model that is deaf to the signal is left behind. */
async function* stream(
  languageModel: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV4StreamPart> {
  signal.throwIfAborted();
  const reader = (await answered(languageModel, options, signal)).getReader();
  // Cancelling ends a read that waits, whatever the model does.
  const stop = () => void reader.cancel(signal.reason).catch(ignore);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** The stream once the model begins to answer. What comes after an abort is thrown away. */
async function answered(
  languageModel: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const answer = Promise.resolve(languageModel.doStream(options));
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => {
    reject(signal.reason);
    answer.then(({ stream }) => stream.cancel(signal.reason)).catch(ignore);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { stream } = await Promise.race([answer, aborted]);
    return stream;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** What fails after nobody waits for it any more has nobody to tell. */
function ignore(): void {}
