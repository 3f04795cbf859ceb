/** A day of the calendar; months from 1. */
export interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const MINUTE = 60_000;

/** As a calendar in UTC counts it. */
const utc = ({ year, month, day }: Civil, minutes = 0): number => Date.UTC(year, month - 1, day, 0, minutes);

const civilOf = (time: number): Civil => {
  const date = new Date(time);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
};

/** `2026-12-24`. */
export const isoDay = (day: Civil): string => new Date(utc(day)).toISOString().slice(0, 10);

export const nextDay = (day: Civil, days = 1): Civil => civilOf(utc(day) + days * 86_400_000);

/** Making one costs more than using it a hundred times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timezone: string): Intl.DateTimeFormat {
  const known = clocks.get(timezone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
    hourCycle: "h23",
  });
  clocks.set(timezone, made);
  return made;
}

/** What the zone's clocks show, as if it were UTC: milliseconds since 1970. */
function shownAt(timezone: string, at: number): number {
  const part = Object.fromEntries(
    clockOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The day on which it is that instant in the zone. */
export const civilAt = (timezone: string, at: number): Civil => civilOf(shownAt(timezone, at));

/** `09:30`, by the clocks of the zone. */
export const timeAt = (timezone: string, at: number): string =>
  new Date(shownAt(timezone, at)).toISOString().slice(11, 16);

/**
 * The instant at which the zone's clocks show this many minutes after midnight of that day. A time that occurs twice means the first; a
 * skipped time is moved later by the skipped amount.
 */
export function instantOf(timezone: string, day: Civil, minutes: number): number {
  const shown = utc(day, minutes);
  const offsets = [shown - 1_440 * MINUTE, shown + 1_440 * MINUTE].map((near) => shownAt(timezone, near) - near);
  const tries = offsets.map((offset) => shown - offset);
  const right = tries.filter((at) => shownAt(timezone, at) === shown);
  // In a gap, the offset from before it leads behind it.
  return right.length > 0 ? Math.min(...right) : (tries[0] ?? shown);
}
