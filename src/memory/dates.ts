import { fold, MARK } from "./fold.ts";
import { MONTHS } from "./word-lists.ts";

/** A day, a month or a year that a question names; the parts it leaves out are open. */
export interface CalendarDate {
  readonly year?: number;
  /** 1 for January. */
  readonly month?: number;
  readonly day?: number;
}

/** From a moment up to another, which is not included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The time that is asked for: a date, or a span relative to the question. */
export type AskedDate = CalendarDate | Span;

const DAY_LENGTH = 86_400_000;
/** More days in a row are too many to look through. */
const MOST_DAYS = 62;

/** The term by which everything that was said on a day is found. */
export const dayTerm = (at: number): string => `${MARK}${new Date(at).toISOString().slice(0, 10).replaceAll("-", "")}`;

/**
 * The days that are meant, as terms. A date without a year is the last one before the question. None for a year, or if the date cannot be
 * determined.
 */
export function dayTerms(date: AskedDate, asked: number | undefined): readonly string[] {
  const span = "from" in date ? date : spanOf(date, asked);
  if (span === undefined || span.to - span.from > MOST_DAYS * DAY_LENGTH) return [];
  return Array.from({ length: Math.ceil((span.to - span.from) / DAY_LENGTH) }, (_, day) =>
    dayTerm(span.from + day * DAY_LENGTH),
  );
}

function spanOf({ year, month, day }: CalendarDate, asked: number | undefined): Span | undefined {
  if (month === undefined || (year === undefined && asked === undefined)) return undefined;
  const within = (one: number): Span =>
    day === undefined
      ? { from: Date.UTC(one, month - 1, 1), to: Date.UTC(one, month, 1) }
      : { from: Date.UTC(one, month - 1, day), to: Date.UTC(one, month - 1, day + 1) };
  if (year !== undefined) return within(year);
  const now = new Date(asked ?? 0).getUTCFullYear();
  return within(now).from <= (asked ?? 0) ? within(now) : within(now - 1);
}

const SHORT = "jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec";
const MONTH = `(${MONTHS.join("|")}|${SHORT})`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`((?:19|20)\d\d)`;
const MONTH_FIRST = new RegExp(
  String.raw`\b${MONTH}\.?(?:\s+(?:the\s+)?${DAY}(?!\d))?(?:(?:\s*,|\s+of)?\s*${YEAR})?\b`,
  "g",
);
const DAY_FIRST = new RegExp(String.raw`\b${DAY}\s+(?:of\s+)?${MONTH}\b\.?(?:(?:\s*,|\s+of)?\s*${YEAR})?`, "g");
const NUMERIC = /\b((?:19|20)\d\d)[-/.年]\s*(\d{1,2})(?:[-/.月]\s*(\d{1,2}))?/g;
const ONLY_YEAR = new RegExp(String.raw`\b${YEAR}\b`, "g");

/**
 * The dates that a text names. A month needs no year, but "may" and "march" need a day, a year or a preposition. With the time of the
 * question, phrases such as "last week" are dates, too.
 */
export function datesIn(text: string, asked?: number): readonly AskedDate[] {
  const found: AskedDate[] = [];
  const take = (
    rest: string,
    pattern: RegExp,
    read: (parts: readonly (string | undefined)[], whole: string) => CalendarDate | undefined,
  ) =>
    rest.replace(pattern, (whole: string, ...parts: (string | undefined)[]) => {
      const date = read(parts, whole);
      if (date === undefined) return whole;
      found.push(date);
      return " ";
    });
  const folded = fold(text);
  const first = take(folded, NUMERIC, ([year, month, day]) => dated(Number(year), Number(month), day));
  const second = take(first, DAY_FIRST, ([day, month, year]) => dated(year, monthNumber(month), day));
  const third = take(second, MONTH_FIRST, ([month, day, year], whole) =>
    isDoubtful(month, day ?? year) &&
    !new RegExp(String.raw`\b(in|of|last|since|during|until|by) ${whole.trim()}`).test(folded)
      ? undefined
      : dated(year, monthNumber(month), day),
  );
  take(third, ONLY_YEAR, ([year]) => dated(year, undefined, undefined));
  return asked === undefined || found.length > 0 ? found : relativeIn(folded, asked);
}

