import { never, StrataError } from "./errors.ts";
import { type ActorId, type AgentName, type LayerId, layerId, type TurnId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { Source } from "./layer.ts";
import type { TextVerdict } from "./life.ts";
import type { Role } from "./scope.ts";
import type { Trust, Trusted, Untrusted } from "./trust.ts";

/** Which text of an agent: a versioned layer's, or a part of one: a skill or a memory block, by its name. */
export interface TextKey {
  readonly layer: LayerId;
  readonly part?: string;
}

/** Under this name the memory blocks of agents are kept, each a part: no prompt has such a layer. */
export const BLOCKS: LayerId = layerId("memory-blocks");

/** Whether the text is a memory block. */
export const isBlock = ({ layer, part }: { readonly layer: string; readonly part?: string | undefined }): boolean =>
  layer === BLOCKS && part !== undefined;

/** One version of a text. */
export interface VersionKey extends TextKey {
  readonly n: number;
}

/**
 * `kept`: it is or was active, or may be. `proposed`: it waits for an operator. `superseded`: a newer proposal replaced
 * it before anybody decided. `rejected`: an operator rejected it.
 */
export const TEXT_STATUSES = ["kept", "proposed", "superseded", "rejected"] as const;
export type TextStatus = (typeof TEXT_STATUSES)[number];

/** The active version of a text: 0 is the declared text, null none at all. */
export interface TextPointer extends TextKey {
  readonly stands: number | null;
}

/** The place that a text was written for: rank and source of its layer, and the declared text that it replaces. */
export interface TextPlace {
  readonly rank: number;
  readonly source: Source["kind"];
  /** Missing if no text is declared: for a skill that an operator added. */
  readonly declared?: Digest;
}

/** A text that should replace the active one. */
export interface NewText extends TextKey {
  /** The text for the prompt once it is active: it passed the guard and, if needed, an operator's review. */
  readonly text: Trusted;
  /** Its summary for modes that show the layer as one line; if omitted, the text's beginning. */
  readonly line?: Trusted;
  /** `proposed` if it waits for an operator. */
  readonly status: "kept" | "proposed";
  /** Whose words: `operator` or `agent`. */
  readonly trust: Trust;
  /** The lowest trust of all that its writer had seen. */
  readonly inputs: Trust;
  readonly by: Role;
  readonly byId?: ActorId;
  readonly turn?: TurnId;
  /** The writer's reason for the change. */
  readonly reason: Untrusted;
  readonly verdict: TextVerdict;
  /** The version that it was written for: 0 for the declared text. If another is active by then, it becomes a proposal. */
  readonly parent: number;
  /** If its layer has another place later, it is no longer sent. */
  readonly place: TextPlace;
  /**
   * The active versions of the other layers or skills when its size was checked. If one has changed by then, it becomes a proposal,
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
 * The result of a turn's edit when the turn was committed: `overtaken` waits for an operator like one that was `proposed`, but only
 * because another text was changed first.
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

/** A change of a text's active version. Afterwards, `to` is active: 0 is the declared text, null none at all. */
export interface TextMove extends TextKey {
  /** 1 for the first of its text. */
  readonly seq: number;
  readonly kind: MoveKind;
  /** The version it is about. */
  readonly n: number;
  readonly from: number | null;
  readonly to: number | null;
  readonly by: Role;
  readonly byId?: ActorId;
  readonly turn?: TurnId;
  readonly reason: Untrusted;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The most characters of texts after an edit; each agent can set its own. */
export interface TextLimits {
  /** One versioned layer. */
  readonly layer: number;
  /** All texts of the prefix together, immutable ones and active versions, without soul and skills. */
  readonly total: number;
}

/** The defaults: the numbers of the blueprint `sovereign`. */
export const USUAL_TEXT_LIMITS: TextLimits = { layer: 4_000, total: 8_000 };

/** The most characters of an agent's other texts, from the same blueprint if it states a number. */
export const TEXT_LIMITS = {
  /** A soul is a slug. */
  soul: 64,
  /** One skill's instructions, and how many may be enabled. */
  skill: 1_000,
  skills: 12,
  /** The line that represents a layer. */
  line: 200,
  /** Why something was changed. */
  reason: 500,
} as const;

/** How much of each sender's log is stored and shown. Characters, entries, senders. */
export const CONVERSATION_LIMITS = { entries: 20, senders: 200, body: 500, reply: 500, shown: 5, compact: 2 } as const;

/** A text, in a sentence. */
export const textName = ({ layer, part }: TextKey): string => {
  if (part === undefined) return `the layer ${layer}`;
  return `the ${isBlock({ layer, part }) ? "memory block" : "skill"} ${part}`;
};

/** The words of a command and the path of a route that show a text's versions. */
function historyOf(agent: AgentName, { layer, part }: TextKey): { readonly command: string; readonly route: string } {
  if (isBlock({ layer, part }))
    return {
      command: `strata block history ${part?.replace("/", " ")}`,
      route: `GET /v1/agents/${agent}/blocks/${part}/history`,
    };
  const skill = part === undefined ? ["", ""] : [` --skill ${part}`, `?skill=${part}`];
  return {
    command: `strata layer history ${layer}${skill[0]}`,
    route: `GET /v1/agents/${agent}/layers/${layer}/history${skill[1]}`,
  };
}

/** Says why the state of a version does not permit the request. Without a text, it was erased with its contact. */
export function textDecided(
  agent: AgentName,
  version: VersionKey & { readonly status: TextStatus; readonly text?: string },
): StrataError {
  const { layer, part, n, status } = version;
  const { command, route } = historyOf(agent, version);
  const looks = `\`${command}\` or \`${route}\``;
  const message = `version ${n} of ${textName(version)} of ${agent} ${version.text === "" ? ERASED : whatBecame(status, looks)}`;
  return new StrataError("text_decided", message, { layer, ...(part !== undefined && { part }), agent, n, status });
}

const ERASED = "was erased with the contact in whose turn it was written, and cannot be used any more";

/** @param looks where all versions and their history are shown */
function whatBecame(status: TextStatus, looks: string): string {
  switch (status) {
    case "kept":
      return `is already decided, or never waited for anybody; ${looks} shows what waits and what is active`;
    case "proposed":
      return "still waits: approve or reject it";
    case "superseded":
      return `no longer waits, because a newer proposal replaced it; \`strata layer proposals\` or ${looks} shows that one`;
    case "rejected":
      return "was rejected; to use its text, write it again";
    default:
      return never(status);
  }
}

/** A proposal, and the version that it should replace, if one was named. */
interface Approving extends VersionKey {
  readonly parent: number;
  readonly over?: number | undefined;
}

/** Says that another text is active now than the one that a proposal was written for, so that whoever approves it knows what it replaces. */
export function textOvertaken(agent: AgentName, version: Approving, active: number): StrataError {
  const { layer, part, n, parent } = version;
  const skill = part === undefined ? "" : ` --skill ${part}`;
  const query = `from=${active}&to=${n}${part === undefined ? "" : `&part=${part}`}`;
  const shown = historyOf(agent, version);
  const both = isBlock(version)
    ? `\`${shown.command}\` or \`${shown.route}\``
    : `\`strata layer diff ${layer} ${active} ${n}${skill}\` or \`GET /v1/agents/${agent}/layers/${layer}/diff?${query}\``;
  const next = `compare the two with ${both}, then approve it with \`--over ${active}\` or \`"over": ${active}\`, or reject it`;
  const message = `version ${n} of ${textName(version)} ${isOver(version, active)}; ${next}`;
  return new StrataError("text_decided", message, {
    layer,
    ...(part !== undefined && { part }),
    agent,
    parent,
    active,
  });
}

function isOver({ parent, over }: Approving, active: number): string {
  const now = `but version ${active} is now active`;
  if (over !== undefined) return `was meant to replace version ${over}, ${now}`;
  if (parent !== active) return `was written for version ${parent}, ${now}`;
  return "was written for another declared text than the one that is now active";
}
