import { describe, expect, it } from "vitest";
import type { Script } from "../../models/index.ts";
import { type Agent, memoryId, type Request, toolName, untrusted } from "../../protocol/index.ts";
import type { Store, Thread } from "../../store/index.ts";
import { endOf, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../../turn/index.contract.ts";
import { cardOf } from "../../wire/index.ts";
import { MEMORY_API } from "./api-types.ts";

const AT = Date.UTC(2026, 10, 1);
const id = (n: number) => memoryId(`mem_${String(n).padStart(26, "0")}`);
/** Changed lines of the tail are kept in the transcript, and the reasoning is bound to them. */
const KEEPING = {
  cardOf: (ref: string) => ({ ...cardOf(ref), tailMode: "delta" as const, reasoningBoundToHistory: true }),
};

const save = (store: Store, { scope }: Thread, content: string, n: number) =>
  store.saveMemory(scope, id(n), { content: untrusted(content), tags: [], trust: "contact", at: AT + n * 1_000 });

const says = ({ messages }: Request): string => JSON.stringify(messages);

const searcher = (change: Partial<Agent> = {}): Agent => sampleAgent({ recall: "search", ...change });
const thinks = { parts: [{ reasoning: "Hm.", metadata: { anthropic: { signature: "c2ln" } } }, { text: "Aye." }] };

/** A conversation in which a cat and a boat were recalled, and stay. */
async function recalled(
  script: readonly Script<Request>[] = Array(6).fill(thinks),
): Promise<TestRuntime & { thread: Thread }> {
  const agent = searcher({ tools: [toolName("memory_forget")] });
  const stand = await testRuntime(script, { agent, parts: KEEPING });
  const thread = await stand.open();
  await save(stand.store, thread, "The cat is called Miso", 1);
  await save(stand.store, thread, "The boat is called Argo", 2);
  await stand.say(thread, "What is my cat called?");
  await stand.say(thread, "And how is my boat called?");
  return { ...stand, thread };
}

describe("a memory that was shown and stays in the conversation", () => {
  it("ends the epoch when it is forgotten: it is no longer sent, and what is still known is shown again", async () => {
    const { sent, thread, runtime, say, store } = await recalled();
    expect(sent.map((request) => [says(request).includes("Miso"), says(request).includes("Argo")])).toEqual([
      [true, false],
      [true, true],
    ]);
    expect(await runtime.use(MEMORY_API).forget(OPERATOR, thread.scope, id(1))).toBe(true);
    await say(thread, "Hello, and how is my boat called?");
    await say(thread, "Thanks!");
    for (const request of sent.slice(2)) {
      expect(says(request)).not.toContain("Miso");
      expect(says(request)).toContain("Argo");
      expect(says(request)).toContain("What is my cat called?");
    }
    const turns = await runtime.turns(OPERATOR, thread.id);
    expect(turns.map(({ requests }) => requests[0]?.ledger.epoch)).toMatchObject([
      { n: 1, reason: "first", opened: true },
      { n: 1, reason: "first", opened: false },
      { n: 2, reason: "forgotten", opened: true },
      { n: 2, reason: "forgotten", opened: false },
    ]);
    // The beginning has changed: earlier reasoning would be refused, and new reasoning is replayed.
    expect(sent.map((request) => says(request).split("c2ln").length - 1)).toEqual([0, 1, 0, 1]);
    expect(sent[3]?.messages.slice(0, sent[2]?.messages.length)).toEqual(sent[2]?.messages);
    for await (const finding of store.verify(thread.scope.org)) expect(finding.type).not.toBe("problem");
  });

  it("ends it also when the model itself forgets it, from the next turn on", async () => {
    const forgets = { parts: [{ call: "memory_forget", input: { id: id(1) } }] };
    const { sent, thread, say, store } = await recalled(["Aye.", "Aye.", forgets, "Done.", "Aye."]);
    await say(thread, "Forget my cat");
    expect(await store.memory(thread.scope, id(1))).toBeUndefined();
    expect(endOf(await say(thread, "Hello there")).type).toBe("done");
    expect(says(sent[3] ?? never())).toContain("called Miso");
    expect(says(sent[4] ?? never())).not.toContain("called Miso");
    // 25.10a: a request to forget is not recalled later, nor is its answer.
    const heard = await store.memories(thread.scope, 20, { kinds: ["message"] });
    expect(heard.map(({ content }) => content)).toContain("Hello there");
    expect(heard.map(({ content }) => content)).not.toContain("Forget my cat");
    expect(heard.map(({ content }) => content)).not.toContain("Done.");
  });

  it("ends it if any of several memories shown as one is forgotten", async () => {
    for (const gone of [1, 2]) {
      const stand = await testRuntime(Array(3).fill("Aye."), { agent: searcher(), parts: KEEPING });
      const thread = await stand.open();
      const talk = ["The key is under the pot", "The blue pot, the key fits all doors"];
      for (const [i, content] of talk.entries()) {
        const said = { content: untrusted(content), tags: [], trust: "contact", at: AT + i, session: "old" } as const;
        await stand.store.saveMemory(thread.scope, id(i + 1), { ...said, kind: "message" });
      }
      await stand.say(thread, "Where is the key to the doors?");
      await stand.store.forgetMemory(thread.scope, id(gone));
      await stand.say(thread, "Hello there");
      const [before, after] = stand.sent.map(says);
      expect(before).toContain(`| ${talk.join("\\n| ")}`);
      expect(after).not.toContain(talk[gone - 1]);
    }
  });

  it("stays where it was only superseded, or where nothing is forgotten", async () => {
    const { sent, thread, say, store, runtime } = await recalled();
    const next = {
      content: untrusted("The cat is called Momo"),
      tags: [],
      trust: "contact",
      at: AT,
      supersedes: id(1),
    };
    await store.saveMemory(thread.scope, id(3), { ...next, trust: "contact" });
    await say(thread, "Hello there");
    expect(says(sent[2] ?? never()).startsWith(says(sent[1] ?? never()).slice(0, -1))).toBe(true);
    const turns = await runtime.turns(OPERATOR, thread.id);
    expect(turns.at(-1)?.requests[0]?.ledger.epoch).toMatchObject({ n: 1, opened: false });
  });
});

const isSummary = ({ tail }: Request): boolean => tail.some(({ layer }) => layer === "summary");
const LONG = "The sea was calm and the wind came from the west, as it had for days. ".repeat(4);

/** Summarizes as it is asked to: every text above, except those under a heading that it is asked to omit. */
const obeys = (request: Request): string => {
  if (!isSummary(request)) return "Aye.";
  const headings = [...(request.tail[0]?.text ?? "").matchAll(/"(# Layer [^"]+)"/g)].map(
    ([, heading]) => heading ?? "",
  );
  const texts = request.messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])));
  const said = texts.filter((text) => !headings.some((heading) => text.startsWith(heading)));
  return said.map((text) => text.slice(0, 70)).join(" / ");
};

