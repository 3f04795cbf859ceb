/**
 * What the guard says of a text, as the rest of a sentence about it: agents that edit their prompt or save a memory read it, and people.
 * `tests/house/golden/wording.txt` lists it all.
 */

/** As people write it, on any machine: `4,000`. */
const number = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");

export const rejected = (findings: readonly string[]): string => `the guard rejected it: ${findings.join("; ")}`;
export const flagged = (findings: readonly string[]): string =>
  `the guard flagged it for review: ${findings.join("; ")}`;
export const blocked = (findings: readonly string[]): string => `the guard blocked it: ${findings.join("; ")}`;

/** The form of a text. `of` is "it" or "its line". */
export const EMPTY = "it is empty";
export const NO_WORDS = "it has no letter or digit";
export const halfCharacter = (of: string, code: string): string =>
  `${of} has half a character, ${code}; write the whole character or remove it`;
export const controlCharacter = (of: string, code: string): string =>
  `${of} has the control character ${code}; only tabs and line breaks are allowed`;
export const likeThePlatform = (line: string): string => `the line ${line} looks like one of the platform's own`;
export const emptyRule = (line: string): string => `the line ${line} is a rule without text; complete it or remove it`;

/** The line that replaces a layer where the prompt must be short. */
export const EMPTY_LINE = "its line is empty; omit it";
export const BROKEN_LINE = "its line has a line break";
export const LINE_LIKE_THE_PLATFORM = "its line looks like one of the platform's own";
export const lineTooLong = (length: number, most: number): string =>
  `its line has ${number(length)} characters; at most ${number(most)} are allowed`;

/** The size of a text. */
export const soulForm = (most: number): string =>
  `a soul has 1 to ${most} of the characters a-z, 0-9, ".", "_" and "-", and begins and ends with a letter or digit`;
export const skillTooLong = (length: number, most: number): string =>
  `it has ${number(length)} characters; a skill may have ${number(most)}`;
export const blockTooLong = (length: number, most: number): string =>
  `it has ${number(length)} characters; a memory block may have ${number(most)}`;
export const tooManySkills = (enabled: number, most: number): string =>
  `${enabled} skills are enabled and at most ${most} are allowed; disable one first`;
const left = (length: number, room: number): string =>
  `it has ${number(length)} characters, and ${number(room)} are left for it`;
export const layerTooLong = (length: number, most: number): string =>
  `${left(length, most)}: a layer may have ${number(most)}`;
export const noRoomBeside = (length: number, room: number, { most, others }: PrefixRoom): string =>
  `${left(length, room)}: all texts of the prefix together may have ${number(most)}, of which the others take ${number(others)}`;
export const noRoomToGrow = (length: number, room: number, { most, sum }: PrefixRoom): string =>
  `${left(length, room)}: all texts of the prefix together have ${number(sum)} instead of at most ${number(most)}, so none of them may grow`;

/** Characters that all texts of the prefix may have, that they have, and that all have but the one it is about. */
interface PrefixRoom {
  readonly most: number;
  readonly sum: number;
  readonly others: number;
}

/** What the check of layer texts finds. The words it is about follow each in quotes. */
export const overrides = (percent: number): string =>
  `it tries to override higher-priority rules (${percent} % certain)`;
export const unread = (most: number): string => `only its first ${most} characters are checked; the rest begins with`;
export const imitates = (what: string): string => `it imitates ${what}`;
export const IMITATED = {
  heading: "a heading of another layer",
  header: "the header of a frame",
  operator: "an instruction of the operator",
  speaker: "another speaker's line",
} as const;
export const ROLE_TAG = "it has a role tag; to mention one, put it in quotes or backticks";
export const CONTROL_TOKEN = "it has a control token of a chat template; to mention one, put it in quotes or backticks";
export const INVISIBLE_TEXT = "it has invisible text";
export const INVISIBLE_CHARACTERS = "it has invisible characters";
export const disguised = (by: string): string => `it is written so that readers miss what it says (${by})`;
export const unreadable = (what: string): string => `part of it cannot be read: ${what}`;
export const UNREADABLE = {
  letters: "letters that form no words",
  script: "letters of a script that this check does not know, or odd letters in place of plain ones",
  series: "a series of signs or digits",
  code: "a block in an unknown encoding",
} as const;

/** In the place of a secret. */
export const removed = (kind: string): string => `(${kind} removed)`;

/** What looks like a secret, and where: never the value. */
export const secret = (kind: string, where: string, others: number): string =>
  `contains what looks like ${kind}, ${where}${others === 0 ? "" : `, and ${others} more`}`;
