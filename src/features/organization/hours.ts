import { type Civil, civilAt, instantOf, isoDay, nextDay } from "./civil.ts";

export const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
export type Day = (typeof DAYS)[number];

/** Times of opening, by day of the week and by date: `09:00-12:00, 13:00-18:00`, or `closed`. A time that ends before it begins ends on the next day. */
export interface Hours extends Readonly<Partial<Record<Day, string>>> {
  /** In place of the day of the week, by date: `2026-12-24`. */
  readonly exceptions?: Readonly<Record<string, string>>;
}

/** Minutes since midnight; `to` is at most 1,440, and not after `from` if it is on the next day. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const SPAN = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

/** The times of one day; undefined if they are malformed. */
export function spansOf(written: string): readonly Span[] | undefined {
  if (written === "closed") return [];
  const spans = written.split(",").map((one): Span | undefined => {
    const [, h1, m1, h2, m2] = SPAN.exec(one.trim()) ?? [];
    if (h1 === undefined) return undefined;
    return { from: Number(h1) * 60 + Number(m1), to: h2 === undefined ? 1_440 : Number(h2) * 60 + Number(m2) };
  });
  const all = spans.flatMap((one) => one ?? []);
  const isRising = all.every(({ from, to }, i) => {
    const next = all[i + 1];
    return next === undefined || (from < to && to <= next.from);
  });
  return all.length === spans.length && isRising && all.every(({ from, to }) => from !== to) ? all : undefined;
}

/** Whether it is open at an instant, and the next instant at which that changes; absent if there is none within `HORIZON` days. */
export interface Opening {
  readonly isOpen: boolean;
  readonly changes?: number;
}

/** Days that are looked ahead. */
export const HORIZON = 21;

/**
 * Whether a business with these hours in that time zone is open at that instant. When clocks are set forward, a time that does not exist is
 * moved later by the same amount; when they are set back, a time that occurs twice means the first.
 * @param at milliseconds since 1970
 */
export function openingAt(hours: Hours, timezone: string, at: number): Opening {
  const stretches: { from: number; to: number }[] = [];
  let day = nextDay(civilAt(timezone, at), -1);
  for (let i = 0; i <= HORIZON + 1; i++, day = nextDay(day)) {
    for (const { from, to } of spansOf(hoursOn(hours, day)) ?? []) {
      const end = to <= from ? instantOf(timezone, nextDay(day), to) : instantOf(timezone, day, to);
      const stretch = { from: instantOf(timezone, day, from), to: end };
      const last = stretches.at(-1);
      if (last !== undefined && stretch.from <= last.to) last.to = Math.max(last.to, stretch.to);
      else if (stretch.to > stretch.from) stretches.push(stretch);
    }
  }
  const now = stretches.find(({ from, to }) => from <= at && at < to);
  if (now !== undefined) return { isOpen: true, ...(now.to - at < HORIZON * 86_400_000 && { changes: now.to }) };
  const next = stretches.find(({ from }) => from > at);
  return { isOpen: false, ...(next && { changes: next.from }) };
}

/** The hours of a day: its exception, its day of the week, or closed. */
export function hoursOn(hours: Hours, day: Civil): string {
  const weekday = DAYS[new Date(Date.UTC(day.year, day.month - 1, day.day)).getUTCDay()] ?? "sunday";
  return hours.exceptions?.[isoDay(day)] ?? hours[weekday] ?? "closed";
}
