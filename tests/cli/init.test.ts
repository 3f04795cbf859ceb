import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { projectLock } from "../../src/app/entry/projects.ts";
import { atTerminal, child, place, ROOT, strata } from "./strata.ts";

const MADE = [".env.example", ".gitignore", "layers", "strata.lock", "strata.yaml"];

describe("strata init", () => {
  it("makes an agent in an empty folder that locks, composes, answers and remembers", async () => {
    const cwd = place();
    const { code, out } = await strata(["init"], { cwd });
    expect(code).toBe(0);
    expect(out).toMatch(/\n {2}strata compose companion --message "Hello"\n {2}strata chat companion\n/);
    expect(readdirSync(cwd).sort()).toEqual(MADE);
    expect(readFileSync(join(cwd, "strata.lock"))).toEqual(
      readFileSync(join(ROOT, "blueprints/companion/strata.lock")),
    );
    expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe(".strata/\n.env\nnode_modules/\n");
    expect(readFileSync(join(cwd, ".env.example"), "utf8")).toBe(
      "# Copy this file to .env and put your key in; .env is read beside strata.yaml and is never sent, printed or recorded.\n" +
        "# The first of these that is set decides which model answers; without one, the built-in rehearsal does.\n" +
        "ANTHROPIC_API_KEY=\n# OPENAI_API_KEY=\n# OPENAI_BASE_URL=http://127.0.0.1:11434/v1\n# OPENROUTER_API_KEY=\n",
    );

    expect((await strata(["lock", "--check"], { cwd })).code).toBe(0);
    expect((await strata(["compose", "companion", "--message", "Hello"], { cwd })).code).toBe(0);
    const input = "Remember that my bicycle is green.\nWhat colour is my bicycle?\n";
    const chat = await strata(["chat", "companion"], { cwd, input });
    expect(chat.code).toBe(0);
    expect(chat.out).toContain("green");
    expect((await strata(["verify"], { cwd })).out).toContain("The record is complete and unchanged.");
  });

  it("tells of the credits that an agent needs before it answers, and then it does", async () => {
    const cwd = place();
    const { out } = await strata(["init", "sovereign", "--folder", "own"], { cwd });
    const steps = out.match(/^ {2}strata \S.*$/gm)?.map((line) => line.trim());
    expect(steps).toEqual([
      'strata compose sovereign --folder own --message "Hello"',
      "strata credits add 10 sovereign --folder own",
      "strata chat sovereign --folder own",
    ]);
    await strata("credits add 10 sovereign --folder own".split(" "), { cwd });
    expect((await strata("chat sovereign --folder own".split(" "), { cwd, input: "Hello\n" })).code).toBe(0);
    // The same conversation as from inside the folder, and none of it for git.
    expect(readdirSync(cwd)).toEqual(["own"]);
    expect(readFileSync(join(cwd, "own/.strata/.gitignore"), "utf8")).toBe("*\n");
    expect((await strata(["thread", "list"], { cwd: join(cwd, "own") })).out).toContain("sovereign");
    expect((await strata(["init", "companion", "--folder", "other"], { cwd })).out).not.toContain("credits");
  });

  it("names the agent as wanted, in a folder that it makes, and says how to reach it", async () => {
    const cwd = place();
    const { out } = await strata(["init", "companion", "--name", "clerk", "--folder", "my shop"], { cwd });
    expect(out).toContain('  strata chat clerk --folder "my shop"\n');
    const check = await strata(["lock", "--check", "--folder", "my shop"], { cwd });
    expect(check).toMatchObject({ code: 0, err: "" });
    expect(check.out).toContain("clerk: 7 immutable layers");
    expect((await strata(["agent", "list", "--folder", "my shop"], { cwd })).out).toMatch(/^clerk, version/);
  });

  it("keeps what .gitignore says, and adds only what is missing", async () => {
    const cwd = place();
    writeFileSync(join(cwd, ".gitignore"), "node_modules/\n.env");
    await strata(["init"], { cwd });
    expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("node_modules/\n.env\n.strata/\n");
  });

  it("overwrites nothing, and names what is in the way", async () => {
    const cwd = place();
    mkdirSync(join(cwd, "layers"));
    writeFileSync(join(cwd, "layers/safety.md"), "mine");
    const { code, out, err } = await strata(["init"], { cwd });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("already contains layers/safety.md");
    expect(readdirSync(cwd).sort()).toEqual(["layers"]);
    writeFileSync(join(cwd, "strata.yaml"), "mine");
    expect((await strata(["init"], { cwd })).code).toBe(4);
    expect(readFileSync(join(cwd, "strata.yaml"), "utf8")).toBe("mine");
    expect(readdirSync(cwd).sort()).toEqual(["layers", "strata.yaml"]);
  });

  it("25.25 adds a blueprint's agent to a strata.yaml that is there, beside what it says, and both answer", async () => {
    const cwd = place();
    await strata(["init", "companion", "--name", "clerk"], { cwd });
    const before = readFileSync(join(cwd, "strata.yaml"), "utf8");
    const safety = readFileSync(join(cwd, "layers/safety.md"), "utf8");
    const { code, out } = await strata(["init", "workbench"], { cwd });
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("workbench/layers/safety.md") });
    const now = readFileSync(join(cwd, "strata.yaml"), "utf8");
    expect(now.startsWith(before.trimEnd())).toBe(true);
    expect(now).toContain("file: workbench/layers/safety.md");
    expect(readFileSync(join(cwd, "layers/safety.md"), "utf8")).toBe(safety);
    expect((await strata(["lock", "--check"], { cwd })).code).toBe(0);
    for (const agent of ["clerk", "workbench"])
      expect(await strata(["ask", "Hello", agent], { cwd })).toMatchObject({ code: 0 });
    const again = await strata(["init", "workbench"], { cwd });
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining("an agent workbench is there already") });
    expect(readFileSync(join(cwd, "strata.yaml"), "utf8")).toBe(now);
    expect((await strata(["init", "workbench", "--name", "second"], { cwd })).code).toBe(0);
    writeFileSync(join(cwd, "layers/safety.md"), "Changed.");
    const unread = await strata(["init", "sovereign"], { cwd });
    expect(unread).toMatchObject({ code: 5, out: "" });
  });

  it("tells programs what it made", async () => {
    const cwd = place();
    const { out } = await strata(["init", "--json"], { cwd });
    expect(JSON.parse(out)).toMatchObject({ blueprint: "companion", folder: cwd, agents: ["companion"] });
  });

  it.each([
    [["init", "companoin"], 3, "did you mean `companion`?"],
    [["init", "--name", "No Name"], 2, '"No Name" is not an agent name'],
    [["init", "companion", "--nmae", "x"], 2, "Did you mean --name?"],
  ])("strata %j exits with %i, says why, and makes nothing", async (argv, exit, message) => {
    const cwd = place();
    const { code, err } = await strata(argv, { cwd });
    expect(err).toContain(message);
    expect(code).toBe(exit);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("asks for the blueprint in a terminal, and takes the usual one for an empty answer", async () => {
    const cwd = place();
    const person = atTerminal(["init"], { cwd });
    await person.sees("Which blueprint: companion");
    person.press("\r");
    expect(await person.ended).toBe(0);
    expect(readdirSync(cwd).sort()).toEqual(MADE);
  });
});

