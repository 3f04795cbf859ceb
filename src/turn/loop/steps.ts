import type { Summary } from "../../compiler/index.ts";
import type {
  ActiveTexts,
  Actor,
  Agent,
  AgentName,
  Allowed,
  Budgets,
  CallPart,
  ContactId,
  ContactScope,
  CountTokens,
  Epoch,
  FrozenMemory,
  Layer,
  LayerContent,
  LayerId,
  Memory,
  Model,
  NewEvent,
  OwnError,
  OwnStop,
  Parameters,
  PayloadPart,
  Reply,
  Request,
  ReservedLimits,
  Scope,
  Spoken,
  StopReason,
  StoredEvent,
  StrataError,
  SurvivalTier,
  ThreadId,
  Tool,
  ToolName,
  Trust,
  Untrusted,
  WaitsFor,
} from "../../protocol/index.ts";
import type { AlsoStored, Caller, NewOpenCall, Start, Thread } from "../../store/index.ts";
import type { ModelCard } from "../../wire/index.ts";
import type { Lease } from "../intake/lease.ts";
import type { TurnQueue } from "../intake/turn-queue.ts";
import type { WaitingThreads } from "../intake/waiting-threads.ts";
import type { Parts } from "../parts.ts";
import type { CallParameters, ReplyTo, RunOptions } from "../runtime.ts";
import type { Gathered, LiveSources, StoredSources } from "../sources/index.ts";
import type { SpendTracker } from "../spending/spend-tracker.ts";

/** Who takes part in a turn, and how far it may go: all known before the thread is claimed. */
export interface TurnSetup {
  readonly agent: Agent;
  readonly model: Model;
  /** Of the model whose wire shape is sent: window, tokens, lengths. */
  readonly card: ModelCard;
  /** Of the model that answers: what it costs. A rehearsal or a recording costs nothing. */
  readonly prices: ModelCard;
  readonly count: CountTokens;
  readonly limits: Budgets["turn"];
  /** How well the agent can pay for itself, as the turn begins. */
  readonly tier: SurvivalTier;
  /** The maximum number of waiting messages in a turn, besides answers to open calls; if omitted, all that fit. */
  readonly messages?: number;
  /** Texts for layers of the prefix that come from neither the declaration nor an edit. In a running epoch, what is new in them is sent. */
  readonly texts?: ReadonlyMap<LayerId, LayerContent>;
  /** The same setup for the agent without these tools. */
  readonly withoutTools?: (names: readonly ToolName[]) => Promise<TurnSetup>;
  /** How the model is to answer in this turn, instead of the agent's own way. */
  readonly parameters?: CallParameters;
  /** How much the model should reason, if it has a setting for that. */
  readonly reasoning?: Parameters["reasoning"];
}

/**
 * What a turn is made from: the parts, what this program's other turns spend, the steps that features add, what is known of waiting
 * threads, and the callers waiting for a place.
 */
export interface TurnParts extends Parts {
  readonly spending: SpendTracker;
  readonly steps: Steps;
  readonly waiting: WaitingThreads;
  readonly queue: TurnQueue;
}

/** Who would begin a turn. */
export interface Beginning {
  readonly agent: Agent;
  /** On which thread, where that is known already. */
  readonly thread?: Thread;
  /** The contact with whom no other turn of the agent may run at the same time; if omitted, others may. */
  readonly alone?: ContactId | null;
  /** Whether anything waits for the turn, or will: without that, nothing is refused. */
  readonly waits: () => Promise<boolean>;
  /** Answers of a recording: the turn costs nothing and does not change the agent's state. */
  readonly recorded?: RunOptions["recorded"];
}

/** What features see of a running turn. It is one object from the claim to the end, so a feature can use it as the key of a WeakMap. */
export interface RunningTurn {
  readonly parts: TurnParts;
  readonly setup: TurnSetup;
  readonly lease: Lease;
  readonly recorded: RunOptions["recorded"];
  /** Who takes its reply. */
  readonly replyTo: ReplyTo;
  /** What of the run's limits is left for a call. The run itself keeps one model call, for its answer. */
  readonly limitsLeft: () => Budgets["turn"];
  /**
   * A summary of this text, by the agent's own model: a request of this turn. Undefined if it cannot be made. Further calls return the
   * same summary.
   */
  readonly sumUp: (said: { readonly text: Untrusted; readonly trust: Trust }) => Promise<Summary | undefined>;
  /** The key under which features leave an `outcomePart` for their `onCommit`. */
  readonly extras: object;
}

