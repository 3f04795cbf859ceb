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
// What each feature adds to the runtime: `app.runtime.use(MEMORY_API)` gives the functions of memories.
export { AGENT_API, type AgentApi } from "./features/agents/index.ts";
export { APPROVAL_API, type ApprovalApi } from "./features/approvals/index.ts";
export {
  BLOCK_API,
  type Block,
  type BlockApi,
  type BlockName,
  type BlockProposal,
  type NewBlock,
} from "./features/blocks/index.ts";
export { DELIVERY_API, type DeliveryApi } from "./features/deliveries/index.ts";
export { FILE_API, type FileApi } from "./features/files/index.ts";
export { INBOX_API, type InboxApi } from "./features/inbox/index.ts";
export { type AccessKey, type CreatedKey, KEY_API, type KeyApi, type KeyWish } from "./features/keys/index.ts";
export type { Judge, JudgeAnswer, JudgedPair } from "./features/learning/index.ts";
export { LIFE_API, type LifeApi } from "./features/life/index.ts";
export { LOG_API, type LogApi } from "./features/logs/index.ts";
export {
  type ImportProgress,
  type ImportReport,
  MEMORY_API,
  type MemoryApi,
  type MemoryExport,
  type MemoryImport,
  type MemoryWish,
  type Note,
} from "./features/memories/index.ts";
export { MESSAGE_API, type MessageApi } from "./features/messages/index.ts";
export { PEER_API, type PeerApi } from "./features/peers/index.ts";
export { type LeftDone, RETRACTION_API, type Retracted, type RetractionApi } from "./features/retractions/index.ts";
export { SCHEDULE_API, type ScheduleApi } from "./features/schedules/index.ts";
export { SETTING_API, type SettingApi } from "./features/settings/index.ts";
export { SKILL_API, type SkillApi } from "./features/skills/index.ts";
export { SUBAGENT_API, type SubagentApi } from "./features/subagents/index.ts";
export { TEXT_API, type TextApi } from "./features/texts/index.ts";
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
export { answersLater, type Composed, type Conversation, type LaterAnswer, type Runtime } from "./turn/index.ts";
export { defineSource, type SourceContent, type SourceDefinition } from "./turn/sources/index.ts";
export { defineTool, type ToolDefinition } from "./turn/tools/index.ts";
export { cardOf, planBreakpoints } from "./wire/index.ts";
