/**
 * Converts rows to records and back: the one storage contract and its implementations. It knows databases, but not prompts, models or
 * agents. Every function that touches thread, memory or conversation data takes a scope.
 */

export type { Generated } from "kysely";
export { EDIT_TEXT } from "./agent/edit-write.ts";
export { linkedTable } from "./agent/verify-recorded.ts";
export type {
  Act,
  AgentOwner,
  AgentStore,
  MoveRequest,
  MovesWish,
  Proposal,
  TextDecision,
  VersionsWish,
  WaitingMessage,
} from "./agent-store.ts";
export { toDoneBy } from "./agent-tables.ts";
export type { Caller, ContinuedRun, NewOpenCall, OpenCall } from "./call-records.ts";
export type { CopyProgress } from "./copy.ts";
export { applyWrites } from "./core-writes.ts";
export { evictedIn, FORGET_MEMORY, newMemoryId, SAVE_MEMORY } from "./memory/memory-writes.ts";
export type {
  AddedMemory,
  MemoryHit,
  MemoryListing,
  MemoryStats,
  MemoryStore,
  MemoryTopic,
  NewVectors,
  SavedMemory,
  SeenMemories,
  TopicWish,
  VectorState,
  VectorStore,
  WaitingText,
  WaitingTexts,
} from "./memory-store.ts";
export { type Migration, newColumn, newTable } from "./migrations.ts";
export { copyStores, openStore, resumeStore, serverFacts, storeName } from "./open-store.ts";
export { append, problem } from "./record/chain.ts";
export type { ContactRow } from "./record/contact-rows.ts";
export { idsOf } from "./record/lineage.ts";
export { keepOwn, keepShared, knownKey, ownText, scopeKey, sharedText, TEXT_OF } from "./record/pieces.ts";
export { endedTurns, spent } from "./record/reports.ts";
export type { FoundEvent, Retracted, Retraction } from "./record/retract.ts";
export type {
  ArrivingEvent,
  BatchReply,
  ChainHead,
  ChannelChoice,
  Claim,
  Claimed,
  ClaimRequest,
  ColumnCover,
  Finding,
  ForCaller,
  HeldThread,
  Paging,
  Position,
  Posted,
  RebuiltRequest,
  RequestRecord,
  RequestStart,
  SentRequest,
  Settled,
  Slot,
  Start,
  Thread,
  ThreadOpening,
  TurnEnd,
  TurnOutcome,
  TurnRecord,
  UsageTotal,
  WholeHistoryEntry,
} from "./records.ts";
export { eventWords } from "./rows.ts";
export { senderOf } from "./slot-rows.ts";
export { type VectorExtension, vectorExtension } from "./sqlite/connection.ts";
export { openSqlite, type SqliteOptions } from "./sqlite/open.ts";
export { atMost, below, fixed, KEPT_ENDINGS, ONE, owner, plain, tables, within } from "./statement.ts";
export type {
  BatchOpening,
  Failures,
  JournalKey,
  JournalState,
  JournalTurn,
  Store,
  WaitingThread,
} from "./store.ts";
export { batchMemberOf } from "./threads/batch-members.ts";
export { addEvents } from "./threads/events.ts";
export { callLeftOpen } from "./threads/open-calls.ts";
export { TELL_CALLER } from "./threads/tell-caller.ts";
export { openRow } from "./threads/threads.ts";
export { addLateReply } from "./turns/apply-turn.ts";
export { leases } from "./turns/leases.ts";
export {
  type AlsoStored,
  type BackupProgress,
  type Change,
  type EndedTurn,
  type Erasing,
  inOrder,
  type LeftDone,
  type Lineage,
  type OneTurn,
  type Retracting,
  type StorePart,
  type Tx,
  type WriteAt,
  type WriteKind,
  type Writes,
} from "./tx.ts";
export { type WriteToken, writeKind, writesOf } from "./write-kind.ts";
