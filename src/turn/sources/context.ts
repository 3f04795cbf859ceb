import {
  type AgentState,
  type ContactId,
  type ContactScope,
  type CountTokens,
  type Epoch,
  type Layer,
  type LayerContent,
  type Memory,
  type MemoryId,
  type Mode,
  type OwnSource,
  SELF,
  type Source,
  type StoredEvent,
  type ThreadId,
  type ToolName,
  type Trusted,
  type TurnId,
  type Vault,
} from "../../protocol/index.ts";

/** How far the turn may go with a tool. */
export interface ToolAllowance {
  readonly name: ToolName;
  /** Calls in this turn; if omitted, as many as the turn has. */
  readonly calls?: number;
  /** In which states it may be called; if omitted, in each. */
  readonly states?: readonly AgentState[];
  /** What of its calls waits for a person. */
  readonly waiting?: () => Promise<readonly string[]>;
}

/** How far a turn has come. */
export interface TurnProgress {
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** How often each tool was called, as far as its own limit counts it. */
  readonly calls: ReadonlyMap<ToolName, number>;
  /** Who of several senders has a reply. */
  readonly answered: ReadonlySet<ContactId>;
  /** That the model is asked for the last time, if it is. */
  readonly last?: string;
}

/** Calls `fire` once after this many milliseconds, unless the returned function is called first. */
export type Timer = (milliseconds: number, fire: () => void) => () => void;

/** Fills a live layer. The signal ends when the time is up. */
export interface LiveSource {
  (layer: Layer, context: GatherContext & { readonly signal: AbortSignal }): Promise<LayerContent>;
  /**
   * It only reads the store, and a bounded part of it: it is waited for although the machine is busy, as `budgets.source` is for what
   * others may delay.
   */
  readonly readsStore?: true;
  /** What the model reads in the layer's place if the source fails. Default: that the layer could not be read. */
  readonly whenFailed?: Trusted;
}

/** The sources that features bring for one turn, by the kind that layers name. */
export type LiveSources = Readonly<Partial<Record<Source["kind"], LiveSource>>>;

/** Fills a layer of the prefix with its current text. */
export type StoredSource = (layer: Layer) => Promise<LayerContent>;

/** The sources of such layers that features bring for one turn, by the kind that layers name. */
export type StoredSources = Readonly<Partial<Record<Source["kind"], StoredSource>>>;

/** What sources may know of the turn. */
export interface GatherContext {
  readonly scope: ContactScope;
  /** The turn's subject, and nothing else: recall never reads what the platform itself wrote (law 12). */
  readonly events: readonly StoredEvent[];
  /** Whose thread is whose, if a turn handles events of several; if omitted, all belong to the scope's contact. */
  readonly senders?: ReadonlyMap<ThreadId, ContactId>;
  /** What the model already sees of the thread; empty before its first turn. */
  readonly epoch?: Epoch | undefined;
  readonly turn?: TurnId;
  /** The framed memories at the start of the request; if omitted, those of the running epoch. */
  readonly frozen?: readonly MemoryId[];
  /** What was saved, the newest first, if any of it is there. */
  readonly saved?: readonly Memory[];
  /** Turns, and what was said in them, that have not happened where the thread forked off. */
  readonly undone?: ReadonlySet<string>;
  readonly count: CountTokens;
  /** The thread's time, milliseconds since 1970. */
  readonly at: number;
  /** How much of the prompt is sent. */
  readonly mode?: Mode;
  /** Fills layers whose kind of source a feature brings. */
  readonly live?: LiveSources;
  /** The tools that it may call in this turn. */
  readonly tools?: readonly ToolAllowance[];
  /** How often the turn may call its model; if omitted, the agent's declared limit. */
  readonly modelCalls?: number;
  /** What is left to the turn; omitted in its first request, before any use. */
  readonly progress?: TurnProgress;
  /** The operator's own sources, by name. */
  readonly sources?: ReadonlyMap<string, OwnSource>;
  readonly vault?: Vault;
  readonly signal?: AbortSignal;
  /** Real time by default. */
  readonly timer?: Timer;
}

type SenderContext = Pick<GatherContext, "scope" | "senders" | "events">;

/** Whose thread an event is of. */
export function senderOf({ thread }: StoredEvent, { scope, senders }: SenderContext): ContactId {
  return senders?.get(thread) ?? scope.contact;
}

/** The authors of the turn's messages, each once, in the order of their first message. Empty in a self-started turn. */
export function sendersOf(context: SenderContext): readonly ContactId[] {
  const all = context.events.map((event) => senderOf(event, context));
  return [...new Set(all)].filter((contact) => contact !== SELF);
}
