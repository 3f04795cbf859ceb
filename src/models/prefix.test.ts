import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../tests/spread.ts";
import {
  type AssistantPart,
  type Breakpoint,
  layerId,
  type Message,
  type Request,
  type ResultPart,
  spoken,
  type TailPart,
  type ToolSchema,
  toolName,
  trusted,
  type UserPart,
} from "../protocol/index.ts";
import { wireBody } from "./index.ts";
import { contactText, sampleRequest } from "./model.contract.ts";

/** What every tail part begins with; no other text of these tests holds it. */
const TAIL = "<<tail>>";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).map((one) => one.replaceAll(TAIL, ""));
const anyText = fc.oneof(
  { weight: 8, arbitrary: text },
  fc.constantFrom("", " ", "\n\t", "a\ud800", ',"cache_control":{}'),
);
const base64 = fc.uint8Array({ maxLength: 6 }).map((data) => Buffer.from(data).toString("base64"));
const lifetime = fc.constantFrom("5m", "1h");

const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  { weight: 5, arbitrary: anyText.map((one): UserPart => ({ type: "text", text: trusted(one) })) },
  base64.map((data): UserPart => ({ type: "image", mediaType: "image/png", data })),
  base64.map((data): UserPart => ({ type: "file", mediaType: "application/pdf", data, name: "a.pdf" })),
);

/** Blank texts among them, but never only blank ones: a contact who wrote nothing makes no turn. */
const userParts = fc
  .tuple(fc.array(userPart, { maxLength: 2 }), text, fc.array(userPart, { maxLength: 1 }))
  .map(([before, one, after]): UserPart[] => [...before, { type: "text", text: trusted(`w${one}`) }, ...after]);

const bound = fc.oneof(
  text.map((signature) => ({ anthropic: { signature } })),
  text.map((redactedData) => ({ anthropic: { redactedData } })),
  text.map((itemId) => ({ openai: { itemId: `rs_${itemId}`, reasoningEncryptedContent: "ZW5j" } })),
  fc.constant({ elsewhere: { id: 1 } }),
);

const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  anyText.map((one): AssistantPart => ({ type: "text", text: spoken(one) })),
  fc
    .tuple(anyText, bound)
    .map(([one, metadata]): AssistantPart => ({ type: "reasoning", text: spoken(one), metadata })),
  fc.json().map(
    (json): AssistantPart => ({
      type: "call",
      id: "",
      tool: toolName("look_up"),
      input: JSON.parse(json),
      metadata: { anthropic: { caller: { type: "direct" } } },
    }),
  ),
);

/** A reply, and what follows it: the answers to its calls, or what the contact writes next. */
const round = fc.record({
  said: fc.array(assistantPart, { minLength: 1, maxLength: 5 }),
  answers: fc.array(fc.record({ text: anyText, failed: fc.boolean(), loads: fc.boolean() }), {
    minLength: 5,
    maxLength: 5,
  }),
  next: userParts,
});
type Round = typeof round extends fc.Arbitrary<infer R> ? R : never;

function messagesOf({ said, answers, next }: Round, nth: number): Message[] {
  const parts = said.map((part, i) => (part.type === "call" ? { ...part, id: `c${nth}-${i}` } : part));
  const results = parts.flatMap((part, i): ResultPart[] => {
    const answer = answers[i];
    if (part.type !== "call" || answer === undefined) return [];
    const { text, failed } = answer;
    const loads = answer.loads && !failed && { loads: [toolName("refund"), toolName("unknown")] };
    return [{ type: "result", id: part.id, tool: part.tool, text: trusted(text), failed, ...loads }];
  });
  const follows: Message = results.length > 0 ? { role: "tool", parts: results } : { role: "user", parts: next };
  return [{ role: "assistant", parts }, follows];
}

const tailOf = (texts: readonly string[]): TailPart[] =>
  texts.map((one) => ({ layer: layerId("state"), text: trusted(TAIL + one) }));

const REFUND: ToolSchema = { name: toolName("refund"), description: "Refunds.", input: { type: "object" } };

