import { describe, expect, it } from "vitest";
import { jsonLines, project, refuses, strata } from "./strata.ts";

interface Row {
  readonly model: string;
  readonly window: number;
  readonly cache: string;
  readonly price: { readonly input: number };
  readonly priced: boolean;
  readonly declared: readonly string[];
  readonly known: boolean;
  readonly nearest?: string;
}

const DECLARED = `
models:
  local:llama3.1: {contextWindow: 8192, price: {input: 1, output: 2}}
  anthropic:claude-sonnet-4-5: {contextWindow: 100000, lifetimes: {short: 300}}
providers:
  proxy: {kind: anthropic, url: "https://models.example/v1"}
  own: {kind: openai-compatible, url: "http://127.0.0.1:1/v1"}
  gemini: {package: "@ai-sdk/google"}
`;
const cwd = () => project((yaml) => `${yaml}${DECLARED}`);
const show = async (model: string, folder = cwd()): Promise<Row | undefined> =>
  jsonLines<Row>((await strata(["models", "show", model, "--json"], { cwd: folder })).out)[0];

describe("strata models", () => {
  it("lists every family and what strata.yaml declares, each with its card", async () => {
    const { code, out, err } = await strata(["models"], { cwd: cwd() });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [head = "", ...lines] = out.trimEnd().split("\n");
    expect(head).toMatch(
      /^model +window +cache +from +breakpoints +kept +in +read +write +long +out +tail +checked +strata\.yaml$/,
    );
    const line = (model: string) => lines.find((one) => one.startsWith(`${model} `))?.replace(/ +/g, " ");
    expect(line("anthropic:claude-sonnet-4-5")).toBe(
      "anthropic:claude-sonnet-4-5 100,000 lookback 1,024 4 5 min $3 $0.3 $3.75 $6 $15 ephemeral 2026-11-24 contextWindow, lifetimes.short",
    );
    expect(line("anthropic:claude-opus-5-5")).toContain("lookback 512 4 5 min, 1 h $4 $0.2 $5 $8 $20 turn-scoped");
    expect(line("openai:gpt-6.1-sol")).toContain("exact 1,024 4 30 min $2 $0.1");
    expect(line("local:llama3.1")).toContain("8,192 none $1 $1 $1 $1 $2");
    // Where no price is known none is shown, and a name that is only a beginning says so.
    expect(line("openai-compatible:…")).toBe("openai-compatible:… 32,000 automatic 16 3 min ephemeral 2026-11-24");
  });

  it("lists those of one provider, and as JSON", async () => {
    const { out } = await strata(["models", "--provider", "bedrock", "--json"], { cwd: cwd() });
    const [rows = []] = jsonLines<readonly Row[]>(out);
    expect(rows.length).toBeGreaterThan(10);
    for (const { model, declared } of rows) {
      expect(model).toMatch(/^bedrock:/);
      expect(declared).toEqual([]);
    }
  });

  it("shows one card with who said each value", async () => {
    const { out } = await strata(["models", "show", "anthropic:claude-sonnet-4-5"], { cwd: cwd() });
    expect(out).toMatch(/^anthropic:claude-sonnet-4-5\nbuilt in as anthropic:claude-sonnet-4-5, checked 2026-11-24\n/);
    expect(out).toMatch(/contextWindow +100,000 tokens of prompt and reply +strata\.yaml\n/);
    expect(out).toMatch(/minimumPrefix +1,024 tokens +built in\n/);
    expect(out).toMatch(/lifetimes\.short +5 min +strata\.yaml\n/);
    expect(out).toMatch(/lifetimes\.long +none +strata\.yaml, by leaving it out\n/);
    expect(out).toMatch(/price\.cacheWriteLong +\$6 a million tokens +built in\n/);
    const unknown = await strata(["models", "show", "mystery:one"], { cwd: cwd() });
    expect(unknown.out).toContain("no card is built in, so each value is a cautious guess");
    expect(unknown.out).toMatch(/price\.input +not known +nobody\n/);
  });

  it("says wherever an unknown model's window matters that it is a guess, and which key sets it", async () => {
    const provider = `providers:\n  own: {kind: openai-compatible, url: "http://127.0.0.1:1/v1"}\n`;
    const on = (more: string) =>
      project((yaml) => yaml.replace("    recall: auto", `    model: own:mystery\n    recall: auto`) + provider + more);
    const guess = `the window of own:mystery is not known: 32,000 tokens are a guess; set it in strata.yaml as \`models: { "own:mystery": { contextWindow: … } }\``;
    const [unknown, known] = [on(""), on("models:\n  own:mystery: {contextWindow: 8192}\n")];
    for (const argv of [["agent", "show", "companion"], ["doctor"]]) {
      expect((await strata(argv, { cwd: unknown })).out.replace(/\s+/g, " ")).toContain(guess);
      expect((await strata(argv, { cwd: known })).out).not.toContain("guess");
    }
    expect((await strata(["models", "show", "own:mystery"], { cwd: unknown })).out).toMatch(
      /contextWindow +32,000 tokens of prompt and reply, which is a guess: `contextWindow` sets it/,
    );
    expect((await strata(["models"], { cwd: unknown })).out).toMatch(/^own:mystery +32,000 \(guess\)/m);
    expect((await strata(["models"], { cwd: known })).out).not.toContain("guess");
  });

  it("shows what a price leaves out as built in, or as its share of another input", async () => {
    const shown = async (price: string) => {
      const folder = project((yaml) => `${yaml}\nmodels:\n  anthropic:claude-sonnet-4-5: {price: ${price}}\n`);
      return (await strata(["models", "show", "anthropic:claude-sonnet-4-5"], { cwd: folder })).out;
    };
    const same = await shown("{input: 3, output: 15, cacheRead: 0.15}");
    expect(same).toMatch(/price\.cacheRead +\$0\.15 a million tokens +strata\.yaml\n/);
    expect(same).toMatch(/price\.cacheWrite +\$3\.75 a million tokens +built in\n/);
    expect(same).toMatch(/price\.cacheWriteLong +\$6 a million tokens +built in\n/);
    expect(await shown("{cacheRead: 0.15}")).toMatch(/price\.input +\$3 a million tokens +built in\n/);
    const other = await shown("{input: 6, output: 30}");
    expect(other).toMatch(/price\.cacheWrite +\$7\.5 a million tokens +built in, as its share of price\.input\n/);
  });

  it("says that a model is not known, whose card stands for it, and which known name is nearest", async () => {
    const folder = cwd();
    const { out } = await strata(["models", "show", "anthropic:claude-sonet-4-5"], { cwd: folder });
    expect(out).toContain("no family of this name is known: these are cautious values, those of anthropic:claude-…");
    expect(out).toContain("the nearest known name is anthropic:claude-sonnet-4-5\n");
    expect(out).not.toContain("built in as");
    const nope = await show("anthropic:claude-nope", folder);
    expect(nope).toMatchObject({ known: false, nearest: expect.stringMatching(/^anthropic:claude-/) });
    const known = await show("anthropic:claude-sonnet-4-5-20250929", folder);
    expect(known).toMatchObject({ known: true });
    expect(known).not.toHaveProperty("nearest");
  });

  it("knows models behind providers of other names by the API that they speak, and by package", async () => {
    const folder = cwd();
    expect(await show("proxy:claude-sonnet-4-5", folder)).toMatchObject({
      cache: "lookback",
      contextWindow: 200_000,
      priced: true,
    });
    expect(await show("own:qwen3", folder)).toMatchObject({ cache: "automatic", priced: false });
    expect(await show("gemini:gemini-3.5-flash", folder)).toMatchObject({ cache: "automatic", price: { input: 1.5 } });
    expect(await show("bedrock:us.anthropic.claude-opus-4-7", folder)).toMatchObject({ minimumPrefix: 4_096 });
  });

  it.each([
    [["models", "--provider", "goog"], 'no model of "goog" is known; there are rehearsal'],
    [["models", "show", "gpt"], '"gpt" is not a model; write PROVIDER:NAME'],
    [["models", "show"], "missing required argument"],
    [["models", "shwo"], "too many arguments"],
  ])("%j is refused with the next step", async (argv, message) => {
    await refuses(cwd(), argv, { exit: 2, message });
  });
});
