/**
 * The sources of live layers: one file per kind, all called in parallel with one deadline. A source only reads, in the scope of its
 * turn; it renders nothing, writes nothing, and never sees a prompt.
 */
export type {
  GatherContext,
  LiveSource,
  LiveSources,
  StoredSource,
  StoredSources,
  Timer,
  ToolAllowance,
  TurnProgress,
} from "./context.ts";
export { senderOf, sendersOf } from "./context.ts";
export { type Gathered, gather } from "./gather.ts";
export { defineSource, type SourceContent, type SourceDefinition } from "./own.ts";
