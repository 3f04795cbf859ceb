import { describe, expect, it } from "vitest";
import { DEFAULT_BUDGETS, layerId, type Request, toolName } from "../../protocol/index.ts";
import { cardOf } from "../../wire/index.ts";
import { collect, endOf, sampleAgent, testRuntime } from "../index.contract.ts";

const ALLOWANCE = {
  ...sampleAgent().layers[0],
  id: layerId("limits"),
  rank: 90,
  mutability: "live",
  scope: "turn",
  trust: "platform",
  minimum: 0,
  required: false,
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  source: { kind: "allowance" },
} as const;

const agentWith = (turn: Partial<typeof DEFAULT_BUDGETS.turn> = {}) =>
  sampleAgent({
    layers: [...sampleAgent().layers, ALLOWANCE],
    tools: ["memory_save"].map(toolName),
    rules: [{ tool: toolName("memory_save"), calls: 1 }],
    budgets: { ...DEFAULT_BUDGETS, turn: { ...DEFAULT_BUDGETS.turn, ...turn } },
  });

const saving = (content: string) => ({
  parts: [{ call: "memory_save", input: { content, tags: [] } }],
  end: { finish: "calls" as const },
});

/** The last text of a request about the turn's limits, and any text after it. */
function lastOf({ messages, tail }: Request): string {
  const texts = [
    ...messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : []))),
    ...tail.map(({ text }) => text),
  ];
  return texts.findLast((text) => /limits/.test(text)) ?? "";
}

describe("a layer that says how far a turn may go", () => {
  it("25.20 says after each call what is left, and offers no tool whose calls are used up", async () => {
    const on = await testRuntime([saving("Ann likes tea."), saving("Ann has a cat."), "Saved."], {
      agent: agentWith(),
    });
    expect(endOf(await on.say(await on.open(), "I like tea."))).toMatchObject({ type: "done" });
    const [first = "", second = "", third = ""] = on.sent.map(lastOf);
    expect(first).toContain("32 tool calls, 8 model calls in this turn:\n- memory_save · 1 call");
    expect(second).toContain("Left in this turn: 31 tool calls, 7 model calls.\n- memory_save: no more calls");
    expect(second).not.toContain("32 tool calls");
    expect(third).toContain("Left in this turn: 30 tool calls, 6 model calls.");
  });

  it("25.20 leaves to the prefix what holds in every turn: the tail says what is left, and of a tool that was not called, too", async () => {
    const { layers, ...agent } = agentWith();
    const limits = {
      ...ALLOWANCE,
      id: layerId("always"),
      rank: 12,
      scope: "agent",
      source: { kind: "limits" },
    } as const;
    const tools = ["memory_search", ...agent.tools].map(toolName);
    const bounded = sampleAgent({ ...agent, tools, layers: [...layers, limits].sort((a, b) => a.rank - b.rank) });
    const search = { parts: [{ call: "memory_search", input: { query: "tea" } }], end: { finish: "calls" as const } };
    const on = await testRuntime([search, "Tea.", "Yes."], { agent: bounded });
    const thread = await on.open();
    await on.say(thread, "What do I like?");
    const [first, second] = on.sent;
    const says = (request?: Request): string => request?.prefix.system.map(({ text }) => text).join("\n") ?? "";
    expect(says(first)).toContain(
      "# Layer 12 · always\nEach turn: at most 32 tool calls and 8 model calls.\n- memory_save: 1 call",
    );
    expect(says(second)).toBe(says(first));
    expect(first?.tail.at(-1)?.text).toMatch(/· limits: Left in this turn: 32 tool calls, 8 model calls\.$/);
    expect(second?.tail.at(-1)?.text).toMatch(
      /· limits\nLeft in this turn: 31 tool calls, 7 model calls\.\n- memory_save: 1 more call$/,
    );
    await on.say(thread, "And now?", { parameters: { tools: [toolName("memory_search")] } });
    expect(on.sent[2]?.tail.at(-1)?.text).toContain("Only these tools may be called: memory_search.");
  });

  it("25.20 ends with the notice of the last reply, and with no number that contradicts it", async () => {
    const on = await testRuntime([saving("Ann likes tea."), "Saved."], { agent: agentWith({ modelCalls: 2 }) });
    await on.say(await on.open(), "I like tea.");
    const last = on.sent[1]?.tail.at(-1)?.text;
    expect(last).toContain("This is your last reply in this turn; no more tool calls will run.");
    expect(JSON.stringify(on.sent[1]?.tail)).not.toContain("model call");
  });

  it("law 1 25.20 adds what is left as a message where the layer stays in the transcript, and edits nothing that was sent", async () => {
    const bound = {
      cardOf: (ref: string) => ({ ...cardOf(ref), tailMode: "delta" as const, reasoningBoundToHistory: true }),
    };
    const on = await testRuntime([saving("Ann likes tea."), saving("Ann has a cat."), "Saved.", "Yes."], {
      agent: agentWith(),
      parts: bound,
    });
    const thread = await on.open();
    await on.say(thread, "I like tea.");
    await on.say(thread, "And?");
    const sent = on.sent.map(({ messages }) => messages.map((one) => JSON.stringify(one)));
    for (const [i, before] of sent.entries())
      if (i + 1 < sent.length) expect(sent[i + 1]?.slice(0, before.length)).toEqual(before);
    const [, second, third, next] = on.sent;
    if (second === undefined || third === undefined || next === undefined) throw new Error("too few requests");
    expect(lastOf(second)).toContain("Left in this turn: 31 tool calls, 7 model calls.");
    expect(lastOf(third)).toContain("Left in this turn: 30 tool calls, 6 model calls.");
    expect(lastOf(next)).toContain("32 tool calls, 8 model calls");
    expect((await collect(on.store.verify(on.agent.org))).filter(({ type }) => type === "problem")).toEqual([]);
  });
});
