import { describe, expect, it } from "vitest";
import { type Allowed, actorId, agentName, allow, contactId, type TurnEvent } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, ORG, testRuntime } from "../index.contract.ts";

describe("what a turn tells", () => {
  const LOOKING = {
    parts: [{ reasoning: "My layer says look." }, { text: "Moment." }, { call: "look", input: { at: "it" } }],
  };
  const contact = allow(
    {
      org: ORG,
      id: actorId("contact:ann"),
      role: "contact",
      agent: agentName("helper"),
      contact: contactId("ann"),
    },
    "run",
  );
  const tellsOf = async (actor: Allowed<"run">, script: Parameters<typeof testRuntime>[0]): Promise<TurnEvent[]> => {
    const { runtime, open, time } = await testRuntime(script);
    const thread = await open("ann");
    await runtime.post(contact, thread, [message("Hi", time.at)]);
    return collect(runtime.run(actor, thread));
  };
  const typesOf = (events: readonly TurnEvent[]) => [...new Set(events.map(({ type }) => type))];

  it("law 10: is for a contact what was said and how it ended: no layer, ledger, size, tool or thought", async () => {
    const events = await tellsOf(contact, [LOOKING, "There."]);
    expect(typesOf(events)).toEqual(["turn-start", "text-delta", "done"]);
    expect(events.at(-1)).toMatchObject({ text: "Moment.\n\nThere.", because: "answered" });
    const told = JSON.stringify(events);
    for (const inner of ["precedence", "identity", "recall", "clock", "tokens", "usage", "dollars", "look", "model"])
      expect(told).not.toContain(inner);
  });

  it("law 10: names to a contact no layer, variable or server where the turn fails", async () => {
    const failed = endOf(await tellsOf(contact, [new Error("http://10.0.0.1/secret has no route")]));
    expect(failed).toMatchObject({ type: "failed", error: { code: "model_failed", details: {} } });
    expect(JSON.stringify([failed, String(failed.type === "failed" && failed.error.message)])).not.toMatch(
      /10\.0|scripted|totals/,
    );
    if (failed.type === "failed") expect(failed.error.cause).toBeUndefined();
  });

  it("is for a member all but what `explain` shows, and for an operator everything", async () => {
    const member = await tellsOf(allow({ ...OPERATOR, id: actorId("member:mia"), role: "member" }, "run"), [
      LOOKING,
      "There.",
    ]);
    expect(typesOf(member)).toEqual(["turn-start", "text-delta", "tool-start", "tool-end", "done"]);
    expect(endOf(member)).toMatchObject({ totals: { modelCalls: 2, toolCalls: 1 } });
    const operator = await tellsOf(OPERATOR, [LOOKING, "There."]);
    expect(typesOf(operator)).toEqual(expect.arrayContaining(["compiled", "reasoning-delta", "tool-start", "done"]));
  });
});
