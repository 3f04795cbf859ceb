import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Model, ModelRef } from "../protocol/index.ts";
import { bindModel } from "./bind.ts";
import { finishPart, localModel, textParts } from "./local-model.ts";
import { answer } from "./rehearsal-answer.ts";
import { sampleOf } from "./rehearsal-json.ts";
import { readPrompt } from "./rehearsal-reading.ts";

/**
 * For people without a key: a model that thinks nothing up. It reads the request it was given and nothing else, quotes
 * what it finds there, and uses the tools it was plainly asked to use. Same request, same words.
 */
export function rehearsalModel(wire: ModelRef = "anthropic:claude-sonnet-4-5"): Model {
  return bindModel(localModel("rehearsal", play), { ref: "rehearsal", wire });
}

async function* play(options: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  const reading = readPrompt(options);
  const { say: words, call } = answer(reading);
  const { responseFormat } = options;
  const asJson = words !== undefined && responseFormat?.type === "json";
  const say = asJson ? JSON.stringify(sampleOf(responseFormat.schema, words)) : words;
  if (say !== undefined) yield* textParts("said", say.match(/\s*\S+/g) ?? []);
  const input = JSON.stringify(call?.input ?? {});
  if (call !== undefined) {
    yield { type: "tool-call", toolCallId: `rehearsal-${reading.calls + 1}`, toolName: call.tool, input };
  }
  const tokens = { input: estimate(JSON.stringify(options.prompt)), output: estimate(say ?? input) };
  yield finishPart(call === undefined ? "stop" : "tool-calls", tokens);
}

/** Four characters a token: a rehearsal costs nothing, so a guess will do. */
const estimate = (text: string): number => Math.ceil(text.length / 4);
