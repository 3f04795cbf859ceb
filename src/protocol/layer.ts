import type { LayerId, MemoryId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { Proof } from "./life.ts";
import { type Trust, type Trusted, trusted, type Untrusted } from "./trust.ts";

/** Who may change a layer: nobody at run time, a recorded edit, or the world itself. */
export const MUTABILITIES = ["immutable", "versioned", "live"] as const;
export type Mutability = (typeof MUTABILITIES)[number];

/** Who may edit a versioned text: the agent as well as operators, or these alone. */
export const EDITORS = ["agent", "operators"] as const;

/** Who shares a layer's bytes, the widest first: the order of the prompt. `turn` layers make the tail. */
export const LAYER_SCOPES = ["all", "org", "agent", "thread", "turn"] as const;
export type LayerScope = (typeof LAYER_SCOPES)[number];

/** How much of the prompt is sent: everything, some layers as one line, or the bare minimum for scheduled jobs. */
export const MODES = ["full", "compact", "minimal"] as const;
export type Mode = (typeof MODES)[number];

/** How a layer appears in one mode. */
export type Appearance = "whole" | "line" | "absent";

/** What fills a layer, and what is kept of each kind. A feature adds those that it brings where it declares them (`features/…/config.ts`). */
export interface SourceKinds {
  readonly text: { readonly text: Trusted; readonly file?: string };
  readonly clock: { readonly timezone: string };
  /** The tools of this turn, as fixed at its start: how often each, and in which states. */
  readonly allowance: Readonly<Record<never, never>>;
  /** A source of the operator's own, out of a module that strata.yaml names. */
  readonly own: { readonly name: string };
}

/** Where a layer's content comes from. */
export type Source = {
  readonly [Kind in keyof SourceKinds]: Flat<{ readonly kind: Kind } & SourceKinds[Kind]>;
}[keyof SourceKinds];

type Flat<T> = { [Name in keyof T]: T[Name] };

/**
 * One piece of the prompt. `rank` decides who wins (lower), `scope` where it stands. Live layers may share a rank: they are the
 * sections of one, and none of them commands.
 */
export interface Layer {
  readonly id: LayerId;
  readonly rank: number;
  readonly mutability: Mutability;
  /** A versioned text that operators alone may edit; left out, the agent may, too, where it has the tool. */
  readonly editors?: "operators";
  readonly scope: LayerScope;
  readonly trust: Trust;
  readonly source: Source;
  /** It stands right after that layer, and not where its rank would put it. Who wins still follows from the rank. */
  readonly after?: LayerId;
  /** Soft limit in tokens, applied when the total does not fit. */
  readonly budget?: number;
  /** Tokens that stay reserved for it whatever happens. */
  readonly minimum: number;
  /** A required layer that fails or does not fit stops the turn. */
  readonly required: boolean;
  readonly modes: Readonly<Record<Mode, Appearance>>;
  /** False: its words may be said as they are. Of an immutable text that does not say so, no longer run of words leaves in a reply. */
  readonly private?: false;
  /** The one line that stands for the layer where `modes` says `line`. */
  readonly line?: Trusted;
}

/** One gathered thing that somebody outside the platform wrote. */
export interface ContentItem {
  readonly id?: string;
  /** There where it stands for several: all of them, `id` the first. */
  readonly ids?: readonly string[];
  /** `data`: what a source of the operator's own found. */
  readonly kind: "memory" | "data";
  /** Who said it: a claim, shown inside the frame. */
  readonly name?: Untrusted;
  readonly text: Untrusted;
  readonly trust: Trust;
  /** Whether who said it signed it, where that is asked: in the frame's header. */
  readonly proof?: Proof;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What stands framed at the start of an epoch's transcript, instead of being recalled turn by turn. */
export interface FrozenMemory {
  /** The layer that it is of. */
  readonly layer: Layer;
  /** None: it is recalled. */
  readonly items: readonly (ContentItem & { readonly id: MemoryId })[];
  /** Why it stands there or does not. */
  readonly because: string;
}

/** What a source found and did not give, and why. */
export interface LeftOut {
  readonly because: string;
  readonly items: number;
}

/** A part of a layer's text with a name of its own: a file, a skill. */
export interface LayerPart {
  readonly name: string;
  /** Its piece of the text; nothing of one that is not there. */
  readonly text: Trusted;
  /** What was done to it before it came here, or why it is not there. */
  readonly because?: string;
  /** True: a limit of its own has shortened it. */
  readonly cut?: true;
}

/** How a source came by what it gave: out of its cache, out of it while that is refreshed behind, or by reading it. */
export const CACHE_USES = ["hit", "stale", "miss"] as const;
export type CacheUse = (typeof CACHE_USES)[number];

/** What a source gave for this turn. `because` says why there is nothing. */
export type LayerContent =
  /** The rest where they are not the layer's own: an active version that was edited, and the line that stands for it. */
  | {
      readonly kind: "text";
      readonly text: Trusted;
      readonly trust?: Trust;
      readonly version?: number;
      readonly line?: Trusted;
      /** What the text is made of, where it is made of parts: `joinParts` of them is the text. */
      readonly parts?: readonly LayerPart[];
      readonly cache?: CacheUse;
    }
  /** `intro`: the platform's line before the frames. */
  | {
      readonly kind: "items";
      readonly intro?: Trusted;
      readonly items: readonly ContentItem[];
      readonly left?: readonly LeftOut[];
    }
  | {
      readonly kind: "empty";
      readonly because: string;
      readonly parts?: readonly LayerPart[];
      readonly cache?: CacheUse;
    };

/** What stands between two parts. */
export const BETWEEN_PARTS = "\n";

/** The text that parts make: those that say something, one after the other. */
export const joinParts = (parts: readonly LayerPart[]): Trusted =>
  trusted(parts.flatMap(({ text }) => (text === "" ? [] : [text])).join(BETWEEN_PARTS));

/** A layer as rendered into a frozen block. */
export interface LayerVersion {
  readonly layer: LayerId;
  readonly digest: Digest;
}
