import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { atTerminal, jsonLines, place, ROOT, strata } from "./strata.ts";

/** In the order in which they decide: each beats those below it. */
const USUAL = [
  [{ ANTHROPIC_API_KEY: "a-key-of-anthropic" }, "anthropic:claude-sonnet-5-5"],
  [{ OPENAI_API_KEY: "a-key-of-openai" }, "openai:gpt-6.2-sol"],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:11434/v1" }, "compatible:default"],
  [{ OPENROUTER_API_KEY: "a-key-of-openrouter" }, "openrouter:anthropic/claude-sonnet-5.5"],
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
    expect(await modelWith(all)).toBe("anthropic:claude-sonnet-5-5");
    const { ANTHROPIC_API_KEY: _first, ...others } = all;
    expect(await modelWith({ ...others, OPENAI_MODEL: "qwen3" })).toBe("compatible:qwen3");
  });

  it("25.14 start and doctor say which model answers, and why, also from a `.env` where no strata.yaml is", async () => {
    const folder = place();
    writeFileSync(join(folder, ".env"), "OPENROUTER_API_KEY=a-key-of-openrouter\n");
    const doctor = await strata(["doctor"], { cwd: folder, env: {} });
    const message = "answered by openrouter:anthropic/claude-sonnet-5.5, because OPENROUTER_API_KEY is set";
    expect(doctor.out.replace(/\s+/g, " ")).toContain(message);
    expect(await modelWith({})).toBe("rehearsal");
  });

  it("25.14 a `.env` in the current folder that is not read, because the project is elsewhere, is named with the reason", async () => {
    const cwd = place();
    const folder = place();
    cpSync(join(ROOT, "blueprints/companion"), folder, { recursive: true });
    writeFileSync(join(cwd, ".env"), "ANTHROPIC_API_KEY=a-key-of-anthropic\n");
    const message = `${join(cwd, ".env")} is not read, because the project is in ${folder}`;
    const doctor = await strata(["doctor", "--folder", folder], { cwd, env: {} });
    expect(doctor.out.replace(/\s+/g, " ")).toContain(message);
    const asked = await strata(["agent", "list", "--folder", folder], { cwd, env: {} });
    expect(asked.out).toContain("answered by rehearsal");
    expect(asked.err).toContain(message);
    expect((await strata(["agent", "list"], { cwd: folder, env: {} })).err).not.toContain("is not read");
  });

  /** The environment of a server of one's own that lists two models. */
  async function listing(): Promise<{ readonly OPENAI_BASE_URL: string }> {
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "qwen3:8b", object: "model" }, { id: "other" }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  }

  it("25.14 a server of one's own is asked which model it serves; where it does not say, any name will do", async () => {
    const env = await listing();
    expect(await modelWith(env)).toBe("compatible:qwen3:8b");
    for (const command of ["models", "lint"]) {
      const { out } = await strata([command], { cwd: place(), env });
      expect(out).toContain("compatible:qwen3:8b");
      expect(out).not.toContain("compatible:default");
    }
    expect(await modelWith({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" })).toBe("compatible:default");
  });

  it("25.14 the first lines of a chat name the model that such a server lists", async () => {
    const chat = atTerminal(["chat", "companion"], { cwd: place(), env: await listing() });
    await chat.sees("companion (compatible:qwen3:8b) listens to me");
    await chat.sees('models: { "compatible:qwen3:8b": { contextWindow: … } }');
    chat.press("/quit\r");
    await chat.ended;
  });

  it("25.14 a limit in dollars asks for the price of the model that such a server lists, and of no other", async () => {
    const env = await listing();
    const cwd = place();
    await strata(["init", "sovereign"], { cwd });
    expect((await strata(["credits", "add", "1"], { cwd })).code).toBe(0);
    const unknown = await strata(["ask", "Hello"], { cwd, env });
    expect(unknown.err).toContain('models: {"compatible:qwen3:8b": {price: {input: …, output: …}}}');
    const file = join(cwd, "strata.yaml");
    const yaml = readFileSync(file, "utf8");
    writeFileSync(file, `${yaml}\nmodels: {"compatible:qwen3:8b": {price: {input: 1, output: 1}}}\n`);
    expect((await strata(["ask", "Hello"], { cwd, env })).err).not.toContain("price");
  });

  it.each(["docs/configuration.md", "README.md"])("%s names the models and the order", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8").replace(/\s+/g, " ");
    const models = USUAL.slice(0, 4).flatMap(([, model]) => [
      text.indexOf(model === "compatible:default" ? "`compatible:`" : `\`${model}\``),
    ]);
    expect(models).not.toContain(-1);
    expect(models).toEqual(models.toSorted((a, b) => a - b));
    for (const name of ["OPENAI_MODEL", "AWS_BEARER_TOKEN_BEDROCK", "OPENROUTER_API_KEY"]) expect(text).toContain(name);
    expect(text).toMatch(/ends? in `\/v1`/);
  });
});
