/** The sentences of the store that a model reads: the platform's answers to open calls. `tests/house/golden/wording.txt` lists them all. */
export const OVERDUE = "No answer came in time.";
export const TAKEN_BACK = "The question was taken back before it was answered.";
export const ERASED = "The record of whoever was asked was erased before there was an answer.";
