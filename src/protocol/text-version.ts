import type { LayerId, TurnId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { Source } from "./layer.ts";
import type { TextVerdict } from "./life.ts";
import type { Role } from "./scope.ts";
import type { Trust, Trusted, Untrusted } from "./trust.ts";

/** Which text of an agent: a versioned layer's, or a part of one: a skill, by its name. */
export interface TextKey {
  readonly layer: LayerId;
  readonly part?: string;
}

/** One version of a text. */
export interface VersionKey extends TextKey {
  readonly n: number;
}

/**
 * `kept`: it may be active, or was, or may be again. `proposed`: it waits for an operator. `superseded`: a newer proposal took its
 * place before anybody decided. `rejected`: an operator said no.
 */
export const TEXT_STATUSES = ["kept", "proposed", "superseded", "rejected"] as const;
export type TextStatus = (typeof TEXT_STATUSES)[number];

/** Where the pointer of a text stands: 0 is the declared text, null nothing at all. */
export interface TextPointer extends TextKey {
  readonly stands: number | null;
}

/** What a text was written for: rank and source of its layer, and the declared text that it stands for. */
export interface TextPlace {
  readonly rank: number;
  readonly source: Source["kind"];
  /** None where nothing is declared: of a skill that an operator added. */
  readonly declared?: Digest;
}

/** A text that is to take the place of what is active. */
export interface NewText extends TextKey {
  /** What may stand in the prompt once it is active: it passed the guard, and an operator's word where that is needed. */
  readonly text: Trusted;
  /** What stands for it where a mode shows its layer as one line; left out, its beginning does. */
  readonly line?: Trusted;
  /** `proposed` where it waits for an operator. */
  readonly status: "kept" | "proposed";
  /** Whose words: `operator` or `agent`. */
  readonly trust: Trust;
  /** The lowest trust of all that its writer had seen. */
  readonly inputs: Trust;
  readonly by: Role;
  readonly turn?: TurnId;
  /** Why it was changed, in the writer's words. */
  readonly reason: Untrusted;
  readonly verdict: TextVerdict;
  /** The version it was written over: 0 for the declared text. Another that is active by then makes it a proposal. */
  readonly parent: number;
  /** Once its layer stands elsewhere it is not sent any more. */
  readonly place: TextPlace;
  /**
   * Where the others stood that its size was measured with, all layers or all skills: another that moved by then makes it a proposal,
   * so that the limits hold.
   */
  readonly beside: readonly TextPointer[];
}

/** One version of a text; versions are never deleted. */
export interface TextVersion extends Omit<NewText, "status" | "beside"> {
  readonly status: TextStatus;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** 1 for the first of its key. */
  readonly n: number;
  /** The SHA-256 of the text, whoever proposed it. */
  readonly digest: Digest;
  readonly active: boolean;
}

/**
 * What became of a turn's edit when the turn was committed: `overtaken` waits for an operator like one that was `proposed`, but only
 * because another text was changed before.
 */
export const EDIT_ENDS = ["kept", "proposed", "overtaken"] as const;

/** A version that a turn wrote. */
export interface TurnEdit extends VersionKey {
  readonly became: (typeof EDIT_ENDS)[number];
}

export const MOVE_KINDS = [
  "edited",
  "proposed",
  "approved",
  "superseded",
  "rejected",
  "activated",
  "rolled back",
  "disabled",
] as const;
export type MoveKind = (typeof MOVE_KINDS)[number];

/** What was done with a text's versions. The pointer stands on `to` afterwards: 0 is the declared text, null nothing at all. */
export interface TextMove extends TextKey {
  /** 1 for the first of its text. */
  readonly seq: number;
  readonly kind: MoveKind;
  /** The version it is about. */
  readonly n: number;
  readonly from: number | null;
  readonly to: number | null;
  readonly by: Role;
  readonly turn?: TurnId;
  readonly reason: Untrusted;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Characters that texts may have after an edit, for each agent as it says. */
export interface TextLimits {
  /** One versioned layer. */
  readonly layer: number;
  /** All texts of the prefix together, immutable ones and active versions, without soul and skills. */
  readonly total: number;
}

/** What holds where an agent says nothing: the numbers of the seed of the blueprint `sovereign`. */
export const USUAL_TEXT_LIMITS: TextLimits = { layer: 4_000, total: 8_000 };

/** Characters that other texts of an agent may have; where a number is stated, the same seed states it. */
export const TEXT_LIMITS = {
  /** A soul is a slug. */
  soul: 64,
  /** One skill's instructions, and how many may be enabled. */
  skill: 1_000,
  skills: 12,
  /** The line that stands for a layer. */
  line: 200,
  /** Why something was changed. */
  reason: 500,
} as const;

/** How much is kept of what was said with each sender, and shown. Characters, entries, senders. */
export const CONVERSATION_LIMITS = { entries: 20, senders: 200, body: 500, reply: 500, shown: 5, compact: 2 } as const;
