import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type Json, type Model, type ModelRef, NO_USAGE } from "../protocol/index.ts";
import { bindModel } from "./bind.ts";
import { finishPart, localModel, textParts } from "./local-model.ts";

/** What an agent said and asked for, once, as a recording keeps it. */
export interface RecordedReply {
  readonly texts: readonly string[];
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly input: Json }[];
}

/**
 * A recording in a model's place: the n-th send gives the n-th reply, whatever was asked. After the last one it has nothing
 * to say and ends with `recording-ended`.
 */
export function recordedModel(replies: readonly RecordedReply[], wire: ModelRef): Model {
  let sends = 0;
  const languageModel = localModel("recording", () => play(replies[sends++]));
  return bindModel(languageModel, { ref: "recording", wire, whole: true });
}

async function* play(reply: RecordedReply | undefined): AsyncGenerator<LanguageModelV4StreamPart> {
  if (reply === undefined) {
    yield finishPart("other", NO_USAGE, "recording-ended");
    return;
  }
  for (const [index, text] of reply.texts.entries()) yield* textParts(`${index}`, [text]);
  for (const { id, tool, input } of reply.calls) {
    yield { type: "tool-call", toolCallId: id, toolName: tool, input: JSON.stringify(input) };
  }
  yield finishPart(reply.calls.length > 0 ? "tool-calls" : "stop", NO_USAGE);
}
