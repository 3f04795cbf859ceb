/** What an agent reads of a call that is not made while a text is tried. */
export const NOT_RUN =
  "Not run here: this message is answered once more beside the record, and nothing outside is reached. Answer without the result.";
