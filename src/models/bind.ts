import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Model, ModelEvent, ModelRef } from "../protocol/index.ts";
import { toCallOptions } from "./call-options.ts";
import { type Comparison, type ComparisonWay, comparisons } from "./comparison.ts";
import { type Dialect, dialectOfRef } from "./dialect.ts";
import { becauseOf, brokenOff, type CalledModel, cancelled, modelError } from "./failure.ts";
import { type Cap, capOf, finished, fitting, type Gathering, gathering, take } from "./reply.ts";
import { LONGEST_ASKED, type Pause, pauseAfter, type Retry } from "./retry.ts";

/** The names of a language model, and what its errors must not contain. */
export interface Binding {
  readonly ref: ModelRef;
  readonly wire: ModelRef;
  readonly secrets?: readonly string[];
  /** The provider's dialect; if omitted, it follows from the wire's name. */
  readonly dialect?: Dialect;
  /** Its replies are known in advance and accepted at any length. */
  readonly whole?: true;
  /** If omitted, its provider is never asked why its cache missed. */
  readonly comparison?: ComparisonWay | undefined;
  /** If omitted, no call is repeated. */
  readonly retry?: Retry | undefined;
}

/** Turns any model of the AI SDK's provider interface into a `Model`. Always streams, and hides the provider's formats. */
export function bindModel(languageModel: LanguageModelV4, binding: Binding): Model {
  const { ref, wire, secrets = [], dialect = dialectOfRef(wire), retry, whole } = binding;
  const asked = { ref, secrets };
  const comparing = binding.comparison && comparisons(binding.comparison);
  return {
    ref,
    wire,
    resultMedia: dialect.resultMedia ?? [],
    ...(comparing && { compares: true }),
    send: (request, { signal, count }) => {
      const cap = whole ? undefined : capOf(request.parameters.maxTokens, count);
      const comparison = request.compare === undefined ? undefined : comparing?.(request.compare);
      const open = () => {
        const options = { ...toCallOptions(request, dialect), abortSignal: signal };
        return stream(languageModel, comparison?.asking(options) ?? options, signal);
      };
      return trySend(open, signal, { asked, retry, cap, comparison });
    },
  };
}

type Open = () => AsyncIterable<LanguageModelV4StreamPart>;
type Manner = Pick<Binding, "retry"> & {
  readonly asked: CalledModel;
  readonly cap: Cap | undefined;
  readonly comparison: Comparison | undefined;
};

/** Retries until an answer begins. Once any part of it has arrived, there is no retry: shown text cannot be taken back. */
async function* trySend(open: Open, signal: AbortSignal, manner: Manner): AsyncGenerator<ModelEvent> {
  const { asked, retry, comparison } = manner;
  for (let tries = 1; ; tries++) {
    const reply = gathering();
    try {
      return yield* listen(open, reply, manner);
    } catch (thrown) {
      if (signal.aborted) throw cancelled(asked, signal.reason);
      if (!reply.begun && comparison?.isRefused(thrown)) return yield* trySend(open, signal, manner);
      const pause = reply.begun || retry === undefined ? undefined : pauseAfter(thrown, tries, retry);
      if (retry === undefined || pause === undefined || pause.asked > LONGEST_ASKED || tries > retry.times) {
        throw modelError(thrown, asked, { tries, begun: reply.begun, ...lateness(pause, retry) });
      }
      yield { type: "retry", attempt: tries, milliseconds: pause.milliseconds, because: becauseOf(thrown, asked) };
      await slept(retry.sleep(pause.milliseconds, signal), signal, asked);
    }
  }
}

async function* listen(open: Open, reply: Gathering, { asked, cap, comparison }: Manner): AsyncGenerator<ModelEvent> {
  for await (const part of open()) {
    comparison?.take(part);
    const taken = cap === undefined ? part : fitting(reply, part, cap);
    if (taken !== undefined) yield* take(reply, taken);
    // Leaving the loop ends the stream.
    if (reply.capped) break;
  }
  const whole = finished(reply);
  if (whole === undefined) throw brokenOff(asked);
  yield { type: "reply", reply: { ...whole, ...comparison?.answer() } };
}

/** When the provider may be called again, if it asks for a long pause. */
const lateness = (pause: Pause | undefined, retry: Retry | undefined): { readonly until?: number } =>
  retry !== undefined && pause !== undefined && pause.asked > LONGEST_ASKED
    ? { until: retry.clock.real() + pause.asked }
    : {};

/** A pause ends early for one reason only. */
async function slept(sleep: Promise<unknown>, signal: AbortSignal, asked: CalledModel): Promise<void> {
  try {
    await sleep;
  } catch (thrown) {
    throw signal.aborted ? cancelled(asked, signal.reason) : thrown;
  }
}
/** The call's stream until it ends or `signal` is aborted. If a model ignores the signal, its stream is abandoned. */
async function* stream(
  languageModel: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV4StreamPart> {
  signal.throwIfAborted();
  const reader = (await answering(languageModel, options, signal)).getReader();
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

/** The stream once the model begins to answer. Parts that arrive after an abort are discarded. */
async function answering(
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

/** Ignores a failure once the result is no longer needed. */
function ignore(): void {}
