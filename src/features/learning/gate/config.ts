import { z } from "zod";
import { pathBelow } from "../../fields.ts";
import { MOST_TURNS } from "./gate.ts";

/** How learning texts are tried before they are proposed: fields of `learning` in strata.yaml. */
export const TRIAL_FIELDS = {
  fixtures: pathBelow("a file below the folder of strata.yaml, as `fixtures.yaml`")
    .optional()
    .describe(
      "A file with messages and what their answers must be like, relative to strata.yaml. What the agent learns may break none of them. Default: none.",
    ),
  trial: z
    .strictObject({
      turns: z
        .int()
        .min(0)
        .max(MOST_TURNS)
        .default(MOST_TURNS)
        .describe(
          "How many recorded turns are answered again beside the record, to compare a new text with the present one.",
        ),
      dollars: z.number().positive().max(1_000).default(1).describe("US dollars that one trial may cost."),
    })
    .optional()
    .describe("How far a new text is tried before it is proposed."),
};
