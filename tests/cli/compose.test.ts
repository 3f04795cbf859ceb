import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, place, project, strata } from "./strata.ts";

interface Shown {
  readonly agent: { readonly name: string };
  readonly request: { readonly messages: readonly unknown[]; readonly tail: readonly unknown[] };
  readonly ledger: { readonly entries: readonly { readonly tokens: number; readonly place: string }[] };
  readonly tokens: number;
  readonly taint: string;
}

const compose = (...more: readonly string[]) => ["compose", "companion", "--message", "Where is my cat?", ...more];

describe("strata compose", () => {
  it("shows a row per section in the request's order, then the texts", async () => {
    const { code, out } = await strata(compose(), { cwd: place() });
    expect(code).toBe(0);
    const places = [...out.matchAll(/^(tools|system|transcript|message|tail) +\S+ .*(kept|empty|cut)/gm)].map(
      (row) => row[1],
    );
    expect(places).toEqual(["tools", ...Array(7).fill("system"), "transcript", "message", "tail", "tail"]);
    expect(out).toMatch(/^system +workspace +40 +agent +operator +\d+ +kept +5m up to here$/m);
    expect(out).toMatch(/^[\d,]+ tokens of 59,904 that may be sent$/m);
    expect(out).toContain("| Where is my cat?");
    expect(out).toMatch(/# Layer 0 · precedence.+\| Where is my cat\?.+# Layer \d+ · clock/s);
  });

  it("gives the request and its ledger as JSON, whose tokens add up", async () => {
    const { out } = await strata(compose("--json"), { cwd: place() });
    const [shown] = jsonLines<Shown>(out);
    expect(shown?.agent.name).toBe("companion");
    expect(shown?.taint).toBe("contact");
    expect(shown?.ledger.entries.reduce((sum, entry) => sum + entry.tokens, 0)).toBe(shown?.tokens);
  });

  it("prints the exact body with --wire", async () => {
    const { out } = await strata(compose("--wire"), { cwd: place() });
    expect(JSON.parse(out)).toMatchObject({ model: "claude-sonnet-5-5", stream: true });
  });

  it("continues with the contact's thread, and changes nothing in it", async () => {
    const cwd = place();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    const before = await strata(["explain", "--json"], { cwd });
    const { out } = await strata(compose("--json"), { cwd });
    // The tail is a system message after each message of the contact; the provider clears the first one by itself.
    expect(jsonLines<Shown>(out)[0]?.request.messages).toMatchObject([
      { role: "user" },
      { role: "system" },
      { role: "assistant" },
      { role: "user" },
    ]);
    const sentence = /^It continues the newest chat of this contact: 2 messages, \d+ tokens\.$/m;
    expect((await strata(compose(), { cwd })).out).toMatch(sentence);
    expect((await strata(["compose", "companion", "--explain"], { cwd })).out).toMatch(sentence);
    expect((await strata(["explain", "--json"], { cwd })).out).toBe(before.out);
    expect(readdirSync(cwd)).toEqual([".strata"]);
  });

  it("says that the conversation keeps what it began with, also where that cannot be composed any more", async () => {
    const cwd = project();
    await strata(["chat", "companion"], { cwd, input: "hi\n" });
    const file = join(cwd, "strata.yaml");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(
        "agents:\n  companion:",
        "agents:\n  companion:\n    budgets: { total: 9000 }",
      ),
    );
    const sentence =
      /^companion has changed since this conversation began, which continues with the old version: its budgets changed\.\n`strata chat companion --new` begins a conversation with the new version; `strata thread migrate thr_\w+` moves this one\.$/m;
    for (const argv of [compose(), ["compose", "companion", "--explain"]])
      expect((await strata(argv, { cwd })).err).toMatch(sentence);
    expect((await strata([...compose(), "--as", "bob"], { cwd })).err).toBe("");
  });

  it("says what was cut and what it wanted", async () => {
    const tight = project((yaml) =>
      yaml.replace("agents:\n  companion:", "agents:\n  companion:\n    budgets: { total: 3600, reply: 1000 }"),
    );
    const long = "word ".repeat(5_000);
    const { out } = await strata(["compose", "companion", "--message", long], { cwd: tight });
    expect(out).toMatch(/^message +message +contact +[\d,]+ +[\d,]+ +truncated: /m);
    const { err } = await strata(["chat", "companion"], { cwd: tight, input: `${long}\n` });
    expect(err).toMatch(/cut: message to [\d,]+ of [\d,]+/);
  });

  it("000.43 000.44 tells with --explain how large each layer is in full and in compact mode, and which is chosen", async () => {
    const cwd = place();
    // 25.25: of several agents, none is taken for granted where money moves.
    const unnamed = await strata(["credits", "add", "10"], { cwd });
    expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining("this moves money: name the one") });
    expect((await strata(["credits", "add", "10", "--agent", "sovereign"], { cwd })).code).toBe(0);
    const { out } = await strata(["compose", "sovereign", "--explain"], { cwd });
    expect(out).toMatch(/^sovereign with rehearsal: mode full, [\d,]+ tokens may be sent$/m);
    expect(out).toMatch(/^constitution +1 +agent +(\d+) +\1 +whole +\1$/m);
    expect(out).toMatch(/^identity +3 +agent +(\d+) +\d+ +one line +\1$/m);
    const sizes = /^full +([\d,]+) tokens without the message\ncompact +([\d,]+) tokens .*\nsent +\1 tokens/m.exec(out);
    const [full, compact] = [sizes?.[1], sizes?.[2]].map((text = "") => Number(text.replaceAll(",", "")));
    expect(compact).toBeLessThan((full ?? 0) * 0.8);
    const told = await strata(["compose", "sovereign", "--explain", "--json"], { cwd });
    expect(JSON.parse(told.out)).toMatchObject({ mode: "full", tokens: { full, compact } });
  });

  it("tells the sizes before anything is cut where the window is small, and beside them what is sent", async () => {
    const cwd = place();
    await strata(["init", "sovereign"], { cwd });
    const file = join(cwd, "strata.yaml");
    const yaml = readFileSync(file, "utf8").replace(
      "    # model: anthropic:claude-sonnet-5-5",
      "    model: local:small",
    );
    const sizes = async (window: number, ...more: readonly string[]) => {
      const local = `providers: { local: { kind: openai-compatible, url: "http://127.0.0.1:9/v1" } }`;
      const card = `models: { local:small: { contextWindow: ${window}, price: { input: 0, output: 0 } } }`;
      writeFileSync(file, `${yaml}\n${local}\n${card}\n`);
      return strata(["compose", "sovereign", "--explain", ...more], { cwd });
    };
    const large = await sizes(128_000);
    const small = await sizes(2_900);
    const columns = (out: string) =>
      [...out.matchAll(/^(\S+) +\d+ +[a-z]+ +(?:[\d,]+ +)?(\d+) +(\d+) +(\w+ ?\w+) +\d+$/gm)].map(([, ...row]) => row);
    expect(columns(large.out)).toHaveLength(18);
    expect(columns(small.out)).toEqual(columns(large.out));
    expect(small.out).toContain("mode compact, 2,175 tokens may be sent");
    expect(small.out).toMatch(/^change +9 +agent +\d{3} +\d\d +one line +0$/m);
    expect((await sizes(128_000, "--mode", "compact")).out).toMatch(/^identity +3 +agent +\d+ +(\d+) +one line +\1$/m);
    // Too small for any mode: the sizes are told, and that it does not fit.
    const tiny = await sizes(1_500);
    expect(tiny).toMatchObject({ code: 10, err: expect.stringContaining("only 1125 may be sent") });
    expect(tiny.out).toMatch(/^sovereign with local:small: what must be sent does not fit$/m);
    expect(tiny.out).toMatch(/^constitution +1 +agent +(\d+) +\1 +whole$/m);
    expect(jsonLines<object>((await sizes(1_500, "--json")).out)[0]).not.toHaveProperty("tokens.sent");
  });

  it("001.22 shows with --explain each layer's scope and budget, and which ones the mode leaves out", async () => {
    const cwd = place();
    const { out } = await strata(["compose", "workbench", "--explain", "--mode", "minimal"], { cwd });
    expect(out).toMatch(/^guides +18 +agent +2,000 +(\d+) +\1 +whole +0$/m);
    expect(out).toMatch(/^guides: left out of \d+ tokens \(mode minimal\)$/m);
    expect(out).not.toContain("It continues");
  });

  it("001.16 tells with --explain that a prefix which was cut leaves room for the conversation", async () => {
    const cwd = place();
    await strata(["init", "workbench"], { cwd });
    writeFileSync(join(cwd, "AGENTS.md"), "Run the tests before you push. ".repeat(600));
    const file = join(cwd, "strata.yaml");
    const [told, tight] = ["total: 128000, reply: 8192", "total: 4096, reply: 500"];
    const free = /^[\d,]+ tokens stay free for what the conversation adds$/m;
    expect((await strata(["compose", "workbench", "--explain"], { cwd })).out).not.toMatch(free);
    writeFileSync(file, readFileSync(file, "utf8").replace(told, tight));
    const { out } = await strata(["compose", "workbench", "--explain"], { cwd });
    expect(out).toMatch(/^bootstrap: cut to [\d,]+ of [\d,]+ tokens \(budget\)$/m);
    expect(out).toMatch(free);
  });

  it("composes in another mode than the chosen one, and says what is missing where no message is given", async () => {
    const cwd = place();
    const compact = await strata(["compose", "sovereign", "--message", "hi", "--mode", "compact"], { cwd });
    expect(compact.out).toContain("mode compact");
    expect(compact.out).toMatch(/^system +ethics .* lined: mode/m);
    expect(await strata(["compose", "sovereign"], { cwd })).toMatchObject({
      code: 2,
      err: expect.stringContaining("--message"),
    });
  });
});
