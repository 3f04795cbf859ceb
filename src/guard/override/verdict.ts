/** A finding of the guard in a text for a layer: its kind, and the words it is about. */
export interface GuardFinding {
  readonly kind: "weakens" | "hidden" | "imitates" | "blob" | "unread";
  /** A sentence for whoever wrote it. */
  readonly message: string;
  readonly words: string;
}

/** `review`: a person has to look at it. `reject`: no honest layer is written like this. */
export interface GuardVerdict {
  readonly verdict: "pass" | "review" | "reject";
  readonly findings: readonly GuardFinding[];
}

/** How much of the text is quoted. */
const TOLD = 120;

export const finding = (kind: GuardFinding["kind"], message: string, words: string): GuardFinding => ({
  kind,
  message,
  words: words.trim().slice(0, TOLD),
});
