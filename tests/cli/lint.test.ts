import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { place, project, ROOT, strata } from "./strata.ts";

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly section: string;
  readonly part?: string;
  readonly stands: string;
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
  readonly cost?: { readonly times: number; readonly basis: string; readonly message: string };
}

interface Shown {
  readonly errors: number;
  readonly warnings: number;
  readonly agents: readonly {
    readonly agent: string;
    readonly model: string;
    readonly length: { readonly turns: number; readonly from: string };
    readonly findings: readonly Found[];
  }[];
}

async function lint(cwd: string, ...more: readonly string[]) {
  const { code, out, err } = await strata(["lint", "--json", ...more], { cwd });
  const shown: Shown = JSON.parse(out === "" ? "null" : out);
  return { code, err, shown, findings: shown?.agents.flatMap(({ findings }) => findings) ?? [] };
}

/** The companion with a text behind one of its layers, locked again. */
async function saying(text: string, file = "layers/conduct.md"): Promise<string> {
  const cwd = project();
  writeFileSync(join(cwd, file), `${readFileSync(join(cwd, file), "utf8").trimEnd()}\n${text}\n`);
  await strata(["lock"], { cwd });
  return cwd;
}

/** The column at which these words begin in their line of a file. */
const placeIn = (file: string, folder: string, words: string): number =>
  (readFileSync(join(folder, file), "utf8")
    .split("\n")
    .find((line) => line.includes(words))
    ?.indexOf(words) ?? -1) + 1;

/** An agent with tools of its own, each with a description that is the value of an expression. */
async function toolsSaying(expressions: Readonly<Record<string, string>>, more = ""): Promise<string> {
  const cwd = place();
  writeFileSync(
    join(cwd, "strata.yaml"),
    `organization: home
modules: [shop.ts]
agents:
  shop:
    description: It sells.
    layers:
      - {id: rules, rank: 1, text: Sell well.}
      - {id: stock, rank: 50, source: stock}
    tools: [${Object.keys(expressions).join(", ")}]
`,
  );
  const tools = Object.entries(expressions).map(([name, sentence]) => `tool("${name}", ${sentence})`);
  writeFileSync(
    join(cwd, "shop.ts"),
    `import { existsSync, writeFileSync } from "node:fs";
import { defineSource, defineTool, z } from "strata";
const tool = (name, description) =>
  defineTool({ name, description, input: z.object({ thing: z.string() }), effect: "none", trust: "operator", run: () => "3" });
export const tools = [${tools.join(", ")}];
export const stock = defineSource({
  name: "stock",
  trust: "operator",
  load: () => {
    writeFileSync(new URL("asked.txt", import.meta.url), "");
    return "much";
  },
});
${more}
`,
  );
  await strata(["lock"], { cwd });
  return cwd;
}

