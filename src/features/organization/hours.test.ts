import { describe, expect, it } from "vitest";
import { timeAt } from "./civil.ts";
import { type Hours, openingAt, spansOf } from "./hours.ts";

const SHOP: Hours = {
  monday: "09:00-12:00, 13:00-18:00",
  tuesday: "09:00-18:00",
  friday: "20:00-02:00",
  saturday: "22:00-24:00",
  sunday: "00:00-03:00",
  exceptions: { "2026-12-24": "10:00-12:00", "2026-11-30": "closed" },
};
const BERLIN = "Europe/Berlin";

/** Open or closed, and until when: as the zone's clocks show it, or `never`. */
function shown(at: string, hours: Hours = SHOP, zone = BERLIN): string {
  const { isOpen, changes } = openingAt(hours, zone, Date.parse(at));
  const until = changes === undefined ? "never" : new Date(changes).toISOString().slice(0, 16);
  return `${isOpen ? "open" : "closed"} ${until}`;
}

describe("whether it is open now", () => {
  it.each([
    // A Monday in winter: Berlin is an hour ahead.
    ["2026-11-23T07:59:59Z", "closed 2026-11-23T08:00"],
    ["2026-11-23T08:00:00Z", "open 2026-11-23T11:00"],
    ["2026-11-23T11:00:00Z", "closed 2026-11-23T12:00"],
    ["2026-11-23T16:59:59Z", "open 2026-11-23T17:00"],
    ["2026-11-23T17:00:00Z", "closed 2026-11-24T08:00"],
    // Wednesday and Thursday are not written, and closed.
    ["2026-11-25T09:00:00Z", "closed 2026-11-27T19:00"],
    // Friday night ends on Saturday, and Saturday night continues into Sunday.
    ["2026-11-28T00:59:00Z", "open 2026-11-28T01:00"],
    ["2026-11-28T01:00:00Z", "closed 2026-11-28T21:00"],
    ["2026-11-28T23:30:00Z", "open 2026-11-29T02:00"],
    // Monday the 30th is an exception, and so is a Thursday.
    ["2026-11-30T09:00:00Z", "closed 2026-12-01T08:00"],
    ["2026-12-24T09:30:00Z", "open 2026-12-24T11:00"],
  ])("%s: %s", (at, expected) => {
    expect(shown(at)).toBe(expected);
  });

  it("holds in the nights in which clocks are set", () => {
    const bar: Hours = { saturday: "20:00-02:30", sunday: "12:00-13:00" };
    // Back, on 25 October 2026 at 01:00 UTC: half past two comes twice, and the first one counts.
    expect(shown("2026-10-25T00:29:00Z", bar)).toBe("open 2026-10-25T00:30");
    expect(shown("2026-10-25T00:30:00Z", bar)).toBe("closed 2026-10-25T11:00");
    expect(shown("2026-10-25T01:15:00Z", bar)).toBe("closed 2026-10-25T11:00");
    // Forward, on 29 March 2026 at 01:00 UTC: 02:30 does not exist, so it is an hour later by the clock.
    expect(shown("2026-03-29T01:29:00Z", bar)).toBe("open 2026-03-29T01:30");
    expect(timeAt(BERLIN, Date.parse("2026-03-29T01:30:00Z"))).toBe("03:30");
  });

  it("is of the zone of the house, wherever the server is", () => {
    const office: Hours = { monday: "09:00-17:00" };
    expect(shown("2026-11-23T13:59:00Z", office, "America/New_York")).toBe("closed 2026-11-23T14:00");
    expect(shown("2026-11-22T20:00:00Z", office, "Pacific/Auckland")).toBe("open 2026-11-23T04:00");
    expect(shown("2026-11-23T03:30:00Z", office, "Asia/Kathmandu")).toBe("open 2026-11-23T11:15");
  });

  it("says nothing of a change where none is near", () => {
    expect(shown("2026-11-23T09:00:00Z", {})).toBe("closed never");
    const always = Object.fromEntries(
      Object.keys(SHOP)
        .concat("wednesday", "thursday")
        .map((day) => [day, "00:00-24:00"]),
    );
    const { exceptions: _, ...days } = always as unknown as Hours;
    expect(shown("2026-11-23T09:00:00Z", days)).toBe("open never");
  });

  it.each([
    "9:00-12:00",
    "09:00-24:30",
    "09:00",
    "13:00-14:00, 12:00-13:00",
    "09:00-09:00",
    "22:00-02:00, 03:00-04:00",
    "",
  ])("%j is not how times are written", (written) => {
    expect(spansOf(written)).toBeUndefined();
  });
});
