import type { LayerId, MemoryId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { CacheUse, LayerScope, LeftOut, Mode } from "./layer.ts";
import type { Trust } from "./trust.ts";

/** Where in the request a piece stands. */
export type Place = "tools" | "system" | "transcript" | "message" | "tail";

/** What became of a piece. */
export type Fate =
  | { readonly fate: "kept" }
  | { readonly fate: "truncated"; readonly because: string }
  | { readonly fate: "lined"; readonly because: string }
  | { readonly fate: "dropped"; readonly because: string }
  | { readonly fate: "empty"; readonly because: string };

/** One piece of a request: a layer, the tools, the transcript or the message. Tokens are counted, not billed. */
export type LedgerEntry = Fate & {
  readonly piece: LayerId | "tools" | "transcript" | "message";
  readonly place: Place;
  readonly rank?: number;
  readonly scope?: LayerScope;
  readonly trust: Trust;
  readonly tokens: number;
  /** What it would have cost uncut. */
  readonly wanted: number;
  /** Digest of its text where it is frozen: the layer's version. */
  readonly version?: Digest;
  /** There where an edited version is active: its number. */
  readonly edited?: number;
  /** Items shown of items gathered, where the layer has items. */
  readonly items?: {
    readonly shown: number;
    readonly of: number;
    /** What its source found but left out. */
    readonly left?: readonly LeftOut[];
    /** The memories that stand frozen at the start of the transcript, and why they do. */
    readonly memories?: readonly MemoryId[];
    readonly because?: string;
  };
  /** What its text is made of, where it is made of parts: each file and skill, and what became of it. */
  readonly parts?: readonly LedgerPart[];
};

/** What became of one part of a layer. */
export interface LedgerPart {
  readonly name: string;
  readonly fate: "kept" | "truncated" | "dropped" | "empty";
  /** What was done to it, or why it is not there. */
  readonly because?: string;
  readonly tokens: number;
  /** Digest of its text before the budget cut anything. */
  readonly digest?: Digest;
}

/**
 * Why an epoch began. `refused`: the provider would not have the model's reasoning back, and it goes without. `forgotten`: a
 * memory was forgotten that stood frozen at the start of the one before, or was told in it and stayed. `alone`: with
 * `history: log` each turn has its own. `edited`: a text of the prefix was changed, and a new beginning was cheaper than telling it.
 * `model`: another model answers, whose requests have another shape. `migrated`: the thread was moved to another version of its agent.
 * `mode`: a turn was run in another mode, with more or less of the prompt.
 */
export type EpochReason = "first" | "cut" | "refused" | "forgotten" | "alone" | "edited" | Renewal;

/** Why an epoch begins with a prefix that is rendered anew while the conversation goes on. */
export type Renewal = "model" | "migrated" | "mode";

/** Each piece's fate and cost. `limit` is what may be sent: the budget less the reserve for the reply. */
export interface Ledger {
  readonly mode: Mode;
  readonly epoch: { readonly n: number; readonly reason: EpochReason; readonly opened: boolean; readonly cut: number };
  readonly entries: readonly LedgerEntry[];
  readonly tokens: number;
  readonly limit: number;
  /**
   * When the conversation is cut, in tokens of it: where it has more than `at`, so that `keep` stay; a turn adds `each`. `because`
   * says why this turn cut it, or why it did not though the cache was cold. Left out where there is nothing to cut.
   */
  readonly cutting?: {
    readonly at: number;
    readonly keep: number;
    readonly each: number;
    readonly because?: string;
  };
  /**
   * There where texts of the prefix were edited while the epoch ran: which, whether they were told in this turn's message or an
   * epoch begins with them, and why.
   */
  readonly edits?: { readonly layers: readonly LayerId[]; readonly way: "told" | "epoch"; readonly because: string };
  /** How layers that are read from disk came by their texts in this turn. */
  readonly caches?: readonly { readonly layer: LayerId; readonly use: CacheUse }[];
  /**
   * There where the request was sent a second time, because the provider said that what went before had been changed. That is a
   * mistake of Strata's: `changed` names what differs from the last request that was answered, none where nothing does.
   */
  readonly refused?: { readonly changed: string | null };
}
