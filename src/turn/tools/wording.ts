/** The sentences of tools that a model reads, whichever tool was called. `tests/house/golden/wording.txt` lists them all. */

/** Each of these names the argument, its value and what it must be. */
export const notRunBecause = (tool: string, problem: string): string => `${tool} was not run: ${problem}.`;
export const noArgument = (names: string, known: string): string =>
  `there is no argument ${names}; the arguments are ${known}`;
export const unknownKeys = (name: string, keys: string): string => `${name} has ${keys}, which is not known there`;
export const isMissing = (name: string, wanted: string): string => `${name} is missing; it must be ${wanted}`;
export const mustBe = (name: string, value: string, wanted: string): string =>
  `${name} is ${value}, but it must be ${wanted}`;
export const mustHaveSize = (name: string, size: string, bound: string): string =>
  `${name} ${size}, but it must ${bound}`;
export const notAllowed = (name: string, value: string, problem: string): string => `${name} is ${value}: ${problem}`;
export const cannotBeChecked = (why: string): string => `its input cannot be checked (${why})`;

/** What a tool returned cannot be used. The call may have acted, so it is not said that it did not run. */
export const nothingUsable = (tool: string, problem: string): string =>
  `${tool} ran but returned nothing usable: ${problem}. A tool returns a text, an object, or { text, failed, media, writes }.`;
export const UNFIT = "it has the wrong shape";
export const WRITE_WANTED = "it must be an object with a `kind`";
export const notJson = (why: string): string => `it cannot be written as JSON (${why})`;
export const mediaType = (type: string, taken: string): string => `"media" has ${type}; only ${taken} are accepted`;
export const mediaTooLarge = (bytes: number, most: number): string =>
  `"media" has an entry of ${bytes} bytes; at most ${most} are accepted`;
export const mediaMismatch = (type: string): string => `"media" has an entry that is not ${type}, although it says so`;

/** What a tool threw has no message. */
export const NO_ERROR_MESSAGE = "it failed without an error message";

export const RECORDING_HAS_NO_ANSWER = "The recording has no answer for this call.";
