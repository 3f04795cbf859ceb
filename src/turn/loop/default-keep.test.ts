import { expect, it } from "vitest";
import type { ScriptedReply } from "../../models/index.ts";
import type { Request } from "../../protocol/index.ts";
import { sampleAgent, testRuntime } from "../index.contract.ts";

const PAGE = "The sea was calm and the wind came from the west. ".repeat(20);

/** The tokens of a conversation's own messages before its first cut, and of those that stay whole then. */
async function firstCut(reply: (request: Request) => string | ScriptedReply) {
  const agent = sampleAgent({ recall: "none", budgets: { ...sampleAgent().budgets, total: 180_000 } });
  const stand = await testRuntime(
    Array.from({ length: 200 }, () => reply),
    { agent },
  );
  const thread = await stand.open();
  let before = 0;
  for (let n = 1; n < 60; n++) {
    stand.time.at += 60_000;
    const events = await stand.say(thread, `Day ${n}.`);
    const { transcript = [] } = (await stand.store.epoch(thread.scope, thread.id)) ?? {};
    const own = transcript.filter(({ turn }) => turn !== null);
    const sum = (of: typeof own): number => of.reduce((all, { tokens }) => all + tokens, 0);
    if (events.some(({ type }) => type === "cut")) {
      await stand.store.close();
      return { before, stays: sum(own.filter(({ turn }) => turn !== own.at(-1)?.turn)) };
    }
    before = sum(own);
  }
  throw new Error("it was never cut");
}

it("29.1 a conversation of an agent that says nothing of cuts is cut from 8,000 tokens on, and some 800 of the newest stay whole", async () => {
  const { before, stays } = await firstCut(() => PAGE);
  expect(before).toBeGreaterThan(8_000);
  expect(before).toBeLessThan(8_500);
  expect(stays).toBeGreaterThanOrEqual(800);
  expect(stays).toBeLessThan(1_300);
});

it("29.1 while it shows results of tools, it is cut from 12,000 tokens on", async () => {
  const { before } = await firstCut(({ messages }) =>
    messages.at(-1)?.role === "tool" ? PAGE : { parts: [{ call: "look", input: { at: "the sea" } }] },
  );
  expect(before).toBeGreaterThan(12_000);
  expect(before).toBeLessThan(12_600);
});
