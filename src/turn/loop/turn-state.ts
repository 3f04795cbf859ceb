import { type Compilation, countMessage, type Summary } from "../../compiler/index.ts";
import {
  addUsage,
  type Budgets,
  billedUsage,
  type CallLimits,
  type ContactId,
  canonicalJson,
  isBatch,
  isKept,
  issueId,
  lowestTrust,
  type Message,
  type Mode,
  NO_USAGE,
  type OutboxId,
  outboxId,
  type PlannedWrite,
  type Spoken,
  type StepRecord,
  type StoreWrite,
  type ToolName,
  type TranscriptMessage,
  type Trust,
  type TurnId,
  type TurnTotals,
} from "../../protocol/index.ts";
import type { Claim, JournalKey, RequestRecord, Thread, TurnOutcome } from "../../store/index.ts";
import type { Lease } from "../intake/lease.ts";
import { answersCall } from "../intake/own-channels.ts";
import type { Parts } from "../parts.ts";
import { REPLAY } from "../recording/recording.ts";
import type { ReplyTo, RunOptions } from "../runtime.ts";
import type { TrackedSpend } from "../spending/spend-tracker.ts";
import { batchMembersOf, fundsEnded, handledOf, repliesOf } from "../variants/batch-turn.ts";
import { NO_PAST, type Past } from "./plan-request.ts";
import { type Ending, type MoneyLeft, NO_END, type RunningTurn, type TurnParts, type TurnSetup } from "./steps.ts";
import { unremembered } from "./unremembered.ts";
import { forCaller, type LeftOpen } from "./waits.ts";

/** Of a turn that failed. */
const NOTHING_SAID = { stop: "answered", reply: null } as const;

export type OutgoingNote = NonNullable<StepRecord["outgoing"]>[number];

/** A running turn: who takes part, and what has come of it so far. Lives in memory until the one commit. */
export interface TurnState extends RunningTurn {
  readonly startedAt: number;
  past: Past;
  /** The newest compilation that was sent: it holds the epochs the turn opened. */
  sent: Compilation | undefined;
  /** The turn's messages after its events: replies and results. */
  readonly added: TranscriptMessage[];
  /** From which of them on nothing was sent yet. */
  unsent: number;
  readonly requests: RequestRecord[];
  readonly writes: PlannedWrite[];
  /** What the agent could still spend after the turn's last request. */
  left: MoneyLeft;
  /** Counts what the turn spends, for the agent's other turns, until it is in the record. */
  readonly tracked: TrackedSpend;
  /** In a turn of several senders: the reply to each. */
  readonly replies: Map<ContactId, Spoken>;
  /** Calls whose answers come later: the turn ends `waiting`. */
  readonly leftOpen: LeftOpen[];
  /** Who answered in place of the model, and the trust of what they were given. */
  readonly answered: {
    readonly by: string;
    readonly taint: Trust;
    readonly interrupted?: true;
    readonly failed?: true;
  }[];
  /** What was done with replies before they were sent. */
  readonly outgoing: OutgoingNote[];
  calls: number;
  /** Whether the model knows that this is its last request. */
  isLast: boolean;
  /** Calls that count for the limit of their tool. */
  readonly used: Map<ToolName, number>;
  /** How often each call that acts outside was asked for. */
  readonly outside: Map<string, number>;
  /** Answers that did not fit the agent's `output`. */
  misfits: number;
  /** How many of the claimed events the turn handles; the rest keep waiting for the next. */
  taken: number;
}

export function newTurnState(
  parts: TurnParts,
  setup: TurnSetup,
  lease: Lease,
  {
    sumUp,
    ...options
  }: RunOptions & {
    readonly sumUp?: (state: TurnState, ...said: Parameters<RunningTurn["sumUp"]>) => Promise<Summary | undefined>;
  },
): TurnState {
  const requests: RequestRecord[] = [];
  let summary: Promise<Summary | undefined> | undefined;
  const state: TurnState = {
    limitsLeft: () => leftOf(state),
    sumUp: (said) => {
      summary ??= sumUp?.(state, said) ?? Promise.resolve(undefined);
      return summary;
    },
    parts,
    setup,
    lease,
    recorded: options.recorded,
    replyTo: replyToOf(parts, options, lease.claim.thread),
    startedAt: parts.clock.real(),
    past: NO_PAST,
    sent: undefined,
    added: [],
    unsent: 0,
    requests,
    writes: [],
    left: NO_END,
    tracked: parts.spending.open(setup.agent, () => dollarsOf(requests)),
    replies: new Map(),
    extras: {},
    leftOpen: [],
    answered: [],
    outgoing: [],
    calls: 0,
    isLast: false,
    used: usedBefore(parts, lease.claim),
    outside: new Map(),
    misfits: 0,
    taken: lease.claim.events.length,
  };
  return state;
}

