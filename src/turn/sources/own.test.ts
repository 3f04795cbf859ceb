import { describe, expect, it } from "vitest";
import { layerId, type OwnSource } from "../../protocol/index.ts";
import { agentOf, liveLayer, scopeOf } from "./index.contract.ts";
import { defineSource, type Gathered, gather } from "./index.ts";

const AT = Date.UTC(2026, 10, 21);
const SCOPE = scopeOf("clerk", "ann");
const STOCK = liveLayer({ kind: "own", name: "stock" }, { id: layerId("shelf"), rank: 45, trust: "operator" });
const AGENT = agentOf(SCOPE, { layers: [STOCK], recall: "none" });

const asked = (source: OwnSource): Promise<Gathered> =>
  gather(AGENT, [STOCK], {
    scope: SCOPE,
    events: [],
    at: AT,
    count: () => 1,
    sources: new Map([["stock", source]]),
  });

/** As a module without types calls it. */
const define = (definition: unknown): OwnSource => Reflect.apply(defineSource, undefined, [definition]);
const WHOLE = { name: "stock", trust: "operator", load: () => "Tyres: 12." };

describe("a definition of a source, whose types nobody has checked", () => {
  it.each<[string, object, string]>([
    ["`run` for `load`", { load: undefined, run: () => "" }, "no field `run`; did you mean `load`?"],
    [
      "`give` for `load`, as it was called",
      { load: undefined, give: () => "" },
      "no field `give`; did you mean `load`?",
    ],
    ["a misspelt field", { turst: "operator" }, "no field `turst`; did you mean `trust`?"],
    ["a load that is no function", { load: "Tyres" }, '`load` must be a function, and it is "Tyres"'],
    ["no load", { load: undefined }, "`load` must be a function, and it is missing"],
    ["another trust", { trust: "operater" }, 'and it is "operater"; did you mean "operator"?'],
    ["no trust", { trust: undefined }, '`trust` must be one of "platform", "operator"'],
  ])("law 10 with %s is refused in a sentence with its name", (_, change, message) => {
    expect(() => define({ ...WHOLE, ...change })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
    );
    expect(() => define({ ...WHOLE, ...change })).toThrow(/^the source stock is not valid: /);
  });

  it("law 10 without a name or without anything is refused", () => {
    expect(() => define({ ...WHOLE, name: 7 })).toThrow("a source without a name is not valid: `name` must be a text");
    expect(() => define(undefined)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

/** Made by `defineSource`, and made by hand. */
describe.each<[string, (load: () => unknown) => OwnSource]>([
  ["defineSource", (load) => define({ ...WHOLE, load })],
  ["by hand", (load) => Object.assign(define(WHOLE), { load })],
])("what a source gives, made %s", (_, made) => {
  it.each<[string, unknown, string]>([
    ["an object", { tyres: 12 }, "it gave an object; it may give a text"],
    ["a number", 12, "it gave 12; it may give a text"],
    ["a list with a number", ["Tyres: 12.", 12], "it gave 12 at place 2 of its list"],
    ["a list with a gap", ["Tyres: 12.", undefined], "it gave nothing at place 2 of its list"],
    ["an entry without text", [{ at: AT }], "it gave an entry 1 whose `text` is missing"],
    ["a time in words", [{ text: "Tyres: 12.", at: "now" }], 'it gave an entry 1 whose `at` is "now" and no time'],
    [
      "a time that no date tells",
      [{ text: "Tyres: 12.", at: 9e15 }],
      "it gave an entry 1 whose `at` is 9000000000000000",
    ],
  ])("law 13 is an empty layer and a note that names the source when it is %s", async (_, given, message) => {
    const { contents, notes } = await asked(made(() => given));
    expect(contents.get(STOCK.id)).toMatchObject({ kind: "empty" });
    expect(notes).toEqual([
      { layer: "shelf", message: expect.stringContaining(`the stock source of layer shelf failed: ${message}`) },
    ]);
  });

  it("is taken with and without a time; empty texts and nothing are left out", async () => {
    const { contents } = await asked(made(async () => ["Tyres: 12.", " ", { text: "Lights: 3.", at: AT - 5 }]));
    expect(contents.get(STOCK.id)).toMatchObject({
      items: [
        { text: "Tyres: 12.", trust: "operator", at: AT },
        { text: "Lights: 3.", trust: "operator", at: AT - 5 },
      ],
    });
    for (const nothing of [undefined, null, ""]) {
      const { contents: empty, notes } = await asked(made(() => nothing));
      expect([empty.get(STOCK.id), notes]).toMatchObject([{ kind: "items", items: [] }, []]);
    }
  });

  it.each([undefined, {}, new Error("")])(
    "law 13 that throws %o says that it failed without an error message",
    async (thrown) => {
      const { notes } = await asked(made(() => Promise.reject(thrown)));
      expect(notes).toMatchObject([{ message: expect.stringContaining("failed: it failed without an error message") }]);
    },
  );
});
