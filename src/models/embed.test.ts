import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Embedder } from "../protocol/index.ts";
import { type Access, bindEmbedder, type EmbedderBinding, openEmbedder, type ProviderKind } from "./index.ts";
import { type Answer, instantRetry, localServer, ownHeaders, refused, stalled } from "./local-server.contract.ts";
import { KEY } from "./wire-failures.contract.ts";

const TEXTS = ["The bicycle is green.", "Anna has a dog."];
const never = new AbortController().signal;
const server = await localServer();

const json = (body: unknown): Answer => refused(200, body);
/** What OpenAI answers, and all that speak like it. */
const vectors = (...embeddings: readonly (readonly number[])[]): Answer =>
  json({
    object: "list",
    model: "small",
    data: embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: 11, total_tokens: 11 },
  });
const TWO = vectors([3, 4], [0, -2]);

const open = (ref: string, access: Access, retry: Parameters<typeof openEmbedder>[2] = { retry: false }) =>
  openEmbedder(ref, () => access, retry);
const openai = (retry?: Parameters<typeof openEmbedder>[2]) =>
  open("openai:text-embedding-3-small", { key: KEY, url: server.url }, retry);
const listed = async (embedder: Embedder, texts = TEXTS) => {
  const { vectors: found, tokens } = await embedder.embed(texts, { signal: never });
  return { tokens, vectors: found.map((vector) => [...vector].map((number) => Number(number.toFixed(4)))) };
};

const wires: readonly (readonly [string, ProviderKind, string, string])[] = [
  ["openai:text-embedding-3-small", "openai", "/v1/embeddings", `Bearer ${KEY}`],
  ["house:nomic-embed-text", "openai-compatible", "/v1/embeddings", `Bearer ${KEY}`],
  ["openrouter:openai/text-embedding-3-small", "openrouter", "/v1/embeddings", `Bearer ${KEY}`],
];

describe("embeddings over HTTP", () => {
  it.each(wires)("%s is asked in its provider's very words", async (ref, kind, path, authorization) => {
    server.say(TWO);
    const said = await listed(open(ref, { kind, key: KEY, url: server.url }));
    expect(said).toEqual({
      tokens: 11,
      vectors: [
        [0.6, 0.8],
        [0, -1],
      ],
    });
    const [sent] = server.received;
    expect(sent?.url).toBe(path);
    expect(ownHeaders(sent)).toMatchObject({ authorization, "content-type": "application/json" });
    await expect(`${JSON.stringify(JSON.parse(sent?.body ?? ""), null, 2)}\n`).toMatchFileSnapshot(
      `golden/embeddings/${kind}.json`,
    );
  });

  it("Amazon Bedrock is asked for one text at a time", async () => {
    server.say(
      json({ embedding: [3, 4], inputTextTokenCount: 5 }),
      json({ embedding: [0, -2], inputTextTokenCount: 4 }),
    );
    const access: Access = { key: KEY, url: server.url.replace("/v1", ""), region: "eu-central-1" };
    const said = await listed(open("bedrock:amazon.titan-embed-text-v2:0", access));
    expect(said.tokens).toBe(9);
    expect(said.vectors.toSorted()).toEqual([
      [0, -1],
      [0.6, 0.8],
    ]);
    expect(server.received.map(({ url }) => url)).toEqual([PATH, PATH]);
    const bodies = server.received.map(({ body }) => `${JSON.stringify(JSON.parse(body), null, 2)}\n`);
    await expect(bodies.toSorted().join("")).toMatchFileSnapshot("golden/embeddings/bedrock.json");
  });

  it("a local server needs no key and is sent none", async () => {
    server.say(TWO);
    await listed(open("ollama:nomic", { kind: "openai-compatible", url: server.url }));
    expect(ownHeaders(server.received[0])).toEqual({ "content-type": "application/json" });
  });

  it("uses the given address, whatever the environment says", async () => {
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/elsewhere");
    vi.stubEnv("OPENAI_API_KEY", "sk-other-0123456");
    server.say(TWO);
    await listed(openai());
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    vi.unstubAllEnvs();
  });

  const PATH = "/model/amazon.titan-embed-text-v2%3A0/invoke";
});

