import { describe, expect, it } from "vitest";
import { DELIVERY_API } from "../../src/features/deliveries/index.ts";
import { INBOX_API } from "../../src/features/inbox/index.ts";
import { LIFE_API } from "../../src/features/life/index.ts";
import { tokenCounter } from "../../src/models/index.ts";
import type { Request } from "../../src/protocol/index.ts";
import { automaton, call, dear, liveLayer, SOVEREIGN, sender, shown } from "./automaton.ts";

const NOBODY = { code: "out_of_credits" };
const DIGITS = [1, 2, 3, 4, 5] as const;
const SENDERS = DIGITS.map(sender);

/** The live layers that are the tenth together. */
const TENTH = ["vitals", "obligations", "conversation", "recent", "allowance"];

describe("the sovereign with `inbox: batch`", () => {
  it("000.40 000.34 layer 10 has about 200, 450, 950 and 1,450 tokens for 0, 1, 3 and 5 senders, beside 160 around each log", async () => {
    const on = await automaton("batch");
    await on.pay(50);
    const count = await tokenCounter({ factor: 1 });
    const sizeOf = (request: Request | undefined): number =>
      TENTH.reduce((sum, layer) => sum + count(liveLayer(request, layer)), 0);
    // Frames with addresses, days, and who said it: all that is not what was said.
    const aroundLogs = (request: Request | undefined): number => {
      const log = liveLayer(request, "conversation");
      const said = log.split("\n").flatMap((line) => /^\| (?:them|you)[^:]*: (.*)$/.exec(line)?.[1] ?? []);
      return count(log) - said.reduce((sum, text) => sum + count(text), 0);
    };
    const words = "of the dark rye bread, with the thick crust that you told me about on market day";
    for (const from of SENDERS)
      for (const n of DIGITS)
        await on.say(from, `Please keep loaf ${n} ${words}, until noon.`, `Loaf ${n} ${words} is kept for you.`);
    for (const n of [1, 2, 3, 4, 5])
      await on.tick(
        call("remember", { content: `Supplier ${n} brings rye flour each ${n}th day, and is paid at once.` }),
        "Noted.",
      );
    const sizes = [sizeOf((await on.tick("Nothing to do.")).sent[0])];
    for (const many of [1, 3, 5]) {
      for (const from of SENDERS.slice(0, many)) await on.post(from, "Is it ready?");
      const { sent } = await on.inbox("It is.");
      expect(liveLayer(sent[0], "conversation").match(/^\| you: /gm)).toHaveLength(5 * many);
      expect(aroundLogs(sent[0])).toBeLessThan(50 + 160 * many);
      sizes.push(sizeOf(sent[0]) - aroundLogs(sent[0]));
    }
    for (const [i, wanted] of [200, 450, 950, 1_450].entries()) {
      expect(sizes[i], `${i}: ${sizes}`).toBeGreaterThan(wanted * 0.8);
      expect(sizes[i], `${i}: ${sizes}`).toBeLessThan(wanted * 1.2);
    }
  });

  it("answers three senders apart in one turn, sleeps after it, and the prefix is that of all other turns", async () => {
    const on = await automaton("batch");
    await on.pay(50);
    const senders = SENDERS.slice(0, 3);
    for (const [i, from] of senders.entries()) await on.post(from, `My word is secret-${i}.`, { by: from });
    const replies = senders.map(({ address }, i) => ({
      call: "reply_to_sender",
      input: { sender: address, text: `I keep secret-${i}.` },
    }));
    const { sent, events, turn } = await on.inbox({ parts: replies }, "All three are answered.");
    expect(events.at(-1)).toMatchObject({ type: "done", text: "All three are answered." });
    expect(sent.map(shown)[0]?.match(/message contact proven/g)).toHaveLength(3);
    const { runtime, operator } = on.app;
    const out = await runtime.use(DELIVERY_API).outbox(operator, SOVEREIGN, { limit: 9 });
    const told = senders.map(({ address }, i) => [address.toLowerCase(), `I keep secret-${i}.`]);
    expect(out.map(({ contact, text }) => [contact, text]).sort()).toEqual(told.sort());
    expect((await runtime.use(LIFE_API).life(operator, SOVEREIGN)).vitals.state).toBe("sleeping");
    const [first] = senders;
    if (first === undefined) throw new Error("nobody writes");
    const alone = await on.say(first, "Who else wrote?", "Nobody else's matters are told.");
    expect(alone.sent[0]?.prefix).toEqual(sent[0]?.prefix);
    expect(alone.sent.map(shown)[0]).toContain("I keep secret-0.");
    for (const other of ["secret-1", "secret-2"]) expect(alone.sent.map(shown)[0]).not.toContain(other);
    expect((await runtime.rebuilt(operator, turn, 1)).request).toMatchObject({ messages: sent[0]?.messages });
    for await (const found of on.app.verify(operator.org)) expect(found.type).not.toBe("problem");
  });

  it("begins no turn without credits: the messages keep waiting, and are handled after a payment", async () => {
    const on = await automaton("batch");
    await on.pay(0.01);
    const [ada, ben] = SENDERS;
    if (ada === undefined || ben === undefined) throw new Error("two write");
    await on.say(ada, "Hello.", dear("Hello.", 0.02));
    for (const from of [ada, ben]) await on.post(from, "Are you there?");
    await expect(on.inbox("never asked")).rejects.toMatchObject(NOBODY);
    expect(await on.app.runtime.use(INBOX_API).inbox(on.app.operator, SOVEREIGN, 9)).toHaveLength(2);
    await on.pay(5);
    await on.inbox("I am back.");
    expect(await on.app.runtime.use(INBOX_API).inbox(on.app.operator, SOVEREIGN, 9)).toEqual([]);
  });
});
