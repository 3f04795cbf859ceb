/** The sentences about a business that a model reads. `tests/house/golden/wording.txt` lists them all. */

export const WORDING = {
  heading: "## Who you represent",
  rules: "## Rules of the organization",
  always: "The business is open at all times.",
  never: "The business is closed, and no opening is planned for the next weeks.",
} as const;

export const DISCLOSURE = {
  asked: "If somebody wants to know whether they write with a person, say that you are the business's AI assistant.",
  never: "Write as one of the team: never name or describe yourself as an AI or a program.",
} as const;

export const onBehalf = (business: string): string => `You write on behalf of ${business}.`;
export const forMember = (name: string, title: string | undefined): string =>
  `Your point of contact there is ${name}${title === undefined ? "" : ` (${title})`}.`;
export const writeIn = (language: string): string => `Write in ${language} unless the contact uses another language.`;
/** What begins the lines about the business. */
export const LABELS = { services: "Services", contact: "Contact", address: "Address", languages: "Languages" } as const;
export const openingHours = (timezone: string, times: readonly string[]): string =>
  `Opening hours (${timezone}): ${times.join("; ") || "none"}`;
export const openUntil = (time: string): string => `The business is open now, until ${time}.`;
export const closedUntil = (time: string): string => `The business is closed now. It opens again at ${time}.`;
export const whileClosed = (words: string): string => `While it is closed, tell contacts: ${words}`;
export const onLine = (line: string, member: string | undefined): string =>
  member === undefined
    ? `This message came to ${line}.`
    : `This message came to ${line}, which is answered by ${member}.`;
