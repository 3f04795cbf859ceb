import type { Samples } from "./wording-samples-of-rooms.ts";

/** What an agent and its digest read of what was learned. */
export const LEARNING_SAMPLES: Samples = {
  failedTurn: [["model_failed"]],
  correctionText: [
    [{ situation: "What is a swap?", wrong: "It costs $30.", instead: "It costs $25." }],
    [{ situation: "", wrong: "", instead: "We open at nine." }],
    [{ situation: "Hello", wrong: "Cheers!", instead: "" }],
  ],
  digestTask: [[30, 300]],
  lessonText: [
    [
      {
        ...{ id: "lsn_0123456789ab", kind: "edit", support: 2, confidence: 0.51 },
        ...{ situation: "What is a swap?", wrong: "It costs $30.", instead: "It costs $25." },
      },
    ],
  ],
};
