import { type LayerContent, trusted } from "../../protocol/index.ts";

/** Date, weekday and time in a zone, to the minute. @throws RangeError for a zone that the system does not know */
export function clock(timezone: string, at: number): LayerContent {
  const format = formats.get(timezone) ?? formatOf(timezone);
  formats.set(timezone, format);
  // Part by part: how a system joins them changes between its versions.
  const part = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const date = `${part.get("year")}-${part.get("month")}-${part.get("day")}`;
  const text = `It is ${part.get("weekday")}, ${date}, ${part.get("hour")}:${part.get("minute")} (${timezone}).`;
  // The zone is the operator's, from strata.yaml; all else is the platform's.
  return { kind: "text", text: trusted(text) };
}

/** Zones are few, and a format takes longer to make than to use a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
