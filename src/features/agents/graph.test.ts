import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { place, strata } from "../../../tests/cli/strata.ts";

it("draws who may ask whom, and how many threads run over each edge", async () => {
  const cwd = place();
  await strata(["init", "organism"], { cwd });
  const said = 'use ask_shouter {"name": "Ann", "message": "Hello"}';
  const { code } = await strata(["ask", said, "--agent", "greeter", "--as", "ann", "--follow", "turn"], { cwd });
  expect(code).toBe(0);
  const { out } = await strata(["agent", "graph"], { cwd });
  expect(out.trimEnd().split("\n")).toEqual([
    "flowchart LR",
    '  a1(["greeter"])',
    '  a2["shouter"]',
    '  outside((" ")) --> a1',
    '  a1 -- "Greeting · 1 running" --> a2',
  ]);
  const svg = (await strata(["agent", "graph", "--svg"], { cwd })).out;
  expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  expect(svg).toContain(">Greeting · 1 running</text>");
  // Following the run lets the peer answer.
  await strata(["ask", "Thank you.", "--agent", "greeter", "--as", "ann"], { cwd });
  expect((await strata(["agent", "graph"], { cwd })).out).toContain('-- "Greeting" -->');
});

it("counts no question that its peer could not answer", async () => {
  const cwd = place();
  await strata(["init", "organism"], { cwd });
  writeFileSync(join(cwd, "handlers/shouter.ts"), 'export default () => { throw new Error("no voice"); };\n');
  await strata(["lock"], { cwd });
  const said = 'use ask_shouter {"name": "Ann", "message": "Hello"}';
  const { out } = await strata(["ask", said, "--agent", "greeter", "--as", "ann"], { cwd });
  expect(out).toContain("shouter could not answer");
  expect((await strata(["agent", "graph"], { cwd })).out).toContain('-- "Greeting" -->');
});