const SHOP = `organization: corner-shop
modules: [tools/price.ts]
secrets: {till: "\${TILL_KEY}"}

agents:
  clerk: # the one at the counter
    description: It sells.
    layers:
      - {id: shop, rank: 10, file: texts/shop.md}
    tools: [price]

providers:
  local:
    kind: openai-compatible
    url: http://127.0.0.1:1/v1
`;

const PRICE = `import { defineTool, z } from "strata";
import { euros } from "./euros.ts";

export const price = defineTool({
  name: "price",
  description: "Tells what a repair costs.",
  input: z.object({ repair: z.string() }),
  effect: "none",
  trust: "operator",
  run: ({ repair }) => \`\${repair}: \${euros} euros\`,
});
`;

const FILES: Readonly<Record<string, string>> = {
  "strata.yaml": SHOP,
  "texts/shop.md": "You answer for the Corner Shop.",
  "tools/price.ts": PRICE,
  "tools/euros.ts": "export const euros = 12;",
  ".gitignore": "*.log\n.env\n",
  ".env": "TILL_KEY=till-key-0123456789\n",
  ".env.local": "TILL_KEY=till-key-0123456789\n",
  ".git/HEAD": "ref: refs/heads/main",
  ".strata/strata.db": "data",
  "tools/node_modules/a/index.js": "export {};",
};

