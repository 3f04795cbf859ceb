import { Cron } from "croner";

/** A rule and its time zone. */
export interface Rule {
  readonly cron: string;
  readonly timezone: string;
}

const toCron = ({ cron, timezone }: Rule): Cron => new Cron(cron, { timezone, mode: "5-part", paused: true });

/** What is wrong with a rule, with the key that says it; undefined if it will run. */
export function cronProblem(rule: Rule): { readonly key: keyof Rule; readonly expected: string } | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: rule.timezone });
  } catch {
    return { key: "timezone", expected: "expected a time zone that this machine knows, as in `Europe/Berlin`" };
  }
  try {
    const next = toCron(rule).nextRun(new Date(Date.UTC(2024, 0)));
    return next === null ? { key: "cron", expected: "never comes: no day is like that" } : undefined;
  } catch {
    return { key: "cron", expected: whyUnreadable(rule) };
  }
}

const FIELDS = ["minute", "hour", "day of the month", "month", "day of the week"];
const FORM = "the fields are minute, hour, day of the month, month and day of the week, as in `0 9 * * 1-5`";

/** Why a rule cannot be read: it has too many or too few fields, or an invalid one. */
function whyUnreadable({ cron, timezone }: Rule): string {
  const fields = cron
    .trim()
    .split(/\s+/)
    .filter((field) => field !== "");
  if (fields.length !== FIELDS.length) return `expected five fields instead of ${fields.length}: ${FORM}`;
  const wrong = fields.findIndex((field, i) => {
    try {
      toCron({ cron: FIELDS.map((_, at) => (at === i ? field : "*")).join(" "), timezone });
      return false;
    } catch {
      return true;
    }
  });
  return `${wrong < 0 ? "cannot be read" : `\`${fields[wrong]}\` is no ${FIELDS[wrong]}`}: ${FORM}`;
}

/**
 * The first time after an instant at which a rule runs, in milliseconds since 1970. Times skipped by daylight saving are made up after the
 * change, and times that occur twice run once.
 */
export function nextTime(rule: Rule, after: number): number | undefined {
  return toCron(rule).nextRun(new Date(after))?.getTime();
}

/** All times after an instant and up to another; of more than `most`, the last ones. */
export function timesBetween(rule: Rule, after: number, until: number, most: number): readonly number[] {
  const cron = toCron(rule);
  // From the end: stepping through a year of minutes would take more than a minute.
  for (let span = most * 60_000; ; span *= 4) {
    const from = Math.max(after, until - span);
    const times: number[] = [];
    for (let at = cron.nextRun(new Date(from)); at !== null && at.getTime() <= until; at = cron.nextRun(at))
      times.push(at.getTime());
    if (from === after || times.length >= most) return times.slice(-most);
  }
}
