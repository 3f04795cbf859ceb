import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { jsonLines, place, strata } from "./strata.ts";

const YAML = (modules: string): string => `organization: home
modules: [${modules}]
secrets: {shop: "\${SHOP_KEY}"}
providers: {anthropic: {key: "\${CLAUDE_KEY}"}}
agents:
  shop:
    description: It sells.
    model: rehearsal
    layers:
      - {id: rules, rank: 1, text: Sell well., mutability: versioned}
      - {id: stock, rank: 50, source: stock}
    tools: [{name: price, approval: true}]
`;

const SHOP = `import { defineSource, defineTool, z } from "strata";

export const price = defineTool({
  name: "price",
  description: "Tells a price.",
  input: z.object({}),
  effect: "none",
  trust: "operator",
  run: () => "12 euros",
});
export const stock = defineSource({ name: "stock", trust: "operator", load: () => "3 chairs" });
`;

interface Named {
  readonly id: string;
}

/** A shop that talked once, and whose module, secret and key have gone since. */
const shop = { cwd: "", thread: "", turn: "", approval: "" };

beforeAll(async () => {
  shop.cwd = place();
  const { cwd } = shop;
  const env = { SHOP_KEY: "shop-key-0123456789", CLAUDE_KEY: "claude-key-0123456789" };
  writeFileSync(join(cwd, "shop.ts"), SHOP);
  writeFileSync(join(cwd, "strata.yaml"), YAML("shop.ts"));
  expect((await strata(["lock"], { cwd, env })).code).toBe(0);
  const chat = await strata(["chat", "shop"], { cwd, env, input: "Use price {}\n" });
  expect([chat.code, chat.err]).toEqual([0, expect.stringContaining("waits for a person")]);
  const first = async (...argv: readonly string[]): Promise<string> => {
    const { out } = await strata([...argv, "--json"], { cwd, env });
    return jsonLines<readonly Named[]>(out)[0]?.[0]?.id ?? "";
  };
  shop.thread = await first("thread", "list");
  shop.approval = await first("approval", "list");
  shop.turn = /trn_\w+/.exec((await strata(["explain", shop.thread], { cwd, env })).out)?.[0] ?? "";
  writeFileSync(join(cwd, "shop.ts"), "broken(");
});

describe("what only looks at the record or mends it, or at the texts, needs no module and no secret", () => {
  it.each<[string, () => readonly string[]]>([
    ["verify", () => ["verify"]],
    ["anchor", () => ["anchor"]],
    ["backup", () => ["backup", `${Math.random()}.db`]],
    ["thread list", () => ["thread", "list"]],
    ["thread show", () => ["thread", "show", shop.thread]],
    ["thread withdraw", () => ["thread", "withdraw", shop.thread]],
    ["thread cancel", () => ["thread", "cancel", shop.thread]],
    ["thread fork", () => ["thread", "fork", shop.thread]],
    ["explain", () => ["explain", shop.thread]],
    ["explain of a turn", () => ["explain", shop.turn]],
    ["turn show", () => ["turn", shop.turn]],
    ["turn --wire", () => ["turn", shop.turn, "--wire"]],
    ["turn diff", () => ["turn", "diff", shop.turn, shop.turn]],
    ["usage", () => ["usage"]],
    ["export", () => ["export", "--out", `${Math.random()}.jsonl`]],
    ["memory list", () => ["memory", "list", "--agent", "shop"]],
    ["approval list", () => ["approval", "list"]],
    ["approval show", () => ["approval", "show", shop.approval]],
    ["cache explain", () => ["cache", "explain", shop.thread]],
    ["lock", () => ["lock"]],
    ["lock --check", () => ["lock", "--check"]],
  ])("%s", async (_, argv) => {
    const { code, out, err } = await strata(argv(), { cwd: shop.cwd });
    expect(code, err).toBe(0);
    expect(out + err).not.toContain("shop.ts");
  });

  it("nor the file of a module", async () => {
    writeFileSync(join(shop.cwd, "strata.yaml"), YAML("gone.ts"));
    expect((await strata(["verify"], { cwd: shop.cwd })).code).toBe(0);
    writeFileSync(join(shop.cwd, "strata.yaml"), YAML("shop.ts"));
  });

  it.each<[string, () => readonly string[]]>([
    ["chat", () => ["chat", "shop"]],
    ["compose", () => ["compose", "shop", "--message", "hi"]],
    ["turn regenerate", () => ["turn", "regenerate", shop.turn]],
    ["approval approve", () => ["approval", "approve", shop.approval]],
  ])("but %s does", async (_, argv) => {
    const { cwd } = shop;
    const bare = await strata(argv(), { cwd, input: "hi\n" });
    expect(bare.err).toContain("SHOP_KEY is not set");
    const env = { SHOP_KEY: "shop-key-0123456789", CLAUDE_KEY: "claude-key-0123456789" };
    const { code, err } = await strata(argv(), { cwd, env, input: "hi\n" });
    expect(code).not.toBe(0);
    expect(err).toContain("shop.ts cannot be used");
  });
});
