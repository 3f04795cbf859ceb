import { describe, expect, it } from "vitest";
import { agentName, contactId, DEFAULT_BUDGETS, untrusted } from "../../protocol/index.ts";
import { cardOf } from "../../wire/index.ts";
import { endOf, OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";

const WINDOW = 600;
const LONG = "It rained all day. ".repeat(200);

const small = (change: Parameters<typeof sampleAgent>[0] = {}) =>
  testRuntime(["Aye."], {
    agent: sampleAgent(change),
    parts: { cardOf: (ref) => ({ ...cardOf(ref), contextWindow: WINDOW }) },
  });

describe("what does not fit into a model's window", () => {
  it("is said of the window, with what helps, and not of a budget that is larger anyway", async () => {
    const on = await small();
    const end = endOf(await on.say(await on.open(), LONG));
    expect(end).toMatchObject({ type: "failed", error: { code: "budget_too_small", details: { window: WINDOW } } });
    const message = end.type === "failed" ? end.error.message : "";
    expect(message).toMatch(
      /; the window of \S+ is 600 tokens, .* a model with a larger one, `mode: compact`, shorter texts, fewer tools or/,
    );
    expect(message).not.toContain("raise budgets.total");
    const asked = { agent: agentName("helper"), contact: contactId("ann"), channel: "test", key: "new" };
    const composed = on.runtime.compose(OPERATOR, asked, untrusted(LONG));
    await expect(composed).rejects.toThrow(/the window of \S+ is 600 tokens/);
  });

  it("is reported as a guess, with the key that sets it, if the model's window is unknown", async () => {
    const on = await testRuntime(["Aye."], {
      agent: sampleAgent(),
      parts: { cardOf: () => ({ ...cardOf("local:mystery-7b"), contextWindow: WINDOW }) },
    });
    const end = endOf(await on.say(await on.open(), LONG));
    expect(end.type === "failed" && end.error.message).toMatch(
      /the window of (\S+) is not known: 600 tokens are a guess; set it in strata\.yaml as `models: \{ "\1": \{ contextWindow: … \} \}`, and budgets\.total is already larger/,
    );
  });

  it.each(["compact", "auto"] as const)("names no mode that is on already: %s", async (mode) => {
    const on = await small({ mode });
    const end = endOf(await on.say(await on.open(), LONG));
    expect(end.type === "failed" && end.error.message).toMatch(/a larger one, shorter texts, fewer tools or/);
  });

  it("is said of the budget where that is smaller", async () => {
    const on = await small({ budgets: { ...DEFAULT_BUDGETS, total: WINDOW - 50 } });
    const end = endOf(await on.say(await on.open(), LONG));
    expect(end.type === "failed" && end.error.message).toContain("raise budgets.total");
  });
});

describe("a call that is longer than what has room in the next request", () => {
  const calling = (at: string) => ({ parts: [{ text: "Looking." }, { call: "look", id: "c1", input: { at } }] });
  const inWindow = (window: number, script: Parameters<typeof testRuntime>[0]) =>
    testRuntime(script, { parts: { cardOf: (ref) => ({ ...cardOf(ref), contextWindow: window }) } });

  it("is answered with that, and the turn continues: with 4,096 tokens and 3,000 characters, too", async () => {
    for (const [window, length, runs] of [
      [4_096, 3_000, true],
      [1_600, 3_000, false],
      [1_600, 9_000, false],
    ] as const) {
      const on = await inWindow(window, [calling("y".repeat(length)), calling("the sea"), "I saw it.", "Aye."]);
      const thread = await on.open();
      expect(endOf(await on.say(thread, "Look at it"))).toMatchObject({
        type: "done",
        text: expect.stringContaining("I saw it."),
      });
      const result = JSON.stringify(on.sent[1]?.messages.at(-1));
      expect(result.includes("saw yyy")).toBe(runs);
      if (!runs) {
        expect(result).toMatch(/Not run: this call has \d+ tokens, and only \d+ fit/);
        expect(JSON.stringify(on.sent[1]?.messages)).toContain("characters in total");
      }
      expect(JSON.stringify(on.sent[2]?.messages.at(-1))).toContain("saw the sea");
      for (const { ledger } of (await on.runtime.turns(OPERATOR, thread.id)).flatMap(({ requests }) => requests))
        expect(ledger.tokens).toBeLessThanOrEqual(ledger.limit);
      expect(endOf(await on.say(thread, "And?")).type).toBe("done");
    }
  });
});
