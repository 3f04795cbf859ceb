import type { AgentName, Allowed, TextMove, Untrusted } from "../../protocol/index.ts";
import { featureApi } from "../../turn/index.ts";
import type { Digesting } from "./digest.ts";
import type { TrialApi } from "./gate.ts";
import type { Lesson } from "./lessons.ts";
import type { DigestEnd, Rate, Version } from "./versions.ts";

/** What the agent has learned from its record. */
export interface LearningApi {
  /** The lessons, newest first. Reads what is new in the record first. @throws StrataError `agent_not_found` */
  lessons(actor: Allowed<"operate">, agent: AgentName): Promise<readonly Lesson[]>;
  /** @throws StrataError `lesson_not_found` */
  lesson(actor: Allowed<"operate">, agent: AgentName, id: string): Promise<Lesson>;
  /** It is not offered any more, and no message is shown its corrections. @throws StrataError `lesson_not_found` */
  dismissLesson(actor: Allowed<"operate">, agent: AgentName, id: string): Promise<Lesson>;
  /** Learns from what is new in the record. Gives how many things taught something. */
  learnFromRecord(actor: Allowed<"operate">, agent: AgentName): Promise<number>;
  /**
   * The available learning versions, and those that wait, newest first. @throws StrataError `text_not_found` for an agent without a layer
   * for them
   */
  versions(actor: Allowed<"read">, agent: AgentName): Promise<readonly Version[]>;
  /** Of the reviewed drafts, the share changed in substance, by the version in their requests. */
  rates(actor: Allowed<"read">, agent: AgentName): Promise<readonly Rate[]>;
  /** Digests what is new, judges the result, and asks an operator about it. */
  digest(actor: Allowed<"operate">, agent: AgentName, how?: Partial<Omit<Digesting, "actor">>): Promise<DigestEnd>;
  /**
   * Tries a text by hand. Only the fact that it was tried is kept. @throws StrataError `text_not_found`, `config_invalid` for a file of
   * fixtures
   */
  tryLearning: TrialApi["tryLearning"];
  /** Whether that is due. */
  isDigestDue(actor: Allowed<"operate">, agent: AgentName): Promise<boolean>;
  /** Says of a version that waits whether it becomes active. @throws StrataError as `decideText` */
  decideVersion(actor: Allowed<"operate">, agent: AgentName, choice: VersionChoice): Promise<void>;
  /** Goes back to a version on offer, or to the one before. @throws StrataError as `activateText` and `rollbackText` */
  rollBack(actor: Allowed<"operate">, agent: AgentName, to: number | undefined, reason: Untrusted): Promise<TextMove>;
}

/** A word about a version that waits. */
export interface VersionChoice {
  readonly n: number;
  readonly verdict: "approved" | "rejected";
  readonly reason: Untrusted;
  readonly over?: number;
}

/** The functions of learning, as `runtime.use` gives them. */
export const LEARNING_API = featureApi<LearningApi>("learning");
