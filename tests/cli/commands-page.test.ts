import { describe, expect, it } from "vitest";
import { commandsPage } from "../../src/doors/cli/index.ts";
import { place, strata } from "./strata.ts";

/** The page's sections: each command with its help. */
async function sections(): Promise<ReadonlyMap<string, string>> {
  const parts = (await commandsPage()).split(/^##+ /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
}

describe("the page of commands", () => {
  it("shows usage and an example of every command, and its options", async () => {
    const all = await sections();
    expect([...all.keys()]).toEqual(expect.arrayContaining(["strata", "strata chat", "strata memory save"]));
    for (const [name, text] of all) {
      expect(text).toContain(`Usage: ${name} `);
      expect(text).toMatch(/\nExamples?:\n {2}\$ .*strata /);
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(160);
    }
    expect(all.get("strata memory save")).toMatch(/--tag <word> +a tag/);
  });

  it("says what --help says, at the width of a small terminal there", async () => {
    for (const name of [...(await sections()).keys()].slice(1)) {
      const { code, out } = await strata([...name.split(" ").slice(1), "--help"], { cwd: place() });
      expect(code).toBe(0);
      expect(out).toContain(`Usage: ${name} `);
      const [described = ""] = out.split(/\nExamples?:\n/);
      for (const line of described.split("\n")) expect(line.length, `${name}: ${line}`).toBeLessThanOrEqual(80);
    }
  });
});
