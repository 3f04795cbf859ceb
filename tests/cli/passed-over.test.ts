import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { living } from "./living.ts";
import { jsonLines, strata } from "./strata.ts";

/** A folder with an automaton whose layer `loop` was edited and whose skill `haggling` was, and what its declaration is made by. */
async function edited() {
  const cwd = await living();
  const run = (line: string) => strata(line.split(" "), { cwd });
  await run("layer edit loop --text Look.");
  await run("skill set haggling --text Haggle.");
  const file = join(cwd, "strata.yaml");
  const declare = async (from: string | RegExp, to: string) => {
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
    await run("lock");
  };
  return { run, declare };
}

const listed = async (run: Awaited<ReturnType<typeof edited>>["run"]) => (await run("layer list")).out;

describe("an edited text that the declaration passed over", () => {
  it("is named by the list of layers where it is displaced, and the list says how it is put away", async () => {
    const { run, declare } = await edited();
    expect(await listed(run)).not.toMatch(/displaced|outdated/);
    await declare("rank: 6", "rank: 8");
    const line = "loop: version 1 is displaced and not sent; `strata layer rollback loop` removes it";
    expect(await listed(run)).toContain(line);
    expect((await run("layer show loop")).out).toContain(line);
    expect((await run("layer show skills")).out).not.toContain("displaced");
    const [layers] = jsonLines<readonly object[]>((await run("layer list --json")).out);
    expect(layers).toContainEqual(
      expect.objectContaining({ id: "loop", version: 0, passedOver: [{ layer: "loop", n: 1, state: "displaced" }] }),
    );
    expect((await run("layer rollback loop")).out).toContain("rolled back from version 1 to the declared text");
    expect(await listed(run)).not.toContain("displaced");
  });

  it("is named where its layer is no longer declared, and its history is still shown", async () => {
    const { run, declare } = await edited();
    await declare(/.*id: (loop|skills),.*\n| {4}skills:\n( {6}- .*\n)+/g, "");
    const list = await listed(run);
    expect(list).toContain("loop: version 1 is displaced and not sent; `strata layer rollback loop` removes it");
    expect(list).toContain("`strata layer rollback skills --skill haggling` removes it");
    expect((await run("layer history loop")).out).toMatch(/^version 1 · active/m);
    expect((await run("layer rollback loop")).code).toBe(0);
    expect((await run("layer rollback skills --skill haggling")).code).toBe(0);
    expect(await listed(run)).not.toContain("displaced");
    expect((await run("doctor")).out).not.toMatch(/edited text/);
    expect((await run("layer history nobody")).code).toBe(3);
    expect((await run("verify")).code).toBe(0);
  });

  it("is named where it is outdated, with the command that compares", async () => {
    const { run, declare } = await edited();
    await declare("Name a price once.", "Name a price twice.");
    expect(await listed(run)).toContain(
      "skills/haggling: version 1 is sent and outdated; `strata layer diff skills 0 1 --skill haggling` compares",
    );
  });
});
