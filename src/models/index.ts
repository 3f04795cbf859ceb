/**
 * Models behind one interface. Only this room converts a neutral request into a provider's call, and its stream into our
 * events: the types of the AI SDK do not leave it. It imports no room but the protocol; it does not read the environment,
 * keep keys or plan breakpoints. Only this room retries a call, and only before its first word.
 */
export type { Access, ProviderKind, Secrets } from "./access.ts";
export { type Binding, bindModel } from "./bind.ts";
export { bindEmbedder, type EmbedderBinding } from "./embed.ts";
export {
  type RecordedReply,
  recordedModel,
  type Script,
  type ScriptedEnd,
  type ScriptedPart,
  type ScriptedReply,
  scripted,
  scriptedModel,
} from "./local-model.ts";
export { firstServed, type LanguageModel, modelOfInstance, type OpenOptions, openEmbedder, openModel } from "./open.ts";
export { rehearsalModel, SHOWN_WIRE } from "./rehearsal.ts";
export { RETRY, type Retry } from "./retry.ts";
export { type Calibration, calibration, countAhead, type TokenRule, tokenCounter } from "./tokens.ts";
export { wireBody } from "./wire-body.ts";
