import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, place, ROOT, strata } from "./strata.ts";

/** In the order in which they decide: each beats those below it. */
const USUAL = [
  [{ ANTHROPIC_API_KEY: "a-key-of-anthropic" }, "anthropic:claude-sonnet-4-5"],
  [{ OPENAI_API_KEY: "a-key-of-openai" }, "openai:gpt-5-mini"],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:11434/v1" }, "compatible:default"],
  [{ OPENROUTER_API_KEY: "a-key-of-openrouter" }, "openrouter:anthropic/claude-sonnet-4.5"],
  [{ AWS_BEARER_TOKEN_BEDROCK: "a-key-of-bedrock", AWS_REGION: "eu-central-1" }, "rehearsal"],
] as const;

const modelWith = async (env: Readonly<Record<string, string>>): Promise<string | undefined> => {
  const { out } = await strata(["agent", "list", "--json"], { cwd: place(), env });
  return jsonLines<readonly { model: string }[]>(out)[0]?.[0]?.model;
};

describe("without a model in strata.yaml", () => {
  it.each(USUAL)("the environment %j gives %s", async (env, model) => {
    expect(await modelWith(env)).toBe(model);
  });

  it("the first of them decides; with an address, OpenAI's key is that server's", async () => {
    const all = Object.assign({}, ...USUAL.map(([env]) => env));
    expect(await modelWith(all)).toBe("anthropic:claude-sonnet-4-5");
    const { ANTHROPIC_API_KEY: _first, ...others } = all;
    expect(await modelWith({ ...others, OPENAI_MODEL: "qwen3" })).toBe("compatible:qwen3");
  });

  it.each(["docs/configuration.md", "README.md"])("%s names the models and the order", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8").replace(/\s+/g, " ");
    const models = USUAL.slice(0, 4).flatMap(([, model]) => [text.indexOf(`\`${model}\``)]);
    expect(models).not.toContain(-1);
    expect(models).toEqual(models.toSorted((a, b) => a - b));
    for (const name of ["OPENAI_MODEL", "AWS_BEARER_TOKEN_BEDROCK", "OPENROUTER_API_KEY"]) expect(text).toContain(name);
    expect(text).toMatch(/ends? in `\/v1`/);
  });
});
