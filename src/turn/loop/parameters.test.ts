import { expect, it } from "vitest";
import { cardOf } from "../../wire/index.ts";
import { sampleAgent, testRuntime } from "../index.contract.ts";

it.each([
  ["openai:gpt-4.1", { temperature: 0.2 }, undefined],
  ["openai:gpt-6.2-sol", {}, [{ parameter: "temperature", because: "its API refuses it" }]],
])(
  "%s gets what its API takes of the agent's parameters, and the ledger says the rest",
  async (model, sent, omitted) => {
    const agent = sampleAgent({ parameters: { temperature: 0.2 } });
    const on = await testRuntime(["Hi."], { agent, parts: { cardOf: () => cardOf(model) } });
    const events = await on.say(await on.open(), "Hello");
    const { temperature } = on.sent[0]?.parameters ?? {};
    expect(temperature === undefined ? {} : { temperature }).toEqual(sent);
    const compiled = events.find((event) => event.type === "compiled");
    expect(compiled?.ledger.omitted).toEqual(omitted);
    await on.store.close();
  },
);

it("what a call asks for replaces the agent's own", async () => {
  const agent = sampleAgent({ parameters: { temperature: 0.2 } });
  const on = await testRuntime(["Hi."], { agent });
  await on.say(await on.open(), "Hello", { parameters: { topP: 0.9, maxTokens: 10 } });
  expect(on.sent[0]?.parameters).toEqual({ topP: 0.9, maxTokens: 10 });
  await on.store.close();
});