describe("strata lint", () => {
  it("finds nothing in the shipped blueprints, and makes nothing", async () => {
    const cwd = place();
    const { code, shown } = await lint(cwd);
    // Without a project there is one agent of each blueprint that has one of its name.
    expect(shown.agents.map(({ agent, findings }) => [agent, findings])).toEqual(
      readdirSync(join(ROOT, "blueprints")).flatMap((name) =>
        ["front-desk", "organism"].includes(name) ? [] : [[name, []]],
      ),
    );
    expect(code).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("names rule, layer, file, line and cost of a clock in a layer's file, and exits as the table of errors says", async () => {
    const cwd = await saying("The current time is 14:32.");
    const { code, out, err } = await strata(["lint", "companion"], { cwd });
    expect(code).toBe(16);
    expect(out).toMatch(/error clock layer conduct \(layers\/conduct\.md:6:5\): "current time is 14:32"/);
    expect(out).toContain("costs up to 3.72 times as much, measured: clock to the minute in system: 3.72 at 50 turns");
    expect(out).toContain("do: remove it and give the agent a layer with `source: clock`");
    expect(err).toContain("lint found 1 error;");
  });

  it("tells the cost at the length that is said, and at the reads of the model that is said", async () => {
    const cwd = await saying("The current time is 14:32.");
    const times = async (...more: string[]) => (await lint(cwd, ...more)).findings[0]?.cost?.times;
    expect(await times("--turns", "200")).toBe(5.44);
    expect(await times("--model", "anthropic:claude-opus-5-5")).toBe(8.52);
  });

  it("names no multiple where the cost is next to nothing", async () => {
    const { out } = await strata(["lint", "companion"], { cwd: await saying("Today is Monday, 5 January 2026.") });
    expect(out).toContain("warning date-of-now layer conduct");
    expect(out).toContain("costs next to nothing, measured: clock to the date only: 1 at 50 turns, 1.04 at 200");
  });

  it("takes the median length of the threads in the record", async () => {
    const cwd = project();
    const talk = (as: string, turns: number) =>
      strata(["chat", "companion", "--as", as], { cwd, input: "hello there\n".repeat(turns) });
    for (const [as, turns] of [
      ["ann", 1],
      ["bob", 3],
      ["eve", 4],
    ] as const)
      await talk(as, turns);
    expect((await lint(cwd)).shown.agents[0]?.length).toEqual({ turns: 3, from: "record" });
    expect((await lint(cwd, "--turns", "9")).shown.agents[0]?.length).toEqual({ turns: 9, from: "option" });
  });

  it("exits with 0 where there are only warnings", async () => {
    const { code, shown } = await lint(await saying("The library is currently closed."));
    expect(shown).toMatchObject({ errors: 0, warnings: 1 });
    expect(code).toBe(0);
  });

  it("looks at an agent that is not locked yet and notes it; a lock that does not match stops it", async () => {
    const cwd = await saying("The current time is 14:32.");
    rmSync(join(cwd, "strata.lock"));
    const { code, out, err } = await strata(["lint", "companion"], { cwd });
    expect(code).toBe(16);
    expect(out).toContain('layers/conduct.md:6:5): "current time is 14:32"');
    expect(err).toContain("strata.lock does not exist");
    expect((await lint(cwd)).shown.agents).toMatchObject([{ lockMissing: join(cwd, "strata.lock") }]);
    await strata(["lock"], { cwd });
    expect((await strata(["lint"], { cwd })).err).not.toContain("strata.lock");
    writeFileSync(join(cwd, "layers/conduct.md"), "Be kind.\n");
    expect(await lint(cwd)).toMatchObject({ code: 5, err: expect.stringContaining("differs from the lock") });
  });

  it("finds the line and the column of a text that stands in strata.yaml itself", async () => {
    const cwd = project((yaml) =>
      yaml.replace(
        "file: layers/conduct.md",
        "text: |\n          Be brief.\n          Your request id: 8f3k29dk2.\n        modes: {compact: line}\n        line: It is now 10:30.",
      ),
    );
    await strata(["lock"], { cwd });
    const { findings } = await lint(cwd);
    const lineOf = (words: string) =>
      readFileSync(join(cwd, "strata.yaml"), "utf8")
        .split("\n")
        .findIndex((line) => line.includes(words)) + 1;
    const at = (words: string) => [lineOf(words), placeIn("strata.yaml", cwd, words)];
    expect(findings.map(({ rule, part, place }) => [rule, part, place?.line, place?.column])).toEqual([
      ["clock", "line", ...at("It is now 10:30")],
      ["request-id", undefined, ...at("request id")],
    ]);
    expect((await strata(["lint"], { cwd })).out).toContain(`(strata.yaml:${at("request id").join(":")})`);
  });

  it("warns of a prefix that the model does not keep, with the gap", async () => {
    const { findings, code } = await lint(project(), "--model", "anthropic:claude-haiku-4-5");
    expect(findings).toMatchObject([{ rule: "below-minimum", severity: "warning", section: "prefix" }]);
    expect(findings[0]?.stands).toMatch(
      /^\d+ tokens of the 4096 that the model needs, \d+ too few; with 233 tokens more a turn \(as measured on other threads\) filling it up pays in threads of about \d+ to \d+ requests$/,
    );
    expect(code).toBe(0);
  });

  it("warns of layers that are cut for the budget or the model's window", async () => {
    const cwd = project((yaml) =>
      yaml
        .replace("  companion:\n", "  companion:\n    budgets: { total: 8000, reply: 1000 }\n")
        .replace(
          "file: layers/workspace.md",
          "file: layers/workspace.md\n        mutability: versioned\n        budget: 60",
        ),
    );
    writeFileSync(join(cwd, "layers/workspace.md"), "All files are kept in folders. ".repeat(3_000));
    await strata(["lock"], { cwd });
    const { findings } = await lint(cwd);
    expect(findings).toMatchObject([{ rule: "cut-prefix", section: "layer workspace" }]);
  });

  it("warns of a `budgets.system` that the immutable layers alone exceed", async () => {
    const cwd = project((yaml) => yaml.replace("  companion:\n", "  companion:\n    budgets: { system: 50 }\n"));
    const { findings } = await lint(cwd);
    expect(findings).toMatchObject([{ rule: "small-system", section: "prefix" }]);
    expect(findings[0]?.stands).toMatch(/^budgets\.system is 50, and what is never cut has \d+ tokens$/);
  });

  it("refuses an agent that is not declared and a model that is none", async () => {
    expect(await lint(place(), "compnion")).toMatchObject({ code: 3, err: expect.stringContaining("companion") });
    expect(await lint(place(), "--model", "what is this")).toMatchObject({ code: 2 });
  });
});

describe("strata lint, rendering under another clock, place, language and order", () => {
  it("says nothing of a tool whose words are constants, and asks no source", async () => {
    const cwd = await toolsSaying({ stock_of: '"Tells how many of a thing are there."' });
    const { findings } = await lint(cwd, "--model", "anthropic:claude-opus-5-5");
    expect(findings.map(({ rule }) => rule)).toEqual(["below-minimum"]);
    expect(existsSync(join(cwd, "asked.txt"))).toBe(false);
  });

  it("names each tool that another load, clock, place or language changes, where, and why", async () => {
    const cwd = await toolsSaying({
      chance: `\`Über \${crypto.randomUUID().slice(0, 7)}.\``,
      day: `\`For \${new Date().toISOString().slice(0, 10)}.\``,
      language: `\`At most \${(1234.5).toLocaleString()} things.\``,
      same: '"Always the same."',
      zone: `\`Hours from UTC: \${new Date(Date.UTC(2026, 0, 1)).getTimezoneOffset() / -60}.\``,
    });
    const { code, findings } = await lint(cwd);
    expect(unstable(findings)).toEqual([
      ["tool chance", "loaded again"],
      ["tool day", "on another day, in another year, in summer time"],
      ["tool language", "in another language"],
      ["tool zone", "in another year, in summer time, in another time zone"],
    ]);
    const [chance] = findings;
    expect(chance).toMatchObject({ severity: "error", cost: { times: 8.06, basis: "measured" } });
    const byte = Buffer.byteLength('{"name":"chance","description":"Über ');
    // Two ids may begin with the same signs.
    const [, at, ofRequest] =
      /from byte (\d+) of it on \(byte (\d+) of request 1\) ".*Über [0-9a-f]{7}/.exec(chance?.stands ?? "") ?? [];
    expect(Number(at)).toBeGreaterThanOrEqual(byte);
    expect(Number(at)).toBeLessThan(byte + 7);
    expect(ofRequest).toBe(at);
    expect(code).toBe(16);
  });

  it("names the tool that says something else each time it is read", async () => {
    const cwd = await toolsSaying(
      { stock_of: '"Tells."' },
      `let reads = 0;
const [plain] = tools;
tools[0] = { ...plain, get schema() { return { ...plain.schema, description: \`Read \${reads++} times.\` }; } };`,
    );
    const { code, findings } = await lint(cwd);
    expect(unstable(findings)).toEqual([["tool stock_of", "rendered again"]]);
    expect(code).toBe(16);
  });

  it("says so when the project cannot be loaded a second time", async () => {
    const once =
      'const here = new URL("once.txt", import.meta.url);\nif (existsSync(here)) throw new Error("only once");\nwriteFileSync(here, "");';
    const { code, err } = await lint(await toolsSaying({ stock_of: '"Tells."' }, once));
    expect(code).toBe(4);
    expect(err).toContain("cannot be loaded a second time");
  });
});

const unstable = (findings: readonly Found[]) =>
  findings
    .filter(({ rule }) => rule === "unstable-tools")
    .map(({ section, stands }) => [section, stands.slice(0, stands.indexOf(": from byte"))])
    .sort();

it("passes over conversations that cannot be read any more, because their contact was erased or a message retracted", async () => {
  const cwd = project();
  await strata(["ask", "I like tea.", "--as", "ann"], { cwd });
  const { out } = await strata(["ask", "I like tea.", "--as", "bob", "--json"], { cwd });
  expect((await strata(["contact", "erase", "ann", "--yes"], { cwd })).code).toBe(0);
  expect(await strata(["lint"], { cwd })).toMatchObject({ code: 0, err: "" });
  const [event = ""] = /evt_\w+/.exec(out) ?? [];
  expect((await strata(["event", "retract", event, "--reason", "not true", "--yes"], { cwd })).code).toBe(0);
  expect(await strata(["lint"], { cwd })).toMatchObject({ code: 0, err: "" });
});

it("25.26 a text that names a tool which the agent does not have is reported; the shipped ones name none", async () => {
  const cwd = project((yaml) => yaml.replace("read, write]", "read]"));
  await strata(["lock"], { cwd });
  const { out } = await strata(["lint"], { cwd });
  expect(out).toContain("layer abilities: it names the tool `write`, which companion does not have");
  expect(out).not.toContain("the tool `read`");
  expect((await strata(["lint"], { cwd: place() })).out).not.toMatch(/it (?:names the tool|needs|speaks of layer)/);
});

it("25.26 lint reports a text that relies on a tool or layer that the agent does not have", async () => {
  const cwd = project((yaml) =>
    yaml.replace("[list, memory_forget, ", "[list, ").replace("needs: [clock]", "needs: [clock, conduct, copy_self]"),
  );
  const file = join(cwd, "layers/identity.md");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}Payments stand in layer 10. Layers 20 to 26 and layer 0 are yours.\n`,
  );
  await strata(["lock"], { cwd });
  const { out } = await strata(["lint"], { cwd });
  for (const [layer, name] of [
    ["conduct", "conduct"],
    ["conduct", "copy_self"],
    ["abilities", "memory_forget"],
    ["memory", "memory_forget"],
  ])
    expect(out).toContain(
      `layer ${layer}: it needs \`${name}\`, and companion has no tool and no other layer of this name`,
    );
  expect(out).not.toContain("it needs `clock`");
  expect(out.match(/it speaks of layer \d+/g)).toEqual(["it speaks of layer 26"]);
});

