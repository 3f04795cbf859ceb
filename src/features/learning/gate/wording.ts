/** What an agent reads for a call that is not made during a trial. */
export const NOT_RUN =
  "Not run here: this message is answered once more beside the record, and nothing outside is reached. Answer without the result.";
