/**
 * Rows to records and back: the one storage contract and its implementations. It knows databases and nothing of prompts,
 * models or agents; every function that touches thread, memory or conversation data takes a scope.
 */
export { openSqlite, type SqliteOptions } from "./sqlite/open.ts";
export type {
  ApprovalFilter,
  ArrivingEvent,
  ChainHead,
  Claim,
  Claimed,
  ClaimRequest,
  Decision,
  Finding,
  Finish,
  JournalKey,
  JournalState,
  MemoryHit,
  OutboxMessage,
  RebuiltRequest,
  RequestRecord,
  Slot,
  Store,
  Thread,
  ThreadOpening,
  TurnEnd,
  TurnOutcome,
  TurnRecord,
  UsageTotal,
} from "./store.ts";
