import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { sentencesIn, strayWording, wordingText } from "../../checks/wording.ts";

it("what models read is as the list shows it", async () => {
  const list = readFileSync(join(ROOT, "tests/house/golden/wording.txt"), "utf8");
  expect(await wordingText()).toBe(list);
  expect(list).toContain("- ## Who you represent");
  expect(list).toContain("- memory_search: Searches this contact's memories by keyword.");
  expect(list).toContain("- (The first 12 messages of this conversation are no longer shown. No action needed.)");
});

it("a new sentence is listed, or asks for the values that it is listed with", () => {
  const added = { WAIT: "Wait for it.", CODES: { late: "it is late" }, PATTERN: /x/ };
  expect(sentencesIn("turn", "", added)).toEqual(["- Wait for it.", "- it is late"]);
  expect(() => sentencesIn("turn", "", { tooLate: (tool: string) => `${tool} is late.` })).toThrow(
    "checks/wording-samples.ts has no values for tooLate of turn",
  );
});

it("no sentence for models is written outside of the list", () => {
  const stray = (text: string) => strayWording([{ path: "src/features/x/tools.ts", text }]);
  const name = ["$", "{name}"].join("");
  expect(strayWording()).toEqual([]);
  expect(stray('return refused("Not run: it is late.");')).toHaveLength(1);
  expect(stray(`return answered(\`${name} rows were deleted\`, writes);`)).toHaveLength(1);
  expect(stray(`return { text: trusted([HEAD, \`more of it: ${name}\`].join()) };`)).toHaveLength(1);
  expect(stray("return refused(notRun(name));")).toEqual([]);
  const made = (text: string) =>
    stray(`function lines() { const all = [one()]; return trusted(all.join()); }\nfunction one() { return ${text}; }`);
  expect(made('"it is always late"')).toEqual([
    expect.stringContaining('x/tools.ts:2: "it is always late" is for models'),
  ]);
  expect(made('name ?? fail(new StrataError("invalid_input", "it is always late"))')).toEqual([]);
});
