import { type Compilation, countMessage } from "../compiler/index.ts";
import {
  addUsage,
  type Budgets,
  billedUsage,
  type ContactId,
  isBatch,
  isReserved,
  issueId,
  type MemoryId,
  type Message,
  type Mode,
  memoryId,
  type NewApproval,
  NO_USAGE,
  type OutboxId,
  outboxId,
  type Spoken,
  type StoreWrite,
  type ToolName,
  type TranscriptMessage,
  type Trust,
  type TurnTotals,
} from "../protocol/index.ts";
import type { Claim, RequestRecord, TurnOutcome } from "../store/index.ts";
import { batchMembersOf, repliesOf } from "./batch-turn.ts";
import type { Lease } from "./lease.ts";
import { PEER } from "./own-channels.ts";
import { NO_PAST, type Past } from "./plan-request.ts";
import { REPLAY } from "./recording.ts";
import type { RunOptions } from "./runtime.ts";
import type { TrackedSpend } from "./spend-tracker.ts";
import { type Ending, type Left, NO_END, type RunningTurn, type TurnParts, type TurnSetup } from "./steps.ts";
import { unremembered } from "./unremembered.ts";

/** Of a turn that failed. */
const NOTHING_SAID = { stop: "answered", reply: null } as const;

/** A running turn: who takes part, and what has come of it so far. Lives in memory until the one commit. */
export interface Work extends RunningTurn {
  /** What the turns of its calls have used of its limits. */
  readonly usedByCalls: { rounds: number; calls: number; dollars: number };
  /** Whether its reply is sent to nobody. */
  readonly toNobody: boolean;
  /** Whether nobody listens to it: its reply waits in the outbox. */
  readonly noReader: boolean;
  readonly startedAt: number;
  past: Past;
  /** The newest compilation that was sent: it holds the epochs the turn opened. */
  sent: Compilation | undefined;
  /** What the turn said after its events: replies and results. */
  readonly added: TranscriptMessage[];
  /** From which of them on nothing was sent yet. */
  unsent: number;
  readonly requests: RequestRecord[];
  readonly writes: { readonly id: MemoryId; readonly write: StoreWrite }[];
  /** What the agent may still spend, as it was after the turn's last request. */
  left: Left;
  /** Counts what the turn spends, for the agent's other turns, until the record holds it. */
  readonly tracked: TrackedSpend;
  /** In a turn of several senders: what each is told. */
  readonly replies: Map<ContactId, Spoken>;
  /** Calls that wait for a person from the commit on. */
  readonly approvals: NewApproval[];
  calls: number;
  /** Whether the model was told that it is asked for the last time. */
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

export function newWork(parts: TurnParts, setup: TurnSetup, lease: Lease, options: RunOptions): Work {
  const requests: RequestRecord[] = [];
  const work: Work = {
    usedByCalls: { rounds: 0, calls: 0, dollars: 0 },
    inner: {
      left: () => leftOf(work),
      ended: (totals) => {
        for (const key of ["rounds", "calls", "dollars"] as const) work.usedByCalls[key] += totals[key];
        options.used?.(totals);
      },
    },
    parts,
    setup,
    lease,
    recorded: options.recorded,
    toNobody: options.toNobody ?? (options.recorded !== undefined || TO_NOBODY.includes(lease.claim.thread.channel)),
    // What several senders are told is not in the turn's own end.
    noReader: options.noReader === true || isBatch(lease.claim.thread.scope),
    startedAt: parts.wall(),
    past: NO_PAST,
    sent: undefined,
    added: [],
    unsent: 0,
    requests,
    writes: [],
    left: NO_END,
    tracked: parts.spending.open(setup.agent, () => dollarsOf(requests)),
    replies: new Map(),
    approvals: [],
    calls: 0,
    isLast: false,
    used: new Map(),
    outside: new Map(),
    misfits: 0,
    taken: lease.claim.events.length,
  };
  return work;
}

/** Within how many milliseconds a reader of the turn takes its `done`, and a caller that waits for another's turn finds the reply. */
const LISTENS = 60_000;
const FINDS = 3_000;

/** From when on a reply that is committed now may be delivered: whoever is reading it must not get it twice. */
const deliverAfter = (now: number, isUnheard: boolean): number => now + (isUnheard ? FINDS : LISTENS);

/** The outbox delivers nothing that is said on these channels. */
const TO_NOBODY = [REPLAY, PEER];

/** Whether another turn's call runs it. */
export const isCalled = ({ lease }: Pick<Work, "lease">): boolean => lease.claim.thread.channel === PEER;

/** How far a turn has come towards its limits, the turns of its calls included. */
export function usedOf({ requests, calls, usedByCalls }: Work): Pick<TurnTotals, "rounds" | "calls" | "dollars"> {
  return {
    rounds: requests.length + usedByCalls.rounds,
    calls: calls + usedByCalls.calls,
    dollars: dollarsOf(requests) + usedByCalls.dollars,
  };
}

function leftOf(work: Work): Budgets["turn"] {
  const { limits } = work.setup;
  const { rounds, calls, dollars } = usedOf(work);
  return {
    rounds: Math.max(0, limits.rounds - rounds - 1),
    calls: Math.max(0, limits.calls - calls),
    seconds: Math.max(0, limits.seconds - (work.parts.wall() - work.startedAt) / 1_000),
    ...(limits.dollars !== undefined && { dollars: Math.max(0, limits.dollars - dollars) }),
  };
}

/** Of a turn that ended before its mode was chosen. */
const modeOf = ({ mode }: TurnSetup["agent"]): Mode => (mode === "auto" ? "full" : mode);

/** What is committed: the claim with the events that the turn has handled. */
export function claimOf({ lease: { claim }, taken }: Work): Claim {
  const events = claim.events.slice(0, taken);
  return { ...claim, events, ...(claim.batchMembers && { batchMembers: batchMembersOf(claim, events) }) };
}

/** A tool's writes wait here for the commit. */
export function plan(work: Work, writes: readonly StoreWrite[]): void {
  for (const write of writes) {
    work.writes.push({ id: memoryId(issueId("memory", work.parts.wall(), work.parts.random(10))), write });
  }
}

/** Adds a message to the turn's. Derived text has the lowest trust of what it was made from. */
export function add(work: Work, message: Message, trust: Trust): TranscriptMessage {
  const added = { message, trust, tokens: countMessage(message, work.setup.count), turn: work.lease.claim.turn };
  work.added.push(added);
  return added;
}

export function totalsOf({ requests, calls, parts, startedAt }: Work): TurnTotals {
  return {
    rounds: requests.length,
    calls,
    usage: requests.reduce(
      (sum, request) => addUsage(sum, request.reply === null ? NO_USAGE : billedUsage(request.reply)),
      NO_USAGE,
    ),
    dollars: dollarsOf(requests),
    milliseconds: parts.wall() - startedAt,
  };
}

const dollarsOf = (requests: readonly RequestRecord[]): number =>
  requests.reduce((sum, request) => sum + request.dollars, 0);

/** The same outcome without its messages, if all of it cannot be written: the model calls and their cost stay. */
export function withoutWords(outcome: TurnOutcome): TurnOutcome {
  const requests = outcome.requests.map((request) => ({ ...request, own: 0, tail: [], reply: null }));
  return { ...outcome, messages: [], requests };
}

/** All that the turn changes, for the one commit. */
export function outcomeOf(work: Work, ending: Ending): TurnOutcome {
  const { parts, setup, sent } = work;
  const claim = claimOf(work);
  const outbox = outboxId(issueId("outbox", parts.wall(), parts.random(10)));
  return {
    end:
      ending.status === "done" ? ending : { status: "failed", code: ending.error.code, message: ending.error.message },
    at: parts.clock(),
    model: setup.model.ref,
    wire: setup.model.wire,
    mode: sent?.ledger.mode ?? modeOf(setup.agent),
    epochs: sent?.opened ?? [],
    messages: [...(sent?.own ?? []), ...work.added.slice(work.unsent)],
    requests: work.requests,
    writes: work.writes.map((one) => one.write),
    memories: work.writes.map((one) => one.id),
    approvals: work.approvals,
    totals: totalsOf(work),
    outbox,
    // An agent's own turns answer nobody.
    ...(setup.agent.history === "log" && !isReserved(claim.thread.scope.contact) && !isCalled(work) && { log: true }),
    deliverAfter: isCalled(work) ? "nobody" : work.toNobody ? "never" : deliverAfter(parts.wall(), work.noReader),
    ...(claim.batchMembers && { replies: repliesOf(work, claim, ending.status === "done" ? ending : NOTHING_SAID) }),
    unremembered: forgottenOf(work, ending, outbox),
  };
}

/** What is not to be remembered: nothing that agents ask each other is. */
function forgottenOf(work: Work, ending: Ending, outbox: OutboxId): TurnOutcome["unremembered"] {
  const { batchMembers, events } = claimOf(work);
  if (ending.status !== "done" || batchMembers !== undefined) return [];
  if (isCalled(work)) return [...events.map(({ id }) => id), outbox];
  return unremembered(events, { id: outbox, text: ending.reply }, work);
}
