import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { child, project } from "./strata.ts";

const PRICE = `import { defineTool, z } from "strata";
import { euros } from "./euros.ts";

export const price = defineTool({
  name: "price",
  description: "Tells a price.",
  input: z.object({}),
  effect: "none",
  trust: "operator",
  run: (): string => \`It costs \${euros} euros.\`,
});
`;

describe("a module in TypeScript", () => {
  it.each([
    ["a package.json as npm writes it", '{"name": "shop", "type": "commonjs"}'],
    ["a package.json that says nothing", '{"name": "shop"}'],
    ["a package.json of modules", '{"name": "shop", "type": "module"}'],
  ])("is one beside %s, and nothing is warned of", async (_, json) => {
    const cwd = project((yaml) => `${yaml.replace("tools: [list,", "tools: [price, list,")}\nmodules: [price.ts]\n`);
    writeFileSync(join(cwd, "package.json"), json);
    writeFileSync(join(cwd, "price.ts"), PRICE);
    writeFileSync(join(cwd, "euros.ts"), "export const euros: number = 12;\n");
    const { code, out, err } = await child(["chat", "companion"], { cwd, input: "use price {}\n" }).ended;
    expect(err).not.toMatch(/warning/i);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("It costs 12 euros.") });
  });
});