/** A folder with an empty one to stand in, `here`, and a blueprint beside it, `shop`. */
function beside(files: Readonly<Record<string, string>> = FILES): { readonly cwd: string; readonly shop: string } {
  const around = place();
  const [cwd, shop] = [join(around, "here"), join(around, "shop")];
  mkdirSync(cwd);
  mkdirSync(shop);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(shop, path)), { recursive: true });
    writeFileSync(join(shop, path), text);
  }
  return { cwd, shop };
}

describe("strata init with a folder", () => {
  it("copies what it names, leaves data and secrets behind, writes the lock and says so", async () => {
    const { cwd, shop } = beside();
    const { code, out, err } = await strata(["init", "../shop"], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const made = ["strata.yaml", "texts/shop.md", "tools/euros.ts", "tools/price.ts", ".env.example", "strata.lock"];
    expect(out).toContain(
      `${cwd} holds an agent now, copied from ${shop}:\n${[...made, ".gitignore"].map((file) => `  ${file}\n`).join("")}` +
        "Not copied: .env, .env.local, .git, .strata, tools/node_modules\n\n" +
        "Before it starts, put TILL_KEY into .env (see .env.example).\n",
    );
    expect(out).toContain("  strata chat clerk\n");
    expect(out).not.toContain("the built-in rehearsal answers");
    expect(readdirSync(cwd).sort()).toEqual(
      [".env.example", ".gitignore", "strata.lock", "strata.yaml", "texts", "tools"].sort(),
    );
    expect(readdirSync(join(cwd, "tools"))).toEqual(["euros.ts", "price.ts"]);
    expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("*.log\n.env\n.strata/\nnode_modules/\n");
    expect(readFileSync(join(cwd, ".env.example"), "utf8")).toMatch(/\nANTHROPIC_API_KEY=\n(?:# .+\n)+TILL_KEY=\n$/);
  });

  it.each([
    ["# Keys of the shop\nBANK_KEY=", "# Keys of the shop\nBANK_KEY=\nTILL_KEY=\n"],
    ["# TILL_KEY=from-the-till\n", "# TILL_KEY=from-the-till\n"],
  ])("adds to its .env.example %j what strata.yaml names and it does not", async (given, made) => {
    const { cwd } = beside({ ...FILES, ".env.example": given });
    expect((await strata(["init", "../shop"], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, ".env.example"), "utf8")).toBe(made);
  });

  it("makes an agent whose modules run, once it has its secrets", async () => {
    const { cwd } = beside();
    expect((await strata(["init", "../shop"], { cwd })).code).toBe(0);
    const early = await strata(["chat", "clerk"], { cwd, input: "Hello\n" });
    expect(early).toMatchObject({ code: 4, err: expect.stringContaining("TILL_KEY is not set") });
    writeFileSync(join(cwd, ".env"), "TILL_KEY=till-key-0123456789\n");
    const { out } = await strata(["chat", "clerk"], { cwd, input: 'Use price {"repair": "tyre"}\n' });
    expect(out).toContain("tyre: 12 euros");
  });

  it("renames its agent, whatever else its strata.yaml declares below", async () => {
    const { cwd } = beside();
    const { code } = await strata(["init", "../shop", "--name", "ann", "--folder", "."], { cwd });
    expect(code).toBe(0);
    const listed = await strata(["lock", "--check"], { cwd });
    expect(listed).toMatchObject({ code: 0, out: expect.stringContaining("ann: 1 immutable layer") });
    expect(readFileSync(join(cwd, "strata.yaml"), "utf8")).toBe(SHOP.replace("  clerk:", '  "ann":'));
  });

  it("tells programs where it came from and what it wants", async () => {
    const { cwd, shop } = beside();
    const { out } = await strata(["init", "../shop", "--json"], { cwd });
    expect(JSON.parse(out)).toMatchObject({
      blueprint: "../shop",
      from: shop,
      variables: ["TILL_KEY"],
      agents: ["clerk"],
    });
  });

  it("takes a link to a file inside as that file", async () => {
    const { cwd, shop } = beside();
    symlinkSync("price.ts", join(shop, "tools/again.ts"));
    expect((await strata(["init", "../shop"], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "tools/again.ts"), "utf8")).toBe(PRICE);
  });

  it("takes an example of ours", async () => {
    const cwd = place();
    expect((await strata(["init", join(ROOT, "examples/04-own-tool")], { cwd })).code).toBe(0);
    // In a process of its own, since the tests' own loader takes no types away.
    const { out } = await child(["chat", "clerk"], { cwd, input: 'Use order {"number": "A-1001"}\n' }).ended;
    expect(out).toContain("two tyres, 24 euros");
  });

  it.each<[string, (shop: string) => void, number, string]>([
    ["that is not there", () => {}, 3, "there is no folder"],
    [
      "without a strata.yaml",
      (shop) => writeFileSync(join(shop, "../shop.txt"), ""),
      3,
      "is not a blueprint, because it has no strata.yaml; name a folder with a strata.yaml, or a shipped blueprint: companion",
    ],
    ["with a link that leads out", (shop) => symlinkSync("../secret", join(shop, "notes")), 2, "leads out of it"],
    ["with a link to a folder outside", (shop) => symlinkSync("..", join(shop, "up")), 2, "leads out of it"],
    ["with a link to its secrets", (shop) => symlinkSync(".env", join(shop, "env.txt")), 2, "what is not copied"],
    ["with a link to a folder", (shop) => symlinkSync("tools", join(shop, "more")), 2, "is a link to a folder"],
    ["with a broken link", (shop) => symlinkSync("nowhere", join(shop, "gone")), 3, "there is no such file"],
    ["with a pipe", (shop) => void execFileSync("mkfifo", [join(shop, "pipe")]), 2, "is neither a file nor a folder"],
    [
      "whose strata.yaml is wrong",
      (shop) => writeFileSync(join(shop, "strata.yaml"), SHOP.replace("description", "descripton")),
      4,
      "did you mean `description`?",
    ],
    [
      "whose module stands outside of it",
      (shop) => {
        writeFileSync(join(shop, "../price.ts"), PRICE);
        writeFileSync(join(shop, "strata.yaml"), SHOP.replace("tools/price.ts", "../price.ts"));
      },
      2,
      "works in its place, but a copy of it would not",
    ],
    [
      "whose text is not the one that was locked",
      (shop) => {
        projectLock({ folder: shop, env: {} }).write();
        writeFileSync(join(shop, "texts/shop.md"), "Everything is free.");
      },
      5,
      "+ Everything is free.",
    ],
  ])("%s is refused with a sentence, and nothing is made", async (what, spoil, exit, message) => {
    const { cwd, shop } = beside();
    writeFileSync(join(shop, "../secret"), "secret");
    spoil(shop);
    const folder = what === "that is not there" ? "../shp" : what === "without a strata.yaml" ? ".." : "../shop";
    const { code, err } = await strata(["init", folder], { cwd });
    expect(err).toContain(message);
    expect(code).toBe(exit);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

const DEVCLAW = `name: "DevClaw"
trigger: "@devclaw"
model: "claude-sonnet-4.5"
timezone: "America/Sao_Paulo"
instructions: |
  Be concise and practical.
business_context: We build a shop.
api:
  base_url: "https://api.anthropic.com/v1"
  api_key: "\${DEVCLAW_API_KEY}"
access:
  default_policy: deny
token_budget:
  total: 24000
  system: 12000
  memory: 1500
  skills: 3000
  history: 8000
  tools: 4000
prompt_layer_cache_ttl: 1m30s
skills:
  clawdhub_dirs: ["./own-skills"]
colour: green
`;

describe("strata init --from", () => {
  const from = async (yaml: string, ...options: string[]) => {
    const cwd = place();
    writeFileSync(join(cwd, "devclaw.yaml"), yaml);
    const ran = await strata(["init", "workbench", "--from", "devclaw.yaml", "--folder", "own", ...options], { cwd });
    return { ...ran, cwd, own: join(cwd, "own") };
  };

  it("001.14 001.18 translates a file of DevClaw's, and says of each key what happened to it", async () => {
    const { code, out, own, cwd } = await from(DEVCLAW);
    expect(code).toBe(0);
    expect(out).toContain("  token_budget.total      budgets.total: 24000, of it budgets.reply: 6000\n");
    expect(out).toContain("  prompt_layer_cache_ttl  files.ttl and skillFolders.ttl: 90\n");
    expect(out).toMatch(/\nNot translated:\n {2}trigger \(line 2\) {2,}a Strata agent answers every message/);
    for (const key of ["access (line 11)", "token_budget.tools (line 19)", "colour (line 23)"])
      expect(out).toContain(key);
    expect(out).toContain("Before it starts, put DEVCLAW_API_KEY into .env (see .env.example).");

    const { agents, providers } = parse(readFileSync(join(own, "strata.yaml"), "utf8"));
    const { model, budgets, layers, files, skillFolders, settings } = agents.devclaw;
    expect({ model, budgets, providers }).toEqual({
      model: "anthropic:claude-sonnet-4-5",
      budgets: { total: 24_000, reply: 6_000, system: 12_000, history: 8_000 },
      providers: { anthropic: { key: "$" + "{DEVCLAW_API_KEY}" } },
    });
    const layer = (id: string) => layers.find((one: { id: string }) => one.id === id);
    expect([layer("memory").budget, layer("skills").budget, layer("temporal").timezone]).toEqual([
      1_500,
      3_000,
      "America/Sao_Paulo",
    ]);
    expect([files.ttl, skillFolders, settings.business.default]).toEqual([
      90,
      { read: ["own-skills"], ttl: 90 },
      "We build a shop.",
    ]);
    expect(readFileSync(join(own, "layers/core.md"), "utf8")).toMatch(/^You are DevClaw, an agent/);
    expect(readFileSync(join(own, "layers/instructions.md"), "utf8")).toBe("Be concise and practical.\n");
    writeFileSync(join(own, ".env"), "DEVCLAW_API_KEY=sk-0123456789abcdef\n");
    const composed = await strata(["compose", "devclaw", "--folder", "own", "--message", "Hello"], { cwd });
    expect(composed).toMatchObject({ code: 0, out: expect.stringContaining("America/Sao_Paulo") });
  });

  it.each([
    ["model: claude-sonnet-4.5", "ANTHROPIC_API_KEY"],
    ["model: gpt-5-mini\napi_key: sk-live-0123456789abcdef", "OPENAI_API_KEY"],
    ["model: qwen/qwen3\nbase_url: https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"],
  ])("names the variable that %j needs, as the next step and in .env.example", async (yaml, variable) => {
    const { out, own } = await from(yaml);
    expect(out).toContain(`Before it starts, put ${variable} into .env (see .env.example).`);
    expect(out).not.toContain("rehearsal answers");
    const example = readFileSync(join(own, ".env.example"), "utf8");
    expect(example.match(/^[A-Z_]+=$/gm)).toEqual([`${variable}=`]);
    expect(example).not.toContain("rehearsal");
    expect(`${out}${readFileSync(join(own, "strata.yaml"), "utf8")}`).not.toContain("sk-live");
  });

  it.each([
    ["model: claude-sonnet-4.5\napi: {api_key: sk-live-0123456789}", "put it into .env as ANTHROPIC_API_KEY"],
    ["model: x\napi_key: sk-live-0123456789", "put it into .env as OPENAI_API_KEY"],
    ["api: {base_url: 'http://localhost:1/v1', api_key: sk-live-0123456789}", "below `providers.compatible`"],
    ["name: a\nschedules: []", "write each job under `schedules`"],
    ["skills: {paths: [./own], clawdhub_dirs: [theirs]}", 'skillFolders.read: ["theirs","own"]'],
    ["token_budget: 64000", "budgets.total: 64000, of it budgets.reply: 8192"],
    ["token_budget: {total: 64000, reserved: 4096}", "budgets.total: 64000\n"],
    ["name: a\nmodle: gpt", "Strata has no such key; did you mean `model`?"],
  ])("says of %j what becomes of it", async (yaml, message) => {
    const { code, out } = await from(yaml);
    expect([code, out]).toEqual([0, expect.stringContaining(message)]);
  });

  it("knows no key that is only a word of JavaScript", async () => {
    const { code, out, err } = await from("name: Claw\ntoString: 1\nhasOwnProperty: 2\n", "--json");
    expect([code, err]).toEqual([0, ""]);
    const unknown = { next: expect.stringContaining("Strata has no such key") };
    expect(JSON.parse(out)).toMatchObject({
      keys: [{ key: "name" }, { key: "toString", ...unknown }, { key: "hasOwnProperty", ...unknown }],
    });
  });

  it("takes the name that is asked for, and copies no key that stands in the file itself", async () => {
    const { out, own } = await from(
      "name: Claw\napi: {api_key: sk-live-0123456789abcdef}\n",
      "--name",
      "helper",
      "--json",
    );
    expect(JSON.parse(out)).toMatchObject({
      agents: ["helper"],
      keys: [
        { key: "name", line: 1, to: expect.any(String) },
        { key: "api.api_key", line: 2, next: expect.stringContaining("put it into .env") },
      ],
    });
    for (const file of ["strata.yaml", ".env.example"])
      expect(readFileSync(join(own, file), "utf8")).not.toContain("sk-live");
  });

  it.each([
    [
      "token_budget: {total: many}",
      'devclaw.yaml:1:23 token_budget.total: "many" — expected a whole number, 1 to 10,000,000',
    ],
    ["name: a\ntoken_budget: lots", 'devclaw.yaml:2:15 token_budget: "lots" — expected a whole number'],
    ["\nmodle: gpt", "devclaw.yaml:2:"],
    ["modle: gpt", "did you mean `model`?"],
    ["token_budget: {total: 100, reserved: 200}", "expected less than the total of 100"],
    ["prompt_layer_cache_ttl: 30", "expected a duration of at most 24 hours, as 30s, 500ms or 1m30s"],
    ["timezone: Mars/Base", "expected a time zone, as Europe/Berlin"],
    ["organization: me", "expected at least one key of DevClaw's"],
    ["- a list", "expected the keys of a config.yaml of DevClaw"],
    ["name: &a x\nmodel: *a", "not supported"],
    ['instructions: "# Layer 0 · core"', "with these settings the agent could not start"],
  ])("refuses %j with its place, and writes nothing", async (yaml, message) => {
    const { code, err, own } = await from(yaml);
    expect(err).toContain(message);
    expect(err).not.toContain("strata-init-");
    expect(code).not.toBe(0);
    expect(() => readdirSync(own)).toThrow();
  });

  it("translates into the workbench only", async () => {
    const cwd = place();
    writeFileSync(join(cwd, "devclaw.yaml"), "name: Claw");
    const { code, err } = await strata(["init", "companion", "--from", "devclaw.yaml"], { cwd });
    expect([code, err]).toEqual([2, expect.stringContaining("run `strata init workbench --from devclaw.yaml`")]);
  });
});
