import { z } from "zod";
import { model } from "../../../agents/index.ts";
import { pathBelow } from "../../fields.ts";

/** Recorded turns that one trial answers again. */
export const MOST_TURNS = 20;

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
  judge: model()
    .optional()
    .describe(
      "A model that compares the replies of a trial, with the new text and with the present one, and says which keeps to the agent's texts better. Its opinion stands in the report and decides nothing. It is paid from what `trial.dollars` leaves. Default: none, or the `judge` of the program.",
    ),
};
