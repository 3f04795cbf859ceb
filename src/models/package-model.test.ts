import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Access, openModel, wireBody } from "./index.ts";
import { instantRetry, localServer, refused, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, modelContract, replyOf, sampleRequest } from "./model.contract.ts";
import { KEY } from "./wire-failures.contract.ts";

const REF = "brook:small";
const request = sampleRequest("Hello");
const server = await localServer();

/** A folder with its own packages, like a user's project. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), "strata-packages-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function install(name: string, source: string, type: "module" | "commonjs" = "module"): Access {
  const place = join(folder, "node_modules", name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name, version: "1.0.0", type, exports: "./index.js" }));
  writeFileSync(join(place, "index.js"), source);
  return { kind: "package", key: KEY, url: server.url, package: { name, folder } };
}

/** The smallest possible provider package. It uses its own wire format: one word on a line. */
const BROOK = `
export const brook = "not a provider";
export function createOther() { throw new Error("the wrong one"); }
export function createBrookProvider({ name, apiKey, baseURL, fetch }) {
  const languageModel = (modelId) => ({
    specificationVersion: "v4",
    provider: name,
    modelId,
    supportedUrls: {},
    async doStream({ prompt, tools, abortSignal: signal }) {
      const init = { method: "POST", headers: { "x-brook": apiKey }, body: JSON.stringify({ modelId, prompt, tools }), signal };
      const response = await fetch(baseURL + "/flow", init);
      if (response.status !== 200) throw Object.assign(new Error("brook is dry"), { statusCode: response.status });
      const words = (await response.text()).split("\\n");
      return { stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({ type: "text-start", id: "t" });
          for (const delta of words) controller.enqueue({ type: "text-delta", id: "t", delta });
          controller.enqueue({ type: "text-end", id: "t" });
          const inputTokens = { total: 11, noCache: 4, cacheRead: 5, cacheWrite: 2 };
          const usage = { inputTokens, outputTokens: { total: 3, text: 3, reasoning: 0 } };
          controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: "end" }, usage });
          controller.close();
        },
      }) };
    },
  });
  return { languageModel };
}
`;
const brook = install("brook-provider", BROOK);
const open = (access = brook) => openModel(REF, () => access, { retry: false });

describe("a provider's package out of a project's folder", () => {
  modelContract(() => {
    server.say(streamed("Hel\nlo."));
    return open();
  });

  it("answers, over our fetch, with our key and address", async () => {
    server.say(streamed("Hel\nlo."));
    expect(await replyOf(open(), request)).toEqual({
      parts: [{ type: "text", text: "Hello." }],
      finish: "stop",
      usage: { input: 11, cacheRead: 5, cacheWrite: 2, output: 3 },
    });
    expect(server.received[0]).toMatchObject({ url: "/v1/flow", headers: { "x-brook": KEY } });
  });

  it("sends the very body that wireBody shows, which no key has touched", async () => {
    server.say(streamed("Hello."));
    await eventsOf(open(), request);
    const body = await wireBody(request, REF, () => brook);
    expect(server.received[0]?.body).toBe(body);
    expect(JSON.parse(body)).toMatchObject({ modelId: "small", tools: [{ name: "look_up" }] });
  });

  it("fails like every other, and is asked again like every other", async () => {
    const retry = instantRetry(1);
    server.say(refused(503, ""));
    expect(
      await failureOf(
        openModel(REF, () => brook, { retry }),
        request,
      ),
    ).toMatchObject({
      code: "model_failed",
      message:
        "brook did not answer for small (status 503: brook is dry; tried 2 times); wait a little and run the turn again",
    });
    server.say(refused(307, "", { location: "/elsewhere" }));
    expect(await failureOf(open(), request)).toMatchObject({ code: "model_refused" });
  });
});

describe("an installed package by its name", () => {
  const line = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
  const choice = (delta: object, finish_reason: string | null = null) =>
    line({ id: "c", created: 1, model: "small", choices: [{ index: 0, delta, finish_reason }] });

  it("speaks its own wire format: @ai-sdk/openai-compatible", async () => {
    const access: Access = {
      kind: "package",
      key: KEY,
      url: server.url,
      package: { name: "@ai-sdk/openai-compatible", folder },
    };
    server.say(streamed(choice({ role: "assistant", content: "Hel" }), choice({ content: "lo." }), choice({}, "stop")));
    expect((await replyOf(open(access), request)).parts).toEqual([{ type: "text", text: "Hello." }]);
    expect(server.received[0]).toMatchObject({
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
      body: await wireBody(request, REF, () => access),
    });
  });

  it.each(["@ai-sdk/openai", "@ai-sdk/anthropic"])("takes the breakpoints of its kind: %s", async (name) => {
    const access: Access = { kind: "package", key: KEY, url: server.url, package: { name, folder } };
    const built: Access = { kind: name === "@ai-sdk/openai" ? "openai" : "anthropic", key: KEY, url: server.url };
    const marked = sampleRequest("Hello", { breakpoints: [{ after: { zone: "system", block: 0 }, lifetime: "1h" }] });
    expect(await wireBody(marked, "other:gpt-6.1-sol", () => access)).toBe(
      await wireBody(marked, "other:gpt-6.1-sol", () => built),
    );
  });
});

describe("a package that cannot be used", () => {
  const whole = "export const createBad = () => ({ languageModel: () => ";
  it.each([
    ["old", `${whole}({ specificationVersion: "v2" }) });`, "its models speak version v2 of the AI SDK's interface"],
    ["empty", "export const nothing = 1;", "it exports no `create…` function"],
    ["modelless", "export const createBad = () => ({});", "it gave no language model"],
    ["broken", "throw new Error('out of order\\nwith a trace');", "it could not be loaded (out of order)"],
  ])("says why: %s", (name, source, why) => {
    const access = install(`brook-${name}`, source);
    expect(() => open(access)).toThrow(
      expect.objectContaining({ code: "model_unknown", message: expect.stringContaining(why) }),
    );
  });

  it("says how to install it", () => {
    const access: Access = { kind: "package", package: { name: "brook-missing", folder } };
    expect(() => open(access)).toThrow(
      `the package brook-missing is not installed; run \`npm install brook-missing\` in ${folder}`,
    );
  });
});
