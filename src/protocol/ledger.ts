import type { LayerId, MemoryId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { CacheUse, LayerScope, LeftOut, Mode } from "./layer.ts";
import type { Sampling } from "./request.ts";
import type { Trust } from "./trust.ts";

/** The place of a section in the request. */
export type Place = "tools" | "system" | "transcript" | "message" | "tail";

/** What happened to a section. */
export type Fate =
  | { readonly fate: "kept" }
  | { readonly fate: "truncated"; readonly because: string }
  | { readonly fate: "lined"; readonly because: string }
  | { readonly fate: "dropped"; readonly because: string }
  | { readonly fate: "empty"; readonly because: string };

/** One section of a request: a layer, the tools, the transcript or the message. Tokens are counted, not billed. */
export type LedgerEntry = Fate & {
  readonly section: LayerId | "tools" | "transcript" | "message";
  readonly place: Place;
  readonly rank?: number;
  readonly scope?: LayerScope;
  readonly trust: Trust;
  readonly tokens: number;
  /** Its uncut size. */
  readonly wanted: number;
  /** Digest of its text if it is frozen: the layer's version. */
  readonly version?: Digest;
  /** Set if an edited version is active: its number. */
  readonly edited?: number;
  /** Items shown of items gathered, if the layer has items. */
  readonly items?: {
    readonly shown: number;
    readonly of: number;
    /** What its source found but left out. */
    readonly left?: readonly LeftOut[];
    /** The memories that are frozen at the start of the transcript, and why. */
    readonly memories?: readonly MemoryId[];
    readonly because?: string;
  };
  /** The parts of its text, if it has any: each file and skill, and what happened to it. */
  readonly parts?: readonly LedgerPart[];
};

/** What happened to one part of a layer. */
export interface LedgerPart {
  readonly name: string;
  readonly fate: "kept" | "truncated" | "dropped" | "empty";
  /** How it was changed, or why it is missing. */
  readonly because?: string;
  readonly tokens: number;
  /** Digest of its text before the budget cut anything. */
  readonly digest?: Digest;
}

/**
 * Why an epoch began. `refused`: the provider rejected the model's reasoning, so it is left out. `forgotten`: a
 * memory was deleted that the epoch before had frozen at its start, or showed later in its transcript. `alone`: with
 * `history: log`, each turn has its own. `edited`: a text of the prefix was changed, and a new prefix was cheaper than a note about it.
 * `model`: another model answers, whose requests have another format. `migrated`: the thread was moved to another version of its agent.
 * `mode`: a turn was run in another mode, with more or less of the prompt. `retracted`: an event was retracted that the epoch before
 * showed, or something that came from it. `resized`: the prefix took room that the conversation claims.
 */
export type EpochReason = "first" | "cut" | "refused" | "forgotten" | "alone" | "edited" | "resized" | Renewal;

/** Why an epoch begins with a newly rendered prefix while the conversation continues. */
export type Renewal = "model" | "migrated" | "mode" | "retracted";

/** Each section's fate and cost. `limit` is what may be sent: the budget less the reserve for the reply. */
export interface Ledger {
  readonly mode: Mode;
  readonly epoch: { readonly n: number; readonly reason: EpochReason; readonly opened: boolean; readonly cut: number };
  readonly entries: readonly LedgerEntry[];
  readonly tokens: number;
  readonly limit: number;
  /**
   * When the conversation is cut, in tokens: if it has more than `at`, so that `keep` stay; a turn adds `each`. `due` is set if the next
   * turn is going to cut it. `because` says why this turn cut it, or why it did not although the cache was cold. Left out if there is
   * nothing to cut.
   */
  readonly cutting?: {
    readonly at: number;
    readonly keep: number;
    readonly each: number;
    readonly due?: true;
    readonly because?: string;
  };
  /**
   * Set if texts of the prefix were edited during the epoch: which ones, whether this turn's message describes the edits or a new
   * epoch begins with them, and why.
   */
  readonly edits?: { readonly layers: readonly LayerId[]; readonly way: "told" | "epoch"; readonly because: string };
  /** Parameters of the agent or of the call that were not sent, because the model's API refuses them. */
  readonly omitted?: readonly { readonly parameter: keyof Sampling; readonly because: string }[];
  /** Where the texts of layers from disk came from in this turn. */
  readonly caches?: readonly { readonly layer: LayerId; readonly use: CacheUse }[];
  /**
   * Set if the request was sent a second time, because the provider said that earlier messages had been changed. That is a
   * bug in Strata: `changed` names what differs from the last answered request, or is missing if nothing does.
   */
  readonly refused?: { readonly changed: string | null };
  /** Of a request without a complete answer: its `compare`. An answer has it as `compared`. */
  readonly compare?: string | null;
}
