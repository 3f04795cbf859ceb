import type { LayerId, MemoryId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { Trust, Trusted, Untrusted } from "./trust.ts";

/** Who may change a layer: nobody at run time, a recorded edit, or the world itself. */
export const MUTABILITIES = ["immutable", "versioned", "live"] as const;
export type Mutability = (typeof MUTABILITIES)[number];

/** Who shares a layer's bytes, the widest first: the order of the prompt. `turn` layers make the tail. */
export const LAYER_SCOPES = ["all", "org", "agent", "thread", "turn"] as const;
export type LayerScope = (typeof LAYER_SCOPES)[number];

/** How much of the prompt is sent: everything, some layers as one line, or the bare minimum for scheduled jobs. */
export const MODES = ["full", "compact", "minimal"] as const;
export type Mode = (typeof MODES)[number];

/** How a layer appears in one mode. */
export type Appearance = "whole" | "line" | "absent";

/** Where a layer's content comes from. */
export type Source =
  | { readonly kind: "text"; readonly text: Trusted; readonly file?: string }
  | { readonly kind: "clock"; readonly timezone: string }
  | { readonly kind: "recall"; readonly limit: number }
  /** A source of the operator's own, out of a module that strata.yaml names. */
  | { readonly kind: "own"; readonly name: string };

/** One piece of the prompt. `rank` decides who wins (lower), `scope` decides where it stands. */
export interface Layer {
  readonly id: LayerId;
  readonly rank: number;
  readonly mutability: Mutability;
  readonly scope: LayerScope;
  readonly trust: Trust;
  readonly source: Source;
  /** Soft limit in tokens, applied when the total does not fit. */
  readonly budget?: number;
  /** Tokens that stay reserved for it whatever happens. */
  readonly minimum: number;
  /** A required layer that fails or does not fit stops the turn. */
  readonly required: boolean;
  readonly modes: Readonly<Record<Mode, Appearance>>;
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

/** What a source gave for this turn. `because` says why there is nothing. */
export type LayerContent =
  | { readonly kind: "text"; readonly text: Trusted }
  | { readonly kind: "items"; readonly items: readonly ContentItem[]; readonly left?: readonly LeftOut[] }
  | { readonly kind: "empty"; readonly because: string };

/** A layer as rendered into a frozen block. */
export interface LayerVersion {
  readonly layer: LayerId;
  readonly digest: Digest;
}
