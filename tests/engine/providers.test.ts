import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { USUAL_MODELS } from "../../src/agents/index.ts";
import { type App, type AppOptions, openApp } from "../../src/app.ts";
import { SHOWN_WIRE } from "../../src/models/index.ts";
import { agentName, contactId, type TurnEvent } from "../../src/protocol/index.ts";
import { anthropicEvents, localServer, sendEvents, textEvents } from "../local-server.ts";
import { said } from "./home.ts";

type Config = NonNullable<AppOptions["config"]>;

interface Told {
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A server in a provider's place; keeps what it was sent. */
async function provider(
  answer: (told: Told, n: number) => { status?: number; headers?: object; events: readonly object[] },
) {
  const told: Told[] = [];
  const port = await localServer(async (request, response) => {
    const one = { path: request.url, headers: request.headers, body: await text(request) };
    told.push(one);
    const { status = 200, headers = {}, events } = answer(one, told.length);
    if (status === 200) return sendEvents(response, events);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(events[0]));
  });
  return { told, url: `http://127.0.0.1:${port}/v1` };
}

/** What Anthropic streams for a short answer; `input` are the tokens it reports for the prompt. */
const messages = (text: string, input: number): readonly object[] => {
  const usage = { input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  return anthropicEvents(textEvents(text), { usage, output: 4 });
};

/** What a server of Chat Completions streams. */
const completions = (text: string): readonly object[] => [
  {
    id: "c1",
    object: "chat.completion.chunk",
    created: 0,
    model: "llama",
    choices: [{ index: 0, delta: { role: "assistant", content: text } }],
  },
  {
    id: "c1",
    object: "chat.completion.chunk",
    created: 0,
    model: "llama",
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
  },
  {
    id: "c1",
    object: "chat.completion.chunk",
    created: 0,
    model: "llama",
    choices: [],
    usage: { prompt_tokens: 50, completion_tokens: 4, total_tokens: 54 },
  },
];

const shop = {
  description: "It sells.",
  layers: [{ id: "rules", rank: 1, text: "Sell well, and say so. ".repeat(20) }],
};

async function opened(config: Config, env: Readonly<Record<string, string>> = {}): Promise<App> {
  const at = mkdtempSync(join(tmpdir(), "strata-providers-"));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  const app = await openApp({ folder: at, data: join(at, "data"), env, config });
  onTestFinished(() => app.close());
  return app;
}

async function say(app: App, text: string, contact = "ann"): Promise<readonly TurnEvent[]> {
  const { runtime, operator } = app;
  const to = await runtime.open(operator, {
    agent: agentName("shop"),
    contact: contactId(contact),
    channel: "test",
    key: "main",
  });
  await runtime.post(operator, to, [said(text)]);
  const events: TurnEvent[] = [];
  for await (const event of runtime.run(operator, to)) events.push(event);
  return events;
}

describe("a provider named in strata.yaml", () => {
  it("of Anthropic's kind answers under its own name; what is shown as sent is what was sent", async () => {
    const { told, url } = await provider(() => ({ events: messages("Good day.", 100) }));
    const app = await opened(
      {
        organization: "home",
        providers: { proxy: { kind: "anthropic", key: "$" + "{PROXY_KEY}", url } },
        model: "proxy:claude-sonnet-4-5",
        agents: { shop },
      },
      { PROXY_KEY: "proxy-key-0123456789" },
    );
    const events = await say(app, "Hello, dear shop");
    expect(events.at(-1)).toMatchObject({
      type: "done",
      text: "Good day.",
      totals: { usage: { input: 100, output: 4 } },
    });
    expect(events.at(-1)).toMatchObject({ totals: { dollars: (100 * 3 + 4 * 15) / 1_000_000 } });
    expect(told).toMatchObject([{ path: "/v1/messages", headers: { "x-api-key": "proxy-key-0123456789" } }]);
    const turn = events[0]?.type === "turn-start" ? events[0].turn : undefined;
    if (turn === undefined) throw new Error("no turn began");
    const { request, wire } = await app.runtime.rebuilt(app.operator, turn, 1);
    expect(await app.bodyOf(request, wire)).toBe(told[0]?.body);
  });

  it("that is compatible with OpenAI needs an address and no key; an output goes as a schema", async () => {
    const { told, url } = await provider(() => ({ events: completions('{"mood":"good"}') }));
    const output = {
      type: "object",
      properties: { mood: { type: "string" } },
      required: ["mood"],
      additionalProperties: false,
    };
    const app = await opened({
      organization: "home",
      providers: { local: { kind: "openai-compatible", url } },
      model: "local:llama3.1",
      agents: { shop: { ...shop, output } },
    });
    expect((await say(app, "How are you today?")).at(-1)).toMatchObject({ type: "done", text: '{"mood":"good"}' });
    expect(told).toMatchObject([{ path: "/v1/chat/completions" }]);
    expect(JSON.parse(told[0]?.body ?? "")).toMatchObject({
      model: "llama3.1",
      response_format: { type: "json_schema", json_schema: { schema: output } },
    });
  });

  it("is OpenRouter by its key alone: what it reports as read and written is counted and paid", async () => {
    const usage = {
      prompt_tokens: 9_000,
      prompt_tokens_details: { cached_tokens: 7_000, cache_write_tokens: 1_500 },
      completion_tokens: 4,
      total_tokens: 9_004,
    };
    const answer = completions("Good day.").map((event) => ("usage" in event ? { ...event, usage } : event));
    const { told, url } = await provider(() => ({ events: answer }));
    const app = await opened(
      { organization: "home", providers: { openrouter: { url } }, agents: { shop } },
      { OPENROUTER_API_KEY: "key-0123456789" },
    );
    const events = await say(app, "Hello, dear shop");
    expect(events[0]).toMatchObject({ model: "openrouter:anthropic/claude-sonnet-5.5" });
    expect(events.at(-1)).toMatchObject({
      type: "done",
      text: "Good day.",
      totals: {
        usage: { input: 9_000, cacheRead: 7_000, cacheWrite: 1_500, output: 4 },
        dollars: (500 * 2 + 7_000 * 0.2 + 1_500 * 2.5 + 4 * 10) / 1_000_000,
      },
    });
    expect(told).toMatchObject([{ path: "/v1/chat/completions", headers: { authorization: "Bearer key-0123456789" } }]);
    const turn = events[0]?.type === "turn-start" ? events[0].turn : undefined;
    if (turn === undefined) throw new Error("no turn began");
    const { request, wire } = await app.runtime.rebuilt(app.operator, turn, 1);
    expect(await app.bodyOf(request, wire)).toBe(told[0]?.body);
  });

  it("is Bedrock with a region and an access key, which signs and is not sent", async () => {
    const { told, url } = await provider(() => ({ status: 400, events: [{ message: "half-0123456789 is wrong" }] }));
    const app = await opened(
      {
        organization: "home",
        providers: { aws: { kind: "bedrock", url, region: "eu-central-1" } },
        model: "aws:eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        agents: { shop },
      },
      { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "half-0123456789" },
    );
    const events = await say(app, "Hello, dear shop");
    expect(events.at(-1)).toMatchObject({ type: "failed", error: { code: "model_refused" } });
    expect(JSON.stringify([events, told])).not.toContain("half-0123456789");
    expect(told[0]?.path).toBe("/v1/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
    expect(told[0]?.headers["authorization"]).toContain("Credential=AKIDEXAMPLE/");
    expect(app.cardOf("aws:eu.anthropic.claude-sonnet-4-5-20250929-v1:0")).toMatchObject({
      cache: "lookback",
      priced: true,
    });
  });

  it("of the environment answers where nothing is declared", async () => {
    const { told, url } = await provider(() => ({ events: completions("Good day.") }));
    const app = await opened(
      { organization: "home", agents: { shop } },
      { OPENAI_BASE_URL: url, OPENAI_MODEL: "qwen" },
    );
    const [start, ...rest] = await say(app, "Hello, dear shop");
    expect(start).toMatchObject({ type: "turn-start", model: "compatible:qwen" });
    expect(rest.at(-1)).toMatchObject({ type: "done", text: "Good day." });
    expect(told).toHaveLength(1);
  });

  it("that is busy is asked again, and the turn tells so", async () => {
    const busy = {
      status: 529,
      headers: { "retry-after": "0" },
      events: [{ type: "error", error: { type: "overloaded_error", message: "busy" } }],
    };
    const { told, url } = await provider((_, n) => (n === 1 ? busy : { events: messages("At last.", 100) }));
    const app = await opened(
      {
        organization: "home",
        providers: { anthropic: { url } },
        model: "anthropic:claude-sonnet-4-5",
        agents: { shop },
      },
      { ANTHROPIC_API_KEY: "key-0123456789" },
    );
    const events = await say(app, "Hello, dear shop");
    expect(events.map(({ type }) => type)).toEqual(["turn-start", "compiled", "retry", "text-delta", "done"]);
    expect(told[0]?.body).toBe(told[1]?.body);
  });

  it("does not lead the counts astray in a long thread, whose pieces were counted with older factors", async () => {
    // A model that counts 1.3 times what o200k counts of what it is sent, or nearly.
    const { url } = await provider(({ body }) => ({ events: messages("Good day.", Math.ceil(body.length / 3)) }));
    const app = await opened(
      {
        organization: "home",
        providers: { anthropic: { url } },
        model: "anthropic:claude-sonnet-4-5",
        agents: { shop },
      },
      { ANTHROPIC_API_KEY: "key-0123456789" },
    );
    const ratios: number[] = [];
    for (let n = 0; n < 12; n++) {
      const text = n === 0 ? "The sea was calm and the wind was fair. ".repeat(300) : `And on day ${n}?`;
      const events = await say(app, text);
      const [compiled, done] = [events.find(({ type }) => type === "compiled"), events.at(-1)];
      if (compiled?.type !== "compiled" || done?.type !== "done" || done.totals === undefined)
        throw new Error("failed");
      ratios.push(compiled.ledger.tokens / done.totals.usage.input);
    }
    // The long message keeps the count it was stored with: the factor must not run after it.
    expect(Math.max(...ratios) / Math.min(...ratios)).toBeLessThan(1.15);
  });

  it("teaches how its model counts: what it reports corrects the next estimates", async () => {
    const { url } = await provider(() => ({ events: messages("Good day.", 300) }));
    const config: Config = {
      organization: "home",
      providers: { anthropic: { url } },
      model: "anthropic:claude-sonnet-4-5",
      agents: { shop },
    };
    const app = await opened(config, { ANTHROPIC_API_KEY: "key-0123456789" });
    const counted = async (contact: string): Promise<number> => {
      const compiled = (await say(app, "Hello, dear shop", contact)).find((event) => event.type === "compiled");
      return compiled?.type === "compiled" ? compiled.ledger.tokens : 0;
    };
    const first = await counted("a");
    for (const contact of ["b", "c", "d"]) await counted(contact);
    const after = await counted("e");
    expect(first).toBeLessThan(250);
    // Within a twentieth of what was reported.
    expect(after).toBeGreaterThan(285);
    expect(after).toBeLessThan(315);
  });
});

it("25.14 without a key the request is shown as the first key's model would get it", () => {
  const [first] = USUAL_MODELS;
  expect(SHOWN_WIRE).toBe(`${first.provider}:${first.model}`);
});
