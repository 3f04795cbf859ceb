import { describe, expect, it } from "vitest";
import { agentName, contactId, DEFAULT_BUDGETS, untrusted } from "../protocol/index.ts";
import { cardOf } from "../wire/index.ts";
import { endOf, OPERATOR, sampleAgent, stage } from "./stage.contract.ts";

const WINDOW = 600;
const LONG = "It rained all day. ".repeat(200);

const small = (change: Parameters<typeof sampleAgent>[0] = {}) =>
  stage(["Aye."], {
    agent: sampleAgent(change),
    parts: { cardOf: (ref) => ({ ...cardOf(ref), window: WINDOW }) },
  });

describe("what does not fit into a model's window", () => {
  it("is said of the window, with what helps, and not of a budget that is larger anyway", async () => {
    const on = await small();
    const end = endOf(await on.say(await on.open(), LONG));
    expect(end).toMatchObject({ type: "failed", error: { code: "budget_too_small", details: { window: WINDOW } } });
    const says = end.type === "failed" ? end.error.message : "";
    expect(says).toMatch(
      /; the window of \S+ is 600 tokens, .* a model with a larger one, `mode: compact`, shorter texts, fewer tools or/,
    );
    expect(says).not.toContain("raise budgets.total");
    const asked = { agent: agentName("helper"), contact: contactId("ann"), channel: "test", key: "new" };
    const composed = on.runtime.compose(OPERATOR, asked, untrusted(LONG));
    await expect(composed).rejects.toThrow(/the window of \S+ is 600 tokens/);
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