/** The requests of one epoch: each turn and each tool round is one; tails and breakpoints differ from one to the next. */
const epochOf = (way?: TailPart["way"], each = round): fc.Arbitrary<Request[]> =>
  fc
    .record({
      system: fc.array(anyText, { maxLength: 3 }),
      tools: fc.boolean(),
      first: userParts,
      rounds: fc.array(each, { maxLength: 5 }),
      tails: fc.array(fc.array(anyText, { minLength: 1, maxLength: 2 }), { minLength: 6, maxLength: 6 }),
      breakpoints: fc.array(fc.array(fc.tuple(fc.nat(), lifetime), { maxLength: 5 }), { minLength: 6, maxLength: 6 }),
    })
    .map(({ system, tools, first, rounds, tails, breakpoints }): Request[] => {
      const tailAt = (n: number): TailPart[] =>
        tailOf(tails[n] ?? [""]).map((part) => ({ ...part, ...(way && { way }) }));
      // A message that the provider clears keeps its place, between the question and the answer.
      const cleared = (n: number): Message[] =>
        way === "turn-scoped"
          ? [{ role: "system", parts: tailAt(n).map(({ text }) => ({ type: "text", text: trusted(text) })) }]
          : [];
      const steps = rounds.map((one, n) => [...cleared(n), ...messagesOf(one, n)]);
      const { prefix } = sampleRequest("");
      const deferred = { ...REFUND, deferred: true } as const;
      const blocks = system.map((one) => ({ scope: "agent", text: trusted(one), layers: [] }) as const);
      return [...rounds.keys(), rounds.length].map((n) => {
        const messages: Message[] = [{ role: "user", parts: first }, ...steps.slice(0, n).flat()];
        return {
          prefix: { tools: tools ? [...prefix.tools, deferred] : [], system: blocks },
          messages,
          tail: tailAt(n),
          breakpoints: (breakpoints[n] ?? []).map(([place, lasts]) =>
            markAt(place, lasts, blocks.length, messages.length),
          ),
          parameters: { maxTokens: 100 },
        };
      });
    });
const epoch = epochOf();

function markAt(place: number, lifetime: Breakpoint["lifetime"], blocks: number, messages: number): Breakpoint {
  const at = place % (blocks + messages);
  return at < blocks
    ? { after: { zone: "system", block: at }, lifetime }
    : { after: { zone: "message", index: at - blocks }, lifetime };
}

interface Wire {
  readonly ref: string;
  /** The bytes around the first tail part, up to its text. */
  readonly opening: RegExp;
  /** The bytes after the last message if there is no tail. */
  readonly end: RegExp;
  /** A breakpoint on the tail. */
  readonly markedTail: RegExp;
}

