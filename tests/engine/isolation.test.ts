import fc from "fast-check";
import { expect, it } from "vitest";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import { scripted } from "../../src/models/index.ts";
import { actorId, allow, contactId, orgId } from "../../src/protocol/index.ts";
import { COMPANION, home, said, searching, strata, thread } from "./home.ts";

const CONTACTS = ["ann", "bob", "Ann", "ann ", "аnn"].filter((name) => name.trim() === name);

/** Each contact says, saves, writes and searches words that only it has; the canary is in all of them. */
const canary = (contact: string): string => `canary-${Buffer.from(contact).toString("hex")}`;

const DEED = fc.record({
  who: fc.constantFrom(...CONTACTS),
  deed: fc.constantFrom("say", "save", "write", "search", "read", "list"),
});

function calls(deed: string, word: string) {
  switch (deed) {
    case "save":
      return [{ call: "memory_save", input: { content: `The shared word of today is ${word}` } }];
    case "write":
      return [{ call: "write", input: { path: "shared/notes.txt", content: `The shared word of today is ${word}` } }];
    case "search":
      return [{ call: "memory_search", input: { query: "shared word of today", limit: 20 } }];
    case "read":
      return [{ call: "read", input: { path: "shared/notes.txt" } }];
    case "list":
      return [{ call: "list", input: {} }];
    default:
      return [];
  }
}

it("law 5, S16 whatever contacts say, save, write, search and read: nothing of one stands in a request for another", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(DEED, { minLength: 10, maxLength: 25 }), async (deeds) => {
      const app = await strata(home());
      for (const { who, deed } of deeds) {
        const mine = canary(who);
        const made = calls(deed, mine);
        const { model, sent } = scripted([...(made.length === 0 ? [] : [{ parts: made }]), `Yes, ${mine}.`]);
        const to = await thread(app, who);
        await app.runtime.post(app.operator, to, [said(`What is the shared word of today? Mine is ${mine}`)]);
        for await (const event of app.runtime.run(app.operator, to, { model })) expect(event.type).not.toBe("failed");
        const found = new Set(JSON.stringify(sent).match(/canary-[0-9a-f]+/g));
        expect([...found].filter((word) => word !== mine)).toEqual([]);
      }
      await app.close();
    }),
    { numRuns: 12, interruptAfterTimeLimit: 115_000 },
  );
}, 120_000);

it("S2 nobody joins or reads a thread by its id: not another contact, not another organization", async () => {
  const app = await strata(home());
  const ann = await thread(app, "ann");
  const bob = allow(
    {
      org: app.operator.org,
      id: actorId("contact:ann"),
      role: "contact",
      agent: COMPANION,
      contact: contactId("bob"),
    },
    "run",
  );
  const stranger = allow({ org: orgId("elsewhere"), id: actorId("token:operator"), role: "operator" }, "operate");
  await expect(app.runtime.turns(stranger, ann.id)).rejects.toMatchObject({ code: "thread_not_found" });
  for (const actor of [bob, stranger]) {
    await expect(app.runtime.post(actor, ann, [said("hello")])).rejects.toMatchObject({ code: "thread_not_found" });
    await expect(app.runtime.run(actor, ann).next()).rejects.toMatchObject({ code: "thread_not_found" });
    await expect(app.runtime.thread(actor, ann.id)).rejects.toMatchObject({ code: "thread_not_found" });
  }
});

it("law 12, S10 recall searches with the message alone, and what it injected is never saved or searched with", async () => {
  const app = await strata(searching());
  const save = (content: string) => [{ parts: [{ call: "memory_save", input: { content } }] }, "Saved."];
  const turn = async (text: string, script: Parameters<typeof scripted>[0]) => {
    // A conversation each: what was saved in the same one stands in its transcript and is not recalled.
    const ann = await thread(app, "ann", text);
    const { model, sent } = scripted(script);
    await app.runtime.post(app.operator, ann, [said(text)]);
    for await (const event of app.runtime.run(app.operator, ann, { model })) expect(event.type).not.toBe("failed");
    return sent;
  };
  await turn("My zebra is called Zoe", save("Ann's zebra is called Zoe"));
  await turn("Zoe moved to a farm with walruses", save("Walruses live at the farm"));
  const [request] = await turn("How is my zebra?", ["Fine."]);
  expect(JSON.stringify(request?.tail)).toContain("Zoe");
  expect(JSON.stringify(request?.tail)).not.toContain("Walruses");
  const ann = await thread(app, "ann", "How is my zebra?");
  const memories = await app.runtime.use(MEMORY_API).memories(app.operator, ann.scope, 10);
  expect(memories.map((memory) => memory.content).sort()).toEqual([
    "Ann's zebra is called Zoe",
    "Walruses live at the farm",
  ]);
  const { messages } = (
    await app.runtime.rebuilt(
      app.operator,
      (await app.runtime.turns(app.operator, ann.id)).at(-1)?.id ?? ("" as never),
      1,
    )
  ).request;
  expect(JSON.stringify(messages)).not.toContain("[memory");
});
