import type { Layer, LedgerEntry } from "../../protocol/index.ts";
import type { Unstable } from "./compare.ts";
import type { Rates } from "./cost.ts";

/** A text in the prefix. */
export interface PrefixText {
  /** `layer safety`, `tool read`, `output`. */
  readonly section: string;
  /** Which of its texts: `line`, `description`, `input.properties.path.description`; none for a layer's own text. */
  readonly part?: string;
  readonly text: string;
}

/** Medians of an agent's recorded turns. Left out: nothing is recorded. */
export interface Observed {
  /** Tokens of all live layers, in one request. */
  readonly tail?: number;
  /** Tokens of a turn's events, and tokens by which the conversation grows from turn to turn. */
  readonly turn?: { readonly events: number; readonly grows: number };
  /** Tokens of the recall layer in one request, and of all memories of one contact. */
  readonly recall?: { readonly perTurn: number; readonly stored: number };
  /** Threads that more than one model answered, out of how many. */
  readonly mixed?: { readonly threads: number; readonly of: number; readonly models: readonly string[] };
}

/** The length of the agent's threads, and the source of this figure. */
export interface ThreadLength {
  readonly turns: number;
  readonly from: "option" | "record" | "default";
}

/** Which of a turn's new tokens are paid again because the tail comes before the events: only those, or the model's answer, too. */
export type PaidTwice = "nothing" | "events" | "events and answer";

/** All that the rules look at, as plain data. */
export interface Subject {
  readonly texts: readonly PrefixText[];
  readonly layers: readonly Pick<Layer, "id" | "rank" | "scope" | "mutability" | "after">[];
  /** The ledger's lines of tools and system, as sent with this model. */
  readonly prefix: readonly LedgerEntry[];
  /** Tokens that `budgets.system` gives the prefix, and those that its layers keep in any case. Left out: it has no such budget. */
  readonly system?: { readonly budget: number; readonly least: number };
  readonly unstable: readonly Unstable[];
  readonly rates: Rates;
  readonly length: ThreadLength;
  readonly observed: Observed;
  readonly paidTwice: PaidTwice;
}
