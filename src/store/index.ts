/**
 * Rows to records and back: the one storage contract and its implementations. It knows databases and nothing of prompts,
 * models or agents; every function that touches thread, memory or conversation data takes a scope.
 */

export type {
  Act,
  AgentOwner,
  AgentStore,
  ConversationHead,
  ConversationLog,
  Credits,
  DeliveryTry,
  Exchange,
  LifeRecord,
  MoveRequest,
  MovesWish,
  TextDecision,
  TopUp,
  VersionsWish,
  WaitingMessage,
} from "./agent-store.ts";
export type { BatchOpening, Failures, StagedReply, WaitingThread } from "./batch.ts";
export type { CopyProgress } from "./copy.ts";
export type { ApprovalFilter, ArrivingEvent, Decision, Finish } from "./decision.ts";
export type { JournalKey, JournalState, JournalTurn } from "./journal-key.ts";
export type {
  AddedMemory,
  MemoryHit,
  MemoryStats,
  MemoryStore,
  MemoryTopic,
  SavedMemory,
  TopicWish,
} from "./memory-store.ts";
export { copyStores, openStore, serverFacts, storeName } from "./open-store.ts";
export type { OutboxMessage } from "./outbox-message.ts";
export type {
  BackupProgress,
  ChainHead,
  Claim,
  Claimed,
  ClaimRequest,
  Finding,
  HeldThread,
  RebuiltRequest,
  RequestRecord,
  RequestStart,
  SentRequest,
  Settled,
  Thread,
  ThreadOpening,
  TurnEnd,
  TurnOutcome,
  TurnRecord,
  UsageTotal,
} from "./records.ts";
export type { Slot } from "./slot.ts";
export { openSqlite, type SqliteOptions } from "./sqlite/open.ts";
export { type VectorExtension, vectorExtension } from "./sqlite/vector-extension.ts";
export type { Store } from "./store.ts";
export type { NewVectors, VectorState, VectorStore, WaitingText, WaitingTexts } from "./vectors.ts";