describe("a provider's package", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "strata-embeddings-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const install = (name: string, source: string): Access => {
    const place = join(folder, "node_modules", name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ name, version: "1.0.0", exports: "./index.js" }));
    writeFileSync(join(place, "index.js"), source);
    return { kind: "package", key: KEY, package: { name, folder } };
  };
  const brook = (method: string, version: string): string => `
    exports.createBrook = () => ({ ${method}: () => ({
      specificationVersion: "${version}", maxEmbeddingsPerCall: undefined, supportsParallelCalls: false,
      doEmbed: async ({ values }) => ({ embeddings: values.map((value) => [value.length, 0]), warnings: [] }),
    }) });`;

  it.each([
    ["embeddingModel", "v4"],
    ["textEmbeddingModel", "v3"],
  ])("gives its %s of version %s", async (method, version) => {
    const access = install(`brook-${version}`, brook(method, version));
    expect(await listed(open("brook:any", access))).toEqual({
      tokens: 0,
      vectors: [
        [1, 0],
        [1, 0],
      ],
    });
  });

  it.each([
    ["nothing of the kind", brook("languageModel", "v4"), "it gave no embedding model"],
    ["an old version", brook("textEmbeddingModel", "v2"), "its models speak version v2 of the AI SDK's interface"],
  ])("is told apart from one with %s", (what, source, message) => {
    const access = install(`brook-${what.length}`, source);
    expect(() => open("brook:any", access)).toThrow(message);
  });
});

describe("many texts", () => {
  const counting = (most: number, parallel: boolean) => {
    const calls: number[] = [];
    const open = { now: 0, most: 0 };
    const model = {
      maxEmbeddingsPerCall: most,
      supportsParallelCalls: parallel,
      doEmbed: async ({ values }: { values: string[] }) => {
        calls.push(values.length);
        open.most = Math.max(open.most, ++open.now);
        await Promise.resolve();
        open.now--;
        return { embeddings: values.map((text) => [Number(text.slice(0, 3)), 1]), usage: { tokens: 1 }, warnings: [] };
      },
    };
    return { calls, open, embedder: bindEmbedder(model, { ref: "test:model" }) };
  };
  const many = Array.from({ length: 25 }, (_, n) => String(n));

  it("go in calls as large as the model takes them, and come back in their order", async () => {
    const { calls, open, embedder } = counting(10, true);
    const { vectors: found, tokens } = await embedder.embed(many, { signal: never });
    expect(calls).toEqual([10, 10, 5]);
    expect(open.most).toBe(3);
    expect(tokens).toBe(3);
    expect(found.map(([first = 0, second = 1]) => Math.round(first / second))).toEqual(many.map(Number));
  });

  it("go one call after the other where the model wants it so", async () => {
    const { calls, open, embedder } = counting(10, false);
    await embedder.embed(many, { signal: never });
    expect([calls, open.most]).toEqual([[10, 10, 5], 1]);
  });

  it("go in smaller calls where they are long", async () => {
    const { calls, embedder } = counting(100, true);
    await embedder.embed(["1".repeat(90_000), "2", "3".repeat(90_000), "4"], { signal: never });
    expect(calls).toEqual([2, 2]);
  });

  it("are none: nobody is asked", async () => {
    const { calls, embedder } = counting(10, true);
    expect(await embedder.embed([], { signal: never })).toEqual({ vectors: [], tokens: 0 });
    expect(calls).toEqual([]);
  });
});