/** What an outside sender starts or says. */
export interface Outside {
  readonly agent: Agent;
  readonly scope: ContactScope;
  /** Who says it: a contact reads nothing of settings. */
  readonly actor: Allowed<"view">;
  /** Left out: of the channel and the key, whether there is one already or not. */
  readonly thread?: Thread;
  readonly opens?: { readonly channel: string; readonly key: string };
  readonly events: readonly NewEvent[];
}

/** The agent, its version and, if there is one, the thread. */
export interface Pinned extends Pick<Thread, "version">, Partial<Pick<Thread, "id">> {
  readonly scope: Pick<Scope, "org" | "agent"> & { readonly contact?: ContactId | null };
}

/** The context of a setup. */
interface SetupAround {
  readonly options: RunOptions;
  readonly thread: Pinned;
}

/** The thread as the turn finds it. */
export interface FoundThread {
  readonly scope: ContactScope;
  readonly epoch: Epoch | undefined;
  readonly undone?: ReadonlySet<string>;
}

/** What must be known about the memories at the start of the request before the sources are asked. */
export interface FrozenBlock {
  /** What would be frozen there if the turn opens an epoch; if omitted, nothing. */
  readonly frozen?: FrozenMemory;
  /** Something that the running epoch shows was forgotten: it must not be sent again. */
  readonly forgotten: boolean;
  /** Everything that could be there, the newest first. */
  readonly saved: readonly Memory[];
  readonly notes: Gathered["notes"];
}

/** A tool's result for a call that is answered later: the turn ends `waiting`, and its run continues with the answer. */
export interface LaterAnswer {
  readonly waitsFor: WaitsFor;
  /** Whether other messages wait until it is answered. Default: while an agent is asked. */
  readonly keeps?: boolean;
  /** After this many seconds of real time it is answered with a sentence. Default: never. */
  readonly seconds?: number;
  /** How much of the run's limits it may use. */
  readonly reserved?: ReservedLimits;
  /** Threads that begin with the turn's commit, and answer the call: `caller` goes into their openings. */
  readonly starts?: (caller: Caller) => readonly Start[];
}

/** A call of the model's that would run now. Where a person must be asked, and no step can ask one, it is refused. */
export interface MadeCall {
  readonly call: CallPart;
  readonly tool: Tool;
  readonly taint: Trust;
  readonly mustAsk: boolean;
}

/** What happens instead of the run of a call: it is refused, something is said as its result, or its answer comes later. */
export type CallInstead =
  | { readonly refuses: string }
  | { readonly message: Untrusted }
  | { readonly later: LaterAnswer };

/** How a turn ended, before it is committed. */
export type Ending =
  | { readonly status: "done"; readonly stop: StopReason; readonly reply: Spoken | null }
  | { readonly status: "waiting"; readonly reply: Spoken | null; readonly calls: readonly NewOpenCall[] }
  | { readonly status: "failed"; readonly error: StrataError };

/** Who pays for a request. */
export interface Spender {
  readonly parts: TurnParts;
  readonly setup: Pick<TurnSetup, "agent">;
  readonly recorded?: RunOptions["recorded"];
}

/**
 * Money that agents live on, besides the limit that every agent may have. An agent without any left calls no model; if it runs out
 * before a turn has said anything, the messages keep waiting.
 */
export interface Funds {
  /** How a turn ends that had said something when the money ran out, and the error of one that had not. */
  readonly stop: OwnStop;
  readonly error: OwnError;
  /** The record's note for messages that a turn of several senders left unanswered because it was missing. */
  readonly unanswered: string;
  /** Whether this agent lives on it. */
  readonly holds: (agent: Agent) => boolean;
  /** US dollars that are left; infinite if the agent does not live on it. */
  readonly left: (spender: Spender) => Promise<number>;
  readonly refusal: (agent: Agent, left: number) => StrataError;
}

/** What is left of an agent's money: in the period of its limit, and of its funds. */
export interface MoneyLeft {
  readonly allowed: number;
  readonly funds: readonly { readonly of: Funds; readonly dollars: number }[];
}

/** For an agent without any limit. */
export const NO_END: MoneyLeft = { allowed: Number.POSITIVE_INFINITY, funds: [] };

/** What a running turn is doing: asking its model, running the calls of an answer, or storing its outcome. */
export type Phase = "asking" | "acting" | "committing";

/** How the end of a turn was stored. `lost`: not at all, and its lease expires by itself. */
export type CommitResult = "recorded" | "lost";

