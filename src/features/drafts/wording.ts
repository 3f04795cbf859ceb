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

/** Which draft a decision is about. `beginning`: its first words, as a quotation. */
export interface NamedDraft {
  readonly beginning: string;
  readonly line: string | undefined;
}

const named = ({ beginning, line }: NamedDraft): string =>
  `Your draft${line === undefined ? "" : ` to the line ${line}`} that begins with ${beginning}`;
export const sentAsIs = (draft: NamedDraft): string => `${named(draft)} was approved and sent as you wrote it.`;
export const sentEdited = (draft: NamedDraft, text: string): string =>
  `${named(draft)} was changed by a person. This was sent instead:\n${text}`;
export const discarded = (draft: NamedDraft, note: string | undefined): string =>
  `${named(draft)} was discarded by a person and not sent${note === undefined ? "." : `: ${note}`}`;
