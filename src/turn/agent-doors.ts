import type {
  Actor,
  Agent,
  AgentName,
  ContactId,
  Credits,
  DiffLine,
  Layer,
  LayerId,
  StoredEvent,
  SurvivalTier,
  TextKey,
  TextLimits,
  TextMove,
  TextVersion,
  ThreadId,
  TopUp,
  Trust,
  TurnEvent,
  TurnId,
  Untrusted,
  VersionKey,
  Vitals,
} from "../protocol/index.ts";
import type { Act, ConversationHead, ConversationLog, OutboxMessage, Thread } from "../store/index.ts";
import type { DeliveryReport } from "./delivery.ts";
import type { InboxOptions, RunOptions } from "./run-options.ts";

/**
 * A version that is active, and whose declaration has passed over it since: `displaced` it is not sent, because its layer was locked, or
 * declared with another rank or source, or not at all; `outdated` it is sent, and its declared text is another than when it was written.
 */
export interface PassedOver extends VersionKey {
  readonly state: "displaced" | "outdated";
}

/** A layer as an operator sees it. */
export interface LayerView extends Pick<Layer, "id" | "rank" | "mutability" | "editors" | "scope" | "trust"> {
  /** What is sent of it now; none where a source fills it anew each turn. Of skills, those that are enabled. */
  readonly text?: string;
  readonly characters?: number;
  /** The active version; 0 for the declared text. None for what is never edited. */
  readonly version?: number;
  /** Whose words the active text is. */
  readonly wordsOf: Trust;
  /** How many proposals wait. */
  readonly proposals: number;
  /** Its source, where it is no text: `clock`, `vitals`. */
  readonly source?: string;
  /** Which of its edited texts the declaration has passed over; left out, none. */
  readonly passedOver?: readonly PassedOver[];
}

/** A skill as an operator sees it. */
export interface SkillView {
  readonly name: string;
  readonly enabled: boolean;
  /** What is sent of it while it is enabled; of a disabled one, what was sent last. */
  readonly text: string;
  /** The version of that text; 0 for the declared one. */
  readonly version: number;
  readonly wordsOf: Trust;
  readonly proposals: number;
}

/** A text that an operator gives: a layer's, the soul's, a skill's. */
export interface TextEdit extends TextKey {
  readonly text: string;
  readonly line?: string;
  readonly reason: Untrusted;
  /** True: its words are somebody else's, so it waits until an operator approves it. */
  readonly isOthers?: true;
}

/** Which versions: of one text or of all, only those before one, and how many at most; left out, 100. */
export interface VersionsChoice extends Partial<TextKey> {
  readonly before?: number;
  readonly limit?: number;
}

/** What was done: before a move of one layer's text, or with its versions before one only, and how much at most; left out, 100. */
export interface MovesChoice extends Partial<TextKey> {
  readonly before?: number;
  readonly below?: number;
  readonly limit?: number;
}

/** Two versions of one text; 0 is the declared one. */
export interface TextPair extends TextKey {
  readonly from: number;
  readonly to: number;
}

/** How two versions of a text differ, line by line. */
export interface TextComparison extends TextKey {
  readonly before: { readonly n: number; readonly text: string };
  readonly after: { readonly n: number; readonly text: string };
  readonly lines: readonly DiffLine[];
}

/** What an operator does with versions that are there. */
export interface TextChoice extends TextKey {
  readonly n: number;
  readonly reason: Untrusted;
}

/** An operator's word about a proposal. */
export interface TextVerdictChoice extends TextChoice {
  readonly verdict: "approved" | "rejected";
  /** The version that it shall take the place of; left out, the one that it was written over. */
  readonly over?: number;
}

/** Which skill, and why. */
export interface SkillChoice {
  readonly name: string;
  readonly reason: Untrusted;
}

/** What of an agent needs an operator. */
export interface Attention {
  readonly agent: AgentName;
  readonly proposals: number;
  /** How many edited texts are displaced, and how many outdated. */
  readonly displaced: number;
  readonly outdated: number;
  /** Which those are. */
  readonly passedOver: readonly PassedOver[];
  /** Messages that nobody could be given. */
  readonly undeliverable: number;
  /** Turns of the last seven days that left their sender without a reply, while nothing was said on their thread since: the newest first. */
  readonly unanswered: readonly TurnId[];
  /** Why it sleeps until somebody does something about it. */
  readonly asleep?: string;
}

