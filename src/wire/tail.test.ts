import { describe, expect, it } from "vitest";
import type { TailPlan } from "../protocol/index.ts";
import { cardBook, cardOf, paidTwiceOf, tailPlanOf } from "./index.ts";

const after = { place: "after-events" } as const;
const before = { place: "before-events" } as const;

describe("the plan of a model's tail", () => {
  it.each<[string, TailPlan]>([
    ["anthropic:claude-sonnet-4-5", { ...after, trusted: "ephemeral", framed: "ephemeral" }],
    ["anthropic:claude-opus-5", { ...after, trusted: "turn-scoped", framed: "ephemeral" }],
    // Outside text is never in a system message, and if the history is bound it must not be removed.
    ["anthropic:claude-opus-5-5", { ...after, trusted: "turn-scoped", framed: "delta" }],
    ["bedrock:anthropic.claude-opus-5-5", { ...after, trusted: "delta", framed: "delta" }],
    ["openrouter:anthropic/claude-opus-5", { ...after, trusted: "ephemeral", framed: "ephemeral" }],
    ["openai:gpt-6.1-sol", { ...after, trusted: "ephemeral", framed: "ephemeral" }],
    ["anthropic:claude-of-tomorrow", { ...after, trusted: "delta", framed: "delta" }],
    ["mystery:one", { ...after, trusted: "ephemeral", framed: "ephemeral" }],
  ])("follows its card: %s", (model, plan) => {
    expect(tailPlanOf(cardOf(model))).toEqual(plan);
  });

  it("has no message that clears itself before the events, for none may stand there", () => {
    const plan = (model: string) => tailPlanOf(cardOf(model), "before");
    expect(plan("anthropic:claude-opus-5")).toEqual({ ...before, trusted: "ephemeral", framed: "ephemeral" });
    expect(plan("anthropic:claude-opus-5-5")).toEqual({ ...before, trusted: "delta", framed: "delta" });
  });

  it("keeps changed lines where they must be kept, and else while that is cheaper, by the model's own prices", () => {
    const model = "anthropic:claude-sonnet-5-5";
    const plan = (card: object) => tailPlanOf(cardBook({ [model]: card })(model));
    expect(plan({ tailMode: "delta" }).keep).toBeUndefined();
    expect(plan({ tailMode: "delta", reasoningBoundToHistory: false }).keep).toEqual({ read: 0.1, write: 1.25 });
  });
});

it("a place before the events costs the events, where only our own messages are marked the answer, too, and nothing where all stays", () => {
  const paid = (model: string) => paidTwiceOf(cardOf(model), "before");
  expect(paid("anthropic:claude-sonnet-4-5")).toBe("events");
  expect(paid("openai:gpt-5-mini")).toBe("events");
  expect(paid("openai:gpt-6.1-sol")).toBe("events and answer");
  for (const model of ["anthropic:claude-opus-5-5", "rehearsal"]) expect(paid(model)).toBe("nothing");
  expect(paidTwiceOf(cardOf("anthropic:claude-sonnet-4-5"))).toBe("nothing");
});
