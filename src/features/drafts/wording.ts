/** What an agent reads about the delivery of what it writes. `tests/house/golden/wording.txt` lists it all. */

export const WORDING = {
  send: "What you write is sent to the contact at once.",
  draft:
    "What you write is a draft: a person of the team reads it, then sends, changes or discards it. Write it as it should be sent.",
  observe: "Nobody is sent what you write in this conversation: you only observe it.",
  isDraft: "it is a draft, and a person decides about it first",
  isObserved: "this conversation is only observed",
} as const;

export const draftsWait = (count: number): string =>
  count === 1
    ? "A draft of yours in this conversation still waits for a person and was not sent."
    : `${count} drafts of yours in this conversation still wait for a person and were not sent.`;

const named = (line: string | undefined): string => `Your draft${line === undefined ? "" : ` to the line ${line}`}`;
const QUOTED = "Its beginning is quoted in the next frame.";
export const sentAsIs = (line: string | undefined): string =>
  `${named(line)} was approved and sent as you wrote it. ${QUOTED}`;
export const sentEdited = (line: string | undefined): string =>
  `${named(line)} was changed by a person before it was sent. Its beginning, and what was sent, are quoted in the next frame.`;
export const discarded = (line: string | undefined, note: string | undefined): string =>
  `${named(line)} was discarded by a person and not sent. ${QUOTED}${note === undefined ? "" : ` The person says: ${note}`}`;

/** The frame after a decision. It may repeat what a contact wrote, so it has no more trust than the draft. */
export const quotedDraft = (beginning: string, sent: string | undefined): string =>
  `The draft began with: ${beginning}${sent === undefined ? "" : `\nThis was sent instead:\n${sent}`}`;