/** How much of each tool's limit the earlier turns of its run have used. Their messages are all there: an open run is never cut. */
function usedBefore({ tools }: Parts, { open, epoch, continues }: Claim): Map<ToolName, number> {
  const used = new Map<ToolName, number>();
  if (continues === undefined) return used;
  const results = (epoch?.transcript ?? []).flatMap(({ turn, message }) =>
    turn === continues.id && message.role === "tool" ? message.parts : [],
  );
  const counted = results.filter(({ tool, failed }) => !failed || tools.get(tool)?.effect === "external");
  for (const { tool } of [...counted, ...open]) used.set(tool, (used.get(tool) ?? 0) + 1);
  return used;
}

function replyToOf(parts: TurnParts, { replyTo = "reader", recorded }: RunOptions, thread: Thread): ReplyTo {
  const { channel, scope } = thread;
  // Nothing that is said there is delivered.
  if (recorded !== undefined || channel === REPLAY || answersCall(parts, thread)) return "nobody";
  // The replies to several senders are not in the turn's own end, so a reader of the end does not read them.
  return replyTo === "reader" && isBatch(scope) ? "outbox" : replyTo;
}

/** Whether another turn's call runs it. */
export const isCalled = ({ parts, lease }: Pick<TurnState, "parts" | "lease">): boolean =>
  answersCall(parts, lease.claim.thread);

/** How far a run has come towards its limits: its earlier turns, and what its open calls may use, included. */
export function usedOf({ requests, calls, leftOpen, lease }: TurnState): CallLimits {
  const before = lease.claim.continues?.used;
  const reserved = (key: keyof CallLimits): number =>
    leftOpen.reduce((sum, { open }) => sum + (open.reserved?.[key] ?? 0), before?.[key] ?? 0);
  return {
    modelCalls: requests.length + reserved("modelCalls"),
    toolCalls: calls + reserved("toolCalls"),
    dollars: dollarsOf(requests) + reserved("dollars"),
  };
}

function leftOf(state: TurnState): Budgets["turn"] {
  const { limits } = state.setup;
  const { modelCalls, toolCalls, dollars } = usedOf(state);
  const before = state.lease.claim.continues?.used.milliseconds ?? 0;
  return {
    modelCalls: Math.max(0, limits.modelCalls - modelCalls - 1),
    toolCalls: Math.max(0, limits.toolCalls - toolCalls),
    seconds: Math.max(0, limits.seconds - (before + state.parts.clock.real() - state.startedAt) / 1_000),
    ...(limits.maxCost !== undefined && { maxCost: Math.max(0, limits.maxCost - dollars) }),
  };
}

/** Of a turn that ended before its mode was chosen. */
const modeOf = ({ mode }: TurnSetup["agent"]): Mode => (mode === "auto" ? "full" : mode);

/** What is committed: the claim with the events that the turn has handled. */
export function claimOf({ lease: { claim }, taken }: TurnState): Claim {
  const events = claim.events.slice(0, taken);
  return { ...claim, events, ...(claim.batchMembers && { batchMembers: batchMembersOf(claim, events) }) };
}

/** A call is known by what it asks for: the next try may ask for the same in another order, or for fewer senders. */
export function journalKey(state: TurnState, { tool, input }: Pick<JournalKey, "tool" | "input">): JournalKey {
  const { thread, turn } = state.lease.claim;
  const name = `${tool} ${canonicalJson(input)}`;
  const ordinal = (state.outside.get(name) ?? 0) + 1;
  state.outside.set(name, ordinal);
  const senders = handledOf(state).map((one) => ({ scope: one.thread.scope, thread: one.thread.id, turn: one.turn }));
  return { thread: thread.id, turn, ordinal, tool, input, senders };
}

/** A tool's writes wait here for the commit. */
export function plan(state: TurnState, writes: readonly StoreWrite[]): readonly PlannedWrite[] {
  const { store, clock, random } = state.parts;
  const planned = store.writes.withIds(writes, clock.real(), random);
  state.writes.push(...planned);
  return planned;
}

/** The first turn of the run: its messages appear in the transcript as those of one turn, so a cut takes all of them or none. */
export const runIn = ({ turn, continues }: Pick<Claim, "turn" | "continues">): TurnId => continues?.id ?? turn;

