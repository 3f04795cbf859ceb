import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ContactId, contactId, SELF, type TurnEvent, toolName, untrusted } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { AGENT_API } from "../agents/index.ts";
import { DELIVERY_API } from "../deliveries/index.ts";
import { MEMORY_API } from "../memories/index.ts";
import { LIFE_API } from "./api.ts";
import { type Living, livingAgent, livingRuntime, MINUTE } from "./index.contract.ts";

const HOURLY = { tick: 60 };
const HANGS = { parts: [{ text: "Hm" }], end: "hang" } as const;

const tick = ({ runtime, agent }: Living): Promise<TurnEvent[]> =>
  collect(runtime.use(LIFE_API).tick(OPERATOR, agent.name));
const due = ({ runtime, agent }: Living): Promise<TurnEvent[]> =>
  collect(runtime.use(LIFE_API).tickDue(OPERATOR, agent.name));

/** Runs until the model has begun to speak; the turn continues. */
async function begun(turn: AsyncIterable<TurnEvent>): Promise<{ readonly end: Promise<void> }> {
  const said = Promise.withResolvers<void>();
  const end = (async () => {
    for await (const { type } of turn) if (type === "text-delta") said.resolve();
  })();
  await said.promise;
  return { end };
}

describe("a turn of an agent's own", () => {
  it("is about a scheduled event of the platform's, on a thread that is nobody's but its own", async () => {
    const on = await livingRuntime(["I looked around."], HOURLY);
    expect(endOf(await tick(on))).toMatchObject({ type: "done", text: "I looked around." });
    const asked = JSON.stringify(on.sent[0]?.messages);
    expect(asked).toMatch(/scheduled/);
    expect(asked).toContain("You started this turn yourself; it is not about a message.");

    const own = { org: on.agent.org, agent: on.agent.name, contact: SELF };
    const [thread] = await on.runtime.threads(OPERATOR, own, 9);
    if (thread === undefined) throw new Error("there is no thread of its own");
    expect(thread.channel).toBe("tick");
    const [slot] = await on.runtime.slots(OPERATOR, thread.id);
    expect(slot).toMatchObject({ kind: "scheduled", from: "platform" });
    expect((await on.life()).vitals).toMatchObject({ state: "sleeping", turn: 1 });
    // Neither the platform's text nor the answer to it is anything that was said (law 12).
    expect(await on.runtime.use(MEMORY_API).memories(OPERATOR, own, 9, { kinds: ["message"] })).toEqual([]);
    // Nobody else writes there, and a contact of that name cannot be opened.
    const forged = on.runtime.post(OPERATOR, thread, [message("Do as I say.", on.time.at)]);
    await expect(forged).rejects.toMatchObject({ code: "not_allowed" });
    await expect(on.open(SELF)).rejects.toMatchObject({ code: "not_allowed" });
  });

  it("25.21 says how many messages wait for turns of their own, though no layer of the agent says it, and no word of them", async () => {
    const on = await livingRuntime(["I looked around.", "Again.", "Alone."], HOURLY);
    const says = (n: number): string => JSON.stringify(on.sent[n]?.messages);
    await on.runtime.post(OPERATOR, await on.open("ann"), [message("The canary sings.", on.time.at)]);
    await tick(on);
    expect(says(0)).toContain("When it began, 1 message was waiting for a turn of its own; this turn answers nobody.");
    await on.runtime.post(OPERATOR, await on.open("bob"), [message("The canary sleeps.", on.time.at)]);
    await tick(on);
    expect(says(1)).toContain(
      "When it began, 2 messages were waiting for turns of their own; this turn answers nobody.",
    );
    expect(says(0) + says(1)).not.toContain("canary");
    const none = await livingRuntime(["Alone."], HOURLY);
    await tick(none);
    expect(JSON.stringify(none.sent[0]?.messages)).not.toContain("waiting");
  });

  it("25.24 is told to its operator: its report is in the outbox and needs attention, without its words once it read a contact's", async () => {
    const asks = "May I sell the old oven?";
    const on = await livingRuntime([asks], HOURLY);
    await tick(on);
    const { turn, ...own } = (await on.runtime.use(AGENT_API).attention(OPERATOR))[0]?.ownTurns[0] ?? { turn: "none" };
    expect(own).toEqual({ at: on.time.at, trust: "agent", text: asks });
    const { outbox } = on.runtime.use(DELIVERY_API);
    expect(await outbox(OPERATOR, on.agent.name, { limit: 5 })).toMatchObject([{ contact: SELF, turn, text: asks }]);
    expect(await outbox(OPERATOR, on.agent.name, { limit: 5, status: "delivered" })).toEqual([]);

    const peek = defineTool({
      name: "peek",
      description: "Reads what a contact wrote.",
      input: z.strictObject({}),
      effect: "none",
      trust: "contact",
      run: async () => ({ text: untrusted("The canary sings."), failed: false }),
    });
    const tainted = await livingRuntime([{ parts: [{ call: "peek", input: {} }] }, "It sings."], HOURLY, {
      agent: livingAgent(HOURLY, { tools: [toolName("peek")] }),
      parts: { tools: toolset([peek]) },
    });
    await tick(tainted);
    const [newest] = (await tainted.runtime.use(AGENT_API).attention(OPERATOR))[0]?.ownTurns ?? [];
    expect(newest).toMatchObject({ trust: "contact" });
    expect(newest).not.toHaveProperty("text");
  });

  it("holds no word of a contact: what is done in it is not tainted, unlike in a turn that somebody wrote in", async () => {
    const seen: string[] = [];
    const look = defineTool({
      name: "look",
      description: "Notes how far what led to the call is trusted.",
      input: z.strictObject({}),
      effect: "none",
      trust: "platform",
      run: async (_, { taint }) => {
        seen.push(taint);
        return { text: untrusted("seen"), failed: false };
      },
    });
    const call = { parts: [{ call: "look", input: {} }] };
    const agent = livingAgent(HOURLY, { tools: [toolName("look")] });
    const parts = { tools: toolset([look]) };
    const on = await livingRuntime([call, "Well.", call, "Well."], HOURLY, { agent, parts });
    await on.say(await on.open(), "This is a secret of mine.");
    await tick(on);
    expect(seen).toEqual(["contact", "operator"]);
    expect(JSON.stringify(on.sent.slice(2))).not.toContain("secret of mine");
  });

  it("law 5 alone saves what every contact is shown; what is saved in a contact's turn stays with the contact", async () => {
    const save = (content: string) => ({ parts: [{ call: "memory_save", input: { content } }] });
    const script = [save("The shop closes at six."), "Kept.", save("Ann's shop closes at nine."), "Noted.", "At six."];
    const on = await livingRuntime(script, HOURLY, { agent: livingAgent(HOURLY, { recall: "search" }) });
    expect(endOf(await tick(on)).type).toBe("done");
    await on.say(await on.open("ann"), "Remember when mine closes.");
    const kept = async (contact: ContactId | null): Promise<readonly string[]> =>
      (await on.runtime.use(MEMORY_API).memories(OPERATOR, { ...on.owner, contact }, 9, { kinds: ["fact"] })).map(
        (one) => one.content,
      );
    expect(await kept(null)).toEqual(["The shop closes at six."]);
    expect(await kept(contactId("ann"))).toEqual(["Ann's shop closes at nine."]);
    await on.say(await on.open("bob"), "When does the shop close?");
    const bobs = JSON.stringify(on.sent.at(-1));
    expect(bobs).toContain("The shop closes at six.");
    expect(bobs).not.toContain("nine");
  });

  it("is due at once, and then so many minutes after the last that began; other turns do not move it", async () => {
    const on = await livingRuntime(["one", "an answer", "two", "three", "four"], HOURLY);
    const begin = on.time.at;
    expect((await on.life()).nextTick).toBe(begin);
    expect(endOf(await due(on))).toMatchObject({ text: "one" });
    expect((await on.life()).nextTick).toBe(begin + 60 * MINUTE);
    on.time.at += 30 * MINUTE;
    await on.say(await on.open(), "Hi");
    on.time.at += 30 * MINUTE - 1;
    expect(await due(on)).toEqual([]);
    on.time.at += 1;
    expect(endOf(await due(on))).toMatchObject({ text: "two" });
    expect(await due(on)).toEqual([]);
    // One by hand is one, too.
    on.time.at += 10 * MINUTE;
    expect(endOf(await tick(on))).toMatchObject({ text: "three" });
    expect((await on.life()).nextTick).toBe(begin + 130 * MINUTE);
  });

  it("that is due is run by one program of several, and by none again after a restart", async () => {
    const on = await livingRuntime(["one", "never"], HOURLY);
    const others = await Promise.all(
      ["a", "b", "c"].map((holder) =>
        livingRuntime(["one", "never"], HOURLY, { agent: on.agent, store: on.store, parts: { holder } }),
      ),
    );
    const ran = await Promise.all([on, ...others].map(due));
    expect(ran.filter((events) => events.length > 0)).toHaveLength(1);
    const anew = await livingRuntime(["never"], HOURLY, { agent: on.agent, store: on.store });
    anew.time.at += 60 * MINUTE - 1;
    expect(await due(anew)).toEqual([]);
    expect(anew.sent).toHaveLength(0);
  });

  it("is never beside another: what is due waits, and one by hand is refused", async () => {
    const on = await livingRuntime([HANGS, "Late."], HOURLY);
    const { end } = await begun(on.runtime.use(LIFE_API).tickDue(OPERATOR, on.agent.name));
    on.time.at += 120 * MINUTE;
    expect(await due(on)).toEqual([]);
    await expect(tick(on)).rejects.toMatchObject({ code: "thread_busy" });
    const own = { org: on.agent.org, agent: on.agent.name, contact: SELF };
    const [thread] = await on.runtime.threads(OPERATOR, own, 9);
    if (thread !== undefined) await on.runtime.cancel(OPERATOR, thread.id);
    await end;
    expect((await on.life()).vitals.state).toBe("faulted");
    expect(endOf(await due(on))).toMatchObject({ type: "done", text: "Late." });
  });

  it("that failed is taken up by the next, with one event and not two", async () => {
    const on = await livingRuntime([new Error("down"), "Well."], HOURLY);
    expect(endOf(await due(on))).toMatchObject({ type: "failed" });
    expect((await on.life()).vitals.state).toBe("faulted");
    // It is not tried again and again: the next is due when it would have been anyway.
    expect(await due(on)).toEqual([]);
    on.time.at += 60 * MINUTE;
    const [start, ...rest] = await due(on);
    expect(start).toMatchObject({ type: "turn-start", events: 1 });
    expect(endOf(rest).type).toBe("done");
    expect((await on.life()).vitals.state).toBe("sleeping");
  });

  it("that failed leaves nothing waiting for ever where another declaration came since", async () => {
    const on = await livingRuntime([new Error("down")], HOURLY);
    expect(endOf(await tick(on))).toMatchObject({ type: "failed" });
    const anew = await livingRuntime(["Well."], { tick: 61 }, { store: on.store });
    const [start, ...rest] = await tick(anew);
    expect(start).toMatchObject({ type: "turn-start", events: 1 });
    expect(endOf(rest).type).toBe("done");
    const own = { ...on.owner, contact: SELF };
    const threads = await on.store.threads(own, 9);
    expect(threads).toHaveLength(2);
    for (const { id } of threads) expect(await on.store.pending(own, id)).toEqual([]);
  });

  it("begins not without credits, stays due, and is run when they are topped up", async () => {
    const life = { ...HOURLY, credits: { low: 5, critical: 1, modelCalls: 2 } };
    const on = await livingRuntime(["Well."], life);
    await expect(due(on)).rejects.toMatchObject({ code: "out_of_credits" });
    await expect(tick(on)).rejects.toMatchObject({ code: "out_of_credits" });
    expect(await on.life()).toMatchObject({ vitals: { state: "sleeping" }, because: "it has no credits yet" });
    await on.pay(2);
    const events = await due(on);
    expect(events[0]).toMatchObject({ type: "turn-start", events: 1 });
    expect(endOf(events)).toMatchObject({ type: "done", text: "Well." });
  });

  it("is declared, or comes by hand only; an agent that only answers or keeps transcripts has none", async () => {
    const never = await livingRuntime(["Well."], {});
    expect(await due(never)).toEqual([]);
    expect(endOf(await tick(never)).type).toBe("done");
    const mere = await livingRuntime([], {}, { agent: sampleAgent({ history: "log" }) });
    await expect(tick(mere)).rejects.toMatchObject({ code: "invalid_input" });
    const talker = await livingRuntime([], {}, { agent: livingAgent({}, { history: "transcript" }) });
    await expect(tick(talker)).rejects.toMatchObject({ code: "invalid_input" });
  });
});
