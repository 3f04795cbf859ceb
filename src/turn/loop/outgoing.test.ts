import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DELIVERY_API } from "../../features/deliveries/index.ts";
import { MEMORY_API } from "../../features/memories/index.ts";
import { turnView } from "../../features/turns/index.ts";
import { styleOf } from "../../print/index.ts";
import { actorId, agentName, allow, contactId, type Message } from "../../protocol/index.ts";
import { endOf, message, OPERATOR, ORG, testRuntime } from "../index.contract.ts";
import type { Outgoing, TurnSteps } from "../index.ts";

/** Handles each reply as instructed. */
const sending = (outgoing: (text: string) => Outgoing | undefined, by = "desk"): TurnSteps => ({
  outgoing: { by, applies: () => true, outgoing: async (_turn, { text }) => outgoing(text) },
});

const signed = sending((text) => ({ text: `${text}\n\nMia, front desk`, told: false }), "signature");
const draft = sending(() => ({ withheld: "a person must approve it first" }), "drafts");

const textOf = ({ parts }: Message): string => parts.map((part) => ("text" in part ? part.text : "")).join("\n");

const CONTACT = allow(
  { org: ORG, id: actorId("key:ann"), role: "contact", agent: agentName("helper"), contact: contactId("ann") },
  "run",
  "post",
);
const MEMBER = allow({ org: ORG, id: actorId("member:mia"), role: "member" }, "run", "post");

