/**
 * The vocabulary that all rooms share: ids, trusted and untrusted text, layers, messages, events, requests, tools, errors.
 * It imports no other room and has no side effects: only types, the functions that create branded values, and a few pure functions that
 * define a term (canonical JSON, digests, the grammar of frames, who may do what).
 */

export {
  type ActiveSkill,
  type ActiveText,
  type ActiveTexts,
  activeSkills,
  activeText,
  declaredText,
  inPlace,
  isInPlace,
  placeOf,
  skillNames,
  skillsText,
  standsAtFirst,
} from "./active-text.ts";
export {
  type Agent,
  type Budgets,
  type CoreAgent,
  DEFAULT_BUDGETS,
  HISTORIES,
  LONGEST_MESSAGE,
  type ModelRef,
  RECALLS,
  SPEND_PERIODS,
  type SpendPeriod,
  type ToolRule,
} from "./agent.ts";
export { APPROVAL_STATUSES, type Approval, type ApprovalStatus, type NewApproval } from "./approval.ts";
export type { Brand } from "./brand.ts";
export type { Embedded, Embedder, Embedding } from "./embedder.ts";
export { type Epoch, frozenIn, sentIn, type TranscriptMessage } from "./epoch.ts";
export { asStrataError, ERRORS, type ErrorCode, type ErrorTraits, never, StrataError } from "./errors.ts";
export {
  EVENT_KINDS,
  type EventKind,
  type EventStatus,
  maySay,
  type NewEvent,
  type SignedEvent,
  type StoredEvent,
} from "./event.ts";
export {
  FRAME_KINDS,
  type FrameHeader,
  type FrameKind,
  isoSecond,
  layerHeading,
  looksLikeOurs,
  type ReadFrame,
  readFrames,
  writeFrame,
} from "./frame.ts";
export {
  type AgentName,
  type ApprovalId,
  agentName,
  approvalId,
  type ContactId,
  contactId,
  type EventId,
  eventId,
  type IssuedKind,
  issuedAt,
  issueId,
  type LayerId,
  layerId,
  type MemoryId,
  memoryId,
  type OrgId,
  type OutboxId,
  orgId,
  outboxId,
  skillName,
  type ThreadId,
  type ToolName,
  type TurnId,
  threadId,
  toolName,
  turnId,
} from "./ids.ts";
export { canonicalJson, chained, type Digest, digestOf, type Json, type JsonObject, keyedDigest } from "./json.ts";
export {
  type Appearance,
  BETWEEN_PARTS,
  CACHE_USES,
  type CacheUse,
  type ContentItem,
  EDITORS,
  type FrozenMemory,
  joinParts,
  LAYER_SCOPES,
  type Layer,
  type LayerContent,
  type LayerPart,
  type LayerScope,
  type LayerVersion,
  type LeftOut,
  MODES,
  type Mode,
  MUTABILITIES,
  type Mutability,
  type Source,
  type SourceKinds,
} from "./layer.ts";
export { idsOf, layersNamed, layerWith } from "./layer-named.ts";
export { inPromptOrder } from "./layer-order.ts";
export type { EpochReason, Fate, Ledger, LedgerEntry, LedgerPart, Place, Renewal } from "./ledger.ts";
export {
  AGENT_STATES,
  type AgentState,
  type CreditRules,
  type Credits,
  PROOFS,
  type Proof,
  SEEN_STATES,
  type SeenState,
  SURVIVAL_TIERS,
  type SurvivalTier,
  type TextOrigin,
  type TextVerdict,
  type TopUp,
  usualPayment,
  type Vitals,
} from "./life.ts";
export { changedLines, type DiffLine, diffLines } from "./line-diff.ts";
export {
  isValidAt,
  MEMORY_KINDS,
  type Memory,
  type MemoryFilter,
  type MemoryKind,
  type MemoryQuery,
  type NewMemory,
  type QueryVector,
} from "./memory.ts";
export {
  type AssistantPart,
  type CallPart,
  type EventPart,
  type FilePart,
  holdsReasoning,
  type ImagePart,
  type LayerMark,
  type Message,
  type MessageRole,
  type ProviderMetadata,
  type ReasoningPart,
  type ResultPart,
  type TextPart,
  type TrustedMessage,
  type UserPart,
  withoutReasoning,
} from "./message.ts";
export {
  addUsage,
  billedUsage,
  type CountTokens,
  type FinishReason,
  type Model,
  type ModelEvent,
  NO_USAGE,
  type Prediction,
  type Reply,
  type SendOptions,
  type Usage,
} from "./model.ts";
export { nearest, suggestion } from "./nearest.ts";
export {
  EPHEMERAL_TAIL,
  type Mark,
  type Parameters,
  type Prefix,
  REASONING_LEVELS,
  type ReasoningLevel,
  type Request,
  type SystemBlock,
  type TailPart,
  type TailPlace,
  type TailPlan,
  type TailWay,
  type ToolSchema,
} from "./request.ts";
export {
  ACTIONS,
  type Action,
  type Actor,
  authorize,
  BATCH_SENDERS,
  batchContact,
  type ContactScope,
  erasedContact,
  isBatch,
  isErased,
  isReserved,
  may,
  memoryScope,
  ROLES,
  type Role,
  reaches,
  type Scope,
  SELF,
  trustOf,
  withArticle,
} from "./scope.ts";
export type { OwnSource, SourceContext, SourceItem, Vault } from "./source.ts";
export { SHORTEST_SECRET, secretsInAddress, spellings } from "./spellings.ts";
export { textDecided, textName, textOvertaken } from "./text-problems.ts";
export {
  CONVERSATION_LIMITS,
  EDIT_ENDS,
  MOVE_KINDS,
  type MoveKind,
  type NewText,
  TEXT_LIMITS,
  TEXT_STATUSES,
  type TextKey,
  type TextLimits,
  type TextMove,
  type TextPlace,
  type TextPointer,
  type TextStatus,
  type TextVersion,
  type TurnEdit,
  USUAL_TEXT_LIMITS,
  type VersionKey,
} from "./text-version.ts";
export {
  EDIT_TOOL,
  REPLY_TOOL,
  type SenderReply,
  type StoreWrite,
  TAINTED,
  type Tainted,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolLimits,
  type ToolOutcome,
  type ToolReader,
} from "./tool.ts";
export {
  type Framed,
  lowestTrust,
  type Spoken,
  spoken,
  TRUSTS,
  type Trust,
  type Trusted,
  trusted,
  type Untrusted,
  untrusted,
} from "./trust.ts";
export { STOP_REASONS, type StopReason, type TurnEvent, type TurnTotals } from "./turn.ts";
