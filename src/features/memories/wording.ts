/** The sentences about memories that a model reads. `tests/house/golden/wording.txt` lists them all. */

export const notSaved = (because: string): string => `Not saved: ${because}`;
/** Behind what a search finds there. */
export const OWN_ONLY = "(In a turn with several senders only your own memories are searched, none about a sender.)";
export const SEVERAL_SENDERS = "a turn with several senders cannot save memories.";
export const badText = (problem: string): string => `the text ${problem}.`;
export const HAS_FRAME = "contains a frame from your prompt; restate only what is new";
export const hasSecret = (problem: string): string =>
  `${problem}; secrets are not remembered: say where it is kept instead`;
export const EMPTY = "it must not be empty";
export const idWanted = (search: string): string => `it must be an id from ${search}, mem_…`;
export const DATE_WANTED = "it must be a date such as 2026-11-21, or a time such as 2026-11-21T09:30:00Z";

export const SAVED = "Saved.";
export const replaced = (old: string): string => `Saved. It replaces ${old}, which searches no longer return.`;
export const savedBefore = (id: string, times: number): string =>
  `Already saved as ${id} (now counted ${times} times); nothing was added.`;

export const notForgotten = (because: string): string => `Not forgotten: ${because}`;
export const willBeForgotten = (id: string): string => `${id} will be forgotten when this turn ends.`;

/** Why a memory may not be replaced or forgotten. */
export const noSuchMemory = (id: string, isOwn: boolean, search: string): string =>
  `there is no memory ${id} of ${isOwn ? "your own" : "this contact"}; ${search} shows their ids.`;
export const replacedAlready = (id: string, by: string): string => `${by} has already replaced ${id}.`;
export const isMessage = (id: string): string =>
  `${id} is a stored message and cannot be changed; save what is true now instead.`;
export const savedByPerson = (id: string, who: string): string =>
  `${id} was saved by the ${who}; ask a person to change it.`;
export const trustedMore = (id: string, trust: string, taint: string): string =>
  `${id} has the trust of the ${trust}, and this turn has read text of a ${taint}; ask a person to change it.`;

export const NO_MATCH = "No memory matches; try other or fewer words.";
/** In the line over each result of a search. */
export const LABELS = { allContacts: "for all contacts", thisTurn: "saved in this turn" } as const;
export const saidBy = (name: string): string => `said by [${name}]`;
export const tagged = (tags: string): string => `tags [${tags}]`;
export const validUntil = (day: string): string => `valid until ${day}`;

/** What `memory_stats` says: of a contact, or for all turns. */
export const statsOf = (isContact: boolean, counts: string): string =>
  `${isContact ? "About this contact" : "For all turns"}: ${counts}.`;
export const NONE = "nothing";
export const counted = (kinds: string, characters: number, newest: string): string =>
  `${kinds} with ${characters} characters, the newest from ${newest}`;

/** In place of memories that could not be searched; `finder` is the tool that can. */
export const notRecalled = (finder: string | undefined): string => {
  const message = "Memories could not be read for this message, so something may be known that is not shown";
  return finder === undefined ? `${message}.` : `${message}; \`${finder}\` can search them.`;
};

/** Over the newest memories, when there are older ones; `finder` is the tool that finds them. */
export const olderMemories = (older: number, finder: string | undefined): string => {
  const message = older === 1 ? "1 older memory not shown" : `${older} older memories not shown`;
  return finder === undefined ? `${message}.` : `${message}; \`${finder}\` finds ${older === 1 ? "it" : "them"}.`;
};
/** Behind the beginning of a long memory. */
export const inAll = (characters: number): string => `(${characters} characters in total)`;