/** Phrases for days, weeks and months before a question: English, and the most common ones of some other languages. */
const RELATIVE: readonly (readonly [RegExp, (before: Before, count: number) => Span])[] = [
  [/\b(?:day before yesterday|vorgestern|anteayer|avant-hier)\b|前天|一昨日|おととい/, ({ days }) => days(2, 1)],
  [/\b(?:yesterday|last night|gestern|ayer|hier soir)\b|昨天|昨晚|昨日/, ({ days }) => days(1, 1)],
  [
    /\b(?:today|this (?:morning|afternoon|evening)|tonight|heute|hoy|aujourd['’]hui)\b|今天|今日/,
    ({ days }) => days(0, 1),
  ],
  [/\b(COUNT) days? ago\b|\bvor (COUNT) tagen\b|(COUNT) ?[天日]前/, ({ days }, count) => days(count + 1, 3)],
  [
    /\b(COUNT) weeks? ago\b|\bvor (COUNT) wochen?\b|(COUNT) ?(?:个)?(?:星期|周|週間)前/,
    ({ days }, count) => days(7 * count + 4, 9),
  ],
  [
    /\b(COUNT) months? ago\b|\bvor (COUNT) monat(?:en)?\b|(COUNT) ?[个個ヶか]月(?:之)?前/,
    ({ days }, count) => days(Math.round(30.4 * count) + 16, 33),
  ],
  [/\b(?:(?:last|past) weekend|letztes wochenende)\b|上周末|先週末/, ({ week }) => week(1, 5, 2)],
  [
    /\b(?:(?:last|previous) week|(?:letzte|vorige) woche|la semana pasada|la semaine derniere)\b|上(?:个)?(?:星期|周)|先週/,
    ({ week }) => week(1, 0, 7),
  ],
  [/\b(?:this week|diese woche|esta semana|cette semaine)\b|这(?:个)?(?:星期|周)|今週/, ({ week }) => week(0, 0, 7)],
  [
    /\b(?:(?:last|previous) month|(?:letzten|vorigen) monat|el mes pasado|le mois dernier)\b|上个?月|先月/,
    ({ month }) => month(1),
  ],
  [/\b(?:this month|diesen monat|este mes|ce mois)\b|这个月|今月/, ({ month }) => month(0)],
];

/** Makes spans of days that end at or after the day of the question. */
interface Before {
  /** `length` days, of which the first lies `before` days back. */
  days(before: number, length: number): Span;
  /** `length` days from the weekday `day` on (0 is Monday), in the week that lies `before` weeks back. */
  week(before: number, day: number, length: number): Span;
  month(before: number): Span;
}

const COUNTS: Readonly<Record<string, number>> = Object.fromEntries(
  `a:1 an:1 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 couple:2 few:3 several:3 einem:1 einer:1 zwei:2
  drei:3 vier:4 funf:5 sechs:6 一:1 两:2 二:2 三:3 四:4 五:5 六:6 几:3`
    .split(/\s+/)
    .map((pair) => pair.split(":"))
    .map(([word = "", count]) => [word, Number(count)]),
);
const COUNT = String.raw`\d{1,2}|${Object.keys(COUNTS).join("|")}`;
/** "A few weeks ago" and "a couple of weeks ago" as "few weeks ago" and "couple weeks ago". */
const AROUND_COUNT = /\b(?:an?|about|around|roughly|some) (?=(?:few|couple|several|\d))|(?<=\bcouple) of\b/g;
const RELATIVE_PATTERNS = RELATIVE.map(
  ([pattern, spanFor]) => [new RegExp(pattern.source.replaceAll("COUNT", COUNT), "u"), spanFor] as const,
);
const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const WEEKDAY = new RegExp(String.raw`\b(?:last|on|this past) (${WEEKDAYS.join("|")})\b`);

function relativeIn(folded: string, asked: number): readonly Span[] {
  const today = asked - (asked % DAY_LENGTH);
  const weekday = (new Date(asked).getUTCDay() + 6) % 7;
  const before: Before = {
    days: (days, length) => spanFrom(today - days * DAY_LENGTH, length),
    week: (weeks, day, length) => spanFrom(today - (weekday + 7 * weeks - day) * DAY_LENGTH, length),
    month: (months) => {
      const [year, month] = [new Date(asked).getUTCFullYear(), new Date(asked).getUTCMonth() - months];
      return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
    },
  };
  const said = folded.replace(AROUND_COUNT, "");
  for (const [pattern, spanFor] of RELATIVE_PATTERNS) {
    const found = pattern.exec(said);
    const count = found?.slice(1).find((group) => group !== undefined);
    if (found) return [spanFor(before, count === undefined ? 0 : (COUNTS[count] ?? Number(count)))];
  }
  const day = WEEKDAYS.indexOf(WEEKDAY.exec(said)?.[1] ?? "");
  return day < 0 ? [] : [before.days(((weekday - day + 6) % 7) + 1, 1)];
}

const spanFrom = (from: number, days: number): Span => ({ from, to: from + days * DAY_LENGTH });

/** Whether a moment lies within a date, in UTC. */
export function isIn(at: number, date: AskedDate): boolean {
  if ("from" in date) return at >= date.from && at < date.to;
  const { year, month, day } = date;
  const moment = new Date(at);
  return (
    (year === undefined || moment.getUTCFullYear() === year) &&
    (month === undefined || moment.getUTCMonth() + 1 === month) &&
    (day === undefined || moment.getUTCDate() === day)
  );
}

function isDoubtful(month: string | undefined, besides: string | undefined): boolean {
  return (month === "may" || month === "march" || month === "mar") && besides === undefined;
}

function monthNumber(name: string | undefined): number | undefined {
  const at = MONTHS.findIndex((month) => name !== undefined && month.startsWith(name.slice(0, 3)));
  return at < 0 ? undefined : at + 1;
}

function dated(year: string | number | undefined, month: number | undefined, day: string | undefined): CalendarDate {
  const number = Number(day);
  return {
    ...(year === undefined ? {} : { year: Number(year) }),
    ...(month === undefined || month > 12 || month < 1 ? {} : { month }),
    ...(day === undefined || number < 1 || number > 31 ? {} : { day: number }),
  };
}