/** A call of the model, as whoever may answer in its place sees it. */
export interface ModelCall {
  /** The request to be sent, except for the breakpoints. */
  readonly request: Omit<Request, "breakpoints">;
  /** The lowest trust of all that it was made from. An answer has it, too. */
  readonly taint: Trust;
  /** The messages that the turn handles. */
  readonly events: readonly StoredEvent[];
  /**
   * Asks the agent's model with this request and one more message at its end. The answer has passed the reply guard and is journaled: a
   * turn that is run again gets the same. The request counts for the limits of the turn and of the agent, and is recorded.
   * @throws StrataError as for the turn's own requests; `budget_too_small` if the message does not fit
   */
  readonly ask: (asked: StepQuestion) => Promise<string>;
}

/** A step's question to the agent's model. */
export interface StepQuestion extends Pick<CallParameters, "temperature" | "maxTokens"> {
  readonly message: Untrusted;
}

/** An answer in place of the model's. Its calls are checked and run like a model's. */
export interface StepAnswer {
  readonly text: string;
  readonly calls?: readonly Pick<CallPart, "tool" | "input">[];
}

/** Answers in place of the model, or listens to it. */
export interface AnswerStep {
  /** Who answers, as the record says it: `response cache`. */
  readonly by: string;
  /** The same, more exactly for this agent. */
  readonly byFor?: (agent: Agent) => string;
  /** Whether it answers all calls of this agent. Such an agent needs neither layers nor a model. */
  readonly alone?: (agent: Agent) => boolean;
  /**
   * Whether its work acts outside. Then it is written down before the work and after it: a turn that is run again gets the same answer, and
   * one that was interrupted in the middle ends without one. Other work is simply done again.
   */
  readonly effect: "none" | "external";
  /** It keeps answers of the model. So it also answers, and listens to, what another step asks the model. */
  readonly isCache?: true;
  /** Undefined: the next feature is asked, and at last the model. */
  readonly answer: (turn: RunningTurn, call: ModelCall) => Promise<StepAnswer | undefined>;
  /** The model has answered a call that the step had not. */
  readonly answered?: (turn: RunningTurn, call: ModelCall, reply: Reply) => Promise<void>;
}

/** Told what a call has cost, in US dollars. */
export type Settle = (dollars: number) => Promise<void>;

/** How much an agent may call its model, and spend on it. */
export interface Allowance {
  /** Whether money counts for this agent: a model without a known price is refused then. */
  readonly countsMoney: (parts: TurnParts, agent: Agent) => boolean;
  /**
   * Before each call of the model, including a summary's, with its maximum cost `most` in US dollars. Throwing prevents the call.
   * Undefined: nothing is counted.
   */
  readonly reserve: (turn: RunningTurn, most: number) => Promise<Settle | undefined>;
}

/** A reply before it goes out, as the reply guard has left it. */
export interface OutgoingReply {
  readonly text: Spoken;
  readonly to: ContactId;
  /** Whether this is what was said before the turn waits, and more may follow. */
  readonly waits: boolean;
  /** The lowest trust of all that the turn has read: the reply may repeat it. */
  readonly trust: Trust;
}

/** What a step did with a reply. `told`: the agent reads in its next request what was sent in place of its own words. */
export type Outgoing =
  | { readonly text: string; readonly told: boolean }
  /**
   * It is not sent, and the agent reads why: the end of a sentence, such as "a person must see it first". It comes with the platform's trust,
   * so it quotes nothing of the conversation.
   */
  | {
      readonly withheld: string;
      /** A person decides whether it is sent: so says the end of the turn, to a contact as well. */
      readonly drafted?: true;
    };

/** Changes or withholds outgoing text. Throwing ends the turn as failed: nothing is sent unseen. */
export interface OutgoingStep {
  /** Who did it, as the record says it: `signature`. */
  readonly by: string;
  /** Whether it may change or withhold what this agent says there. Then only operators see words before the commit. */
  readonly applies: (agent: Agent, thread: Thread) => boolean;
  /** Undefined: it is sent unchanged. A step sees the previous step's output. */
  readonly outgoing: (turn: RunningTurn, reply: OutgoingReply) => Promise<Outgoing | undefined>;
}

/**
 * The steps by which features take part in a turn. The turn calls these steps without naming any feature, in the order of the list
 * that `app` passes.
 */
