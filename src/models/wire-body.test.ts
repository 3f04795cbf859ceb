import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  type Message,
  type Request,
  type ResultPart,
  spoken,
  type ToolSchema,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { openModel, wireBody } from "./index.ts";
import { localServer, refused } from "./local-server.contract.ts";
import { contactText, failureOf, sampleRequest } from "./model.contract.ts";
import { KEY } from "./wire-failures.contract.ts";

const WIRE = "anthropic:claude-sonnet-4-5";
const tool = toolName("look_up");
const server = await localServer();
const png = "iVBORw0KGgo=";

const plan = { type: "file", mediaType: "application/pdf", data: "JVBERi0=", name: "plan.pdf" } as const;
const hello: Message = { role: "user", parts: [contactText('Hello,\n"world" — \u{1f30d}', "Caroline")] };
const asking: Message = {
  role: "assistant",
  parts: [
    { type: "reasoning", text: spoken("I look it up."), metadata: { anthropic: { signature: "c2ln" } } },
    { type: "text", text: spoken("One moment. ") },
    { type: "call", id: "toolu_1", tool, input: { word: "world", in: ["en", null, 1.5] } },
    { type: "call", id: "toolu_2", tool, input: '{"word": "wor' },
  ],
};
const answers: Extract<Message, { role: "tool" }> = {
  role: "tool",
  parts: [
    {
      type: "result",
      id: "toolu_1",
      tool,
      text: trusted("[result contact]\n| a planet"),
      failed: false,
    },
    { type: "result", id: "toolu_2", tool, text: trusted("The input must be an object with a word."), failed: true },
  ],
};
const FINDER: ToolSchema = {
  name: toolName("more_tools"),
  description: "Finds your further tools: refund.",
  input: { type: "object", properties: { find: { type: "string" } }, required: ["find"] },
};
const REFUND: ToolSchema = {
  name: toolName("refund"),
  description: "Refunds an order.",
  input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
};
const state = { layer: "state", text: trusted("# Layer 8 · state\nIt is Saturday.") } as Request["tail"][number];

/**
 * Requests whose bytes are kept: an upgrade of the provider's package that changes one of them must be seen. Wanted changes
 * write the files again with STRATA_GOLDEN=write.
 */
const kept: Readonly<Record<string, Request>> = {
  "first-message": sampleRequest("", {
    messages: [hello],
    tail: [state],
    breakpoints: [
      { after: { zone: "system", block: 0 }, lifetime: "1h" },
      { after: { zone: "message", index: 0 }, lifetime: "5m" },
    ],
    parameters: { maxTokens: 4_096, temperature: 0.2 },
  }),
  "tool-round": sampleRequest("", {
    messages: [hello, asking, answers],
    tail: [state],
    breakpoints: [0, 2].map((index) => ({ after: { zone: "message", index }, lifetime: "5m" }) as const),
  }),
  "pictures-and-files": sampleRequest("", {
    messages: [
      {
        role: "user",
        parts: [
          contactText("See these."),
          { type: "image", mediaType: "image/png", data: png },
          { type: "file", mediaType: "application/pdf", data: "JVBERi0=", name: "plan.pdf" },
          { type: "file", mediaType: "text/plain", data: Buffer.from("grüße").toString("base64"), name: "note.txt" },
        ],
      },
    ],
    breakpoints: [{ after: { zone: "message", index: 0 }, lifetime: "1h" }],
  }),
  "result-media": sampleRequest("", {
    messages: [
      hello,
      asking,
      {
        role: "tool",
        parts: answers.parts.map(
          (part, i): ResultPart =>
            i === 0 ? { ...part, media: [{ type: "image", mediaType: "image/png", data: png }, plan] } : part,
        ),
      },
    ],
  }),
  // 001.4: the thinking level as each provider's own setting.
  thinking: sampleRequest("Hello", { parameters: { maxTokens: 16_000, reasoning: { level: "high" } } }),
  "thinking-budget": sampleRequest("Hello", {
    parameters: { maxTokens: 16_000, reasoning: { level: "medium", tokens: 8_000 } },
  }),
  "thinking-off": sampleRequest("Hello", { parameters: { maxTokens: 16_000, reasoning: { level: "off" } } }),
  // Those that the provider loads itself come where they were found; any other gets the text with their schemas.
  "deferred-tools": sampleRequest("", {
    prefix: { tools: [FINDER, { ...REFUND, deferred: true }], system: [] },
    messages: [
      hello,
      { role: "assistant", parts: [{ type: "call", id: "toolu_1", tool: FINDER.name, input: { find: "refund" } }] },
      {
        role: "tool",
        parts: [
          {
            ...{ type: "result", id: "toolu_1", tool: FINDER.name, failed: false, loads: [REFUND.name] },
            text: trusted(`[result operator]\n| Found 1 tool.\n| ${JSON.stringify(REFUND)}`),
          },
        ],
      },
      { role: "assistant", parts: [{ type: "call", id: "toolu_2", tool: REFUND.name, input: { order: "A1" } }] },
      {
        role: "tool",
        parts: [
          {
            type: "result",
            id: "toolu_2",
            tool: REFUND.name,
            text: trusted("[result contact]\n| done"),
            failed: false,
          },
        ],
      },
    ],
    breakpoints: [2, 4].map((index) => ({ after: { zone: "message", index }, lifetime: "5m" }) as const),
  }),
  bare: sampleRequest("Hello", { prefix: { tools: [], system: [] } }),
};

