/** The sentences about workspace files that a model reads. `tests/house/golden/wording.txt` lists them all. */

/** About the file at `path`, which is quoted. It says which root the path is relative to: an agent may know files of a project, too. */
export const aboutFile = (path: string, message: string): string => `${path} in your workspace ${message}.`;
export const EMPTY = "is empty";
export const written = (bytes: string, path: string): string => `Wrote ${bytes} to ${path}.`;
export const tooLarge = (bytes: number, most: number): string =>
  `The text has ${bytes} bytes; at most ${most} can be written.`;
/** The model was not shown a file's secrets: what it writes back would put the mark in their place. */
export const wouldLoseSecret = (mark: string, path: string): string =>
  `Not written: ${mark} replaces a secret in ${path} that was not shown to you, and writing would destroy it. Write another file, or say what should be changed.`;
export const NOTHING_THERE = "Your workspace has nothing there yet.";

/** Why a file was not read or written, as the rest of a sentence that begins with its path. */
export const NOT_DONE = {
  isFolder: "is a folder; list it instead",
  takenByFolder: "is a folder; choose another name",
  notRead: "is not an ordinary file, so it is not read",
  notReplaced: "is not an ordinary file, so it is not replaced",
  changed: "was changed while it was read; try again",
  notText: "is not UTF-8 text; only text files can be read",
  folderChanged: "was not written, because its folder was changed meanwhile; try again",
} as const;
export const tooLargeToRead = (most: string): string => `is larger than ${most}, the most that can be read`;

/** What the file system refuses, by its code. */
export const TROUBLE = {
  ENOENT:
    "does not exist; list shows what there is. The workspace is a folder of its own, apart from any project's files",
  ELOOP: "is a link; links are not followed",
  ENOTDIR: "goes through a link or a file instead of a folder",
  EISDIR: "is a folder",
  ENXIO: "is not an ordinary file",
  ENAMETOOLONG: "is too long",
  EACCES: "was refused: access denied",
  EPERM: "was refused: access denied",
  ENOSPC: "does not fit: the disk is full",
} as const;
export const otherTrouble = (code: string): string => `could not be reached (${code || "unknown error"})`;

export const invalidPath = (path: string, problem: string): string =>
  `Invalid path ${path} in your workspace: ${problem}.`;
export const BAD_PATH = {
  workspace: "it is the workspace itself, not a file",
  absolute: "it must be relative to the workspace, with a name between all slashes",
  backslash: "backslashes are not allowed; use '/' between folders",
  characters: "control and invisible characters are not allowed",
} as const;
export const tooDeep = (most: number): string => `it has more than ${most} parts`;
export const dots = (part: string): string => `'${part}' is not allowed in it`;
export const longPart = (most: number): string => `a part of it is longer than ${most} bytes`;
export const reserved = (start: string): string => `names that start with '${start}' are reserved`;

/** The lines of a listing. */
export const folderLine = (name: string): string => `${name}/ (folder)`;
export const fileLine = (name: string, bytes: number): string => `${name} (file, ${bytes} bytes)`;
export const notReadable = (name: string): string => `${name} (not readable)`;
export const more = (entries: number | undefined): string => `… and ${entries ?? "many"} more`;
