import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Json, type Tool, type ToolOutcome, toolName, untrusted } from "../../protocol/index.ts";
import { FORGET_MEMORY, SAVE_MEMORY, writesOf } from "../../store/index.ts";
import { contextOf } from "./index.contract.ts";
import { checkedWrites, defineTool, toolset } from "./index.ts";

const WHOLE = {
  name: "price",
  description: "Tells a price.",
  input: z.object({ repair: z.string() }),
  effect: "none",
  trust: "operator",
  run: () => "12 euros",
};

/** As a module without types calls it. */
const define = (definition: unknown): Tool => Reflect.apply(defineTool, undefined, [definition]);

describe("a definition of a tool, whose types nobody has checked", () => {
  it.each<[string, object, string]>([
    [
      "an input without z.object",
      { input: { repair: z.string() } },
      "of the z that `strata` exports, and it is a plain object",
    ],
    [
      "an input that is one text",
      { input: z.string() },
      "`input` must be z.object({…}) of the z that `strata` exports",
    ],
    ["no input", { input: undefined }, "and it is missing"],
    [
      "the kind of its memories",
      { returnsMemories: "memories" },
      '`returnsMemories` must be true, and it is "memories"',
    ],
    ["a hiding that is no yes", { hidesSecrets: "yes" }, '`hidesSecrets` must be true, and it is "yes"'],
    [
      "an input that JSON does not have",
      { input: z.object({ day: z.date() }) },
      "`input` cannot be described to a model",
    ],
    ["`execute` for `run`", { run: undefined, execute: () => "" }, "no field `execute`; did you mean `run`?"],
    ["`shows`, as it was called", { shows: "memories" }, "no field `shows`; did you mean `returnsMemories`?"],
    ["a misspelt field", { needsAproval: true }, "no field `needsAproval`; did you mean `needsApproval`?"],
    ["a run that is no function", { run: "12 euros" }, '`run` must be a function, and it is "12 euros"'],
    ["no description", { description: undefined }, "`description` must be a text, and it is missing"],
    [
      "another effect",
      { effect: "stroe" },
      'one of "none", "store", "external", and it is "stroe"; did you mean "store"?',
    ],
    ["another trust", { trust: "admin" }, '`trust` must be one of "platform", "operator"'],
    ["a limit in words", { limits: { seconds: "5" } }, '`seconds` must be a number above 0, and it is "5"'],
    ["half a call", { limits: { calls: 0.5 } }, "`calls` must be a whole number from 1, and it is 0.5"],
    ["an unknown limit", { limits: { second: 5 } }, "no field `second`; did you mean `seconds`?"],
    ["limits that are none", { limits: 3 }, "`limits` must be { calls, seconds }, and it is 3"],
    [
      "an approval in words",
      { needsApproval: "yes" },
      '`needsApproval` must be true, false or a function, and it is "yes"',
    ],
  ])("law 10 with %s is refused in a sentence with its name", (_, change, message) => {
    expect(() => define({ ...WHOLE, ...change })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
    );
    expect(() => define({ ...WHOLE, ...change })).toThrow(/^the tool price is not valid: /);
  });

  it("law 10 without a name or without anything is refused", () => {
    expect(() => define({ ...WHOLE, name: 7 })).toThrow("a tool without a name is not valid: `name` must be a text");
    expect(() => define(undefined)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(() => define({ ...WHOLE, name: "a b" })).toThrow(expect.objectContaining({ code: "invalid_id" }));
  });

  it("that is whole is taken, with fields set to nothing", () => {
    expect(define({ ...WHOLE, limits: undefined, needsApproval: undefined }).schema.name).toBe("price");
    expect(define({ ...WHOLE, limits: { calls: 2, seconds: 0.5 }, needsApproval: () => true }).limits).toEqual({
      calls: 2,
      seconds: 0.5,
    });
  });
});

/** Made by `defineTool`, and made by hand and put into a toolset. */
const MADE: readonly [string, (run: () => unknown) => Tool | undefined][] = [
  ["defineTool", (run) => define({ ...WHOLE, run })],
  ["a toolset", (run) => toolset([{ ...define(WHOLE), run: async () => Object(await run()) }]).get(toolName("price"))],
];

const INPUT: Json = { repair: "tyre" };
const CONTEXT = contextOf("ann");
const MEMORY = { content: "Wheel: 28 inches.", tags: ["size"], trust: "contact", turn: CONTEXT.turn, at: CONTEXT.at };
/** The outcome of a call, with its writes checked as in a turn. */
async function ran(tool: Tool | undefined, input = INPUT): Promise<ToolOutcome> {
  if (tool === undefined) throw new Error("there is no such tool");
  return checkedWrites("price", await tool.run(input, CONTEXT), writesOf([SAVE_MEMORY, FORGET_MEMORY]), CONTEXT);
}
const writing = (memory: unknown, kind = "memory") => ({ text: "Noted.", writes: [{ kind, memory }] });

describe.each(MADE)("what a tool gives, seen by %s", (_, made) => {
  it("is data where a row has a column named `text`", async () => {
    const outcome = await made(() => ({ text: "hello", author: "ann", id: 7 }))?.run(INPUT, CONTEXT);
    expect(outcome).toMatchObject({ text: '{"text":"hello","author":"ann","id":7}' });
    expect(outcome?.failed).not.toBe(true);
  });

  it.each<[string, unknown, string]>([
    ["a misspelt field", { text: "12", fialed: true }, 'it has "fialed", which is not known there'],
    ["a number as its text", { text: 12 }, '"text" is 12, but it must be a string'],
    ["`failed` in words", { text: "12", failed: "no" }, '"failed" is "no", but it must be a boolean'],
    ["writes that are no list", { text: "12", writes: {} }, '"writes" is an object, but it must be an array'],
    ["another kind of write", writing(MEMORY, "note"), '"writes.0.kind" is "note"'],
    ["a memory without words", writing({ ...MEMORY, content: 5 }), '"writes.0.memory.content" is 5'],
    ["tags that are no texts", writing({ ...MEMORY, tags: [5] }), '"writes.0.memory.tags.0" is 5'],
    ["tags that are no list", writing({ ...MEMORY, tags: "size" }), '"writes.0.memory.tags" is "size"'],
    ["no trust", writing({ ...MEMORY, trust: undefined }), '"writes.0.memory.trust" is missing'],
    ["a time in words", writing({ ...MEMORY, at: "now" }), '"writes.0.memory.at" is "now"'],
    ["a time that no date tells", writing({ ...MEMORY, at: 9e15 }), '"writes.0.memory.at" is 9000000000000000'],
    [
      "another turn",
      writing({ ...MEMORY, turn: "yesterday" }),
      '"writes.0.memory.turn" is "yesterday": it is not the `turn`',
    ],
    ["an unknown field of a memory", writing({ ...MEMORY, tag: "size" }), '"writes.0.memory" has "tag"'],
  ])("law 10 is a failed outcome that names the tool when it is %s", async (_, given, message) => {
    const outcome = await ran(made(() => given));
    expect(outcome).toMatchObject({ failed: true, text: expect.stringContaining(message) });
    expect(outcome?.text).toMatch(
      /^price ran but returned nothing usable: .*\. A tool returns a text, an object, or \{ text, failed, media, writes \}\.$/,
    );
    expect(outcome).not.toHaveProperty("writes");
  });

  it("may leave out `failed`, and the tags of a memory", async () => {
    const { tags, ...memory } = MEMORY;
    expect(await ran(made(() => writing(memory)))).toEqual({
      text: "Noted.",
      failed: false,
      writes: [{ kind: "memory", memory: { ...memory, tags: [] } }],
    });
    expect(await made(() => ({ text: "No.", failed: true }))?.run(INPUT, CONTEXT)).toEqual({
      text: "No.",
      failed: true,
    });
  });

  const thrownBy = (thrown: unknown) =>
    made(() => Promise.reject(thrown))
      ?.run(INPUT, CONTEXT)
      .catch((error: unknown) => ({ error }));

  it.each([undefined, null, "", {}, new Error("")])(
    "that throws %o says that it failed without an error message",
    async (thrown) => {
      const error = expect.objectContaining({ message: "it failed without an error message" });
      expect(await thrownBy(thrown)).toEqual({ error });
    },
  );

  it.each(["no money", new Error("no money")])("that throws %o fails with these words", async (thrown) => {
    expect(await thrownBy(thrown)).toEqual({ error: thrown });
  });
});

describe("what a tool of defineTool gives", () => {
  it.each<[unknown, string]>([
    [undefined, "it is missing"],
    [null, "it is null"],
    [12, "it is 12, but it must be an object"],
    [() => "12", "it is a function"],
  ])("law 10 is a failed outcome when it is %o", async (given, message) => {
    const outcome = await define({ ...WHOLE, run: () => given }).run(INPUT, CONTEXT);
    expect(outcome).toMatchObject({ failed: true, text: expect.stringContaining(message) });
  });

  it.each<[unknown, string]>([
    [{ repair: "tyre", euros: 12 }, '{"repair":"tyre","euros":12}'],
    [[{ at: new Date(0) }, undefined], '[{"at":"1970-01-01T00:00:00.000Z"},null]'],
    [{ passed: 10, failed: 3 }, '{"passed":10,"failed":3}'],
    [[], "[]"],
    [{}, "{}"],
  ])("is told as JSON when it is %o", async (given, text) => {
    expect(await define({ ...WHOLE, run: () => given }).run(INPUT, CONTEXT)).toEqual({ text, failed: false });
  });

  it.each<[unknown, string]>([
    [{ failed: true }, '"text" is missing'],
    [{ text: "Done.", fail: true }, 'has "fail"'],
    [{ prices: new Map([["tyre", 12]]) }, 'it cannot be written as JSON ("prices" is a Map)'],
    [{ euros: 12n }, "it cannot be written as JSON (Do not know how to serialize a BigInt)"],
  ])("law 10 is no data but a failed outcome when it is %o", async (given, message) => {
    const outcome = await define({ ...WHOLE, run: () => given }).run(INPUT, CONTEXT);
    expect(outcome).toMatchObject({ failed: true, text: expect.stringContaining(message) });
  });

  it("may be a text of any kind", async () => {
    expect(await define({ ...WHOLE, run: async () => "12" }).run(INPUT, CONTEXT)).toEqual({
      text: "12",
      failed: false,
    });
  });

  it("is not asked for where the input's own check throws", () => {
    const repair = z.string().refine(() => {
      throw new Error("no list of repairs");
    });
    expect(define({ ...WHOLE, input: z.object({ repair }) }).check(INPUT)).toBe(
      "price was not run: its input cannot be checked (no list of repairs).",
    );
  });

  it("type-checks with a memory without tags", async () => {
    const note = defineTool({
      name: "note",
      description: "Notes.",
      input: z.object({}),
      effect: "store",
      trust: "platform",
      run: (_, { taint, turn, at }) => ({
        text: "Noted.",
        writes: [{ kind: "memory", memory: { content: untrusted("It rains."), trust: taint, turn, at } }],
      }),
    });
    expect(await ran(note, {})).toMatchObject({ failed: false, writes: [{ memory: { tags: [] } }] });
  });
});