/** Whose bodies are kept, and in which folder. */
const WIRES: readonly (readonly [string, string])[] = [
  [WIRE, "golden"],
  ["openai:gpt-5-mini", "golden/openai"],
  ["openai:gpt-6.1-sol", "golden/openai-marked"],
  ["openrouter:anthropic/claude-sonnet-4.5", "golden/openrouter"],
  ["openrouter:deepseek/deepseek-v4-pro", "golden/openrouter-plain"],
  ["bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "golden/bedrock"],
  ["local:llama3.1", "golden/compatible"],
];
/** A memory and the state, carried as for a provider that clears a message by itself. */
const memory = {
  layer: "memory",
  text: trusted("# Layer 9 · memory\n[memory contact 2026-11-20]\n| likes tea"),
};
const cleared: Message = { role: "system", parts: [{ type: "text", text: trusted(state.text) }] };
const ways: Readonly<Record<string, Request>> = {
  "turn-scoped": sampleRequest("", {
    messages: [hello, cleared, asking, answers],
    tail: [memory, { ...state, way: "turn-scoped" }] as Request["tail"],
    breakpoints: [0, 3].map((index) => ({ after: { zone: "message", index }, lifetime: "5m" }) as const),
  }),
  "before-events": sampleRequest("", {
    messages: [hello],
    tail: [memory, state].map((part) => ({ ...part, way: "before-events" })) as Request["tail"],
    breakpoints: [{ after: { zone: "system", block: 0 }, lifetime: "1h" }],
  }),
};
const local = { kind: "openai-compatible", url: "http://127.0.0.1:1/v1" } as const;
const bodyOf = (request: Request, wire: string) =>
  wireBody(request, wire, (provider) => (provider === "local" ? local : undefined));
const each = WIRES.flatMap(([wire, folder]) =>
  Object.entries(kept).map(([name, request]) => {
    const fits = wire.startsWith("openai:") ? forOpenai(request, wire) : request;
    return [wire, `${folder}/${name}.json`, fits] as const;
  }),
);

const eachWay = Object.entries(ways).flatMap(([name, request]) => [
  ["anthropic:claude-opus-5", `golden/${name}.json`, request] as const,
  ["local:llama3.1", `golden/compatible/${name}.json`, request] as const,
]);

/** OpenAI takes no plain text as a file, and for its older models no breakpoint is planned. */
function forOpenai(request: Request, wire: string): Request {
  const messages = request.messages.map((message) =>
    message.role === "user"
      ? { ...message, parts: message.parts.filter((part) => part.type !== "file" || part.mediaType !== "text/plain") }
      : message,
  );
  return { ...request, messages, ...(wire === "openai:gpt-5-mini" && { breakpoints: [] }) };
}

describe("a body on the wire", () => {
  it.each([...each, ...eachWay])("is byte for byte what it was: %s %s", async (wire, file, request) => {
    const body = await bodyOf(request, wire);
    const readable = JSON.stringify(JSON.parse(body), null, 2);
    // The kept file is set out for reading; closed up again it is the exact body.
    expect(JSON.stringify(JSON.parse(readable))).toBe(body);
    const place = join(import.meta.dirname, file);
    if (process.env["STRATA_GOLDEN"] === "write") writeFileSync(place, `${readable}\n`);
    expect(`${readable}\n`).toBe(readFileSync(place, "utf8"));
  });

  it.each([...new Set(each.map(([wire]) => wire))])(
    "is the same for the results of a reply's calls in one message and in several, as a turn that waited has them: %s",
    async (wire) => {
      const [one, two] = answers.parts;
      if (one === undefined || two === undefined) throw new Error("two results were expected");
      const apart: readonly Message[] = [hello, asking, { role: "tool", parts: [one] }, { role: "tool", parts: [two] }];
      const sent = (messages: readonly Message[]) => sampleRequest("", { messages: [...messages], tail: [state] });
      expect(await bodyOf(sent([...apart, hello]), wire)).toBe(
        await bodyOf(sent([hello, asking, answers, hello]), wire),
      );
    },
  );

  it.each(each.filter(([wire]) => /^(?:anthropic|local):/.test(wire)))(
    "is the same out of a package named by hand: %s %s",
    async (wire, _file, request) => {
      const [provider = "", model = ""] = wire.split(":");
      const name = provider === "local" ? "@ai-sdk/openai-compatible" : "@ai-sdk/anthropic";
      const named = { kind: "package", url: local.url, package: { name, folder: import.meta.dirname } } as const;
      const body = await wireBody(request, `mine:${model}`, (asked) => (asked === "mine" ? named : undefined));
      expect(body).toBe(await bodyOf(request, wire));
    },
  );

  it.each([
    [{ kind: "anthropic" }, "anthropic:claude-sonnet-4-5"],
    [{ kind: "openai" }, "openai:gpt-5-mini"],
    [{ kind: "openrouter" }, "openrouter:anthropic/claude-sonnet-4.5"],
    [{ kind: "bedrock", region: "eu-central-1" }, "bedrock:anthropic.claude-opus-4-6-v1"],
  ] as const)("follows the declared kind, whatever the provider is called: %j", async (access, wire) => {
    const model = wire.split(":")[1];
    const request = sampleRequest("Hello");
    expect(await wireBody(request, `mine:${model}`, () => access)).toBe(await wireBody(request, wire));
  });

  it.each(each.filter(([, file]) => /(?:thinking|result-media)/.test(file)))(
    "is what a server of that kind receives over HTTP: %s %s",
    async (wire, file, request) => {
      const provider = wire.split(":")[0] ?? "";
      const kind = provider === "local" ? ({ kind: "openai-compatible" } as const) : {};
      const access = { ...kind, key: KEY, url: server.url, region: "eu-central-1" };
      server.say(refused(400, { error: { message: "seen", type: "invalid_request_error" } }));
      const model = await openModel(wire, () => access, { retry: false });
      await failureOf(model, request);
      const kept = JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8"));
      expect(server.received.map(({ body }) => JSON.parse(body))).toEqual([kept]);
    },
  );

  it("holds no key, although one is declared", async () => {
    const request = sampleRequest("Hello");
    for (const kind of ["anthropic", "openai", "openrouter", "bedrock", "openai-compatible"] as const) {
      const body = await wireBody(request, "mine:small", () => ({ kind, key: "sk-test-0123456789", url: local.url }));
      expect(body).not.toContain("sk-test");
    }
  });

  it("is made without a network", async () => {
    const fetch = vi.spyOn(globalThis, "fetch");
    await wireBody(sampleRequest("Hello"), WIRE);
    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRestore();
  });

  it("does not depend on the environment", async () => {
    const before = await wireBody(sampleRequest("Hello"), WIRE);
    vi.stubEnv("ANTHROPIC_BASE_URL", "not a url");
    expect(await wireBody(sampleRequest("Hello"), WIRE)).toBe(before);
    vi.unstubAllEnvs();
  });

  it.each(["mistral:small", "anthropic", "anthropic:", "openai:", "rehearsal", "", "toString:x"])(
    "is unknown for %j",
    async (wire) => {
      await expect(wireBody(sampleRequest("Hello"), wire)).rejects.toMatchObject({
        code: "model_unknown",
        message: `no request body is known for the model ${JSON.stringify(wire)}; it must be anthropic:NAME, openai:NAME, openrouter:MAKER/NAME, bedrock:NAME or PROVIDER:NAME with a provider declared in strata.yaml`,
      });
    },
  );

  it("is refused for what the provider cannot be sent", async () => {
    const film = { type: "file", mediaType: "video/x-unknown", data: png } as const;
    const request = sampleRequest("", { messages: [{ role: "user", parts: [film] }] });
    await expect(wireBody(request, WIRE)).rejects.toMatchObject({
      code: "model_refused",
      message: expect.stringContaining("video/x-unknown"),
    });
  });
});
