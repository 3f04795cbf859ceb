import type { Offence } from "./judge.ts";

/** What the guard found in a text for a layer: what it is, and the words it is about. */
export interface GuardFinding {
  readonly kind: Offence["kind"] | "hidden" | "imitates" | "blob" | "unread";
  /** A sentence for whoever wrote it. */
  readonly says: string;
  readonly words: string;
}

/** `review`: somebody has to look at it. `reject`: no honest layer is written so. */
export interface GuardVerdict {
  readonly verdict: "pass" | "review" | "reject";
  readonly findings: readonly GuardFinding[];
}
