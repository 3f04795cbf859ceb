/**
 * A model that sees nothing but its request, and follows what stands there: lines of guidance where they speak of the message, and earlier drafts
 * with what was sent instead where they fit it. What it writes by itself is a few polite sentences.
 */
export function answer(prompt: string): string {
  const said = wordsIn(lastSaid(prompt));
  const own = `Thank you for your message. ${lastSaid(prompt).includes("?") ? "Yes, that is no problem." : "Of course, that is no problem."} Just come by any time.`;
  const lines = guidance(prompt).filter(
    ({ about, isForThis }) => isForThis || about === undefined || speaksOf(said, about) > 0,
  );
  // Of whole answers, the one that is said to be for such messages, and of those the one that speaks most of it.
  const [whole] = lines
    .filter(({ only }) => only !== undefined)
    .sort(
      (a, b) =>
        Number(b.isForThis) - Number(a.isForThis) || speaksOf(said, b.about ?? []) - speaksOf(said, a.about ?? []),
    );
  let draft = whole?.only ?? own;
  // Nobody sends an empty message, whatever is to be left out.
  for (const { about, wanted, unwanted } of lines.filter(({ only }) => only === undefined))
    draft = changed(draft, { unwanted, wanted, adds: about !== undefined }).trim() || draft;
  for (const { about, wrote, sent, isFirst } of corrections(prompt))
    if (about === undefined || shares(said, about))
      draft = changed(draft, { unwanted: wrote, wanted: sent, adds: about !== undefined, isFirst }).trim() || draft;
  return draft.replace(/[ \t]{2,}/g, " ").trim();
}

/** What the contact wrote last: the quoted lines below the last heading of a message. */
function lastSaid(prompt: string): string {
  const lines = prompt.split("\n");
  const from = lines.findLastIndex((line) => /^\[(?:message|call-ended) contact /.test(line));
  const own = lines.slice(from + 1);
  const to = own.findIndex((line) => !line.startsWith("|"));
  return (to < 0 ? own : own.slice(0, to))
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2))
    .join("\n");
}

/** A line that says how to write, about which subjects: left out, always. */
interface Guidance {
  /** It stands below the words that it was taught with messages like this one, whatever subject it names. */
  readonly isForThis: boolean;
  readonly about?: readonly string[];
  readonly only?: string;
  readonly wanted?: string;
  readonly unwanted?: string;
}

const QUOTED = `"((?:[^"\\\\]|\\\\.)*)"`;
const ABOUT = /^when (?:a|the) (?:message|contact) (?:speaks of|mentions|asks about|is about) ([^:]+):/i;

/** Lines of a list, wherever they stand; a list may be said to be for messages like this one. */
function guidance(prompt: string): readonly Guidance[] {
  let isForThis = false;
  const lines = prompt.split("\n").flatMap((line) => {
    const [, item] = /^(?:\| )?- (.+)$/.exec(line) ?? [];
    if (item === undefined) isForThis = /\bwith messages like this one:$/.test(line);
    return item === undefined ? [] : [{ line: item, isForThis }];
  });
  return lines.map(({ line, isForThis: fits }) => {
    // What stands in brackets is a note.
    const about = ABOUT.exec(line)?.[1]?.replace(/\([^)]*\)/g, "");
    const quoted = (before: string): string | undefined =>
      new RegExp(`(?:${before}) ${QUOTED}`, "i").exec(line)?.[1]?.replace(/\\(.)/g, "$1");
    const [only, wanted, unwanted] = ["write only", "write|say|add", "instead of|leave out|not"].map(quoted);
    return {
      isForThis: fits,
      ...(about !== undefined && { about: about.split(/,| or /).map((one) => one.trim()) }),
      ...(only !== undefined && { only }),
      ...(wanted !== undefined && { wanted }),
      ...(unwanted !== undefined && { unwanted }),
    };
  });
}

