import type { Brand } from "./brand.ts";

/** Who is speaking, the most trusted first. Set by the platform, never by content. */
export const TRUSTS = ["platform", "operator", "member", "agent", "contact"] as const;
export type Trust = (typeof TRUSTS)[number];

/** The lowest trust of all: the trust of derived text. Of an empty list, it is `platform`. */
export function lowestTrust(trusts: Iterable<Trust>): Trust {
  let lowest = 0;
  for (const trust of trusts) lowest = Math.max(lowest, TRUSTS.indexOf(trust));
  return TRUSTS[lowest] ?? "contact";
}

/** Text of the platform or the operator: it can be put into a prompt unchanged. */
export type Trusted = Brand<string, "Trusted">;
/** Text of anybody else. It is never rendered directly; the guard's `frame` turns it into `Framed`. */
export type Untrusted = Brand<string, "Untrusted">;
/** Clean text inside a frame: it may be sent in user and tool-result blocks. */
export type Framed = Brand<string, "Framed">;
/** The model's own words, replayed as they came. They are only sent in assistant blocks. */
export type Spoken = Brand<string, "Spoken">;

/** Marks text that the platform or the operator wrote. Each call is a trust crossing: say in a comment why it holds. */
export const trusted = (text: string): Trusted => text as Trusted;
/** Marks text that came from outside. Always right. */
export const untrusted = (text: string): Untrusted => text as Untrusted;
/** Marks text that a model produced. Only `models/` and the parsers of stored rows call it. */
export const spoken = (text: string): Spoken => text as Spoken;
