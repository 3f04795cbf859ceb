/**
 * Strata's public face for programs: the whole engine (`openApp`), or its pure heart alone (`loadProject`, `compile`).
 * What is not listed here is not promised.
 */

import "./app/entry/node-version.ts";

export { z } from "zod";
export type { Environment, Project } from "./agents/index.ts";
export { loadProject } from "./app/entry/agents.ts";
export {
  type Answer,
  type App,
  type AppOptions,
  type Dispatcher,
  openApp,
  type Question,
  type Reloaded,
  type ServeOptions,
  type Serving,
  serve,
  startWork,
  type Timers,
  type WorkOptions,
} from "./app.ts";
export {
  type Compilation,
  type CompileInput,
  chooseMode,
  compile,
  countMessage,
  extend,
  frameResult,
  type ModeInput,
  requestOf,
} from "./compiler/index.ts";
// With these, who names the type of the runtime finds what each feature adds to it.
export type { AgentDoors } from "./features/agents/api.ts";
export type { DeliveryDoors } from "./features/deliveries/api.ts";
export type { FileDoors } from "./features/files/api.ts";
export type { InboxDoors } from "./features/inbox/api.ts";
export type { LifeDoors } from "./features/life/api.ts";
export type { LogDoors } from "./features/logs/index.ts";
export type {
  ImportProgress,
  ImportReport,
  MemoryDoors,
  MemoryExport,
  MemoryImport,
  MemoryWish,
  Note,
} from "./features/memories/api.ts";
export type { ScheduleDoors } from "./features/schedules/api.ts";
export type { SettingDoors } from "./features/settings/api.ts";
export type { SkillDoors } from "./features/skills/index.ts";
export type { TextDoors } from "./features/texts/api.ts";
export { clean, frame, messageToSign, type SignedMessage } from "./guard/index.ts";
export { bindModel, tokenCounter, wireBody } from "./models/index.ts";
export {
  type Action,
  type Actor,
  type ActorId,
  type Agent,
  type Allowed,
  type AssistantPart,
  actorId,
  agentName,
  allow,
  asStrataError,
  type ContactId,
  type CountTokens,
  contactId,
  type Epoch,
  ERRORS,
  type ErrorCode,
  eventId,
  type Framed,
  issueId,
  type Layer,
  type LayerContent,
  type Ledger,
  type LedgerEntry,
  layerId,
  MEMORY_KINDS,
  type Memory,
  type MemoryFilter,
  type MemoryId,
  type MemoryKind,
  type MemoryQuery,
  type Message,
  type Model,
  memoryId,
  type NewEvent,
  type NewMemory,
  type OwnSource,
  type Reply,
  type Request,
  type ResultPart,
  readFrames,
  type Scope,
  type SourceContext,
  type Spoken,
  type StoredEvent,
  StrataError,
  spoken,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  type ToolSchema,
  type TranscriptMessage,
  type Trust,
  type Trusted,
  type TurnEvent,
  threadId,
  toolName,
  trusted,
  turnId,
  type Untrusted,
  type Usage,
  untrusted,
} from "./protocol/index.ts";
export type { Change, MemoryHit, MemoryListing, MemoryStats, SavedMemory } from "./store/index.ts";
export type { Composed, Conversation, Runtime } from "./turn/index.ts";
export { defineSource, type SourceContent, type SourceDefinition } from "./turn/sources/index.ts";
export { defineTool, type ToolDefinition } from "./turn/tools/index.ts";
export { cardOf, planMarks } from "./wire/index.ts";
