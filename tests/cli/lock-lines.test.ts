import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { place, strata } from "./strata.ts";

const yaml = (text: string): string => `
organization: home
agents:
  clerk:
    description: Answers letters.
    layers:
      - {id: safety, rank: 0, text: Do no harm.}
      - {id: mail, rank: 6, text: ${text}, mutability: versioned, modes: {compact: line}, line: Answer letters.}
`;

it("S18 a line whose layer's text changed stops the start, and is locked only as reviewed", async () => {
  const cwd = place();
  writeFileSync(join(cwd, "strata.yaml"), yaml("Answer each letter."));
  expect((await strata(["lock"], { cwd })).code).toBe(0);
  writeFileSync(join(cwd, "strata.yaml"), yaml("Answer no letter."));
  const started = await strata(["agent", "list"], { cwd });
  expect([started.code, started.err]).toEqual([
    5,
    expect.stringContaining("has a new text, but the same line, which was reviewed for the old text"),
  ]);
  const before = readFileSync(join(cwd, "strata.lock"), "utf8");
  const refused = await strata(["lock"], { cwd });
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining("strata lock --lines")]);
  expect(readFileSync(join(cwd, "strata.lock"), "utf8")).toBe(before);
  expect((await strata(["lock", "--lines"], { cwd })).code).toBe(0);
  expect((await strata(["agent", "list"], { cwd })).code).toBe(0);
});
