import { describe, expect, it } from "vitest";
import { type Json, SELF, type StoreWrite, type ToolOutcome } from "../../protocol/index.ts";
import { call, contextOf, scopeOf } from "../../turn/tools/index.contract.ts";
import { type FakeStore, fakeStore, idOf } from "./fake-memories.contract.ts";
import { memoryTools, rememberTools } from "./tools.ts";

const ask = (store: FakeStore, name: string, input: Json, contact = "ada") =>
  call(rememberTools(store), name, input, contextOf(contact));

const writesOf = ({ writes = [] }: ToolOutcome): readonly StoreWrite[] => writes;

const KEPT = { ada: ["Pays in USDC."], bob: ["Has a secret."], "": ["The registry is open on Mondays."] };

describe("remember, recall, forget, memory_stats", () => {
  it("002.4 remember writes what memory_save writes, and forget what memory_forget does", async () => {
    const store = fakeStore(KEPT);
    const saved = { content: "Ada pays in USDC on Fridays.", tags: ["payment"] };
    const long = async (name: string, input: Json) => call(memoryTools(store), name, input, contextOf("ada"));
    expect(await ask(store, "remember", saved)).toEqual(await long("memory_save", saved));
    expect(await ask(store, "forget", { id: idOf(0) })).toEqual(await long("memory_forget", { id: idOf(0) }));
    expect(writesOf(await ask(store, "forget", { id: idOf(0) }))).toEqual([{ kind: "forget", memory: idOf(0) }]);
  });

  it("law 5 recall finds what is of the contact and for all turns, and nothing of another", async () => {
    const store = fakeStore(KEPT);
    const { text } = await ask(store, "recall", { query: "pays", limit: 20 });
    expect(text).toContain("Pays in USDC.");
    expect(text).toContain("The registry is open on Mondays.");
    expect(text).not.toContain("secret");
    expect(store.asked).toMatchObject([
      { scopes: [scopeOf("ada"), { ...scopeOf("ada"), contact: null }], query: { limit: 20 } },
    ]);
  });

  it("law 5 in a turn of its own an agent finds, forgets and counts its own memories alone", async () => {
    const store = fakeStore({ ...KEPT, [SELF]: ["Of nobody."] });
    const { text } = await ask(store, "recall", { query: "x" }, SELF);
    expect(text.match(/^- /gm)).toHaveLength(1);
    expect(text).toContain("for all contacts");
    expect((await ask(store, "forget", { id: idOf(0) }, SELF)).text).toBe(
      `${idOf(0)} will be forgotten when this turn ends.`,
    );
    expect((await ask(store, "forget", { id: idOf(0) }, "carol")).failed).toBe(true);
    expect((await ask(store, "memory_stats", {}, SELF)).text).toBe(
      "For all turns: 1 fact with 32 characters, the newest from 2026-11-21.",
    );
  });

  it.each([
    [[], "platform"],
    [["agent"], "agent"],
    [["operator", "agent"], "agent"],
    [["agent", "contact", "operator"], "contact"],
  ] as const)("law 6 recall that shows memories of %j is trusted as %s", async (trusts, lowest) => {
    const store = fakeStore({ "": trusts.map((trust) => ({ content: `Said by the ${trust}.`, trust })) });
    expect(await ask(store, "recall", { query: "x" }, SELF)).toMatchObject({ failed: false, trust: lowest });
    expect(await call(memoryTools(store), "memory_search", { query: "x" }, contextOf(SELF))).toMatchObject({
      trust: lowest,
    });
  });

  it("memory_stats tells how much there is of the contact and for all turns", async () => {
    const store = fakeStore({ ada: ["One.", "Two.", { content: "All.", kind: "summary" }] });
    expect(await ask(store, "memory_stats", {})).toEqual({
      failed: false,
      text: "About this contact: 2 facts, 1 summary with 12 characters, the newest from 2026-11-21.\nFor all turns: nothing.",
    });
  });

  it("refuses an id that recall did not show, by its own name for it", async () => {
    const outcome = await ask(fakeStore({}), "forget", { id: idOf(3) });
    expect(outcome.text).toBe(`Not forgotten: there is no memory ${idOf(3)} of this contact; recall shows their ids.`);
    expect((await ask(fakeStore({}), "forget", { id: "x" })).text).toContain("an id from recall");
  });

  it.each(["remember", "recall", "forget", "memory_stats"])(
    "000.53 %s tells a provider a schema that is closed",
    (name) => {
      const schema = rememberTools(fakeStore({})).find((tool) => tool.schema.name === name)?.schema.input;
      expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    },
  );
});
