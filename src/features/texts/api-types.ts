import type { z } from "zod";
import type {
  AgentName,
  Allowed,
  DiffLine,
  LayerId,
  TextKey,
  TextLimits,
  TextMove,
  TextVersion,
  Trust,
  Untrusted,
} from "../../protocol/index.ts";
import type { Position, Proposal } from "../../store/index.ts";
import { featureApi } from "../../turn/index.ts";
import type { LAYER, PASSED_OVER, SKILL } from "./lines.ts";

/** A version that is active, and whose declaration has passed over it since. */
export type PassedOver = z.output<typeof PASSED_OVER>;

/** A layer as an operator sees it. */
export type LayerView = z.output<typeof LAYER> & { readonly id: LayerId };

/** A skill as an operator sees it. */
export type SkillView = z.output<typeof SKILL>;

/** A text that an operator gives: a layer's, the soul's, a skill's. */
export interface TextEdit extends TextKey {
  readonly text: string;
  readonly line?: string;
  readonly reason: Untrusted;
  /** True: its words come from somebody else, so it waits until an operator approves it. */
  readonly isOthers?: true;
  /** The agent's words, made from what had this trust at the lowest: they wait until an operator approves them. */
  readonly inputs?: Trust;
  /** True: a version is made even if the text is already active, because something else that belongs to it has changed. */
  readonly again?: true;
}

/** Which versions: of one text or of all, only those before a given one, and how many at most; 100 by default. */
export interface VersionsChoice extends Partial<TextKey> {
  readonly before?: number;
  readonly limit?: number;
}

/** Which moves: those before a given one, or only those of a text's versions below one, and how many at most; 100 by default. */
export interface MovesChoice extends Partial<TextKey> {
  readonly before?: number;
  readonly below?: number;
  readonly limit?: number;
}

/** Two versions of one text; 0 is the declared one. */
export interface TextPair extends TextKey {
  readonly from: number;
  readonly to: number;
}

/** How two versions of a text differ, line by line. */
export interface TextComparison extends TextKey {
  readonly before: { readonly n: number; readonly text: string };
  readonly after: { readonly n: number; readonly text: string };
  readonly lines: readonly DiffLine[];
}

/** An operator's choice among existing versions. */
export interface TextChoice extends TextKey {
  readonly n: number;
  readonly reason: Untrusted;
}

/** An operator's word about a proposal. */
export interface TextVerdictChoice extends TextChoice {
  readonly verdict: "approved" | "rejected";
  /** The version to replace; by default the one that it was written over. */
  readonly over?: number;
}

/** Which skill, and why. */
export interface SkillChoice {
  readonly name: string;
  readonly reason: Untrusted;
}

/**
 * What operators see and change of an agent's layers, soul and skills. A layer is named by its id, or by its rank where no other layer
 * shares it. Each change is recorded.
 * @throws StrataError `not_allowed` for other actors, `agent_not_found`
 */
export interface TextApi {
  /** How long its texts may become by edits. */
  textLimits(actor: Allowed<"read">, agent: AgentName): Promise<TextLimits>;
  /** All layers in the order of the prompt, with immutable ones marked. */
  layers(actor: Allowed<"read">, agent: AgentName): Promise<readonly LayerView[]>;
  /** The edited texts that are not in effect since the declaration changed. */
  passedOver(actor: Allowed<"read">, agent: AgentName): Promise<readonly PassedOver[]>;
  /** One of the layers. @throws StrataError `text_not_found`, `invalid_input` for a rank of several */
  layer(actor: Allowed<"read">, agent: AgentName, layer: LayerId): Promise<LayerView>;
  /** All skills that are declared or were ever written, by name. */
  skills(actor: Allowed<"read">, agent: AgentName): Promise<readonly SkillView[]>;
  /** Makes a text active that an operator wrote; of a skill, also enables it. @throws StrataError `text_not_found`, `text_refused` */
  editText(actor: Allowed<"operate">, agent: AgentName, edit: TextEdit): Promise<TextVersion>;
  /** Newest first. @throws StrataError `text_not_found` */
  textVersions(actor: Allowed<"read">, agent: AgentName, choice?: VersionsChoice): Promise<readonly TextVersion[]>;
  /** @throws StrataError `text_not_found` */
  compareTexts(actor: Allowed<"read">, agent: AgentName, pair: TextPair): Promise<TextComparison>;
  /** Their history, newest first. @throws StrataError `text_not_found` */
  textMoves(actor: Allowed<"read">, agent: AgentName, choice?: MovesChoice): Promise<readonly TextMove[]>;
  /** Texts that wait for an operator, of one agent or of all: oldest first, at most 100 by default. */
  proposals(
    actor: Allowed<"read">,
    agent?: AgentName,
    limit?: number,
    after?: Position,
  ): Promise<readonly (Proposal & { readonly agent: AgentName })[]>;
  /**
   * @throws StrataError `text_not_found`; `text_decided`, also if another version is active than it was written over and `over` does not
   * name it; `text_refused` if there is no longer room for it
   */
  decideText(actor: Allowed<"operate">, agent: AgentName, choice: TextVerdictChoice): Promise<TextVersion>;
  /** Makes an earlier version active, 0 the declared text. @throws StrataError as `decideText` */
  activateText(actor: Allowed<"operate">, agent: AgentName, choice: TextChoice): Promise<TextMove>;
  /**
   * Goes back to what was in effect before the active version was activated; for a skill that was not enabled then, to nothing. A displaced
   * text is put away if there is no earlier version written for the layer as it is now; also if the layer is locked or no longer declared.
   * @throws StrataError `text_not_found` if no version is active, otherwise as `decideText`
   */
  rollbackText(actor: Allowed<"operate">, agent: AgentName, choice: Omit<TextChoice, "n">): Promise<TextMove>;
  /** Takes a skill out of the prompt. @throws StrataError `text_not_found` */
  disableSkill(actor: Allowed<"operate">, agent: AgentName, skill: SkillChoice): Promise<TextMove>;
  /** Restores the last text of a disabled skill. @throws StrataError `text_not_found`, `text_refused` */
  enableSkill(actor: Allowed<"operate">, agent: AgentName, skill: SkillChoice): Promise<TextMove>;
}

/** The functions of texts, as `runtime.use` gives them. */
export const TEXT_API = featureApi<TextApi>("texts");