/** The condition of an agent, and its credits. */
export interface LifeView {
  readonly agent: AgentName;
  readonly vitals: Vitals;
  /** Since when it is in its state, and why. */
  readonly since?: number;
  readonly because?: string;
  readonly credits?: Credits;
  /** Why no turn of it begins until somebody pays. */
  readonly asleep?: string;
  /** When its next turn of its own is due. */
  readonly nextTick?: number;
}

/** US dollars that an agent has left, and how well it can pay for itself with them. */
export interface FundsView {
  readonly balance: number;
  readonly tier: SurvivalTier;
  /** Why no turn of it begins until somebody pays. */
  readonly asleep?: string;
}

/** A file of an agent's prompt, as it was read last. */
export interface FileView {
  /** As the declaration has it. */
  readonly name: string;
  /** From the project's root on; left out where there is none. */
  readonly path?: string;
  /** `held back`: the guard finds fault with it, and nobody has approved it as it is. */
  readonly state: "sent" | "cut" | "held back" | "missing" | "empty";
  readonly characters: number;
  readonly notes: readonly string[];
}

/** The files of an agent's prompt, and what they define. */
export interface FilesView {
  readonly root: string;
  readonly files: readonly FileView[];
  /** Sub-agents that an AGENTS.md defines. */
  readonly subagents: readonly {
    readonly name: string;
    readonly description: string;
    readonly instructions: string;
  }[];
}

/** A message that waits for an agent, and from whom. */
export interface InboxMessage {
  readonly contact: ContactId;
  readonly event: StoredEvent;
  /** `staged`: a turn is handling it now. */
  readonly status: "waiting" | "staged";
}

/** A thread on which something waits that could be answered now. */
export interface WaitingThread {
  readonly thread: ThreadId;
  /** When the message came that waits longest, in real time. */
  readonly since: number;
  /** Whether nobody answers it but who looks after what waits; else whoever posted it may be about to. */
  readonly isHanded: boolean;
}

/** A message of the agent's, and to whom. */
export interface OutgoingMessage extends OutboxMessage {
  readonly contact: ContactId;
}

/** Everything about an agent at once. */
export interface AgentSnapshot {
  readonly agent: Agent;
  readonly layers: readonly LayerView[];
  readonly life?: LifeView;
  readonly conversations: readonly ConversationHead[];
  readonly inbox: number;
  readonly outbox: number;
  readonly undeliverable: number;
}

/** What is known of one conversation, and what it could be. */
export interface FactView {
  readonly name: string;
  /** Null where nobody set it and it has no default. */
  readonly value: string | null;
  /** Who set it, and when; left out, it is the default. */
  readonly by?: Actor["role"];
  readonly at?: number;
  readonly choices?: readonly string[];
  /** Of a text: characters at most. */
  readonly longest?: number;
  readonly description?: string;
  readonly sets?: "reasoning";
}

/**
 * What operators see and change of an agent: its layers, soul, skills, conversations, life and mail. Each call that changes or
 * reads what others said is recorded. A layer is named by its id, or by its rank where no other layer shares it. All of them
 * @throws StrataError `not_allowed` for anybody else, `agent_not_found`
 */