/** Adds a message to the turn's. Derived text has the lowest trust of what it was made from. */
export function add(state: TurnState, message: Message, trust: Trust): TranscriptMessage {
  const added = { message, trust, tokens: countMessage(message, state.setup.count), turn: runIn(state.lease.claim) };
  state.added.push(added);
  return added;
}

export function totalsOf({ requests, calls, parts, startedAt }: TurnState): TurnTotals {
  return {
    modelCalls: requests.length,
    toolCalls: calls,
    usage: requests.reduce(
      (sum, request) => addUsage(sum, request.reply === null ? NO_USAGE : billedUsage(request.reply)),
      NO_USAGE,
    ),
    dollars: dollarsOf(requests),
    milliseconds: parts.clock.real() - startedAt,
  };
}

const dollarsOf = (requests: readonly RequestRecord[]): number =>
  requests.reduce((sum, request) => sum + request.dollars, 0);

/** The same outcome without its messages, if all of it cannot be written: the model calls and their cost stay. */
export function withoutWords(outcome: TurnOutcome): TurnOutcome {
  const requests = outcome.requests.map((request) => ({ ...request, own: 0, tail: [], reply: null }));
  return { ...outcome, messages: [], requests };
}

/** All that the turn changes, for the one commit. `isFinal`: it failed, and is not retried. */
export function outcomeOf(
  state: TurnState,
  ending: Ending,
  { isFinal = false }: { readonly isFinal?: boolean } = {},
): TurnOutcome {
  const { parts, setup, sent } = state;
  const claim = claimOf(state);
  const unpaid = "stop" in ending ? fundsEnded(state, ending.stop) : undefined;
  const trusts = [
    ...claim.events.map((event) => event.trust),
    ...[...state.requests, ...state.answered].map(({ taint }) => taint),
  ];
  const trust = lowestTrust(["agent", ...trusts]);
  const sentence = parts.steps.saidToCaller(state, ending);
  const answer = forCaller(parts, claim, ending, { trust, used: usedOf(state), isFinal, message: sentence });
  const replyId = outboxId(issueId("outbox", parts.clock.real(), parts.random(10)));
  return {
    end: isKept(ending) ? ending : { status: "failed", code: ending.error.code, message: ending.error.message },
    at: parts.clock.recorded(),
    model: setup.model.ref,
    wire: setup.model.wire,
    mode: sent?.ledger.mode ?? modeOf(setup.agent),
    epochs: sent?.opened ?? [],
    messages: [...(sent?.own ?? []), ...state.added.slice(state.unsent)],
    requests: state.requests,
    writes: state.writes,
    extras: state.extras,
    totals: totalsOf(state),
    ...(state.answered.length + state.outgoing.length > 0 && { steps: stepsOf(state) }),
    replyId,
    ...(claim.batchMembers && { replies: repliesOf(state, claim, "stop" in ending ? ending : NOTHING_SAID) }),
    ...(unpaid && { unpaid: { status: "failed", code: unpaid.error.code, message: unpaid.unanswered } }),
    unremembered: forgottenOf(state, ending, replyId),
    ...(ending.status === "waiting" && { starts: state.leftOpen.flatMap(({ starts }) => starts) }),
    ...(answer && { forCaller: answer }),
    ...(isFinal && claim.continues && { endsRun: true }),
  };
}

function stepsOf({ answered, outgoing }: TurnState): StepRecord {
  return {
    ...(answered.length > 0 && {
      answered: {
        by: [...new Set(answered.map(({ by }) => by))],
        taint: lowestTrust(answered.map(({ taint }) => taint)),
        ...(answered.some(({ interrupted }) => interrupted) && { interrupted: true }),
        ...(answered.some(({ failed }) => failed) && { failed: true }),
      },
    }),
    ...(outgoing.length > 0 && { outgoing }),
  };
}

/**
 * What is not to be remembered: calls between agents, and the messages and the answer of a turn with a write that says so.
 */
function forgottenOf(state: TurnState, ending: Ending, replyId: OutboxId): TurnOutcome["unremembered"] {
  const { batchMembers, events } = claimOf(state);
  if (!isKept(ending) || batchMembers !== undefined) return [];
  const forgets = state.writes.some(({ write }) => state.parts.store.writes.of(write).forgets);
  if (isCalled(state) || forgets) return [...events.map(({ id }) => id), replyId];
  return unremembered(events, { id: replyId, text: ending.reply }, state);
}