const BLOCKS = {
  opening: /(?:,?\{"role":"user","content":\[|,)\{"type":"(?:input_)?text","text":"$/,
  markedTail: /"text":"<<tail>>(?:[^"\\]|\\.)*",("cache_control"|"prompt_cache_breakpoint")/,
};
const ROUTED = /^(?:\]\}|"\}\]\}|\})?\],"usage":\{"include":true\}.*,"stream_options":\{"include_usage":true\}\}$/;
const WIRES: readonly Wire[] = [
  { ref: "anthropic:claude-sonnet-4-5", ...BLOCKS, end: /^\]\}\](,"tools":\[.*\])?,"stream":true\}$/ },
  { ref: "openai:gpt-5-mini", ...BLOCKS, end: /^\]\}\],"max_output_tokens":.*,"stream":true\}$|^\],"max/ },
  { ref: "openai:gpt-6.1-sol", ...BLOCKS, end: /^\]\}\],"max_output_tokens":.*,"stream":true\}$|^\],"max/ },
  { ref: "openrouter:anthropic/claude-sonnet-4.5", ...BLOCKS, end: ROUTED },
  { ref: "openrouter:openai/gpt-6.1-sol", ...BLOCKS, end: ROUTED },
  {
    ref: "openrouter:deepseek/deepseek-v4-pro",
    opening: /\\n\\n$|,?\{"role":"user","content":(?:"|\[\{"type":"text","text":")$|,\{"type":"text","text":"$/,
    end: /^(?:"\}|\]\})?\],"usage":\{"include":true\}.*,"stream_options":\{"include_usage":true\}\}$/,
    markedTail: /[^\\]"(?:prompt_cache|cache_control)/,
  },
  {
    ref: "bedrock:anthropic.claude-opus-4-6-v1",
    opening: /(?:,?\{"role":"user","content":\[|,)\{"text":"$/,
    end: /^\]\}\],"additionalModelResponseFieldPaths":.*\}$/,
    markedTail: /"text":"<<tail>>(?:[^"\\]|\\.)*"\},\{"cachePoint"/,
  },
  {
    ref: "local:llama3.1",
    opening: /\\n\\n$|,?\{"role":"user","content":(?:"|\[\{"type":"text","text":")$|,\{"type":"text","text":"$/,
    end: /^("\}|\]\})?\](,"tools":\[.*\])?,"stream":true,"stream_options":\{"include_usage":true\}\}$/,
    markedTail: /[^\\]"(?:prompt_cache|cache_control)/,
  },
];

/** A body without its breakpoints: inside a text the quotes would be escaped. */
const unmarked = (body: string): string =>
  body
    .replaceAll(/,"cache_control":\{"type":"ephemeral"(,"ttl":"1h")?\}/g, "")
    .replaceAll(/,\{"cachePoint":\{"type":"default"(,"ttl":"1h")?\}\}/g, "")
    // OpenAI's system text with a breakpoint is in a list of one.
    .replaceAll(
      /\[\{"type":"input_text","text":("(?:[^"\\]|\\.)*"),"prompt_cache_breakpoint":\{"mode":"explicit"(?:,"ttl":"12h")?\}\}\](?=\},\{"role":"(?:developer|system|user)")/g,
      (all, text, at, whole) => (/"role":"(?:developer|system)","content":$/.test(whole.slice(0, at)) ? text : all),
    )
    .replaceAll(/,"prompt_cache_breakpoint":\{"mode":"explicit"(,"ttl":"12h")?\}/g, "");

/** Everything before the tail, byte for byte. */
function beforeTail(body: string, { opening }: Wire): string {
  const tail = body.indexOf(TAIL);
  expect(tail).toBeGreaterThan(0);
  expect(body.slice(0, tail)).toMatch(opening);
  return body.slice(0, tail).replace(opening, "");
}

const local = { kind: "openai-compatible", url: "http://127.0.0.1:1/v1" } as const;
const bodyOn = (request: Request, ref: string) =>
  wireBody(request, ref, (provider) => (provider === "local" ? local : undefined));
const body = (request: Request) => bodyOn(request, "anthropic:claude-sonnet-4-5");

/** Of most properties two of five random cases; `checks/whole.ts` tries all. */
const runs = (all: number): number => firstRuns(all, 0.4 * all).numRuns;

describe.each(WIRES)("the bytes of an epoch's requests to $ref", (wire) => {
  const bodyOf = (request: Request) => bodyOn(request, wire.ref);

  it("only grow: all that a request sent before its tail begins every later one, breakpoints aside", async () => {
    await fc.assert(
      fc.asyncProperty(epoch, async (requests) => {
        const bodies = (await Promise.all(requests.map(bodyOf))).map(unmarked);
        for (const [n, one] of bodies.entries()) {
          for (const later of bodies.slice(n + 1)) expect(later.startsWith(beforeTail(one, wire))).toBe(true);
        }
      }),
      { numRuns: runs(wire.ref.startsWith("anthropic") ? 300 : 100) },
    );
  });

  it("only grow also where the tail stands before the events, or would be cleared by another provider", async () => {
    const others = wire.ref.startsWith("anthropic") ? [] : [epochOf("turn-scoped")];
    await fc.assert(
      fc.asyncProperty(fc.oneof(epochOf("before-events"), ...others), async (requests) => {
        const bodies = (await Promise.all(requests.map(bodyOf))).map(unmarked);
        for (const [n, one] of bodies.entries()) {
          for (const later of bodies.slice(n + 1)) expect(later.startsWith(beforeTail(one, wire))).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("hold every message before the tail, the same as without it, and no breakpoint is on the tail", async () => {
    await fc.assert(
      fc.asyncProperty(epoch, async (requests) => {
        for (const request of requests) {
          const [one, bare] = await Promise.all([bodyOf(request), bodyOf({ ...request, tail: [] })]);
          const before = beforeTail(one, wire);
          expect(bare.startsWith(before)).toBe(true);
          expect(bare.slice(before.length)).toMatch(wire.end);
          expect(one).not.toMatch(wire.markedTail);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("are the same each time", async () => {
    await fc.assert(
      fc.asyncProperty(epoch, async (requests) => {
        for (const request of requests) expect(await bodyOf(request)).toBe(await bodyOf(structuredClone(request)));
      }),
      { numRuns: 30 },
    );
  });
});

/** Tools, system and messages of a body, without breakpoints. */
async function sentOf(request: Request): Promise<readonly [unknown, readonly unknown[]]> {
  const { tools, system, messages } = JSON.parse(unmarked(await bodyOn(request, "anthropic:claude-opus-5-5")));
  return [{ tools, system }, messages];
}

/** A round in which the model says something that is sent back. */
const answered = round.map((one): Round => ({ ...one, said: [...one.said, { type: "text", text: spoken("Well.") }] }));

describe("a tail that the provider clears by itself", () => {
  it("law 1 is never changed afterwards: all of a request, its tail too, begins every later one", async () => {
    await fc.assert(
      fc.asyncProperty(epochOf("turn-scoped", answered), async (requests) => {
        const sent = await Promise.all(requests.map(sentOf));
        for (const [n, [prefix, messages]] of sent.entries()) {
          expect(messages.at(-1)).toMatchObject({ role: "system", clear_at: "next_user_message" });
          for (const [laterPrefix, later] of sent.slice(n + 1)) {
            expect(laterPrefix).toEqual(prefix);
            expect(JSON.stringify(later.slice(0, messages.length))).toBe(JSON.stringify(messages));
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("stands between what was asked and the answer, and nowhere else; no breakpoint is on it", async () => {
    await fc.assert(
      fc.asyncProperty(epochOf("turn-scoped"), async (requests) => {
        for (const request of requests) {
          const body = await bodyOn(request, "anthropic:claude-opus-5-5");
          const { messages } = JSON.parse(body);
          const roles: string[] = messages.map(({ role }: { role: string }) => role);
          for (const [at, role] of roles.entries()) {
            if (role !== "system") continue;
            expect([roles[at - 1], roles[at + 1] ?? "assistant"]).toEqual(["user", "assistant"]);
            expect(JSON.stringify(messages[at])).not.toContain('"cache_control"');
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("edits of layers in a running conversation", () => {
  const EDIT = "<<edit>>";
  /** The same requests of a thread, some of whose messages came with an edit. */
  const edited = epochOf("turn-scoped", answered).map((requests) =>
    requests.map((request): Request => {
      const edit = (n: number): UserPart => {
        const told = { layer: layerId("persona"), as: "whole", system: true } as const;
        return { type: "text", text: trusted(`${EDIT} ${n}`), told };
      };
      const messages = request.messages.map((message, n): Message => {
        const comes = message.role === "user" && n % 2 === 0;
        return comes ? { role: "user", parts: [edit(n), ...message.parts] } : message;
      });
      const core = { scope: "agent", text: trusted("Be brief."), layers: [] } as const;
      return { ...request, prefix: { ...request.prefix, system: [core, ...request.prefix.system] }, messages };
    }),
  );
  interface Sent {
    readonly role?: string;
    readonly type?: string;
    readonly content?: unknown;
  }
  const messagesIn = async (request: Request, ref: string): Promise<readonly Sent[]> => {
    const { messages, input = messages } = JSON.parse(unmarked(await bodyOn(request, ref)));
    return input;
  };

  it.each(["anthropic:claude-opus-5-5", "openai:gpt-6.2-sol"])(
    "law 1, law 4 are a system message of their own for %s, which holds nothing else, and stay where they are",
    async (ref) => {
      await fc.assert(
        fc.asyncProperty(edited, async (requests) => {
          const sent = await Promise.all(requests.map((request) => messagesIn(request, ref)));
          for (const [n, messages] of sent.entries()) {
            for (const { role, content } of messages) {
              if (role === "user") expect(JSON.stringify(content)).not.toContain(EDIT);
              if (JSON.stringify(content ?? "").includes(EDIT))
                expect(JSON.stringify(content)).toMatch(
                  /^(?:"<<edit>> \d+"|\[\{"type":"text","text":"<<edit>> \d+"\}\])$/,
                );
            }
            const edits = requests[n]?.messages.filter(({ parts }) => JSON.stringify(parts).includes(EDIT)) ?? [];
            expect(messages.filter(({ content }) => JSON.stringify(content ?? "").includes(EDIT))).toHaveLength(
              edits.length,
            );
            for (const later of sent.slice(n + 1))
              expect(JSON.stringify(later.slice(0, messages.length))).toBe(JSON.stringify(messages));
          }
        }),
        { numRuns: runs(150) },
      );
    },
  );

  it.each(["anthropic:claude-opus-5-5", "openai:gpt-6.2-sol"])(
    "come behind a tail that is the newest message's for %s, and stay in a message that was never answered",
    async (ref) => {
      const told = { layer: layerId("persona"), as: "whole", system: true } as const;
      const asked: Message = { role: "user", parts: [{ type: "text", text: trusted(EDIT), told }, contactText("Hi")] };
      const again: Message = { role: "user", parts: [contactText("Hello?")] };
      const of = async (messages: readonly Message[]) =>
        (await messagesIn(sampleRequest("", { messages, tail: tailOf(["now"]) }), ref)).map(
          ({ role, content }) =>
            `${role} ${
              JSON.stringify(content)
                .match(/<<edit>>|<<tail>>|Hello|Hi/g)
                ?.join() ?? ""
            }`,
        );
      expect((await of([asked])).slice(-2).map((one) => one.replace("developer", "system"))).toEqual([
        "user Hi,<<tail>>",
        "system <<edit>>",
      ]);
      const unanswered = (await of([asked, again])).filter((one) => one.startsWith("user"));
      // Some packages make one message of several in a row.
      expect(unanswered.map((one) => one.slice("user ".length)).join()).toBe("<<edit>>,Hi,Hello,<<tail>>");
    },
  );

  it("are text of the message for a model that takes no system message there", async () => {
    const told = { layer: layerId("persona"), as: "whole", system: true } as const;
    const messages: Message[] = [
      { role: "user", parts: [{ type: "text", text: trusted(EDIT), told }, contactText("Hi")] },
    ];
    const sent = await messagesIn(sampleRequest("", { messages }), "openai:gpt-6.1-sol");
    expect(JSON.stringify(sent.at(-1))).toContain(EDIT);
    expect(sent.at(-1)?.role).toBe("user");
  });
});

const M = (index: number, lifetime: Breakpoint["lifetime"] = "5m"): Breakpoint => ({
  after: { zone: "message", index },
  lifetime,
});
const user: Message = { role: "user", parts: [contactText("Hi"), contactText("there")] };
const call = { type: "call", id: "c1", tool: toolName("look_up"), input: { word: "sun" } } as const;
const thought = { type: "reasoning", text: spoken("Hm."), metadata: { anthropic: { signature: "s" } } } as const;
const said = { type: "text", text: spoken("Looking.") } as const;
const result: Message = {
  role: "tool",
  parts: [{ type: "result", id: "c1", tool: toolName("look_up"), text: trusted("A star."), failed: false }],
};

/** The type of each block of the wire's messages, with `*` where a breakpoint is. */
async function blocks(messages: readonly Message[], breakpoints: readonly Breakpoint[]): Promise<string[]> {
  const parsed = JSON.parse(await body(sampleRequest("", { messages, breakpoints, tail: tailOf(["now"]) })));
  return parsed.messages.map(({ content }: { content: { type: string; cache_control?: { ttl?: string } }[] }) =>
    content.map((one) => one.type + (one.cache_control ? `*${one.cache_control.ttl ?? ""}` : "")).join(" "),
  );
}

describe("a breakpoint after a message", () => {
  it("stands on its last part, before the tail", async () => {
    expect(await blocks([user], [M(0, "1h")])).toEqual(["text text*1h text"]);
    const tools: Message[] = [user, { role: "assistant", parts: [said, call] }, result];
    expect(await blocks(tools, [M(0), M(1), M(2)])).toEqual(["text text*", "text tool_use*", "tool_result* text"]);
  });

  it("stands on what comes last on the wire, where calls come after texts", async () => {
    const messages: Message[] = [user, { role: "assistant", parts: [thought, call, said] }, result];
    expect((await blocks(messages, [M(1)]))[1]).toBe("thinking text tool_use*");
  });

  it("never spends itself on reasoning or on a blank text", async () => {
    const messages: Message[] = [
      user,
      { role: "assistant", parts: [said, thought, { type: "text", text: spoken(" ") }] },
      user,
    ];
    expect((await blocks(messages, [M(1)]))[1]).toBe("text* thinking");
  });

  it("stays on the messages before it where a cache is read only at breakpoints, and on no reply", async () => {
    const messages: Message[] = [user, { role: "assistant", parts: [said, call] }, result];
    const sent = await bodyOn(sampleRequest("", { messages, breakpoints: [M(2)] }), "openai:gpt-5.6-terra");
    const places = JSON.parse(sent).input.map((item: object) =>
      JSON.stringify(item).includes("prompt_cache_breakpoint"),
    );
    expect(places).toEqual([false, true, false, false, true]);
    // Whether a model's cache works so is said by its card, and its card says where breakpoints are planned: none, and nothing is marked.
    expect(await bodyOn(sampleRequest("", { messages }), "openai:gpt-5.6-terra")).not.toContain("prompt_cache_b");
    expect(await bodyOn(sampleRequest("", { messages, breakpoints: [M(2)] }), "openai:my-own")).toContain("breakpoint");
  });

  it("is refused where there is no message", async () => {
    await expect(body(sampleRequest("", { messages: [user], breakpoints: [M(1)] }))).rejects.toMatchObject({
      code: "unexpected",
      message: expect.stringContaining("after message 1, but the request has 1"),
    });
  });
});

describe("user messages in a row", () => {
  const messages: Message[] = [
    { role: "user", parts: [{ type: "text", text: trusted("[earlier contact 2026-11-21]\n|> 09:30 Hello") }] },
    { role: "user", parts: [{ type: "text", text: trusted("(The first 12 messages are shown only in short.)") }] },
    { role: "user", parts: [{ type: "text", text: trusted("[message contact 09:30Z]\n| And now?") }] },
  ];

  it.each([
    ["local:llama3.1", "joined"],
    ["openrouter:deepseek/deepseek-v4-pro", "joined"],
    ["openrouter:anthropic/claude-sonnet-4.5", "apart"],
    ["openrouter:openai/gpt-6.1-sol", "apart"],
  ])("are one message for %s, as after a cut, its texts %s", async (ref, texts) => {
    const sent = JSON.parse(await bodyOn(sampleRequest("", { messages, tail: tailOf(["now"]) }), ref)).messages;
    const users = sent.filter(({ role }: { role: string }) => role === "user");
    expect(users).toHaveLength(1);
    const all = [
      ...messages.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join()),
      `${TAIL}now`,
    ];
    if (texts === "joined") expect(users[0].content).toBe(all.join("\n\n"));
    else expect(users[0].content.map(({ text }: { text: string }) => text)).toEqual(all);
  });

  it("leave a tail before the events where it stands: what cuts have left begins the next request", async () => {
    const tail = tailOf(["now"]).map((part) => ({ ...part, way: "before-events" as const }));
    const [user] = JSON.parse(await bodyOn(sampleRequest("", { messages, tail }), "local:llama3.1")).messages.slice(-1);
    const [earlier, mark, newest] = messages.map(({ parts }) =>
      parts.map((part) => ("text" in part ? part.text : "")).join(),
    );
    expect(user.content).toBe([earlier, mark, `${TAIL}now`, newest].join("\n\n"));
  });
});

describe("GPT-6.2", () => {
  const ref = "openai:gpt-6.2-sol";
  interface Body {
    readonly instructions?: string;
    readonly input: readonly unknown[];
  }
  const bodies = (requests: readonly Request[]): Promise<readonly Body[]> =>
    Promise.all(requests.map(async (request) => JSON.parse(unmarked(await bodyOn(request, ref)))));

  it("25.29 law 1 gets the platform's and the operator's lines of the tail as `instructions`, and all of its input begins every later one", async () => {
    await fc.assert(
      fc.asyncProperty(epochOf("turn-scoped"), async (requests) => {
        const sent = await bodies(requests);
        for (const [n, { instructions = "", input }] of sent.entries()) {
          const texts = requests[n]?.tail.map(({ text }) => text).filter((text) => text.trim() !== "") ?? [];
          expect(JSON.stringify(instructions)).toBe(JSON.stringify(texts.join("\n\n")));
          expect(JSON.stringify(input)).not.toContain(TAIL);
          for (const later of sent.slice(n + 1)) expect(later.input.slice(0, input.length)).toEqual(input);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("25.29 law 4 gets no other line there: what others wrote stays in the user's messages", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(epoch, epochOf("before-events")), async (requests) => {
        for (const { instructions } of await bodies(requests)) expect(instructions).toBeUndefined();
      }),
      { numRuns: runs(100) },
    );
  });
});
