import { describe, expect, it } from "vitest";
import { memoryId, type NewMemory, type Request, readFrames, untrusted } from "../../../protocol/index.ts";
import { collect, OPERATOR, sampleAgent } from "../../../turn/index.contract.ts";
import { MEMORY_API } from "../api-types.ts";
import { HOUR, talked, texts } from "./stage.contract.ts";

const BOATS = ["The boat is in Oslo.", "She sold half of the boat.", "Her boat has a blue sail."];

/** Ann has said twice that her boat is green, and an operator has saved three facts of it. An hour later. */
async function remembering(...given: Parameters<typeof talked>) {
  const stand = await talked(...given);
  const { runtime, scope, time, talk, summaries } = stand;
  const remember = (content: string, more: Partial<NewMemory> = {}) =>
    runtime.use(MEMORY_API).remember(OPERATOR, scope, { content: untrusted(content), tags: [], ...more });
  for (const content of [...BOATS, "She likes tea."]) await remember(content);
  time.at += HOUR;
  await talk("ann");
  time.at += HOUR;
  const byTopic = (wish = {}) =>
    collect(runtime.use(MEMORY_API).consolidate(OPERATOR, scope, { groupBy: "topic", ...wish }));
  const ofTopics = async () => (await summaries()).filter(({ session }) => session === undefined);
  return { ...stand, remember, byTopic, ofTopics };
}

const shown = (request: Request | undefined) =>
  request === undefined ? [] : readFrames(texts(request)).map(({ kind, trust, text }) => [kind, trust, text]);

describe("what is remembered of a subject", () => {
  it("is summarized, whenever it was said or saved, with what it was made from, its word as a tag and the lowest trust", async () => {
    const { byTopic, ofTopics, runtime, scope } = await remembering("Ann's green boat is in Oslo.");
    const [outcome, ...others] = await byTopic();
    expect(others).toEqual([]);
    expect(outcome).toMatchObject({ topic: "boat", sources: 5, usage: { input: expect.any(Number) } });
    const [summary] = await ofTopics();
    expect(summary).toMatchObject({
      kind: "summary",
      by: "agent",
      trust: "contact",
      tags: ["boat"],
      turn: outcome?.turn,
    });
    const sources = await Promise.all(
      (summary?.sources ?? []).map((id) => runtime.use(MEMORY_API).memory(OPERATOR, scope, memoryId(id))),
    );
    expect(sources.map((memory) => memory?.content)).toEqual(["My boat is green.", ...BOATS, "My boat is green."]);
    expect([summary?.validFrom, summary?.at]).toEqual([sources[0]?.at, sources.at(-1)?.at]);
  });

  it("is summarized once, and what is new of it when there is enough of it", async () => {
    const { byTopic, remember, time, asked, ofTopics } = await remembering(() => `Boats, at ${time.at}.`);
    await byTopic();
    for (const content of ["The boat leaks.", "The boat is mended.", "Her boat won a race."]) await remember(content);
    time.at += HOUR;
    expect(await byTopic()).toEqual([]);
    await remember("The boat is for sale.");
    expect(await byTopic()).toEqual([]);
    time.at += HOUR;
    expect(await byTopic()).toMatchObject([{ sources: 4 }]);
    expect(asked()).toHaveLength(2);
    expect(await ofTopics()).toHaveLength(2);
  });

  it("is as it was before when the summary is forgotten, and may be summarized again", async () => {
    const { byTopic, ofTopics, runtime, scope } = await remembering("Ann's green boat.");
    const before = await runtime.use(MEMORY_API).memories(OPERATOR, scope, 99, { kinds: ["message", "fact"] });
    await byTopic();
    expect(await runtime.use(MEMORY_API).memories(OPERATOR, scope, 99, { kinds: ["message", "fact"] })).toEqual(before);
    for (const { id } of await ofTopics()) await runtime.use(MEMORY_API).forget(OPERATOR, scope, id);
    expect(await byTopic()).toMatchObject([{ sources: 5 }]);
  });

  it("is summarized beside the conversations, neither in the way of the other", async () => {
    const { byTopic, consolidate, summaries } = await remembering(
      ({ messages }) => `About ${messages[0]?.parts.length}.`,
    );
    expect(await consolidate()).toHaveLength(2);
    expect(await byTopic()).toHaveLength(1);
    expect([await consolidate(), await byTopic()]).toEqual([[], []]);
    expect(await summaries()).toHaveLength(3);
  });

  it("law 4: stands in the request in frames, each with its trust, what was said apart from what was saved", async () => {
    const { byTopic, asked } = await remembering("Ann's green boat.");
    await byTopic();
    const saved = BOATS.map((content) => ["memory", "operator", content]);
    const said = ["message", "contact", "My boat is green."];
    expect(shown(asked()[0])).toEqual([said, ...saved, said]);
    expect(asked()[0]?.prefix).toEqual({ tools: [], system: [] });
  });

  it("law 5: is that of the contact alone", async () => {
    const { byTopic, asked, summaries, scopeOf } = await remembering("A boat.", { contacts: ["ann", "bob"] });
    await byTopic();
    expect(asked()).toHaveLength(1);
    expect(asked().map(texts).join()).not.toContain("bob");
    expect(await summaries(scopeOf("bob"))).toEqual([]);
  });

  it("law 12: is made from no summary, of a subject or of a conversation", async () => {
    const { byTopic, consolidate, asked, remember, time } = await remembering("The boat of the regatta.");
    await consolidate();
    await byTopic();
    for (const content of ["The boat leaks.", "The boat is mended.", "Her boat won.", "A boat sank."])
      await remember(content);
    time.at += HOUR;
    expect(await byTopic()).toMatchObject([{ sources: 4 }]);
    expect(asked().map(texts).join()).not.toContain("regatta");
  });

  it("is refused for the agent's own memories, which are no contact's", async () => {
    const { runtime, scope, asked } = await remembering("A boat.");
    const own = collect(
      runtime.use(MEMORY_API).consolidate(OPERATOR, { ...scope, contact: null }, { groupBy: "topic" }),
    );
    await expect(own).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("helper's own memories belong to no contact"),
    });
    expect(asked()).toEqual([]);
  });

  it.each([
    ["topic", ["scheduled: Sum up 5 memories about boat."]],
    ["both", ["Sum up 4 messages", "Sum up 4 messages", "Sum up 5 memories about boat."]],
  ] as const)("is summed up in idle time where the agent declares groupBy: %s", async (groupBy, message) => {
    const agent = sampleAgent({ consolidate: { after: 30, groupBy } });
    const { runtime, asked, scope } = await remembering(({ messages }) => `About ${messages[0]?.parts.length}.`, {
      agent,
    });
    expect(await runtime.use(MEMORY_API).consolidateIdle(OPERATOR)).toEqual([]);
    const thread = (await runtime.threads(OPERATOR, scope, 9)).find(({ channel }) => channel === "consolidation");
    const turns = thread === undefined ? [] : await runtime.turns(OPERATOR, thread.id);
    const events = turns.flatMap((turn) =>
      turn.events.map(({ kind, content }) => `${kind}: ${JSON.stringify(content)}`),
    );
    expect(events).toHaveLength(message.length);
    for (const [n, text] of message.entries()) expect(events[n]).toContain(text.replace("scheduled: ", ""));
    expect(events[0]).toMatch(/^scheduled/);
    await runtime.use(MEMORY_API).consolidateIdle(OPERATOR);
    expect(asked()).toHaveLength(message.length);
  });
});
