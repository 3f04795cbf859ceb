import { StrataError } from "./errors.ts";
import type { AgentName, LayerId, MemoryId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { Proof } from "./life.ts";
import { type Trust, type Trusted, trusted, type Untrusted } from "./trust.ts";

/** How a layer may change: not at run time, by a recorded edit, or by its source in each turn. */
export const MUTABILITIES = ["immutable", "versioned", "live"] as const;
export type Mutability = (typeof MUTABILITIES)[number];

/** Who may edit a versioned text: the agent and operators, or only operators. */
export const EDITORS = ["agent", "operators"] as const;

/** Who shares a layer's bytes, the widest scope first: this is the order of the prompt. `turn` layers form the tail. */
export const LAYER_SCOPES = ["all", "org", "agent", "thread", "turn"] as const;
export type LayerScope = (typeof LAYER_SCOPES)[number];

/** How much of the prompt is sent: everything, some layers as one line, or the bare minimum for scheduled jobs. */
export const MODES = ["full", "compact", "minimal"] as const;
export type Mode = (typeof MODES)[number];

/** How a layer appears in one mode. */
export type Appearance = "whole" | "line" | "absent";

/** What fills a layer, and what is stored for each kind. A feature adds its own kinds next to their declaration (`features/…/config.ts`). */
export interface SourceKinds {
  readonly text: { readonly text: Trusted; readonly file?: string };
  readonly clock: { readonly timezone: string };
  /** The tools of this turn, as fixed at its start: how often each, and in which states. */
  readonly allowance: Readonly<Record<never, never>>;
  /** An operator's own source, from a module that strata.yaml names. */
  readonly own: { readonly name: string };
}

/** Where a layer's content comes from. */
export type Source = {
  readonly [Kind in keyof SourceKinds]: Flat<{ readonly kind: Kind } & SourceKinds[Kind]>;
}[keyof SourceKinds];

type Flat<T> = { [Name in keyof T]: T[Name] };

/**
 * One piece of the prompt. `rank` decides which layer wins (the lower one), `scope` its place. Live layers may share a rank: they are
 * sections of one layer, and none of them gives instructions.
 */
export interface Layer {
  readonly id: LayerId;
  readonly rank: number;
  readonly mutability: Mutability;
  /** Set if only operators may edit the versioned text. Left out: the agent may, too, if it has the tool. */
  readonly editors?: "operators";
  readonly scope: LayerScope;
  readonly trust: Trust;
  readonly source: Source;
  /** Places it right after that layer instead of by its rank. The rank still decides which layer wins. */
  readonly after?: LayerId;
  /** Soft limit in tokens, applied when the total does not fit. */
  readonly budget?: number;
  /** Tokens that stay reserved for it whatever happens. */
  readonly minimum: number;
  /** A required layer that fails or does not fit stops the turn. */
  readonly required: boolean;
  readonly modes: Readonly<Record<Mode, Appearance>>;
  /** False: replies may quote it. From other immutable texts, no longer run of words may appear in a reply. */
  readonly private?: false;
  /** It is in a separate system block, behind the others of its scope. */
  readonly apart?: true;
  /** The one-line summary that replaces the layer if `modes` says `line`. */
  readonly line?: Trusted;
  /** Tools and layers of the agent that make true what the text says it can do and see. Lint checks that they are there. */
  readonly needs?: readonly string[];
}

/** One gathered item, written by someone outside the platform. */
export interface ContentItem {
  readonly id?: string;
  /** Set if it represents several: all of their ids, beginning with `id`. */
  readonly ids?: readonly string[];
  /** `data`: found by an operator's own source. */
  readonly kind: "memory" | "data";
  /** Who said it: a claim, shown inside the frame. */
  readonly name?: Untrusted;
  readonly text: Untrusted;
  readonly trust: Trust;
  /** Whether the speaker signed it, if signatures are used; shown in the frame's header. */
  readonly proof?: Proof;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Memories that are frozen, in frames, at the start of an epoch's transcript, instead of being recalled in each turn. */
export interface FrozenMemory {
  /** The layer that it is of. */
  readonly layer: Layer;
  /** Missing: memories are recalled. */
  readonly items: readonly (ContentItem & { readonly id: MemoryId })[];
  /** How many saved memories have no room there and are searched for; if omitted, none. */
  readonly others?: number;
  /** Why they are frozen or not. */
  readonly because: string;
}

/** What a source found but did not return, and why. */
export interface LeftOut {
  readonly because: string;
  readonly items: number;
}

/** A named part of a layer's text: a file, a skill. */
export interface LayerPart {
  readonly name: string;
  /** Its piece of the text; empty if the part is missing. */
  readonly text: Trusted;
  /** How it was changed before, or why it is missing. */
  readonly because?: string;
  /** True: its own limit has shortened it. */
  readonly cut?: true;
  /** How many hidden others it represents: "and 7 more". It is never cut in two. */
  readonly others?: number;
}

/** Where a source's content came from: its cache, a stale cache that is being refreshed, or a new read. */
export const CACHE_USES = ["hit", "stale", "miss"] as const;
export type CacheUse = (typeof CACHE_USES)[number];

/** A source's result for this turn. `because` says why there is nothing. */
export type LayerContent =
  /** The rest is set if it differs from the layer's own: an edited, active version, and its one-line summary. */
  | {
      readonly kind: "text";
      readonly text: Trusted;
      readonly trust?: Trust;
      readonly version?: number;
      readonly line?: Trusted;
      /** The parts of the text, if it has any: `joinParts` of them is the text. */
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
      /** The text in its place, if the model should know that something is missing. */
      readonly message?: Trusted;
      readonly parts?: readonly LayerPart[];
      readonly cache?: CacheUse;
    };

/** The separator between two parts. */
export const BETWEEN_PARTS = "\n";

/** The text of all parts that are not empty, one after the other. */
export const joinParts = (parts: readonly LayerPart[]): Trusted =>
  trusted(parts.flatMap(({ text }) => (text === "" ? [] : [text])).join(BETWEEN_PARTS));

/** A layer as rendered into a frozen block. */
export interface LayerVersion {
  readonly layer: LayerId;
  readonly digest: Digest;
}

/**
 * The order of the prompt and of the ledger: by scope, then by rank, then as declared. A layer with `after` comes
 * right after that other layer; several of them are ordered by rank.
 */
export function inPromptOrder<L extends Pick<Layer, "id" | "rank" | "scope" | "after">>(layers: readonly L[]): L[] {
  const byRank = layers.toSorted(
    (a, b) => LAYER_SCOPES.indexOf(a.scope) - LAYER_SCOPES.indexOf(b.scope) || a.rank - b.rank,
  );
  const ids = new Set(layers.map(({ id }) => id));
  const stands = ({ after }: L): boolean => after === undefined || !ids.has(after);
  return byRank
    .filter(stands)
    .flatMap((one) => [one, ...byRank.filter((other) => !stands(other) && other.after === one.id)]);
}

/** The layers that a word refers to: the one with that id, or else those of that rank (live layers may share a rank). */
export function layersNamed<L extends Pick<Layer, "id" | "rank">>(layers: readonly L[], word: string): readonly L[] {
  const own = layers.filter(({ id }) => id === word);
  return own.length > 0 ? own : layers.filter(({ rank }) => String(rank) === word);
}

/** The names of layers, for a sentence. */
export const idsOf = (layers: readonly Pick<Layer, "id">[]): string => layers.map(({ id }) => `\`${id}\``).join(", ");

/** The layer whose text operators write beside the declared layers: the soul, or the skills. @throws StrataError `text_not_found` */
export function layerWith(
  { name, layers }: { readonly name: AgentName; readonly layers: readonly Layer[] },
  source: "soul" | "skills" | "files" | "learning",
): Layer {
  const layer = layers.find((one) => one.source.kind === source);
  if (layer !== undefined) return layer;
  const none = source === "soul" ? "no soul" : source === "learning" ? "no learning versions" : `no ${source}`;
  const message = `${name} has ${none}: no layer of it in strata.yaml says \`source: ${source}\``;
  throw new StrataError("text_not_found", message, { agent: name, source });
}
