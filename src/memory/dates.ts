import { fold } from "./fold.ts";
import { MONTHS } from "./word-lists.ts";

/** A day, a month or a year that a question names; the parts it leaves out are open. */
export interface AskedDate {
  readonly year?: number;
  /** 1 for January. */
  readonly month?: number;
  readonly day?: number;
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

/** The dates that a text names. A month needs no year; "may" and "march" need a day, a year or a word before them. */
export function datesIn(text: string): readonly AskedDate[] {
  const found: AskedDate[] = [];
  const take = (
    rest: string,
    pattern: RegExp,
    read: (parts: readonly (string | undefined)[], whole: string) => AskedDate | undefined,
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
  return found;
}

/** Whether a moment lies in what a date names, in UTC. */
export function isIn(at: number, { year, month, day }: AskedDate): boolean {
  const moment = new Date(at);
  return (
    (year === undefined || moment.getUTCFullYear() === year) &&
    (month === undefined || moment.getUTCMonth() + 1 === month) &&
    (day === undefined || moment.getUTCDate() === day)
  );
}

/** Days since the end of what a date names, in UTC; less than none before. Without a year, in the moment's own; without a month, the end of the year. */
export function daysAfter(at: number, { year = new Date(at).getUTCFullYear(), month, day }: AskedDate): number {
  const end =
    month === undefined
      ? Date.UTC(year + 1, 0, 1)
      : day === undefined
        ? Date.UTC(year, month, 1)
        : Date.UTC(year, month - 1, day + 1);
  return (at - end) / 86_400_000;
}

function isDoubtful(month: string | undefined, besides: string | undefined): boolean {
  return (month === "may" || month === "march" || month === "mar") && besides === undefined;
}

function monthNumber(name: string | undefined): number | undefined {
  const at = MONTHS.findIndex((month) => name !== undefined && month.startsWith(name.slice(0, 3)));
  return at < 0 ? undefined : at + 1;
}

function dated(year: string | number | undefined, month: number | undefined, day: string | undefined): AskedDate {
  const number = Number(day);
  return {
    ...(year === undefined ? {} : { year: Number(year) }),
    ...(month === undefined || month > 12 || month < 1 ? {} : { month }),
    ...(day === undefined || number < 1 || number > 31 ? {} : { day: number }),
  };
}
