import { type LayerContent, trusted } from "../protocol/index.ts";

/** The date and time to the minute, in one sentence of the platform's. `timezone` is an IANA name. */
export function clock(at: number, timezone: string): LayerContent {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const sentence = `It is ${part["weekday"]}, ${part["year"]}-${part["month"]}-${part["day"]}, ${part["hour"]}:${part["minute"]} (${timezone}).`;
  return { kind: "text", text: trusted(sentence) };
}