describe("what goes out in place of what the model said", () => {
  it("stands in the reply, the conversation, the outbox and memory; law 1: the next request has the model's own words", async () => {
    const on = await testRuntime(["We open at nine.", "At ten."], { steps: [signed] });
    const thread = await on.open();
    const sent = "We open at nine.\n\nMia, front desk";
    expect(endOf(await on.say(thread, "When do you open?", { replyTo: "outbox" }))).toMatchObject({ text: sent });
    expect((await on.runtime.slots(OPERATOR, thread.id)).at(-1)).toMatchObject({ text: sent });
    expect(await on.runtime.use(DELIVERY_API).outbox(OPERATOR, on.agent.name, { limit: 5 })).toMatchObject([
      { text: sent },
    ]);
    const found = await on.runtime
      .use(MEMORY_API)
      .searchMemories(OPERATOR, thread.scope, { query: "nine front desk", limit: 1 });
    expect(found).toMatchObject([{ content: sent }]);
    const [turn] = await on.runtime.turns(OPERATOR, thread.id);
    expect(turn).toMatchObject({ end: { reply: sent }, steps: { outgoing: [{ by: "signature", did: "changed" }] } });
    expect(turn?.requests[0]?.reply?.parts).toMatchObject([{ text: "We open at nine." }]);
    await on.say(thread, "And on Sundays?");
    expect(on.sent[1]?.messages.map(textOf).slice(0, 2)).toEqual([
      ...(on.sent[0]?.messages.map(textOf) ?? []),
      "We open at nine.",
    ]);
    expect(JSON.stringify(on.sent[1]?.messages)).not.toContain("front desk");
    for await (const one of on.store.verify(ORG)) expect(one.type).not.toBe("problem");
    await on.store.close();
  });

  it("may be nothing: the sender has no reply, the reader hears why, and the agent reads it", async () => {
    const on = await testRuntime(["It is free of charge.", "Well."], { steps: [signed, draft] });
    const thread = await on.open();
    const events = await on.say(thread, "What does it cost?", { replyTo: "outbox" });
    expect(endOf(events)).toMatchObject({
      type: "done",
      text: "",
      withheld: "a person must approve it first",
    });
    expect(await on.runtime.use(DELIVERY_API).outbox(OPERATOR, on.agent.name, { limit: 5 })).toEqual([]);
    expect((await on.runtime.slots(OPERATOR, thread.id)).map(({ kind }) => kind)).toEqual(["message"]);
    expect(await on.runtime.turns(OPERATOR, thread.id)).toMatchObject([
      {
        steps: {
          outgoing: [
            { by: "signature", did: "changed" },
            { by: "drafts", did: "withheld", because: "a person must approve it first" },
          ],
        },
      },
    ]);
    const [turn] = await on.runtime.turns(OPERATOR, thread.id);
    const shown = turn && (await turnView({ runtime: on.runtime, actor: OPERATOR }, turn, styleOf({}, { env: {} })));
    expect(shown).toEqual(
      expect.arrayContaining([
        "outgoing reply changed by signature",
        "outgoing reply withheld by drafts: a person must approve it first",
        "→ says It is free of charge.",
      ]),
    );
    await on.say(thread, "Hello?");
    const texts = on.sent[1]?.messages.map(textOf) ?? [];
    expect(texts[1]).toBe("It is free of charge.");
    expect(texts[2]).toContain("| Your last reply was not sent: a person must approve it first.");
    await on.store.close();
  });

  it("is nothing where the step fails: the turn fails, and the message keeps waiting", async () => {
    const broken = sending(() => {
      throw new Error("the signature file is gone");
    });
    const on = await testRuntime(["Hello."], { steps: [broken] });
    const thread = await on.open();
    expect(endOf(await on.say(thread, "Hi"))).toMatchObject({ type: "failed", error: { code: "unexpected" } });
    expect(await on.runtime.pending(OPERATOR, thread)).toHaveLength(1);
    expect(await on.runtime.use(DELIVERY_API).outbox(OPERATOR, on.agent.name, { limit: 5 })).toEqual([]);
    await on.store.close();
  });

  it("law 1: whatever steps do, each request extends the one before", async () => {
    const DONE = {
      as: () => undefined,
      signed: (text: string) => ({ text: `${text} – Mia`, told: false }),
      cut: (text: string) => ({ text: text.slice(0, 3), told: true }),
      held: () => ({ withheld: "it waits" }),
    } as const;
    const ways = fc.array(fc.constantFrom("as", "signed", "cut", "held"), { minLength: 2, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(ways, async (did) => {
        let way: keyof typeof DONE = "as";
        const script = did.map((_, i) => `Reply ${i} of the agent.`);
        const on = await testRuntime(script, { steps: [sending((text) => DONE[way](text))] });
        const thread = await on.open();
        for (const one of did) {
          way = one;
          await on.say(thread, `Asked for ${one}`);
        }
        for (const [i, { messages }] of on.sent.entries()) {
          const before = on.sent[i - 1]?.messages ?? [];
          expect(JSON.stringify(messages.slice(0, before.length))).toBe(JSON.stringify(before));
          expect(messages.filter(({ role }) => role === "assistant").map(textOf)).toEqual(script.slice(0, i));
        }
        await on.store.close();
      }),
      { numRuns: 12 },
    );
  });
});

describe("words that may still be changed or withheld", () => {
  const seen = async (step: TurnSteps, actor: typeof CONTACT) => {
    const on = await testRuntime(["The canary sings."], { steps: [step] });
    const thread = await on.open();
    await on.runtime.post(OPERATOR, thread, [message("Hi", on.time.at)]);
    const early: string[] = [];
    let isCommitted = false;
    const step2 = on.runtime.run(actor, thread);
    for await (const event of step2) {
      isCommitted ||= (await on.runtime.turns(OPERATOR, thread.id)).some(({ status }) => status === "done");
      if (!isCommitted) early.push(JSON.stringify(event));
      else early.push(`committed ${event.type}${"text" in event ? ` ${event.text}` : ""}`);
    }
    await on.store.close();
    return early;
  };

  it.each([
    ["a contact", CONTACT],
    ["a member", MEMBER],
  ])("are not seen by %s before the commit, and then come in one piece", async (_, actor) => {
    const changed = await seen(
      sending((text) => ({ text: text.replace("canary", "bird"), told: false })),
      actor,
    );
    expect(changed.filter((one) => one.startsWith("committed"))).toEqual([
      "committed text-delta The bird sings.",
      "committed done The bird sings.",
    ]);
    expect(changed.join("\n")).not.toContain("canary");
    const withheld = await seen(draft, actor);
    expect(withheld.join("\n")).not.toMatch(/canary|text-delta/);
  });

  it("are seen by an operator, who is told that they are held", async () => {
    const events = await seen(draft, OPERATOR);
    expect(events[0]).toContain('"held":true');
    expect(events.filter((one) => one.includes("text-delta")).join()).toContain("canary");
  });
});
