import type { z } from "zod";
import type {
  AgentName,
  CommitReport,
  ContactScope,
  Digest,
  DoneBy,
  EventId,
  LayerId,
  OrgId,
  OutboxId,
  PlannedWrite,
  Scope,
  StoreWrite,
  StrataError,
  ThreadId,
  ToolContext,
  Trust,
  TurnId,
} from "../protocol/index.ts";
import type { MemoryIndex, MemoryLimits } from "./memory/memory-index.ts";
import type { Migration } from "./migrations.ts";
import type { Claim, Finding, RequestRecord, TurnOutcome } from "./records.ts";
import type { Dialect, Ready, Statement } from "./statement.ts";

/**
 * One transaction, in which a store function runs its statements. The function awaits only this and functions that take it, so that a
 * transaction never waits for anything else. Only `Transactions` creates it: there are no queries outside of a transaction.
 */
export interface Tx {
  /** For the few lines that differ. */
  readonly dialect: Dialect;
  /** Chance from outside: that many random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly limits: MemoryLimits;
  /** Memories by their words and vectors: each database has its own way. */
  readonly index: MemoryIndex;
  /** The features' data here. */
  readonly parts: readonly StorePart[];
  all<R>(statement: Statement<R>): Promise<R[]>;
  first<R>(statement: Statement<R>): Promise<R | undefined>;
  /** The first column alone, for many rows at little cost. */
  column<V>(statement: Ready<V>): Promise<V[]>;
  /** Changes rows. On a server the answer is not awaited: a failure shows with a later statement, or at the commit. */
  run(statement: Statement<unknown>): Promise<void>;
  /** Gives how many rows were changed. */
  changed(statement: Statement<unknown>): Promise<number>;
}

/**
 * Begins and ends transactions. If the work throws, everything is rolled back. A function that needs a transaction takes a `Tx`; only
 * the outermost function, one of the store's contract, begins one.
 */
