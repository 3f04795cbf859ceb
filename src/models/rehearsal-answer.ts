import { isoSecond, type ReadFrame } from "../protocol/index.ts";
import { type Answered, asksForAll, bestMatch, isOwn, isQuestion, type ReadRequest } from "./rehearsal-reading.ts";
import { memoryActOf, type Wish, wishOf } from "./rehearsal-wish.ts";
import {
  cameBack,
  failed as didNotWork,
  FOUND_NOTHING,
  fileSays,
  fileWritten,
  introduction,
  NOTE,
  noToolFor,
  ONLY_OWN,
  READ_MESSAGE,
  readCaller,
  readOther,
  remembered,
  saved,
  searched,
  wrote,
} from "./wording.ts";

/** The rehearsal's answer, or the one call it makes. */
export type Answer = { readonly say?: string; readonly call?: Wish };

const introduced = ({ tools }: ReadRequest): string =>
  introduction([...tools.keys()].some((tool) => memoryActOf(tool) === "save"));

/** Decides from the reading alone: report what came of a call, make the call that was asked for, or answer with quotes. */
export function answer(reading: ReadRequest): Answer {
  const { asked, answered, tools } = reading;
  if (asked === undefined) return { say: introduced(reading) };
  if (answered.length > 0) return { say: `${answered.map(reportCall).join("\n")}\n${NOTE}` };
  const wish = wishOf(asked, tools);
  if (wish?.lacks !== undefined) return { say: `${wish.lacks}\n${NOTE}` };
  const greeting = wish === undefined ? greetingOf(reading, asked) : undefined;
  if (greeting !== undefined) return { say: `${greeting}\n${reading.spokeBefore ? NOTE : introduced(reading)}` };
  const known = wish !== undefined && memoryActOf(wish.tool) === "search" && isKnown(reading, asked, wish.tool);
  if (wish !== undefined && !known && tools.has(wish.tool)) return { call: wish };
  const lines = wish !== undefined && !known ? [noToolFor(wish.tool)] : findings(reading, asked);
  return {
    say: `${address(reading, asked)}${lines.join("\n")}\n${reading.spokeBefore ? NOTE : introduced(reading)}`,
  };
}

/** Whether the search is unnecessary because the request already contains its result, or impossible. */
const isKnown = ({ tools, memories }: ReadRequest, { text }: ReadFrame, search: string): boolean =>
  !tools.has(search) || (asksForAll(text) ? memories.length > 0 : bestMatch(text, memories) !== undefined);

/** The contact by their claimed name; others are not addressed by name, so that no one can pose as an operator. */
function address({ spokeBefore }: ReadRequest, { trust, name }: ReadFrame): string {
  const named = trust === "contact" && name !== undefined && name !== "" ? name : undefined;
  if (!spokeBefore) return named === undefined ? "Hello. " : `Hello, ${named}. `;
  return named === undefined ? "" : `${named}: `;
}

/** The answer to a message that is only a greeting. */
function greetingOf({ spokeBefore }: ReadRequest, { kind, trust, name, text }: ReadFrame): string | undefined {
  if (kind !== "message") return undefined;
  const words = text.toLowerCase().match(/[\p{L}']+/gu) ?? [];
  const [, reply] = GREETINGS.find(([pattern]) => pattern.test(words.join(" "))) ?? [];
  if (reply === undefined || words.length > 8) return undefined;
  const hello = reply === "Hello" || spokeBefore ? reply : `Hello. ${reply}`;
  return trust === "contact" && name ? `${hello}, ${name}.` : `${hello}.`;
}

const ASIDES =
  "(?: (?:there|again|all|everyone|everybody|strata|friend|to you|how are you(?: doing)?(?: today)?|nice to (?:meet|see) you))*";
const GREETINGS: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(
      `^(?:hi+|hello|hey+|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|guten (?:tag|morgen|abend)|servus|hola|bonjour|salut|ciao)${ASIDES}$`,
    ),
    "Hello",
  ],
  [
    /^(?:many thanks|thanks?(?: you)?|thx|danke(?: schön)?|merci|gracias)(?: (?:a lot|so much|very much|again|strata))*$/,
    "You are welcome",
  ],
  [
    /^(?:good ?bye|bye(?: bye)?|good night|see you|tschüss|ciao ciao)(?: (?:see you|later|soon|tomorrow|strata|for now))*$/,
    "Goodbye",
  ],
];

/** What the request contains about this: the one memory or line of the conversation that fits best, or the latest known one. */
function findings({ memories, earlier }: ReadRequest, asked: ReadFrame): string[] {
  if (!isQuestion(asked.text)) return [acknowledged(asked)];
  // A question that was asked before would match itself best.
  const lines = earlier.flatMap((frame) => frame.text.split("\n").map((text) => ({ ...frame, text })));
  const said = lines.filter((line) => line.trust === "contact" && !isQuestion(line.text));
  const best = bestMatch(asked.text, [...said, ...memories]);
  if (best !== undefined && memories.includes(best)) return [recall(best)];
  if (best !== undefined) return [wrote(day(best.at), writer(best, asked), quote(best.text))];
  const newest = asksForAll(asked.text) ? memories.slice(-3).map(recall) : [];
  return newest.length > 0 ? newest : [FOUND_NOTHING];
}

const recall = ({ at, text }: ReadFrame): string => remembered(day(at), quote(text));

function acknowledged({ kind, trust, text }: ReadFrame): string {
  if (kind === "message" && trust === "contact") return READ_MESSAGE;
  // Its trust is that of the call's cause, and not of the caller.
  return kind === "peer" ? readCaller(quote(text)) : readOther(NOUNS.get(kind) ?? kind, trust, quote(text));
}

/** What kinds are called in a sentence, where that is not their own word. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ["scheduled", "scheduled instruction"],
  ["call-ended", "ended call"],
]);

const writer = (line: ReadFrame, asked: ReadFrame): string =>
  asked.trust === "contact" && line.name === asked.name ? "you" : (line.name ?? "the contact");

/** What came of one call, in the words of the person who asked for it. */
function reportCall({ tool, input, failed, text }: Answered): string {
  if (failed) return didNotWork(tool, quote(text));
  switch (memoryActOf(tool) ?? tool) {
    case "save":
      return saved(quote(field(input, "content")));
    case "search":
      return searched(quote(field(input, "query")), block(withoutOwn(text)));
    case "read":
      return fileSays(field(input, "path"), block(text));
    case "write":
      return fileWritten(field(input, "path"));
    default:
      return cameBack(tool, block(text));
  }
}

/** The findings, except for the rehearsal's own words. */
const withoutOwn = (found: string): string =>
  found
    .split(/\n(?=- mem_)/)
    .filter((one) => !one.split("\n").some((line) => isOwn(line.trim())))
    .join("\n") || ONLY_OWN;

const field = (input: unknown, name: string): string => `${new Map(Object.entries(input ?? {})).get(name) ?? ""}`;

const day = (at: number): string => isoSecond(at).slice(0, 10);

const short = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;

/** Quoted on one line; a quote needs no full stop. */
const quote = (text: string): string => `"${short(text.replace(/\s+/g, " ").trim(), 200).replace(/\.$/, "")}"`;

const block = (text: string): string => short(text.trim(), 1_000).replace(/^/gm, "> ");