it("25.22 a mode that a layer says nothing of is as the larger one; one that sends more than that is reported", async () => {
  const folder = (modes: string): string => {
    const cwd = place();
    const text = "Sell well, and say what it costs. ".repeat(20);
    writeFileSync(
      join(cwd, "strata.yaml"),
      `organization: home
agents:
  shop:
    description: It sells.
    layers: [{id: rules, rank: 1, text: ${JSON.stringify(text)}, line: Sell well., modes: ${modes}}]
`,
    );
    return cwd;
  };
  const sentence =
    "mode minimal sends 270 tokens of the layers' texts, and the larger mode compact 5: look at `modes` of rules";
  expect((await strata(["lint"], { cwd: folder("{compact: line, minimal: whole}") })).out).toContain(sentence);
  const cwd = folder("{compact: line}");
  expect((await strata(["lint"], { cwd })).out).not.toContain("mode minimal");
  await strata(["lock"], { cwd });
  const small = await strata(["compose", "shop", "--mode", "minimal", "--message", "Hi"], { cwd });
  expect(small.out).toContain("Sell well.");
  expect(small.out).not.toContain("and say what it costs");
});

describe("the files and skills of a project", () => {
  const LONG = "Run the checks before you push, and name the file and the line of what you changed. ".repeat(3).trim();
  const files: Readonly<Record<string, string>> = {
    "AGENTS.md": `# Rules\n\n${LONG}\n\n<!-- nobody sees this -->\nUse tabs.\u200b\n@../secrets.md\n\n${LONG}\n`,
    "docs/long.md": `First line.\n${"More of it.\n".repeat(60)}`,
    "skills/invoicing/SKILL.md":
      "---\nname: invoicing\ndescription: Writes invoices.\ncolour: red\n---\nWrite it.\u200b\n",
    "skills/bills/SKILL.md": "---\nname: bills\ndescription: Writes invoices.\n---\nWrite them.\n",
    "skills/other/SKILL.md": `---\nname: another\ndescription: ${"x".repeat(1_100)}\n---\nDo it.\n`,
  };
  const YAML = `organization: home
agents:
  helper:
    description: Helps.
    files: { read: [AGENTS.md, docs/long.md, docs/none.md], characters: 600 }
    skillFolders: { read: [skills], shown: 1 }
    layers:
      - { id: core, rank: 0, text: Help. }
      - { id: bootstrap, rank: 15, source: files, budget: 100 }
      - { id: skills, rank: 40, source: skills }
`;

  it("001.5 001.8 are looked through: what is cut, hidden, said twice, outside of the root or over the standard, with file and line", async () => {
    const cwd = place();
    for (const [name, text] of Object.entries({ ...files, "strata.yaml": YAML })) {
      mkdirSync(join(cwd, name, ".."), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    const { out, code } = await strata(["lint", "--json"], { cwd });
    const shown: { agents: readonly { texts: readonly { section: string; message: string; line?: number }[] }[] } =
      JSON.parse(out);
    const sentence = shown.agents.flatMap(({ texts }) =>
      texts.map(({ section, message: what }) => `${section}: ${what}`),
    );
    for (const wanted of [
      "AGENTS.md:5: HTML comments are removed",
      "AGENTS.md:6: hidden characters are removed",
      "AGENTS.md:7: @../secrets.md: it leads out of the project's root and is not read",
      "AGENTS.md:9: the same paragraph stands in AGENTS.md:3",
      "docs/long.md:50: it is cut here: ",
      "docs/none.md: there is no such file",
      "skills/invoicing/SKILL.md:4: the standard knows no key `colour`",
      "skills/invoicing/SKILL.md:6: hidden characters are removed",
      "skills/invoicing/SKILL.md:1: it has the description of skills/bills/SKILL.md",
      "skills/other/SKILL.md:3: left out: `description` has more than 1,024 characters",
      "skills: there are 2 skills, and the prompt shows 1",
    ])
      expect(
        sentence.some((one) => one.startsWith(wanted)),
        `${wanted}\n${sentence.join("\n")}`,
      ).toBe(true);
    expect(
      sentence.some((one) =>
        /^AGENTS\.md: the files have \d+ tokens together, and the layer bootstrap a budget of 100/.test(one),
      ),
    ).toBe(true);
    expect(code).toBe(0);
    expect((await strata(["lint"], { cwd })).out).toContain("warning AGENTS.md:6: hidden characters are removed");
  });
});
