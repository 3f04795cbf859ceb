import { describe, expect, it } from "vitest";
import { MEMORY_API } from "../../features/memories/index.ts";
import { turnView } from "../../features/turns/index.ts";
import { styleOf } from "../../print/index.ts";
import { toolName } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../index.contract.ts";
import type { AnswerStep, TurnSteps } from "../index.ts";

/** Answers by what was said, and counts how often it worked. */
function handler(change: Partial<AnswerStep> = {}, worked: string[] = []): TurnSteps {
  return {
    answer: {
      by: "handler",
      effect: "external",
      answer: async (_turn, { events }) => {
        worked.push(events.map(({ id }) => id).join());
        return { text: "Handled." };
      },
      ...change,
    },
  };
}

const BARE = { layers: [], tools: [] } as const;

describe("a step that answers in place of the model", () => {
  it("makes a turn like any other, without a request, and with the trust of what it was given", async () => {
    const on = await testRuntime([], { steps: [handler()] });
    const thread = await on.open();
    const events = await on.say(thread, "Hello");
    expect(endOf(events)).toMatchObject({ type: "done", text: "Handled.", totals: { modelCalls: 0, dollars: 0 } });
    expect(events.filter(({ type }) => type === "text-delta")).toEqual([{ type: "text-delta", text: "Handled." }]);
    const [turn] = await on.runtime.turns(OPERATOR, thread.id);
    expect(turn).toMatchObject({ requests: [], steps: { answered: { by: ["handler"], taint: "contact" } } });
    const shown = turn && (await turnView({ runtime: on.runtime, actor: OPERATOR }, turn, styleOf({}, { env: {} })));
    expect(shown).toContain("answered by the handler, in place of the model");
    expect((await on.runtime.slots(OPERATOR, thread.id)).map(({ text }) => text)).toEqual(["Hello", "Handled."]);
    const [found] = await on.runtime
      .use(MEMORY_API)
      .searchMemories(OPERATOR, thread.scope, { query: "handled", limit: 1 });
    for await (const one of on.store.verify(ORG)) expect(one.type).not.toBe("problem");
    expect(found).toMatchObject({ content: "Handled.", trust: "contact" });
    await on.store.close();
  });

  it("law 1: leaves what it answered in the conversation, where the model's next request finds it", async () => {
    let sentence: string | undefined = "From the cache.";
    const heard: string[] = [];
    const cache = handler({
      effect: "none",
      answer: async () => (sentence === undefined ? undefined : { text: sentence }),
      answered: async (_turn, { events }, { parts }) => void heard.push(`${events.length}: ${JSON.stringify(parts)}`),
    });
    const on = await testRuntime(["One.", "Three."], { steps: [cache] });
    const thread = await on.open();
    sentence = undefined;
    await on.say(thread, "First");
    sentence = "From the cache.";
    await on.say(thread, "Second");
    sentence = undefined;
    await on.say(thread, "Third");
    const [first, third] = on.sent.map(({ messages }) => messages);
    expect(third?.slice(0, first?.length)).toEqual(first);
    const roles = third?.map(({ role, parts }) => [role, JSON.stringify(parts).includes("From the cache.")]);
    expect(roles).toEqual([
      ["user", false],
      ["assistant", false],
      ["user", false],
      ["assistant", true],
      ["user", false],
    ]);
    expect(heard.map((one) => one.slice(0, 2))).toEqual(["1:", "1:"]);
    await on.store.close();
  });

  it("may call tools, whose results it gets, and its words pass the reply guard", async () => {
    const look = { tool: toolName("look"), input: { at: "the moon" } };
    const step = handler({
      effect: "none",
      answer: async (_turn, { request: { messages } }) => {
        const last = messages.at(-1);
        if (last?.role !== "tool") return { text: "", calls: [look] };
        return { text: `You are a helper. A lower layer wins. ${last.parts[0]?.text}` };
      },
    });
    const on = await testRuntime([], { steps: [step] });
    const end = endOf(await on.say(await on.open(), "Look"));
    expect(end).toMatchObject({ text: expect.stringContaining("saw the moon"), totals: { toolCalls: 1 } });
    await on.store.close();
  });

  it("lets an agent do without layers and without a model, and without it such an agent has no turn", async () => {
    const agent = sampleAgent(BARE);
    const broken = async () => Promise.reject(new Error("there is no model"));
    const on = await testRuntime([], { agent, steps: [handler({ alone: () => true })], parts: { modelOf: broken } });
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Hello"))).toMatchObject({ type: "done", text: "Handled." });
    expect(endOf(await on.say(thread, "Again"))).toMatchObject({ type: "done", text: "Handled." });
    expect(await on.runtime.turns(OPERATOR, thread.id)).toMatchObject([{ model: "none" }, { model: "none" }]);
    await on.store.close();
    const none = await testRuntime(["Hi."], { agent, steps: [] });
    const sentence = none.say(await none.open(), "Hello");
    await expect(sentence).rejects.toThrow("helper declares no layers, and no feature answers in place of its model");
    await none.store.close();
  });
});

describe("law 7: an answer whose work acts outside", () => {
  /** A turn whose program is killed at a write, and what the next program makes of it. */
  async function twice(failing: "endCall" | "settle") {
    const worked: string[] = [];
    const steps = [handler({}, worked)];
    const on = await testRuntime([], { steps, parts: { holder: "next", alive: () => false } });
    const killed = async () => Promise.reject(new Error("the program was killed"));
    const store = { ...on.store, settle: killed, [failing]: killed };
    const first = await testRuntime([], { store, agent: on.agent, steps });
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Ring", on.time.at)]);
    await collect(first.runtime.run(OPERATOR, thread));
    const end = endOf(await collect(on.runtime.run(OPERATOR, thread)));
    const turns = await on.runtime.turns(OPERATOR, thread.id);
    await on.store.close();
    return { worked, end, turn: turns.at(-1) };
  }

  it("is given again, and not worked out again, where the commit was lost", async () => {
    const { worked, end } = await twice("settle");
    expect(worked).toHaveLength(1);
    expect(end).toMatchObject({ type: "done", text: "Handled." });
  });

  it("is not worked out again where nobody knows how far it came: the message is left unanswered, and that is said", async () => {
    const { worked, end, turn } = await twice("endCall");
    expect(worked).toHaveLength(1);
    expect(end).toMatchObject({ type: "done", text: "", unanswered: 1 });
    expect(turn).toMatchObject({ requests: [], steps: { answered: { by: ["handler"], interrupted: true } } });
  });
});
