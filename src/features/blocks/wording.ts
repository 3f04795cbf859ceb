/** The sentences about memory blocks that a model reads. `tests/house/golden/wording.txt` lists them all. */

export const WORDING = {
  none: "Nothing is kept here.",
  /** In the line over a block that a person saved. */
  readOnly: "read_only",
  noContact: "this turn has no contact; `update_my_memory` changes your own memory.",
} as const;

/** The text of a block that was deleted. */
export const GONE = "(deleted)";

export const notUpdated = (because: string): string => `Nothing was changed: ${because}`;
/** `block` is its label and its name. */
export const noSuchBlock = (block: string): string =>
  `there is no block ${block}; \`read_my_memory\` shows those there are.`;
export const blockThere = (block: string): string => `the block ${block} exists already; use \`update\`.`;
export const savedByPerson = (block: string, who: string): string =>
  `the block ${block} is read_only: the ${who} saved it. Ask a person to change it.`;
export const changedTwice = (block: string): string => `the block ${block} is changed more than once in this turn.`;
export const textWanted = (block: string): string => `\`${block}\` needs a \`text\`.`;
export const badText = (block: string, problem: string): string => `the text of ${block} ${problem}.`;
export const sameText = (block: string): string => `the block ${block} already says that.`;
export const tooMany = (label: string, most: number): string =>
  `${label} has ${most} blocks, which is the most; delete or update one.`;

export const willChange = (block: string): string => `${block} changes when this turn ends.`;
export const proposed = (block: string, because: string): string =>
  `Proposed, not changed: ${block} stays as it is until an operator approves your change, because ${because}.`;
export const readBy = (trust: string): string => `this turn has read text of a ${trust}`;

export const idWanted = "`forget` and `replace` need the `id` of a memory, from `read_contact_memory`.";
export const contentWanted = "`save` and `replace` need a `text`.";
