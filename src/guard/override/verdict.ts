/** What the guard found in a text for a layer: what it is, and the words it is about. */
export interface GuardFinding {
  readonly kind: "weakens" | "hidden" | "imitates" | "blob" | "unread";
  /** A sentence for whoever wrote it. */
  readonly message: string;
  readonly words: string;
}

/** `review`: somebody has to look at it. `reject`: no honest layer is written so. */
export interface GuardVerdict {
  readonly verdict: "pass" | "review" | "reject";
  readonly findings: readonly GuardFinding[];
}

/** How many of the words are told. */
const TOLD = 120;

export const finding = (kind: GuardFinding["kind"], message: string, words: string): GuardFinding => ({
  kind,
  message,
  words: words.trim().slice(0, TOLD),
});
