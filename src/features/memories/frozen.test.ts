import { describe, expect, it } from "vitest";
import { type LedgerEntry, memoryId, type Request, type TurnEvent, untrusted } from "../../protocol/index.ts";
import type { Store, Thread } from "../../store/index.ts";
import { endOf, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";

const AT = Date.UTC(2026, 10, 1);
const id = (n: number) => memoryId(`mem_${String(n).padStart(26, "0")}`);

const save = (store: Store, { scope }: Thread, content: string, n: number) =>
  store.saveMemory(scope, id(n), { content: untrusted(content), tags: [], trust: "contact", at: AT + n });

const messages = (request: Request | undefined): string => JSON.stringify(request?.messages);
const tail = (request: Request | undefined): string => JSON.stringify(request?.tail);
const frozen = (events: readonly TurnEvent[]): LedgerEntry | undefined =>
  events
    .flatMap((event) => (event.type === "compiled" ? event.ledger.entries : []))
    .find(({ section, place }) => section === "recall" && place === "transcript");

describe("frozen memory", () => {
  it("stands at the start of a conversation where that costs less, and is not recalled beside it", async () => {
    const { say, open, store, sent } = await testRuntime(["ok", "ok"]);
    const thread = await open();
    await save(store, thread, "The cat is called Miso", 1);
    const events = await say(thread, "What is my cat called?");
    await say(thread, "And what does the cat eat?");
    for (const request of sent) {
      expect(messages(request)).toContain("Miso");
      expect(tail(request)).not.toContain("Miso");
    }
    expect(frozen(events)).toMatchObject({
      fate: "kept",
      items: {
        shown: 1,
        memories: [id(1)],
        because: expect.stringMatching(/^1 of 1 saved memories, \d+ of 3000 tokens$/),
      },
    });
  });

  it("is not switched off by a sixth saved fact: an allergy is seen in whatever words the question is put", async () => {
    for (const facts of [5, 6, 40]) {
      const { say, open, store, sent } = await testRuntime(["ok"]);
      const thread = await open();
      await save(store, thread, "I am allergic to penicillin", 1);
      for (let n = 2; n <= facts; n++) await save(store, thread, `Journey ${n} went to Rome`, n);
      const events = await say(thread, "Can I take amoxicillin?");
      expect(messages(sent[0]), `${facts} facts`).toContain("penicillin");
      expect(frozen(events)).toMatchObject({ fate: "kept", items: { shown: facts } });
    }
  });

  it("25.10a is not switched off by very many facts: of those that are read, the newest and the most often saved stand", async () => {
    const { store: whole } = await testRuntime([]);
    const store = {
      ...whole,
      savedMemories: (scopes: Parameters<Store["savedMemories"]>[0]) => whole.savedMemories(scopes, 3),
    };
    const { say, open, sent } = await testRuntime(["ok"], { store });
    const thread = await open();
    for (const n of [1, 2]) await save(store, thread, "I am allergic to penicillin", n);
    for (let n = 3; n <= 8; n++) await save(store, thread, `Journey ${n} went to Rome`, n);
    const events = await say(thread, "Can I take amoxicillin?");
    expect(messages(sent[0])).toContain("penicillin");
    expect(frozen(events)).toMatchObject({ fate: "kept", items: { shown: 4, of: 7 } });
  });

  it("is as much as its budget of tokens has room for; the others are searched for", async () => {
    const { say, open, store, sent } = await testRuntime(["ok", "ok"]);
    const thread = await open();
    await save(store, thread, `The cat is called Miso and came from ${"far ".repeat(20)}`, 1);
    for (let n = 2; n <= 200; n++)
      await save(store, thread, `Journey ${n} went to the town of ${"far ".repeat(20)}${n}`, n);
    const events = await say(thread, "What is my cat called?");
    expect(frozen(events)).toMatchObject({
      fate: "kept",
      items: {
        because: expect.stringMatching(
          /^\d+ of 200 saved memories, 2\d\d\d of 3000 tokens; the others are searched for$/,
        ),
      },
    });
    expect(messages(sent[0])).not.toContain("Miso");
    expect(messages(sent[0])).toContain("There are others, which are shown when a message asks about them.");
    expect(tail(sent[0])).toContain("Miso");
    // A memory that did not fit is not news: it is not shown beside an unrelated message.
    await say(thread, "Thanks!");
    expect(tail(sent[1])).not.toContain("Journey");
  });

  it("of an agent that only searches, or only wants it frozen, is as the agent says", async () => {
    const searching = await testRuntime(["ok"], { agent: sampleAgent({ recall: "search" }) });
    const one = await searching.open();
    await save(searching.store, one, "The cat is called Miso", 1);
    expect(frozen(await searching.say(one, "What is my cat called?"))).toBeUndefined();
    expect(tail(searching.sent[0])).toContain("Miso");

    const freezing = await testRuntime(["ok"], { agent: sampleAgent({ recall: "frozen" }) });
    const two = await freezing.open();
    for (let n = 1; n <= 5; n++) await save(freezing.store, two, `Journey ${n} was ${"far ".repeat(20)}${n}`, n);
    expect(frozen(await freezing.say(two, "Hello there"))).toMatchObject({ items: { shown: 5 } });
  });

  it("stays as it is when more is saved: that comes with the tail, until the next epoch", async () => {
    const { say, open, store, sent } = await testRuntime(["ok", "ok"]);
    const thread = await open();
    await save(store, thread, "The cat is called Miso", 1);
    await say(thread, "Hello there");
    await save(store, thread, "The boat is called Argo", 2);
    await say(thread, "Thanks!");
    expect(messages(sent[1])).not.toContain("Argo");
    expect(tail(sent[1])).toContain("Argo");
    expect(messages(sent[1]).startsWith(messages(sent[0]).slice(0, -1))).toBe(true);
  });

  it("ends the epoch when one of it is forgotten: it is sent no more, in this conversation neither", async () => {
    const { say, open, store, sent, runtime } = await testRuntime(["ok", "ok", "ok"]);
    const thread = await open();
    await save(store, thread, "The cat is called Miso", 1);
    await save(store, thread, "The boat is called Argo", 2);
    await say(thread, "Hello there");
    await store.forgetMemory(thread.scope, id(1));
    expect(endOf(await say(thread, "Who is there?")).type).toBe("done");
    await say(thread, "Once more");
    expect(messages(sent[0])).toContain("Miso");
    for (const request of sent.slice(1)) {
      expect(messages(request)).not.toContain("Miso");
      expect(messages(request)).toContain("Argo");
      expect(messages(request)).toContain("Hello there");
    }
    const [, second, third] = await runtime.turns(OPERATOR, thread.id);
    expect(second?.requests[0]?.ledger.epoch).toMatchObject({ n: 2, reason: "forgotten", opened: true });
    expect(third?.requests[0]?.ledger.epoch).toMatchObject({ n: 2, opened: false });
    for await (const finding of store.verify(thread.scope.org)) expect(finding.type).not.toBe("problem");
  });

  it("ends it too when something takes the place of one of it: the two would stand side by side, as if both were so", async () => {
    const { say, open, store, sent } = await testRuntime(["ok", "ok"]);
    const thread = await open();
    await save(store, thread, "Nina lives in Rome", 1);
    await say(thread, "Hello there");
    const oslo = { content: untrusted("Nina lives in Oslo"), tags: [], at: AT + 2, supersedes: id(1) };
    await store.saveMemory(thread.scope, id(2), { ...oslo, trust: "contact" });
    await say(thread, "Where do I live?");
    expect(messages(sent[1])).toContain("Oslo");
    expect(`${messages(sent[1])}${tail(sent[1])}`).not.toContain("Rome");
  });

  it("holds nothing that is over", async () => {
    const { say, open, store, sent } = await testRuntime(["ok"]);
    const thread = await open();
    await save(store, thread, "The cat is called Miso", 1);
    const acme = { content: untrusted("Nina works at Acme"), tags: [], at: AT, validUntil: AT + 1 };
    await store.saveMemory(thread.scope, id(2), { ...acme, trust: "contact" });
    await say(thread, "Hello there");
    expect(messages(sent[0])).toContain("Miso");
    expect(`${messages(sent[0])}${tail(sent[0])}`).not.toContain("Acme");
  });

  it("law 5 holds the contact's own and the agent's own, and nobody else's", async () => {
    const { say, open, store, sent } = await testRuntime(["ok"]);
    const [ann, bob] = [await open("ann"), await open("bob")];
    await save(store, bob, "Bob's cat is called Rex", 1);
    await save(store, ann, "Ann's cat is called Miso", 2);
    await store.saveMemory({ ...ann.scope, contact: null }, id(3), {
      content: untrusted("The shop opens at nine"),
      tags: [],
      trust: "operator",
      at: AT,
    });
    await say(ann, "Hello there");
    expect(messages(sent[0])).toContain("Miso");
    expect(messages(sent[0])).toContain("[memory operator 2026-11-01]\\n| The shop opens at nine");
    expect(messages(sent[0])).not.toContain("Rex");
  });
});