/** `deliveries` is `delivery`, and `Saturdays` is `Saturday`. */
const stem = (word: string): string => word.replace(/(?:ies|es|s)$/, "").replace(/y$/, "");
/** A hyphen joins two words to one. */
const wordsIn = (text: string): readonly string[] =>
  (
    text
      .toLowerCase()
      .replaceAll(/(\p{L})-(?=\p{L})/gu, "$1")
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map(stem);

/** Of how many of these subjects a message speaks: of one of several words, where it has most of them. */
const speaksOf = (said: readonly string[], about: readonly string[]): number =>
  about.filter((subject) => {
    const words = wordsIn(subject);
    return words.length > 0 && words.filter((word) => said.includes(word)).length * 2 > words.length;
  }).length;

/** Whether two messages have a word in common that is no mere link between others. */
const shares = (one: readonly string[], other: readonly string[]): boolean =>
  one.some((word) => word.length > 3 && !LINKS.has(word) && other.includes(word));

const LINKS = new Set(
  wordsIn(
    `about after again and another anything because been before being both could does doing down each ever every from have having hello here
    into just last like long made make many more most much must need never next only other please really same shall should some
    something soon still such take than thank that their them then there these they thing think this those through time today
    tomorrow until very want well were what when where which while will with without would yes yesterday your yours`,
  ),
);

/** A draft with what was sent instead, and the words of the message: left out, it fits them all. */
interface Correction {
  readonly about?: readonly string[];
  readonly wrote?: string;
  readonly sent?: string;
  readonly isFirst?: boolean;
}

/** Earlier drafts with what a person made of them, from their lines. */
function corrections(prompt: string): readonly Correction[] {
  const found: Correction[] = [];
  let now: { about?: readonly string[]; wrote?: string } = {};
  for (const line of prompt.split("\n")) {
    const [, head = "", rest = ""] =
      /^\| (The contact wrote|Whatever the contact wrote|You wrote|This was sent instead|This was added|It began with|It was sent without that)[:.] ?(.*)$/.exec(
        line,
      ) ?? [];
    if (head === "The contact wrote") now = { about: wordsIn(rest) };
    else if (head === "Whatever the contact wrote") now = {};
    else if (head === "You wrote") now.wrote = rest;
    else if (head !== "")
      found.push({
        ...now,
        ...(head !== "It was sent without that" && { sent: rest }),
        isFirst: head === "It began with",
      });
  }
  return found;
}

interface Change {
  readonly unwanted?: string | undefined;
  readonly wanted?: string | undefined;
  /** What is wanted is written also where nothing stands that is to go. */
  readonly adds: boolean;
  readonly isFirst?: boolean | undefined;
}

/** Writes one thing in place of another, or of a sentence that says much the same. */
function changed(draft: string, { unwanted, wanted, adds, isFirst = false }: Change): string {
  const has = (text: string): boolean => draft.includes(text);
  if (unwanted === undefined)
    return wanted === undefined || has(wanted) ? draft : isFirst ? `${wanted} ${draft}` : `${draft} ${wanted}`;
  const stands = has(unwanted) ? unwanted : nearest(draft, unwanted);
  if (wanted === undefined) return has(unwanted) ? draft.replace(unwanted, () => "") : draft;
  if (has(wanted)) return stands === undefined || wanted.includes(stands) ? draft : draft.replace(stands, () => "");
  if (stands !== undefined) return draft.replace(stands, () => wanted);
  const isSentence = /^\p{Lu}.*[.!?]$/u.test(wanted);
  return adds && isSentence && nearest(draft, wanted) === undefined ? `${draft} ${wanted}` : draft;
}

/** A sentence of the draft with most of the words of another one. */
function nearest(draft: string, sentence: string): string | undefined {
  const words = wordsIn(sentence);
  return draft.split(/(?<=[.!?])\s+/).find((one) => {
    const own = wordsIn(one);
    const common = own.filter((word) => words.includes(word)).length;
    return common >= 3 && 2 * common >= 0.7 * (own.length + words.length);
  });
}