export interface TurnSteps {
  /** Whether an outside sender may start this conversation, or say this there. Throwing refuses it, and nothing is stored. */
  readonly admit?: (parts: Parts, said: Outside) => Promise<void>;
  /** Before the claim: the limits of this turn, and the agent's tier. */
  readonly setup?: (parts: TurnParts, setup: TurnSetup, around: SetupAround) => Promise<TurnSetup>;
  /** Why no turn may begin now, if none may: messages keep waiting. */
  readonly checkStart?: (parts: TurnParts, beginning: Beginning) => Promise<StrataError | undefined>;
  /**
   * On which of the agent's threads no turn may begin now, and why: waiting messages there are passed over, and a request for a turn is
   * refused. Not `thread_busy`: doors wait until such a thread is free.
   */
  readonly blockedThreads?: (parts: TurnParts, agent: Agent) => Promise<ReadonlyMap<ThreadId, StrataError>>;
  /** Before sources are asked, and outside of their deadline: for work that is worth a short wait. */
  readonly prepare?: (parts: TurnParts, agent: Agent, signal?: AbortSignal) => Promise<void>;
  /** The thread is claimed. Throwing here ends the turn as failed. */
  readonly onStart?: (turn: RunningTurn) => Promise<void>;
  /** What fills live layers of this agent in one turn. */
  readonly sources?: (parts: TurnParts, agent: Agent) => LiveSources;
  /** The same for those whose text the turn itself changes: asked again after its calls, with `progress`. */
  readonly restated?: (parts: TurnParts, agent: Agent) => LiveSources;
  /** Fills layers of its prefix that are not texts of the store. `active` are the edited texts; undefined if they cannot be read. */
  readonly stored?: (parts: TurnParts, agent: Agent, active: ActiveTexts | undefined) => StoredSources;
  /** Memories for the start of an epoch, in frames. The first feature that answers decides. */
  readonly frozenBlock?: (parts: TurnParts, setup: TurnSetup, found: FoundThread) => Promise<FrozenBlock | undefined>;
  /** The contents of all live layers, as they are sent: to remove duplicates. */
  readonly gathered?: (agent: Agent, layers: readonly Layer[], gathered: Gathered) => Gathered;
  readonly answer?: AnswerStep;
  readonly outgoing?: OutgoingStep;
  /** Called as the turn moves on. */
  readonly phase?: (turn: RunningTurn, phase: Phase) => void;
  readonly funds?: Funds;
  readonly allowance?: Allowance;
  /** What is stored with events that this actor posts to the agent, in their transaction. */
  readonly received?: (parts: Parts, agent: AgentName, actor: Actor) => AlsoStored | undefined;
  /** Before a call runs, where its arguments are right and no limit forbids it. The first feature that has something instead decides. */
  readonly beforeCall?: (turn: RunningTurn, made: MadeCall) => CallInstead | undefined;
  /** What the caller of the turn's thread reads of a turn that ends the call. The first feature that returns something decides. */
  readonly saidToCaller?: (turn: RunningTurn, ending: Ending) => string | PayloadPart | undefined;
  /** The reader has the reply: they read the events of a turn that said something to the end. */
  readonly onReplyRead?: (turn: RunningTurn) => Promise<void>;
  /** After the turn, however it ended. Never throws. */
  readonly ended?: (turn: RunningTurn, ending: Ending, kept: CommitResult) => Promise<void>;
}

/** All steps as one, for the turn. */
export interface Steps
  extends Required<
    Omit<TurnSteps, "funds" | "allowance" | "received" | "checkStart" | "blockedThreads" | "answer" | "outgoing">
  > {
  /**
   * The reason why no turn may begin now, or undefined. First, whether another one runs; then, whether the thread is paused; then each
   * feature is asked.
   */
  readonly refusal: (parts: TurnParts, beginning: Beginning) => Promise<StrataError | undefined>;
  /** @throws StrataError that refusal */
  readonly checkStart: (parts: TurnParts, beginning: Beginning) => Promise<void>;
  readonly blockedThreads: (parts: TurnParts, agent: Agent) => Promise<ReadonlyMap<ThreadId, StrataError>>;
  readonly funds: readonly Funds[];
  readonly allowances: readonly Allowance[];
  /** What they store, and after it `also`. */
  readonly received: (
    parts: Parts,
    agent: AgentName,
    actor: Actor,
    also: AlsoStored | undefined,
  ) => AlsoStored | undefined;
  readonly answers: readonly AnswerStep[];
  /** Those that may change or withhold what the agent says on the thread. */
  readonly outgoing: (agent: Agent, thread: Thread) => readonly OutgoingStep[];
}
