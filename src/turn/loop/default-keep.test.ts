import { expect, it } from "vitest";
import type { ScriptedReply } from "../../models/index.ts";
import type { Request } from "../../protocol/index.ts";
import { sampleAgent, testRuntime } from "../index.contract.ts";

const PAGE = "The sea was calm and the wind came from the west. ".repeat(20);

/**
 * The tokens of a conversation's own messages before its first cut, and of those that stay whole then; and of each request before it, whether
 * its end was to be written to the provider's cache, with the number of its turn.
 */
async function firstCut(reply: (request: Request) => string | ScriptedReply) {
  const agent = sampleAgent({ recall: "none", budgets: { ...sampleAgent().budgets, total: 180_000 } });
  const stand = await testRuntime(
    Array.from({ length: 200 }, () => reply),
    { agent },
  );
  const thread = await stand.open();
  const written: [turn: number, isWritten: boolean][] = [];
  let before = 0;
  for (let n = 1; n < 60; n++) {
    stand.time.at += 60_000;
    const events = await stand.say(thread, `Day ${n}.`);
    const { transcript = [] } = (await stand.store.epoch(thread.scope, thread.id)) ?? {};
    const own = transcript.filter(({ turn }) => turn !== null);
    const sum = (of: typeof own): number => of.reduce((all, { tokens }) => all + tokens, 0);
    if (events.some(({ type }) => type === "cut")) {
      await stand.store.close();
      return { before, stays: sum(own.filter(({ turn }) => turn !== own.at(-1)?.turn)), written };
    }
    const { sent } = stand;
    for (const { messages, breakpoints } of sent.slice(written.length))
      written.push([
        n,
        breakpoints.some(({ after }) => after.zone === "message" && after.index === messages.length - 1),
      ]);
    before = sum(own);
  }
  throw new Error("it was never cut");
}

it("29.1 a conversation of an agent that says nothing of cuts is cut from 8,000 tokens on, and some 600 of the newest stay whole", async () => {
  const { before, stays } = await firstCut(() => PAGE);
  expect(before).toBeGreaterThan(8_000);
  expect(before).toBeLessThan(8_500);
  expect(stays).toBeGreaterThanOrEqual(600);
  expect(stays).toBeLessThan(1_100);
});

it("29.1 while it shows results of tools, it is cut from 12,000 tokens on", async () => {
  const { before } = await firstCut(({ messages }) =>
    messages.at(-1)?.role === "tool" ? PAGE : { parts: [{ call: "look", input: { at: "the sea" } }] },
  );
  expect(before).toBeGreaterThan(12_000);
  expect(before).toBeLessThan(12_600);
});

it("29.1 the end of the last request before a cut is not written to the cache, since nobody reads it", async () => {
  const { written } = await firstCut(() => PAGE);
  expect(written.slice(2)).toEqual(written.slice(2).map(([n], at, all) => [n, at < all.length - 1]));
});

it("29.1 it is written all the same where a turn usually sends a second request, which reads it", async () => {
  const { written } = await firstCut(({ messages }) =>
    messages.at(-1)?.role === "tool" ? PAGE : { parts: [{ call: "look", input: { at: "the sea" } }] },
  );
  expect(written.at(-1)?.[0]).toBe(written.at(-2)?.[0]);
  expect(written.slice(4).map(([, isWritten]) => isWritten)).toEqual(written.slice(4).map(() => true));
});
