import { expect, it } from "vitest";
import { duration } from "./index.ts";

it.each([
  [12, "12 ms"],
  [3_400, "3.4 s"],
  [125_000, "2 min 5 s"],
  [119 * 60_000 + 59_000, "119 min 59 s"],
  [12_000_000, "3 h 20 min"],
  [1_728_090_000, "20 days 0 h"],
])("a duration of %i ms is written as %s", (milliseconds, said) => {
  expect(duration(milliseconds)).toBe(said);
});