export interface Transactions {
  /**
   * One writer at a time: no function ever runs inside another's transaction. `ahead`: nothing of it goes out before a later commit
   * does, so the result may come before it is on the disk; a function is given what resolves then.
   */
  write<T>(
    work: (tx: Tx) => Promise<T>,
    how?: { readonly ahead: true | ((onDisk: Promise<void>) => void) },
  ): Promise<T>;
  /**
   * One snapshot for several reads; it never waits for a writer, and may not write. What it sees may not be on the disk yet: see `onDisk`.
   */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Pages of a backup. */
export interface BackupProgress {
  readonly done: number;
  readonly total: number;
}

/** A database: its transactions, and what each database does its own way outside of them. */
export interface Database extends Transactions {
  /** Its displayed address, without a password. */
  readonly name: string;
  readonly parts: readonly StorePart[];
  /** Whatever the driver threw, as a sentence with the next step. */
  failure(thrown: unknown): StrataError;
  /** Resolves once all that was committed here until now is on the disk, or the disk has failed. */
  onDisk(): Promise<void>;
  /** Problems of the database itself, whatever its rows say. */
  check(): Promise<readonly Finding[]>;
  /** The sentence for damage that a statement met. @throws any other error */
  damageSaid(thrown: unknown): string;
  /** Takes erased text out of what the database keeps besides its rows. False where that has to wait. */
  flush(): Promise<boolean>;
  /** A copy of everything at one moment, while others write. */
  backup(file: string, onProgress?: (progress: BackupProgress) => void): Promise<void>;
  /** Why nothing more can be kept; nothing where all is well. */
  trouble(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Makes functions of the store out of those that are given a transaction. */
export interface Binding {
  readonly reading: Bind;
  readonly writing: Bind;
}

type Bind = <Given extends readonly unknown[], R>(
  work: (tx: Tx, ...given: Given) => Promise<R>,
) => (...given: Given) => Promise<R>;

/** Something that was stored and that others may be waiting for. */
export interface Change {
  /** `message`, `turn`, or what a feature names; `projects` after a reload. */
  readonly kind: string;
  /** Whose it is; left out of what concerns all agents. */
  readonly scope?: Scope;
  readonly thread?: ThreadId;
  /** What has changed: the ids of events, of a turn, of a call; or names, for data without ids. */
  readonly ids: readonly string[];
}

/**
 * A feature's part of the store. The store gets a list of parts when it is opened and names none of them: it creates their tables,
 * calls them in each commit and each erasure, and lets them check their data.
 */
export interface StorePart<Functions extends object = object> {
  readonly name: string;
  /**
   * Each of its tables, and how its columns are covered; a row has the `org` and `agent` that it belongs to, and the `contact` if it is
   * about one.
   */
  readonly tables: Readonly<Record<string, TableCover>>;
  /** What makes them, where the schema that was there before features did not. */
  readonly migrations?: readonly Migration[];
  /** What others ask of it: `store.part(PART)`. */
  readonly functions: (bind: Binding) => Functions;
  /** Those of its functions after which others may have something to do: what has changed, by what the function was given. */
  readonly changes?: Readonly<Record<string, (...given: never[]) => Change>>;
  /** Those of its functions that are given a contact's scope and reach rows of the agent's others as well. */
  readonly wide?: readonly string[];
  /** Its tables of which each row has a link of the chain, by the word with which such a link begins. */
  readonly linked?: Readonly<Record<string, LinkedTable>>;
  /** What tools may plan, to be done in the turn's one commit. */
  readonly writes?: readonly WriteKind[];
  /** What else a turn that ends changes here, inside its one commit (law 7). */
  readonly onCommit?: (tx: Tx, turn: EndedTurn) => Promise<void>;
  /** What its rows say of a turn, by the names that the turn's link has for it. A name keeps its meaning, else no record of before verifies. `ending` is given in its commit: where that left nothing here, no row needs to be looked for. */
  readonly inLink?: (tx: Tx, of: OneTurn, ending?: EndedTurn) => Promise<Readonly<Record<string, unknown>>>;
  /** The contact's texts that its rows of a turn name: they are there, and blank only where the contact was erased. */
  readonly named?: (tx: Tx, of: OneTurn) => Promise<readonly Digest[]>;
  /** Its tables whose rows are digested under their contact's key: of a contact there may be nothing else. */
  readonly keyed?: readonly string[];
  /** Under which id it keeps a turn's reply, or the one that went out later by an act: the memory of the reply has its id from that. */
  readonly replyId?: (tx: Tx, of: OneTurn, act: string | null) => Promise<OutboxId | undefined>;
  /** Blanks what it keeps of a contact's words, before the contact's name goes from every row. */
  readonly erase: (tx: Tx, scope: ContactScope, erasing: Erasing) => Promise<void>;
  /**
   * What else came from the retracted events: events that report them, turns in which a model has read them. Called again until nothing is
   * added.
   */
  readonly derived?: (tx: Tx, retracting: Retracting) => Promise<void>;
  /** Undoes what it keeps of it. Texts of rows that name a turn of which nothing stays go by themselves. */
  readonly retract?: (tx: Tx, retracting: Retracting) => Promise<void>;
  /** Problems of its rows that no link repeats. */
  readonly verify?: (tx: Tx, org: OrgId) => Promise<readonly Finding[]>;
}

/**
 * How `verify` covers the columns of a table, each named once. `linked`: a link of the chain repeats it or a digest of it. `derived`: it
 * is worked out again from other rows. `volatile`: it changes without a link, and the answer of `verify` names it. `since`: those linked
 * ones that rows of before they were kept do not have.
 */
export interface TableCover {
  readonly linked?: string;
  readonly derived?: string;
  readonly volatile?: string;
  readonly since?: string;
}

/** In which commit a write lands: whose it is, when, and the id that was issued for it. */
export interface WriteAt {
  readonly scope: ContactScope;
  readonly at: number;
  readonly id: string | undefined;
  readonly turn: TurnId;
}

/** The core's view of a kind of write. Only its feature, which holds the token, can make a write or read it. */
export interface WriteKind {
  readonly kind: string;
  /** Issues the id of what it creates. Left out: it creates nothing that needs one. */
  readonly newId?: (at: number, random: (bytes: number) => Uint8Array) => string;
  /** What an unknown tool may ask for. If omitted, nothing: only the token plans such writes. */
  readonly forTools?: (context: Pick<ToolContext, "turn">) => z.ZodType<StoreWrite>;
  /** The turn's messages are not remembered: they would repeat what the write removes. */
  readonly forgets?: true;
  /** The write with at most that trust (law 6). */
  readonly limited: (write: StoreWrite, most: readonly Trust[]) => StoreWrite;
  /** The write with the values of secrets replaced in its texts. */
  readonly hidden: (write: StoreWrite, hide: (text: string) => string) => StoreWrite;
  /** Does it, inside the one commit (law 7). */
  readonly apply: (tx: Tx, write: StoreWrite, at: WriteAt) => Promise<readonly CommitReport[]>;
}

/** All kinds of writes that a store can do. */
export interface Writes {
  readonly kinds: readonly WriteKind[];
  /** @throws StrataError `unexpected` if no feature of this program has such writes */
  readonly of: (write: StoreWrite) => WriteKind;
  /** Whether a token has planned it, or an object only looks like one that was. */
  readonly isPlanned: (write: StoreWrite) => boolean;
  /** The writes with the ids that they need. */
  readonly withIds: (
    writes: readonly StoreWrite[],
    at: number,
    random: (bytes: number) => Uint8Array,
  ) => readonly PlannedWrite[];
}

/** Who erases, and when. */
export interface Erasing extends DoneBy {
  readonly at: number;
}

/** What came from an event, of one contact and agent. */
export interface Lineage {
  readonly scope: ContactScope;
  /** From when on anything may have been made of it. */
  readonly since: number;
  readonly events: ReadonlySet<EventId>;
  /** Of these, what the platform told of it along with other messages: what was saved in such a turn came from those. */
  readonly notices: ReadonlySet<EventId>;
  /** Turns that handled one of the events, and those that have said again what they told: no later request shows what was sent and said in them. */
  readonly turns: ReadonlySet<TurnId>;
  /** Of these, the ones of which nothing stays: they handled nothing else, or a model has read in them what was retracted. */
  readonly whole: ReadonlySet<TurnId>;
  /** The contact is erased: everything goes. */
  readonly isErased?: boolean;
}

/** An outside effect of a turn that is removed: a reply that was sent, or a call of a tool. */
export interface LeftDone {
  readonly what: "reply" | "call";
  /** The reply's id in the outbox, or the tool's name. */
  readonly name: string;
  readonly turn: TurnId;
}

export interface Retracting extends Erasing {
  readonly org: OrgId;
  /** Its number, with which rows are marked. */
  readonly n: number;
  /** Whose, in the order in which they were found. */
  readonly lineages: () => readonly Lineage[];
  /** Whether nothing stays of the turn that a row names. */
  readonly isGone: (row: OneTurn) => boolean;
  /** The platform's note about it to the agent. */
  readonly addNotices: (scope: ContactScope, events: readonly EventId[]) => void;
  /** Turns that are removed completely, because a model has read the retracted text in them. */
  readonly addTurns: (scope: ContactScope, since: number, turns: readonly TurnId[]) => void;
  /** Turns that leave the requests: their messages stay, and their replies, unless they repeat what is retracted. */
  readonly hide: (scope: ContactScope, since: number, turns: readonly TurnId[]) => void;
  /** Texts that go, unless something else names them. */
  readonly blank: (scope: ContactScope, texts: readonly (Digest | null)[]) => void;
  /** Rows of a table that names no turn: their texts go as those of a turn do of which nothing stays. */
  readonly drop: (scope: ContactScope, rows: DroppedRows) => void;
  /** What these turns sent beside the conversation goes. */
  readonly blankTails: (scope: ContactScope, turns: readonly TurnId[]) => void;
  /** Versions of a text that were made from it. The version before becomes active. */
  readonly withdraw: (version: WithdrawnVersion) => void;
  readonly withdrawn: readonly WithdrawnVersion[];
  /** A link whose row is gone. */
  readonly undo: (link: number) => void;
  /** What a retraction does not undo. */
  readonly leave: (one: LeftDone) => void;
}

/** Rows of a table, by the value of a column. */
export interface DroppedRows {
  readonly table: string;
  readonly column: string;
  readonly value: string;
}

/** A version of an agent's text that goes. */
export interface WithdrawnVersion {
  readonly agent: AgentName;
  readonly layer: LayerId;
  readonly part: string;
  readonly n: number;
}

/** A turn, and whose it is. */
export interface OneTurn extends ContactScope {
  readonly turn: TurnId;
}

/** A turn that ends: well, not so, or stopped, which sent nothing. */
export interface EndedTurn {
  readonly scope: ContactScope;
  readonly turn: TurnId;
  readonly requests: readonly Pick<RequestRecord, "dollars" | "at">[];
  /** Tells whoever follows the turn what the commit did, once it is on disk. */
  readonly report: (report: CommitReport) => void;
  /** Of one that ended well: what it was claimed with, and what came of it. */
  readonly done?: DoneTurn;
}

/** The claim and outcome of a turn that ended well. `words`: the reply's text, already stored; `keep` stores another of the contact's. */
export interface DoneTurn {
  readonly claim: Claim;
  readonly outcome: TurnOutcome;
  readonly words: Digest | null;
  readonly keep: (text: string) => Promise<Digest>;
}

/** A table of which each row is what its link of the chain says. */
export interface LinkedTable {
  /** The rows of one link, or the next ones after a link. */
  readonly rows: (
    tx: Tx,
    org: OrgId,
    which: { readonly link: number } | { readonly after: number },
  ) => Promise<readonly LinkedRow[]>;
}

export interface LinkedRow {
  readonly link: number;
  /** What people would call it. */
  readonly name: string;
  /** What its link must say. @throws StrataError `record_broken` where a text that it names is not what it was */
  readonly message: () => Promise<string>;
}

/** What is stored in the transaction that stores events on a thread, if one of them is new: `events` are the new ones. It may run again. */
export type AlsoStored = (tx: Tx, scope: ContactScope, thread: ThreadId, events: readonly EventId[]) => Promise<void>;

/** One after the other: the statements of a transaction have an order, also where each is awaited. */
export async function inOrder<T, R>(all: Iterable<T>, work: (one: T, i: number) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  let i = 0;
  for (const one of all) done.push(await work(one, i++));
  return done;
}
