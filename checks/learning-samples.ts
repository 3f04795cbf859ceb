import type { Samples } from "./wording-samples-of-rooms.ts";

/** What an agent and its digest read of what was learned. */
export const LEARNING_SAMPLES: Samples = {
  failedTurn: [["model_failed"]],
  askedTeam: [["Does the swap include the old battery?"]],
  correctionText: [
    [{ situation: "What is a swap?", wrong: "It costs $30.", instead: "It costs $25." }],
    [{ situation: "", wrong: "", instead: "We open at nine." }],
    [{ situation: "Hello", wrong: "Cheers!", instead: "" }],
    [{ situation: "Hello", wrong: "", instead: "We open at nine.", general: true }],
    [{ situation: "Hello", wrong: "", instead: "Bonjour Madame Roux,", general: true, isFirst: true }],
  ],
  digestTask: [[30, 300]],
  ownLessonText: [
    [
      {
        ...{ id: "lsn_0123456789ab", kind: "edit", support: 2, confidence: 0.51, general: false, state: "open" },
        ...{ wrong: "", instead: "All prices are without tax." },
      },
    ],
    [
      {
        ...{ id: "lsn_0123456789ab", kind: "edit", support: 2, confidence: 0.51, general: true, state: "open" },
        ...{ wrong: "It costs $30.", instead: "It costs $25." },
      },
    ],
  ],
  lessonText: [
    [
      {
        ...{ id: "lsn_0123456789ab", kind: "edit", support: 2, confidence: 0.51, general: false, state: "ended" },
        ...{ situation: "What is a swap?", wrong: "It costs $30.", instead: "It costs $25." },
      },
    ],
  ],
};
