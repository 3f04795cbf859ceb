/** The sentences of the models that a model reads, and all that the rehearsal says. `tests/house/golden/wording.txt` lists them all. */

/** Sent to a provider that refuses earlier calls without any tool in the request. */
export const NO_TOOL = "Placeholder for removed tools; do not call.";

export const mediaOmitted = (types: readonly string[]): string =>
  `(Omitted: ${types.join(", ")}; this model's API does not accept ${types.length === 1 ? "it" : "them"} in tool results.)`;

/** The result of a search for tools, for a provider that gets their definitions itself. */
export const toolsLoaded = (names: readonly string[]): string =>
  `Found ${names.join(", ")}. From here on, you can call ${names.length === 1 ? "it" : "them"} by name.`;

/** What the rehearsal says of itself once in each answer, and what its other sentences begin with. */
export const NOTE = "(Rehearsal model: no language model is connected.)";
export const INTRODUCES = "I am Strata's rehearsal model.";

/** What it is and what may be tried; nobody is told to try what the agent has no tool for. */
export const introduction = (canSave: boolean): string =>
  `${INTRODUCES} No language model is connected, so I can only quote the request I was sent and use my tools. ${canSave ? 'Try "Remember that ...", or ask' : "Ask"} about something you told me.`;

export const missingArguments = (tool: string, names: readonly string[], example: string): string =>
  `${tool} needs ${names.join(" and ")}, which you did not give. Try: Use ${tool} ${example}`;
export const noToolFor = (tool: string): string => `I have no tool to do that (${tool}).`;

export const remembered = (day: string, quote: string): string => `I remember from ${day}: ${quote}.`;
export const wrote = (day: string, who: string, quote: string): string => `On ${day} ${who} wrote: ${quote}.`;
export const FOUND_NOTHING = "I find nothing about that in this conversation or in my memory.";
export const READ_MESSAGE = "I have read your message.";
export const readOther = (what: string, trust: string, quote: string): string =>
  `I have read the ${what} of the ${trust}: ${quote}.`;
export const readCaller = (quote: string): string => `I have read the calling agent's message: ${quote}.`;

export const failed = (tool: string, quote: string): string => `That did not work (${tool}): ${quote}.`;
export const saved = (quote: string): string => `I saved this: ${quote}.`;
export const searched = (quote: string, found: string): string =>
  `I searched my memory for ${quote} and got:\n${found}`;
export const ONLY_OWN = "nothing but what I said myself";
export const fileSays = (path: string, text: string): string => `${path} says:\n${text}`;
export const fileWritten = (path: string): string => `I wrote ${path}.`;
export const cameBack = (tool: string, text: string): string => `Here is what came back (${tool}):\n${text}`;
export const withMedia = (mediaType: string): string => `(with it: ${mediaType})`;

/** How its sentences about a request begin: quoted from an earlier answer, it would answer with its own answers. */
export const REHEARSED =
  /^(?:[^:\n]{1,80}: |Hello[^.\n]{0,80}\. )?(?:I remember from \d{4}-|On \d{4}-\d\d-\d\d .{0,80} wrote: "|I find nothing about that in this|I have read (?:your|the)\b|I saved this: "|I searched my memory for "|Here is what came back \(|That did not work \()/;