export interface AgentDoors {
  /** Everything of the agent at once, for who looks after it. */
  snapshot(actor: Actor, agent: AgentName): Promise<AgentSnapshot>;
  /** The facts that the agent declares, as they are in one conversation. @throws StrataError `thread_not_found` */
  facts(actor: Actor, thread: ThreadId): Promise<readonly FactView[]>;
  /** Sets one from its next turn on; null: it is not set any more. @throws StrataError `thread_not_found`, `invalid_input`, `not_allowed` */
  setFact(
    actor: Actor,
    thread: ThreadId,
    change: { readonly name: string; readonly value: string | null },
  ): Promise<FactView>;
  /** How long its texts may become by edits. */
  textLimits(actor: Actor, agent: AgentName): Promise<TextLimits>;
  /** All layers in the order of the prompt: what is immutable is marked. */
  layers(actor: Actor, agent: AgentName): Promise<readonly LayerView[]>;
  /** One of them. @throws StrataError `text_not_found`, `invalid_input` for a rank of several */
  layer(actor: Actor, agent: AgentName, layer: LayerId): Promise<LayerView>;
  /** All skills that are declared or were ever written, by name. */
  skills(actor: Actor, agent: AgentName): Promise<readonly SkillView[]>;
  /** What of its skills' folders could not be taken, and why. */
  badSkills(actor: Actor, agent: AgentName): Promise<readonly { readonly path: string; readonly says: string }[]>;
  /** Makes a text active that an operator wrote; of a skill, also enables it. @throws StrataError `text_not_found`, `text_refused` */
  editText(actor: Actor, agent: AgentName, edit: TextEdit): Promise<TextVersion>;
  /** Newest first. @throws StrataError `text_not_found` */
  textVersions(actor: Actor, agent: AgentName, choice?: VersionsChoice): Promise<readonly TextVersion[]>;
  /** @throws StrataError `text_not_found` */
  compareTexts(actor: Actor, agent: AgentName, pair: TextPair): Promise<TextComparison>;
  /** What was done with them, newest first. @throws StrataError `text_not_found` */
  textMoves(actor: Actor, agent: AgentName, choice?: MovesChoice): Promise<readonly TextMove[]>;
  /** Texts that wait for an operator, of one agent or of all: the oldest first, 100 at most where no limit is said. */
  proposals(
    actor: Actor,
    agent?: AgentName,
    limit?: number,
  ): Promise<readonly (TextVersion & { readonly agent: AgentName })[]>;
  /**
   * @throws StrataError `text_not_found`; `text_decided`, also where another version is active than it was written over and `over`
   * does not name it; `text_refused` where it no longer has room
   */
  decideText(actor: Actor, agent: AgentName, choice: TextVerdictChoice): Promise<TextVersion>;
  /** Makes an earlier version active, 0 the declared text. @throws StrataError as `decideText` */
  activateText(actor: Actor, agent: AgentName, choice: TextChoice): Promise<TextMove>;
  /**
   * Goes back to what stood there before the active version was made active; of a skill that was not enabled then, to nothing. A text
   * that is displaced, with no version to go back to that was written for the layer as it is now, is put away: also where the layer is
   * locked or declared no more.
   * @throws StrataError `text_not_found` where no version is active, else as `decideText`
   */
  rollbackText(actor: Actor, agent: AgentName, choice: Omit<TextChoice, "n">): Promise<TextMove>;
  /** Takes a skill out of the prompt. @throws StrataError `text_not_found` */
  disableSkill(actor: Actor, agent: AgentName, skill: SkillChoice): Promise<TextMove>;
  /** Puts back what a disabled skill said last. @throws StrataError `text_not_found`, `text_refused` */
  enableSkill(actor: Actor, agent: AgentName, skill: SkillChoice): Promise<TextMove>;
  /** What waits for an operator, of one agent or of all. No word of anybody is read for it, so it is not recorded. */
  attention(actor: Actor, agent?: AgentName): Promise<readonly Attention[]>;

  /** The files of its prompt, as they are now. @throws StrataError `text_not_found` for an agent without them */
  files(actor: Actor, agent: AgentName): Promise<FilesView>;
  /** Lets a file be sent as it is, whatever the guard finds in it. @throws StrataError `text_not_found`, `text_refused` */
  approveFile(
    actor: Actor,
    agent: AgentName,
    choice: { readonly path: string; readonly reason: Untrusted },
  ): Promise<TextVersion>;

  /** The last active first. */
  conversations(actor: Actor, agent: AgentName, limit: number): Promise<readonly ConversationHead[]>;
  conversation(actor: Actor, agent: AgentName, sender: ContactId): Promise<ConversationLog | undefined>;

