/**
 * Models behind one port. Here, and nowhere else, a neutral request becomes a provider's call and its stream becomes events
 * of ours: the types of the AI SDK do not leave this room. It knows the protocol and no other room; it reads no environment,
 * keeps no key and plans no cache marks. A call is repeated here and nowhere else, and only before its first word.
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
export { type LanguageModel, modelOfInstance, type OpenOptions, openEmbedder, openModel } from "./open.ts";
export { rehearsalModel } from "./rehearsal.ts";
export { RETRY, type Retry } from "./retry.ts";
export { type Calibration, calibration, countAhead, type TokenRule, tokenCounter } from "./tokens.ts";
export { wireBody } from "./wire-body.ts";
