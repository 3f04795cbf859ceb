/**
 * Threads and turns: receive, claim, gather, compile, send, tools, commit, deliver. Read `turn.ts` first. Every function takes the actor
 * (the caller). It knows no database, provider or wire format; it gets them as arguments.
 */

export {
  type AgentAccess,
  accessTo,
  accessToEach,
  agentNamed,
  awaitedCalls,
  endedFor,
  eventsFor,
  foundIn,
  recordAct,
  recordedAgent,
  recordedAgents,
  threadOf,
  turnOf,
} from "./access.ts";
export { type Core, createRuntime, newestOf } from "./create.ts";
export { finishErasures } from "./erase.ts";
export { type FeatureApi, featureApi, type OpenedApi } from "./feature-api.ts";
export type { Arrival } from "./intake/arrival.ts";
export { follow } from "./intake/follow.ts";
export { heldNow, pauseAfter, retryWhileBusy } from "./intake/lease.ts";
export { closedChannels, isClosedChannel } from "./intake/own-channels.ts";
export { checkOutside, knownScope, reach, writableScope } from "./intake/senders.ts";
export { isStepCall } from "./loop/answer.ts";
export { COMPLETE } from "./loop/ask-once.ts";
export { misfitsIn } from "./loop/misfits-in.ts";
export { BETWEEN_TURNS, callerOf, limitsOf, outOfState, runTool } from "./loop/run-tool.ts";
export {
  agentAt,
  inWindow,
  keepVersion,
  limitOf,
  NO_MODEL,
  parametersOf,
  setupOf,
  unpriced,
  upToDate,
} from "./loop/setup.ts";
export type {
  Allowance,
  AnswerStep,
  Beginning,
  CallInstead,
  CommitResult,
  Ending,
  FoundThread,
  FrozenBlock,
  LaterAnswer,
  MadeCall,
  ModelCall,
  Outgoing,
  OutgoingStep,
  Outside,
  Phase,
  RunningTurn,
  Settle,
  StepAnswer,
  TurnParts,
  TurnSetup,
  TurnSteps,
} from "./loop/steps.ts";
export { declaredTexts } from "./loop/stored-texts.ts";
export { isCalled } from "./loop/turn-state.ts";
export { answersLater } from "./loop/waits.ts";
export type { AgentBook, Parts } from "./parts.ts";
export { type Exchange, REPLAY, type RecordedReply, readRecording } from "./recording/recording.ts";
export { type ReplayedTurn, type ReplayPlan, replay } from "./recording/replay.ts";
export type {
  CallParameters,
  Composed,
  Conversation,
  RecordedResult,
  RegenerateOptions,
  ReplyTo,
  Run,
  RunOptions,
  Runtime,
  Use,
  Whose,
} from "./runtime.ts";
export { isTooDear } from "./spending/reserve-call.ts";
export { checkSpend, periodOf } from "./spending/spend.ts";
export { closedPoint } from "./variants/fork.ts";
export { type Answer, type Summing, summaryTurn } from "./variants/own-turn.ts";
export { limitName, NOT_AGAIN } from "./wording.ts";