  /** `wait`: milliseconds that the first balance of its account is waited for in this program; without it hardly any. */
  life(actor: Actor, agent: AgentName, options?: { readonly wait?: number }): Promise<LifeView>;
  /** What the agent lives on, without anything else of its life; none where it lives on no credits. */
  funds(actor: Actor, agent: AgentName): Promise<FundsView | undefined>;
  /** @throws StrataError `invalid_input` where the agent lives on no credits */
  topUp(
    actor: Actor,
    agent: AgentName,
    payment: { readonly dollars: number; readonly note: Untrusted },
  ): Promise<Credits>;
  topUps(actor: Actor, agent: AgentName, limit: number): Promise<readonly TopUp[]>;
  /** One turn of its own, now; the events of `run`. @throws StrataError `out_of_credits`, `invalid_input` for `history: transcript` */
  tick(actor: Actor, agent: AgentName, options?: RunOptions): AsyncGenerator<TurnEvent>;
  /**
   * The same where one is due by the agent's `life.tick`, and nothing where none is or one runs: of several programs that look at
   * once, one runs it. @throws StrataError as `tick`
   */
  tickDue(actor: Actor, agent: AgentName, options?: RunOptions): AsyncGenerator<TurnEvent>;

  /** What the agent does by the clock: whether a run is due, or may have been missed, and when the next is. */
  schedules(
    actor: Actor,
    agent: AgentName,
  ): Promise<
    readonly {
      readonly schedule: NonNullable<Agent["schedules"]>[number];
      readonly isDue: boolean;
      readonly next?: number;
    }[]
  >;
  /** A run besides those that are due; the events of `run`. @throws StrataError `invalid_input` for a schedule that is not declared */
  runSchedule(actor: Actor, agent: AgentName, schedule: string, options?: RunOptions): AsyncGenerator<TurnEvent>;
  /** The runs that are due, one after the other, and those that were missed, as the schedule says. Of several programs that look, one runs each. */
  runDueSchedule(actor: Actor, agent: AgentName, schedule: string, options?: RunOptions): AsyncGenerator<TurnEvent>;

  /**
   * One turn over what waits for longest; the events of `run`, none where nothing waits. Of one sender, or with `inbox: batch` of up
   * to five: then each gets what the agent sends them with `reply_to_sender`, and the final text goes to nobody. Replies wait in the
   * outbox, whoever reads `done`. One that was interrupted is taken up first. @throws StrataError `out_of_credits`
   */
  runInbox(actor: Actor, agent: AgentName, options?: InboxOptions): AsyncGenerator<TurnEvent>;
  /**
   * The threads on which something waits that a turn could answer now: nobody holds them, the agent can pay, its last turns there have
   * not failed just now, and no person has stopped the last one. Who waits longest comes first.
   */
  waiting(actor: Actor, agent: AgentName): Promise<readonly WaitingThread[]>;
  /** What waits for the agent, the oldest first. */
  inbox(actor: Actor, agent: AgentName, limit: number): Promise<readonly InboxMessage[]>;
  /** What it said, the newest first. */
  outbox(
    actor: Actor,
    agent: AgentName,
    wish: { readonly status?: OutboxMessage["status"]; readonly limit: number },
  ): Promise<readonly OutgoingMessage[]>;
  /** What operators did with the agent, the newest first: what, and about what. Texts that were changed are told by `textMoves`. */
  acts(actor: Actor, agent: AgentName, limit: number): Promise<readonly Act[]>;
  /** Says that a message was delivered. False where it did not wait any more. */
  delivered(actor: Actor, agent: AgentName, id: OutboxMessage["id"]): Promise<boolean>;

  /**
   * Replies of the thread that were committed and perhaps never shown, because the program that showed them ended first.
   * Each counts as delivered as it is given: of several programs that ask, one gets it.
   */
  undelivered(actor: Actor, thread: Thread): AsyncGenerator<OutboxMessage>;
  /** Says that the turn's reply has arrived where it was asked for, out of the record: it counts as delivered. */
  heard(actor: Actor, turn: TurnId): Promise<void>;
  /** How many of an agent's replies `deliverDue` could send now, counted up to a limit, and when the next falls due in real time. */
  deliveriesDue(
    actor: Actor,
    agent: AgentName,
    limit: number,
  ): Promise<{ readonly due: number; readonly next?: number }>;
  /**
   * Sends the replies that are due of an agent, where its declaration of today says `deliver`; each try is told. The platform's own
   * work: a server calls it again and again, and several times at once, so that a conversation whose replies are taken slowly holds
   * up no other.
   */
  deliverDue(actor: Actor, agent: AgentName, signal: AbortSignal): AsyncGenerator<DeliveryReport>;
}
