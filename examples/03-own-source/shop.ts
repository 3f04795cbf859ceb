import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineSource, z } from "strata";

const FILE = z.object({ hours: z.record(z.string(), z.string()) });
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Today's opening hours, from a file that the shop's staff edits: nobody outside can write to it, so it is trusted like the operator. */
export const hours = defineSource({
  name: "hours",
  trust: "operator",
  load: ({ at }) => {
    const { hours } = FILE.parse(JSON.parse(readFileSync(join(import.meta.dirname, "hours.json"), "utf8")));
    const day = DAYS[new Date(at).getUTCDay()] ?? "";
    return `Today (${day}) the shop is ${hours[day] === undefined ? "closed" : `open from ${hours[day]} o'clock`}.`;
  },
});

let asked = 0;

/** What the warehouse has. The first call fails on purpose: the turn continues without it. */
export const stock = defineSource({
  name: "stock",
  trust: "operator",
  load: () => {
    asked += 1;
    if (asked === 1) throw new Error("the warehouse does not answer");
    // Several pieces, the most important first: if room is short, the last ones are dropped.
    return ["Tyres: 12.", "Brake pads: 4.", { text: "Lights: none.", at: Date.UTC(2026, 10, 20) }];
  },
});
