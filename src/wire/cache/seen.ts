import type { Breakpoint } from "../../protocol/index.ts";

/** How long a provider promises to keep what a breakpoint writes. */
export type Lifetime = Breakpoint["lifetime"];

/** One block of a request, as a cache sees it: no text, only its identity and its cost. */
export interface SeenBlock {
  /** Equal bytes, equal key; other bytes, another key. */
  readonly key: string;
  readonly tokens: number;
  readonly kind: "tool" | "system" | "text" | "tool-use" | "tool-result" | "reasoning" | "image" | "file";
  /** Its role, for messages. */
  readonly role?: "user" | "assistant";
  /** The layer or part that it came from. */
  readonly section?: string;
  /** Not kept: the next request has it elsewhere or not at all. */
  readonly tail?: true;
  readonly breakpoint?: Lifetime;
}

/** One request, as a cache sees it. */
export interface SeenRequest {
  /** When it started, in milliseconds. */
  readonly at: number;
  /** Milliseconds until the response begins; if omitted, it begins before any other request starts. */
  readonly took?: number;
  readonly model: string;
  /** In the order of the wire: tools, system, messages. */
  readonly blocks: readonly SeenBlock[];
  /** A setting that separates a provider's cache entries besides the content: if it differs, none of them is found. */
  readonly setting?: string;
  /** The request's setting for caches that set their own breakpoint: `explicit` forbids it. */
  readonly mode?: "implicit" | "explicit";
}

/** The cost of a token, relative to an uncached one. */
export interface Multipliers {
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
}

/** How a provider's cache works: one of three families, the figures as data. Times in milliseconds. */
export type CacheRules =
  /** Anthropic: written at breakpoints only, found again some positions back from a breakpoint. */
  | {
      readonly kind: "lookback";
      readonly most: number;
      readonly lookback: number;
      readonly minimum: number;
      /** How long a breakpoint of each lifetime keeps. */
      readonly lifetimes: Readonly<Record<Lifetime, number>>;
      readonly multipliers: Multipliers;
    }
  /** OpenAI before GPT-5.6, Gemini, vLLM: the longest beginning that was sent before, in steps. */
  | {
      readonly kind: "longest";
      readonly minimum: number;
      readonly step: number;
      readonly idle: number;
      readonly multipliers: Multipliers;
    }
  /** OpenAI from GPT-5.6 on: exactly at a breakpoint; no shorter beginning is found. */
  | {
      readonly kind: "exact";
      readonly mode: "implicit" | "explicit";
      readonly writes: number;
      readonly reads: number;
      readonly minimum: number;
      readonly idle: number;
      /** How long a breakpoint with the long lifetime is kept, which is named `1h` as Anthropic's; if omitted, as long as every other. */
      readonly idleLong?: number;
      readonly multipliers: Multipliers;
    };

/** A request's bill. `input`, `read`, `write5m` and `write1h` add up to its tokens. */
export interface Bill {
  /** Neither read nor written. */
  readonly input: number;
  readonly read: number;
  /** Written for the short lifetime, or the only one that there is. */
  readonly write5m: number;
  readonly write1h: number;
  /** In tokens of plain input. */
  readonly cost: number;
  /** Why the provider would refuse the request; it is then billed as if nothing were cached. */
  readonly problems: readonly string[];
}