describe("an embedder's failures", () => {
  const failure = async (embedder: Embedder, signal = never) =>
    embedder.embed(TEXTS, { signal }).then(
      () => expect.unreachable("it gave vectors"),
      (thrown: unknown) => thrown,
    );
  const name = "openai returned no vectors for text-embedding-3-small";

  it.each([
    [400, "model_refused", "check that this is a model for embeddings, its provider's address and the account"],
    [401, "key_refused", "check the key, and that it may use this model"],
    [429, "rate_limited", "wait a minute, or raise the account's limits"],
    [500, "model_failed", "check the network and the provider's address"],
  ])("with status %i are %s", async (status, code, next) => {
    server.say(refused(status, { error: { message: `no ${KEY} today`, type: "some_error" } }));
    const thrown = await failure(openai());
    expect(thrown).toMatchObject({ code, message: `${name} (status ${status}: no … today); ${next}` });
    // The package's own error holds the texts: nothing of it may travel with ours.
    expect(JSON.stringify(thrown)).not.toContain("bicycle");
    expect(thrown).not.toHaveProperty("cause", expect.anything());
  });

  it("that are temporary are retried after a pause, and then reported", async () => {
    const busy = refused(503, { error: { message: "busy" } });
    const retry = instantRetry(2);
    server.say(busy, busy, TWO);
    expect((await listed(openai({ retry }))).vectors).toHaveLength(2);
    expect(retry.pauses).toHaveLength(2);
    server.say(busy);
    expect(await failure(openai({ retry }))).toMatchObject({ message: expect.stringContaining("tried 3 times") });
    expect(server.received).toHaveLength(6);
    // If a caller is waiting, there is only one attempt.
    await expect(openai({ retry }).embed(TEXTS, { signal: never, once: true })).rejects.toThrow("status 503: busy");
    expect(server.received).toHaveLength(7);
  });

  it.each([
    ["too few", vectors([1, 0]), "it returned 1 vectors for 2 texts"],
    ["of two lengths", vectors([1, 0], [1, 0, 0]), "its vectors have 2 and 3 numbers"],
    ["empty", vectors([], []), "one of its vectors is not made of numbers"],
  ])("are vectors that are %s", async (_what, answer, message) => {
    server.say(answer);
    expect(await failure(openai())).toMatchObject({ code: "model_failed", message: expect.stringContaining(message) });
  });

  it("are a stop by who asked, also of a provider that says nothing", async () => {
    const gone = Promise.withResolvers<void>();
    const stop = new AbortController();
    server.say((response) => {
      stalled(gone.resolve)(response);
      stop.abort();
    });
    expect(await failure(openai(), stop.signal)).toMatchObject({ code: "turn_cancelled" });
    await gone.promise;
  });

  it("are a stop also of a model that is deaf to it", async () => {
    const deaf = {
      maxEmbeddingsPerCall: 1,
      supportsParallelCalls: true,
      doEmbed: () => new Promise<never>(() => stop.abort()),
    };
    const stop = new AbortController();
    const binding: EmbedderBinding = { ref: "deaf:model" };
    expect(await failure(bindEmbedder(deaf, binding), stop.signal)).toMatchObject({ code: "turn_cancelled" });
  });

  it.each([
    ["anthropic:claude-sonnet-4-5", { key: KEY }, "anthropic has no models for embeddings"],
    ["openai:text-embedding-3-small", {}, "needs a key for openai"],
    ["nobody:model", {}, "no model is known as"],
  ])("are told before anything is sent for %s", (ref, access, message) => {
    expect(() => open(ref, access)).toThrow(message);
  });
});

describe("rehearsal", () => {
  const near = async (...texts: readonly [string, string]) => {
    const { vectors: found } = await open("rehearsal", {}).embed(texts, { signal: never });
    const [a = new Float32Array(), b = new Float32Array()] = found;
    return a.reduce((sum, number, i) => sum + number * (b[i] ?? 0), 0);
  };

  it("has words near each other that are built of the same pieces", async () => {
    const kin = await near("Geburtstagskuchen", "Kuchen zum Geburtstag");
    expect(kin).toBeGreaterThan(0.4);
    expect(await near("Geburtstagskuchen", "Bus nach Bonn")).toBeLessThan(kin / 2);
  });

  it("gives the same vector each time, of length 1, also for texts without words", async () => {
    expect(await near("The bicycle is green.", "the BICYCLE is green")).toBeCloseTo(1, 5);
    expect(await near("…", "…")).toBe(0);
    const { vectors: found } = await open("rehearsal", {}).embed(["wren"], { signal: never });
    const places = [...(found[0] ?? [])].flatMap((number, at) => (number === 0 ? [] : [at * Math.sign(number)]));
    expect(places).toEqual([29, 154, 158, -206, 319, 331, -350, 461, 481]);
  });
});
