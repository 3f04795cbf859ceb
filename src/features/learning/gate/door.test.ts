import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { place, strata } from "../../../../tests/cli/strata.ts";

const CONFIG = `
organization: shop
agents:
  clerk:
    description: Answers customers of a shop.
    layers:
      - { id: shop, rank: 10, text: You answer for a shop. }
      - { id: learned, rank: 55, source: learning }
    recall: none
    learning: { fixtures: fixtures.yaml }
`;

it("learning.try reads the fixtures that strata.yaml names, tries a text on them, and changes nothing", async () => {
  const folder = place();
  writeFileSync(join(folder, "strata.yaml"), CONFIG);
  writeFileSync(join(folder, "rules.md"), "- Answer in one sentence.\n");
  const fixture = (expects: string) => `fixtures: [{ name: greets, message: "Hello there", expects: ${expects} }]\n`;
  writeFileSync(join(folder, "fixtures.yaml"), fixture("{ omits: [a word that nobody says], escalates: false }"));
  const run = (...words: readonly string[]) => strata(words, { cwd: folder });
  expect((await run("lock")).code).toBe(0);
  const tried = await run("learning", "try", "--file", "rules.md", "--json");
  expect(tried.code).toBe(0);
  expect(JSON.parse(tried.out)).toMatchObject({
    passed: true,
    fixtures: [{ name: "greets", passed: true }],
    turns: [],
    limit: 1,
  });
  const shown = await run("learning", "try", "--file", "rules.md");
  expect(shown.out).toContain("passed: it breaks none of 1 fixture, and it is no worse on 0 recorded turns");
  expect((await run("thread", "list", "--json")).out.trim()).toBe("[]");
  writeFileSync(join(folder, "fixtures.yaml"), fixture("{ mood: good }"));
  const refused = await run("learning", "try", "--file", "rules.md");
  expect(refused).toMatchObject({ code: 4, err: expect.stringContaining("fixtures.yaml:1:63 fixtures.0.expects: ") });
  writeFileSync(join(folder, "fixtures.yaml"), fixture("{ omit: [discount] }"));
  expect((await run("learning", "try", "--file", "rules.md")).err).toContain('"omit"; did you mean `omits`?');
  writeFileSync(join(folder, "strata.yaml"), CONFIG.replace("fixtures: fixtures.yaml", "judge: rehearsal"));
  expect((await run("lock")).err).toContain("`rehearsal` cannot");
}, 60_000);
