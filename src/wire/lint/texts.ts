import type { RuleName } from "./rules.ts";

/** A position in a text, counted from 1. */
export interface Spot {
  readonly line: number;
  readonly column: number;
}

/** A rule's finding in a text: the words, and the number of further ones of the same kind. */
export interface Hit {
  readonly rule: RuleName;
  readonly spot: Spot;
  readonly words: string;
  readonly more: number;
}

interface Pattern {
  readonly rule: RuleName;
  readonly regex: RegExp;
  /** False for a match with another meaning, judged by the rest of its sentence. */
  readonly means?: (words: string, before: string, after: string) => boolean;
}

const MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?";
const DAY = [
  "(?:19|20)\\d\\d-\\d\\d-\\d\\d",
  `\\d{1,2}(?:st|nd|rd|th)?\\s+${MONTH},?\\s+(?:19|20)\\d\\d`,
  `${MONTH}\\s+\\d{1,2}(?:st|nd|rd|th)?,?\\s+(?:19|20)\\d\\d`,
  "\\d{1,2}[./]\\d{1,2}[./](?:19|20)\\d\\d",
].join("|");
const MINUTES = "\\d{1,2}:[0-5]\\d(?!\\d)";
const SECONDS = `${MINUTES}:[0-5]\\d(?:\\.\\d+)?`;
const BETWEEN = "(?:T|,?\\s+(?:at\\s+)?)";

const signs = (source: string): RegExp => new RegExp(source, "gi");

/** "It is now" and "current time", up to the figures, in the languages that docs/lint.md names. */
const ELSEWHERE = [
  "(?:es|jetzt) ist(?: jetzt| gerade| es)?|(?:aktuelle|jetzige) (?:uhr)?zeit|uhrzeit",
  "il est(?: maintenant| actuellement)?|(?:l')?heure actuelle",
  "(?:ahora )?(?:son las|es la)|hora actual",
  "(?:adesso |ora )?sono le(?: ore)?|(?:ora|orario) (?:attuale|corrente)",
  "(?:agora )?são(?: agora)?(?: as)?",
  "het is(?: nu)?|huidige tijd",
  "jest(?: teraz)?(?: godzina)?|(?:aktualna godzina|aktualny czas)",
  "сейчас|текущее время",
  "şu an(?:da)?(?: saat)?|saat şu an",
  "(?:现在|当前)(?:的)?(?:时间)?",
  "(?:現在|今)(?:の)?(?:時刻|時間)?は?",
].join("|");
/** The same as `condition`, there. */
const CONDITION_ELSEWHERE =
  /(?<!\p{L})(?:wenn|falls|ob|sobald|bis|si|quand|lorsque|cuando|se|quando|als|wanneer|jeśli|gdy|если|когда|eğer)(?!\p{L})[^.;!?\n]*$|(?:如果|当|もし)[^。；！？\n]*$/iu;
/** Phrases that within a sentence also describe permanent facts: "Los turnos son las 9:30". */
const AT_THE_START_ONLY = /^(?:son las|es la|sono le|são (?!agora)|jest (?!teraz))/iu;
const ABOUT = "(?:request|turn|message|visit|session|conversation|call|round)";

/** A date that a rule of the house names: from then on, until then. */
const term = (before: string): boolean =>
  /\b(?:since|until|till|before|after|from|effective|valid|start(?:s|ing)?|begin(?:s|ning)?|ends?|ending|expires?|due|deadline|closes?|opens?|by|between|and|to)(?:\s+(?:on|at|from|by|is))?[\s:]*$/i.test(
    before,
  );

/** Something shown so that its form is known. */
const example = (before: string): boolean =>
  /(?:\b(?:e\.g|i\.e)\.|\b(?:for example|for instance|example|such as|as in|looks? like|like|format(?:ted)?|form|iso|iso 8601|rfc ?\d+|pattern)\b)[^;\n]*$/i.test(
    before,
  );