/** Talks about the cat, and then for so long that it is summarized. */
async function summedUp(recall: Agent["recall"], parts: Parameters<typeof testRuntime>[1]) {
  const agent = { ...searcher({ recall, tools: [] }), summaries: true };
  const budgets = { ...agent.budgets, total: 4_000, reply: 400 };
  const stand = await testRuntime(Array(80).fill(obeys), { agent: { ...agent, budgets }, ...parts });
  const thread = await stand.open();
  await save(stand.store, thread, "The cat is called Miso", 1);
  await stand.say(thread, "What is my cat called?");
  for (let n = 1; n <= 30 && !stand.sent.some(isSummary); n++) await stand.say(thread, `Day ${n}. ${LONG}`);
  const at = stand.sent.findIndex(isSummary);
  const [before, asked, after] = stand.sent.slice(at - 1, at + 2);
  if (before === undefined || asked === undefined || after === undefined) throw new Error("nothing was summed up");
  return { before, asked, after };
}

describe("the summary of a conversation", () => {
  it.each<[string, Agent["recall"], Parameters<typeof testRuntime>[1]]>([
    ["told on the way", "search", { parts: KEEPING }],
    ["frozen at its start", "frozen", {}],
  ])(
    "law 12: holds nothing of memories that were %s, though they stand in the very bytes that were sent",
    async (...given) => {
      const { before, asked, after } = await summedUp(given[1], given[2]);
      expect(asked.prefix).toEqual(before.prefix);
      expect(asked.messages.slice(0, before.messages.length)).toEqual(before.messages);
      expect(says(asked)).toContain("Miso");
      expect(asked.tail[0]?.text).toContain('"# Layer 60 · recall"');
      const summary = JSON.stringify(after.messages.find(({ parts }) => JSON.stringify(parts).includes("[summary")));
      expect(summary).toContain("What is my cat called?");
      expect(summary).not.toContain("Miso");
    },
  );

  it("is not asked for where a memory was just forgotten: the model would be shown it once more", async () => {
    const agent = { ...searcher({ tools: [] }), summaries: true };
    const budgets = { ...agent.budgets, total: 4_000, reply: 400 };
    const stand = await testRuntime(Array(80).fill(obeys), { agent: { ...agent, budgets }, parts: KEEPING });
    const thread = await stand.open();
    await save(stand.store, thread, "The cat is called Miso", 1);
    await stand.say(thread, "What is my cat called?");
    for (let n = 1; n <= 16; n++) await stand.say(thread, `Day ${n}. ${LONG}`);
    const before = stand.sent.length;
    await stand.store.forgetMemory(thread.scope, id(1));
    const events = await stand.say(thread, LONG.repeat(20));
    expect(events.filter(({ type }) => type === "cut")).toMatchObject([
      { because: expect.stringContaining("forgotten") },
    ]);
    for (const request of stand.sent.slice(before)) expect(says(request)).not.toContain("called Miso");
    expect(endOf(events).type).toBe("done");
  });

  it("names no layer where none stands in the conversation", async () => {
    const { asked } = await summedUp("search", {});
    expect(says(asked)).not.toContain("Miso");
    expect(asked.tail[0]?.text).not.toContain("# Layer");
  });
});

function never(): never {
  throw new Error("it was not sent");
}
