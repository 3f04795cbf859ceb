/**
 * Threads and turns: receive, claim, gather, compile, send, tools, commit, deliver. Read `turn.ts` first. Every function takes the
 * actor (who asks). It knows no database, provider or wire format; it gets them as arguments.
 */

export { agentNamed, foundIn, threadOf, turnOf } from "./access.ts";
export { schemaDigest } from "./approvals.ts";
export { type Called, type CalledEnd, callTurn, endLeftCalls } from "./call-turn.ts";
export { type Core, createRuntime, newestOf } from "./create.ts";
export { type Desk, deskOf, desksOf, note } from "./desk.ts";
export { finishErasures } from "./erase.ts";
export { heldNow } from "./lease.ts";
export { isOwnChannel, OWN_CHANNELS, PEER } from "./own-channels.ts";
export { type Answer, newMemoryId, type Summing, summaryTurn } from "./own-turn.ts";
export type { AgentBook, Parts } from "./parts.ts";
export { pauseAfter } from "./pause-after.ts";
export { type Exchange, REPLAY, type RecordedReply, readRecording } from "./recording.ts";
export { type ReplayedTurn, type ReplayPlan, replay } from "./replay.ts";
export { retryWhileBusy } from "./retry-while-busy.ts";
export type { RecordedResult, Run, RunOptions } from "./run-options.ts";
export { callerOf, limitsOf, runTool } from "./run-tool.ts";
export type { Composed, Conversation, RegenerateOptions, Runtime, Whose } from "./runtime.ts";
export { checkOutside, knownScope, type Reached, reach, writableScope } from "./senders.ts";
export { agentAt, keepVersion, limitOf, parametersOf, setupOf, upToDate } from "./setup.ts";
export { checkSpend } from "./spend.ts";
export type {
  Beginning,
  Ending,
  Found,
  Kept,
  Phase,
  RunningTurn,
  Standing,
  TurnParts,
  TurnSetup,
  TurnSteps,
} from "./steps.ts";
export { declaredTexts } from "./stored-texts.ts";
export { BETWEEN_TURNS, outOfState } from "./tool-states.ts";
export { inWindow } from "./window.ts";