/** Words of a condition or a question: what follows is not a statement. */
const condition = (before: string): boolean =>
  /\b(?:if|when|whenever|whether|unless|until|what|who|which|where|how|ask|asks|asked|anything|whatever|(?:more|less|longer|older|later|earlier|fewer) than|up to|at least|at most|over|within|count|words?)\b[^.;!?\n]*$/i.test(
    before,
  );

const isQuoted = (before: string, after: string): boolean => /["“'`‘]$/.test(before) && /^["”'`’]/.test(after);

const duration = (before: string): boolean =>
  /\b(?:up to|at most|within|less than|more than|under|over|longer than|shorter than|lasts?|duration|takes?|length)[^.;\n]{0,20}$/i.test(
    before,
  );

const notShown = (_: string, before: string): boolean => !example(before);
const instant = (_: string, before: string): boolean => !example(before) && !term(before);
const claim = (_: string, before: string, after: string): boolean => !condition(before) && !isQuoted(before, after);

/** A count that is reported, not one that a rule waits for. */
const tally = (words: string, before: string, after: string): boolean =>
  notShown(words, before) &&
  claim(words, before, after) &&
  !/\b(?:after|once|as soon as|than)\b[^.;!?\n]*$/i.test(before);

/** A day relative to now that describes a past event; today only if it describes the last one. */
function happened(words: string, before: string, after: string): boolean {
  if (example(before) || !claim(words, before, after) || /\b(?:that|after|once|not|never)\b/i.test(before))
    return false;
  if (/^today$/i.test(words))
    return /\blast (?:here|seen|active|online|login|logged in|visit(?:ed)?|contact(?:ed)?|message|wrote|called)\b/i.test(
      before,
    );
  return /\b(?:last|was|were|been|had|came|went|left|wrote|said|bought|paid|sent|got|met|spoke|saw|[a-z]{3,}ed)\b/i.test(
    before,
  );
}

/** A digest has 32 signs or more; what is shorter may be a number of an article. */
const looksHashed = (words: string, before: string): boolean =>
  !example(before) && countCaseChanges(words.toLowerCase()) >= (words.length < 32 ? 4 : 1);

/** A chain of 20 or more letters and digits that changes between them as no word or number does. */
function looksRandom(words: string, before: string): boolean {
  if (example(before) || /(?:\/\/|[@/.])\S*$/.test(before)) return false;
  return /\d/.test(words) && /[A-Za-z]/.test(words) && countCaseChanges(words) >= 6;
}

/** How often small letters, capitals and digits take turns; a word that begins with a capital does not count. */
const countCaseChanges = (words: string): number =>
  words.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;

/** The rules for texts (CACHING §4.6), in this order: of two that find the same words, the first one counts. */
const PATTERNS: readonly Pattern[] = [
  { rule: "uuid", regex: signs("\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b"), means: notShown },
  {
    rule: "request-id",
    regex: signs(
      "\\b(?:request|session|trace|span|correlation|conversation|thread|transaction|run|job|message|user|customer|visitor|client|device)(?:[ _-]?)(?:id|uuid|guid|token|key)\\b[\"'`]?\\s*(?:is|[:=#])?\\s*[\"'`(]?(?=[\\w-]*\\d)[A-Za-z0-9][\\w-]{4,}",
    ),
    means: notShown,
  },
  {
    rule: "request-id",
    regex: signs("\\b(?:req|sess|sid|msg|run|trace|chatcmpl|call|thr|trn|evt|usr|user)_(?=[a-z]*\\d)[a-z0-9]{8,}\\b"),
    means: notShown,
  },
  {
    rule: "seconds",
    regex: signs(`(?:\\b(?:${DAY})${BETWEEN})${SECONDS}(?:\\s*(?:[ap]m|z|utc|gmt|[+-]\\d\\d:?\\d\\d))?`),
    means: instant,
  },
  {
    rule: "seconds",
    regex: signs(`\\b${SECONDS}(?!\\d)`),
    means: (_, before) => !example(before) && !term(before) && !duration(before),
  },
  {
    rule: "seconds",
    regex: /\b1[5-9]\d{11}\b(?!-)/g,
    means: (_, before) => !example(before) && !/[-#+]$/.test(before),
  },
  {
    rule: "seconds",
    regex: signs(
      "\\b(?:timestamp|epoch|unix(?: time)?|ts|time|now|as of|generated|rendered|updated)\\b[\"'`]?\\s*(?:is|at|[:=])?\\s*1[5-9]\\d{8}\\b",
    ),
    means: notShown,
  },
  {
    rule: "clock",
    regex: signs(`\\b(?:${DAY})${BETWEEN}${MINUTES}(?:\\s*(?:[ap]m|z|utc|gmt|[+-]\\d\\d:?\\d\\d))?`),
    means: instant,
  },
  {
    rule: "clock",
    regex: signs(
      `\\b(?:(?:current|local|server|system|present)\\s+(?:date and )?time|the time|time now|now|clock|it is(?: now)?|it's(?: now)?|currently)\\b(?:\\s+in\\s+\\w+)?["']?\\s*(?:is(?: now)?|[:=,])?\\s*(?:${MINUTES}|\\d{1,2}\\s*[ap]m\\b)`,
    ),
    means: (_, before, after) =>
      !example(before) && !condition(before) && !/^\s*(?:-|–|to|until|and|or)\s*\d/.test(after),
  },
  {
    rule: "clock",
    regex: new RegExp(
      `(?<!\\p{L})(?:${ELSEWHERE})["']?\\s*(?:ist|est|es|è|é|is|wynosi|是)?\\s*[:：=,]?\\s*(?:\\d{1,2}[:：][0-5]\\d(?!\\d)|\\d{1,2} ?h ?[0-5]\\d\\b)`,
      "giu",
    ),
    means: (words, before, after) =>
      !(AT_THE_START_ONLY.test(words) && before.trim() !== "") &&
      !example(before) &&
      !CONDITION_ELSEWHERE.test(before) &&
      !/^\s*(?:uhr\s*|h\s*)?(?:-|–|~|〜|(?:bis|à|a|alle|às|tot|do|до)\s)\s*\d/i.test(after),
  },
  {
    rule: "clock",
    regex: signs("\\b(?:current|present)\\s+hour\\s*(?:is|[:=])\\s*\\d{1,2}\\b"),
    means: notShown,
  },
  {
    rule: "date-of-now",
    regex: signs(
      `\\b(?:today(?:'s date)?|current date|the date|date|now|it is)\\b["']?\\s*(?:is|[:=,(])?\\s*(?:[a-z]+day,?\\s+)?(?:the\\s+)?(?:${DAY})`,
    ),
    means: (_, before) => !example(before) && !condition(before),
  },
  {
    rule: "date-of-now",
    regex: signs("\\b(?:today|it) is\\s+(?:a\\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day\\b"),
    means: claim,
  },
  {
    rule: "counter",
    regex: signs(
      "\\b(?:request|turn|message|visit|session|conversation|caller|visitor)s?\\s*(?:#|no\\.?\\s|nr\\.?\\s|number\\s*:?\\s*|(?:count|counter|so far|total)\\s*(?:[:=]|is)\\s*)\\s*\\d+",
    ),
    means: (words, before) => notShown(words, before) && !condition(before),
  },
  {
    rule: "counter",
    regex: signs("\\b(?:turn|message|request|round)\\s*:?\\s*\\d+\\s*(?:of|/)\\s*\\d+"),
    means: notShown,
  },
  {
    rule: "counter",
    regex: signs(
      "\\b(?:this is|you are)\\s+(?:the|your|our)\\s+\\d+(?:st|nd|rd|th)\\s+(?:request|turn|message|visit|visitor|call|conversation|session)",
    ),
  },
  {
    rule: "counter",
    regex: signs(
      "\\b(?:total (?:requests|turns|messages|visits|tokens)|(?:requests|turns|messages|tokens) (?:so far|used|left)|uptime|queue (?:length|position)|unread(?: messages)?|users online|online users|open tickets)\\s*[:=]\\s*\\d+",
    ),
    means: notShown,
  },
  {
    rule: "counter",
    regex: signs(
      `\\b(?:(?:this|it) is(?: now)?|(?:we|you) are (?:now )?(?:on|in|at)|current)\\s+(?:the\\s+)?${ABOUT}\\s*(?:is|[:=#])?\\s*\\d+\\b(?!\\s*%)`,
    ),
    means: tally,
  },
  {
    rule: "counter",
    regex: signs(`\\b${ABOUT}\\s*[:=]?\\s*\\d+\\b`),
    means: (_, before, after) => before.trim() === "" && /^(?:[.!]?\s*(?:\n|$)|[.!]\s)/.test(after),
  },
  {
    rule: "counter",
    regex: signs(
      "\\b(?:have|has|had|you've|was|were)\\s+(?:(?:already|now|so far)\\s+)?(?:been\\s+)?(?:called|asked|invoked|prompted|started|visited|contacted|used)\\s+(?:already\\s+)?\\d+\\s+times\\b",
    ),
    means: tally,
  },
  {
    rule: "counter",
    regex: signs(
      `\\b(?:you have|you've)\\s+(?:(?:already|now|so far)\\s+)?(?:answered|received|handled|sent|had|seen)\\s+\\d+\\s+(?:${ABOUT}s|questions)\\b|\\b\\d+\\s+(?:${ABOUT}s|questions)\\s+so far\\b`,
    ),
    means: tally,
  },
  {
    rule: "relative-time",
    regex: signs("\\b(?:(?:the day before )?yesterday|last (?:night|week|month)|earlier today|today)\\b(?!'s|:)"),
    means: happened,
  },
  {
    rule: "relative-time",
    regex: signs(
      "\\b(?:\\d+|an?|one|two|three|four|five|six|ten|(?:a )?few|several)\\s*(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?)\\s+ago\\b|\\b(?:just|moments?|seconds?|minutes?) (?:now|ago)\\b",
    ),
    means: claim,
  },
  {
    rule: "word-of-now",
    regex: signs(
      "\\bas of (?:now|today|this (?:hour|morning|week|month))\\b|\\bcurrently\\b|\\bright now\\b|\\bat (?:the|this) moment\\b|\\btoday(?:'s(?! date)|:| is| are| we| our)|\\b(?:yesterday|tomorrow)(?:'s|:| is| was| we)|\\bthis morning\\b|\\btonight is\\b",
    ),
    means: (words, before, after) => claim(words, before, after) && !example(before),
  },
  {
    rule: "hash-like",
    regex: /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,128}\b/gi,
    means: looksHashed,
  },
  {
    rule: "random-token",
    regex: /(?<![\w/=+-])[A-Za-z0-9]{20,}(?![\w/])|\b[A-Za-z0-9+/]{20,}={1,2}/g,
    means: looksRandom,
  },
];

/** Words in a text of the prefix that change from one request, start or day to the next. Pure. */
export function lintText(text: string): readonly Hit[] {
  const taken: (readonly [number, number])[] = [];
  const hits = new Map<RuleName, Hit & { at: number }>();
  for (const { rule, regex, means = () => true } of PATTERNS) {
    for (const match of text.matchAll(regex)) {
      const [from, to] = [match.index, match.index + match[0].length];
      if (taken.some(([start, end]) => from < end && start < to)) continue;
      if (!means(match[0], sentenceBefore(text, from), text.slice(to, to + 40))) continue;
      taken.push([from, to]);
      const known = hits.get(rule);
      const first = known === undefined || from < known.at;
      const more = known === undefined ? 0 : known.more + 1;
      const hit = first ? { at: from, spot: spotAt(text, from), words: match[0].trim() } : known;
      hits.set(rule, { rule, at: hit.at, spot: hit.spot, words: hit.words, more });
    }
  }
  return [...hits.values()].toSorted((a, b) => a.at - b.at).map(({ at: _, ...hit }) => hit);
}

/** The relevant text before it in its sentence. */
function sentenceBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 160), at);
  const ends = [...before.matchAll(/\n|(?<!\b(?:e\.g|i\.e|no|nr))[.!?]["')]?\s/g)];
  const last = ends.at(-1);
  return last === undefined ? before : before.slice(last.index + last[0].length);
}

function spotAt(text: string, at: number): Spot {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
