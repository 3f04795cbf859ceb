/**
 * Judges a learning text before an operator is asked about it: recorded turns and the organization's fixtures, run with it and without it.
 */

import { z } from "zod";
import type { AgentName, Allowed, LayerId } from "../../protocol/index.ts";
import type { AgentOwner, Store } from "../../store/index.ts";
import { list } from "../fields.ts";

/** A text that the digest has written, before it is proposed to anybody. */
export interface Candidate extends AgentOwner {
  /** The layer with `source: learning`. */
  readonly layer: LayerId;
  readonly text: string;
  /** The active version; absent if there is none. */
  readonly parent?: number;
  /** The lessons that were folded into it. */
  readonly lessons: readonly string[];
}

const SCORES = z.record(z.string(), z.number()).describe("how well it met each criterion, from 0 to 1");

/** Whom a judge preferred: the new text's reply, or the other one, which the present text wrote or, where none is active, the agent without one. */
export const PREFERRED = ["new", "present", "same", "unknown"] as const;

const OPINION = z.object({
  better: z.enum(PREFERRED).describe("whose reply it found better; `unknown`: it did not say"),
  sentence: z.string().optional().describe("why, in the judge's words; the record does not keep it"),
});

const HOW_OFTEN = z.number().describe("on how many turns");

export const GATE_REPORT = z
  .object({
    passed: z.boolean(),
    reason: z.string().describe("why, in a sentence; of a candidate that was refused, with the name of the fixture"),
    fixtures: list(z.object({ name: z.string(), passed: z.boolean(), finding: z.string() })),
    turns: list(
      z.object({
        turn: z.string(),
        present: SCORES.describe("with the version that is active now"),
        candidate: SCORES,
        none: SCORES.describe("with no version"),
        opinion: OPINION.optional().describe("what the judge said of it, where there is one; it decides nothing"),
      }),
    ),
    judge: z
      .object({ name: z.string(), new: HOW_OFTEN, present: HOW_OFTEN, same: HOW_OFTEN, unknown: HOW_OFTEN })
      .optional()
      .describe("how often the judge preferred which reply; it decides nothing"),
    spent: z.number().describe("dollars"),
    limit: z.number().describe("dollars that it might spend"),
    notRun: list(z.string()).describe("what was left out, and why"),
  })
  .meta({ id: "GateReport" });

export type GateReport = z.output<typeof GATE_REPORT>;

/** What the record keeps of a report: a judge may have repeated what a contact wrote, who may be erased. */
export const withoutSentences = ({ turns, ...report }: GateReport): GateReport => ({
  ...report,
  turns: turns.map(({ opinion, ...turn }) => ({ ...turn, ...(opinion && { opinion: { better: opinion.better } }) })),
});

/** Compares a candidate with the present version and with no version. If it throws, the candidate waits and is judged again later. */
export type Gate = (
  candidate: Candidate,
  asking: { readonly actor: Allowed<"operate"> } & Pick<TrialFollowing, "signal"> & Partial<TrialFollowing>,
) => Promise<GateReport>;

/**
 * The learning text of all turns over a trial's store: in place of the active or pinned version, or none at all. Real stores have no entry.
 */
export const TRIED = new WeakMap<Store, { readonly text: string | undefined }>();

/** The caller that follows a trial, and may end it. */
export interface TrialFollowing {
  readonly signal: AbortSignal;
  readonly progress: (message: string, share?: number | "planned") => void;
}

export interface TrialApi {
  /** For the digest; its follower may be missing. */
  readonly gate: Gate;
  /**
   * Tries a text by hand. Only the fact that it was tried is kept. @throws StrataError `agent_not_found`, `text_not_found`,
   * `config_invalid`
   */
  tryLearning(
    actor: Allowed<"operate">,
    agent: AgentName,
    text: string,
    following: TrialFollowing,
  ): Promise<GateReport>;
}
