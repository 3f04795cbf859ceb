import { describe, expect, it } from "vitest";
import { scripted } from "../../models/index.ts";
import { readRecording, replay } from "../index.ts";
import { collect, endOf, OPERATOR, sampleAgent, stage } from "../stage.contract.ts";
import type { DeliveryReport } from "./deliveries.ts";
import type { Delivery, SendDelivery } from "./delivery.ts";

const AGENT = sampleAgent({ deliver: { url: "https://receiver.example/replies" } });
const MINUTE = 60_000;

/** A receiver that answers as it is told, one try after the other, and takes all that comes later. */
function receiver(...troubles: readonly string[]) {
  const tries: Delivery[] = [];
  const send: SendDelivery = async (delivery) => {
    const trouble = troubles[tries.length];
    tries.push(delivery);
    if (trouble !== undefined) throw new Error(trouble);
  };
  return { tries, send };
}

/** An agent that has said something, and what was done to deliver it. */
async function delivering(...troubles: readonly string[]) {
  const { tries, send } = receiver(...troubles);
  const time = { now: Date.parse("2026-11-21T08:00:00Z") };
  const on = await stage(["Here is your bread.", "And your cake."], {
    agent: AGENT,
    parts: { sendDelivery: send, wall: () => time.now },
  });
  const thread = await on.open();
  expect(endOf(await on.say(thread, "Bread, please.")).type).toBe("done");
  const look = async (): Promise<readonly DeliveryReport[]> => {
    const reports: DeliveryReport[] = [];
    for await (const report of on.runtime.deliverDue(OPERATOR, new AbortController().signal)) reports.push(report);
    return reports;
  };
  return { ...on, thread, tries, look, later: (minutes: number) => (time.now += minutes * MINUTE) };
}

describe("a reply of an agent that says where its replies go", () => {
  it("is sent once it is committed, with its id, and never again", async () => {
    const { look, tries, runtime } = await delivering();
    expect(await look()).toMatchObject([{ agent: AGENT.name, again: false }]);
    expect(await look()).toEqual([]);
    expect(tries).toMatchObject([{ text: "Here is your bread.", contact: "ann", id: expect.stringMatching(/^out_/) }]);
    expect(await runtime.outbox(OPERATOR, AGENT.name, { limit: 5 })).toMatchObject([{ status: "delivered" }]);
  });

  it("that is not taken is tried again later under the same id, and the one behind it does not wait for it", async () => {
    const { look, tries, later, say, thread } = await delivering("the server answered 503");
    expect(await look()).toMatchObject([{ failed: "the server answered 503", again: true }]);
    expect(await look()).toEqual([]);
    await say(thread, "And a cake.");
    expect(await look()).toMatchObject([{ again: false }]);
    later(1);
    expect(await look()).toMatchObject([{ again: false }]);
    const [first, cake, second] = tries;
    expect(cake?.text).toBe("And your cake.");
    expect(second?.id).toBe(first?.id);
  });

  it("that is refused for a day stays in the outbox, and says why", async () => {
    const { look, tries, later, runtime } = await delivering(...Array<string>(30).fill("the server answered 500"));
    for (let left = 40; left > 0; left--) {
      await look();
      later(61);
    }
    expect(tries).toHaveLength(30);
    const [message] = await runtime.outbox(OPERATOR, AGENT.name, { limit: 5 });
    expect(message).toMatchObject({ status: "undeliverable", failed: "the server answered 500" });
  });

  it("is tried by one of two programs alone", async () => {
    const { store, tries, look } = await delivering();
    const owner = { org: AGENT.org, agent: AGENT.name };
    const now = Date.parse("2026-11-21T08:00:00Z");
    const held = await store.dueDeliveries(owner, { holder: "another", now, until: now + MINUTE, limit: 5 });
    expect(held).toHaveLength(1);
    expect(await look()).toEqual([]);
    expect(tries).toEqual([]);
  });

  it("is sent once by two programs, however slow the receiver is", async () => {
    const texts = Array.from({ length: 15 }, (_, n) => `Reply ${n}.`);
    const time = { now: Date.parse("2026-11-21T08:00:00Z") };
    const tries: string[] = [];
    const wall = (): number => time.now;
    const slowly: SendDelivery = async ({ text }) => {
      tries.push(text);
      time.now += 14_000;
    };
    const one = await stage(texts, { agent: AGENT, parts: { sendDelivery: slowly, wall, holder: "one" } });
    const quickly: SendDelivery = async ({ text }) => void tries.push(text);
    const other = await stage([], {
      agent: AGENT,
      store: one.store,
      parts: { sendDelivery: quickly, wall, holder: "other" },
    });
    const thread = await one.open();
    for (const text of texts) await one.say(thread, text);
    const { signal } = new AbortController();
    let sent = 0;
    // Nine answers take longer than a message is held.
    for await (const _ of one.runtime.deliverDue(OPERATOR, signal))
      if (++sent === 9) for await (const _ of other.runtime.deliverDue(OPERATOR, signal));
    expect(tries).toEqual(texts);
  });

  it.each(["the recording", "the agent's own model"])("is sent to nobody where %s answers in a replay", async (who) => {
    const { look, tries, runtime, time } = await delivering();
    await look();
    const lines = [
      { thread: "old", from: "contact", text: "Bread?" },
      { thread: "old", from: "agent", text: "Long ago." },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const plan = {
      actor: OPERATOR,
      agent: AGENT.name,
      digest: "d",
      exchanges: readRecording(text, { file: "old.jsonl", digest: "d", gap: 1_000 }),
      setClock: (at: number) => {
        time.at = at;
      },
      wait: async () => undefined,
      ...(who === "the recording" && { speaker: () => scripted(["Long ago."]).model }),
    };
    const [turn] = await collect(replay(runtime, plan));
    expect(turn?.end?.type).toBe("done");
    expect(await look()).toEqual([]);
    expect(tries).toHaveLength(1);
    expect(await runtime.outbox(OPERATOR, AGENT.name, { status: "waiting", limit: 5 })).toEqual([]);
  });

  it("is not followed by a second answer to the same message, unless somebody says that it shall", async () => {
    const { look, tries, runtime, thread } = await delivering();
    await look();
    const [turn] = await runtime.turns(OPERATOR, thread.id);
    if (turn === undefined) throw new Error("no turn");
    await expect(collect(runtime.regenerate(OPERATOR, turn.id))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/second reply.*--again/),
    });
    expect(await runtime.threads(OPERATOR, thread.scope, 9)).toHaveLength(1);
    expect(endOf(await collect(runtime.regenerate(OPERATOR, turn.id, { again: true }))).type).toBe("done");
    await look();
    expect(tries.map(({ text }) => text)).toEqual(["Here is your bread.", "And your cake."]);
  });
});
