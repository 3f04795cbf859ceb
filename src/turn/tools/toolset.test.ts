import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canonicalJson, type Json, toolName, untrusted } from "../../protocol/index.ts";
import { defineTool, recordedTools, toolset } from "./index.ts";

const tool = (name: string) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.object({
      what: z.string().min(2).max(5),
      size: z.int().max(20).default(5),
      color: z.enum(["red", "blue"]).optional(),
      tags: z.array(z.string().max(3)).max(2).optional(),
    }),
    effect: "none",
    trust: "contact",
    run: async ({ what, size }) => ({ text: untrusted(`${what} ${size}`), failed: false }),
  });

const names = (...all: string[]) => all.map(toolName);

describe("toolset", () => {
  it("law 1 gives schemas sorted by name and the same bytes in any order of asking", () => {
    const tools = toolset([tool("b"), tool("a"), tool("c")]);
    const schemas = tools.schemas(names("c", "a"));
    expect(schemas.map(({ name }) => name)).toEqual(["a", "c"]);
    const bytes = JSON.stringify(toolset([tool("c"), tool("a")]).schemas(names("a", "c", "a")));
    expect(JSON.stringify(schemas)).toBe(bytes);
    expect(JSON.stringify(schemas[0]?.input)).toBe(canonicalJson(schemas[0]?.input));
  });

  it("law 10 an unknown name is refused with the nearest known", () => {
    const tools = toolset([tool("memory_save"), tool("memory_search")]);
    expect(() => tools.schemas(names("memory_serch"))).toThrow(
      expect.objectContaining({
        code: "tool_not_found",
        message: 'no tool is named "memory_serch"; did you mean `memory_search`?',
      }),
    );
    expect(() => toolset([]).schemas(names("read"))).toThrow(/there are no tools/);
    expect(tools.get(toolName("memory_serch"))).toBeUndefined();
  });

  it("refuses two tools of one name", () => {
    expect(() => toolset([tool("a"), tool("a")])).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

describe("defineTool", () => {
  it("tells the model a JSON Schema of the input that takes no other arguments", () => {
    expect(tool("a").schema.input).toEqual({
      type: "object",
      properties: {
        color: { type: "string", enum: ["red", "blue"] },
        size: { type: "integer", default: 5, maximum: 20, minimum: Number.MIN_SAFE_INTEGER },
        tags: { type: "array", items: { type: "string", maxLength: 3 }, maxItems: 2 },
        what: { type: "string", minLength: 2, maxLength: 5 },
      },
      required: ["what"],
      additionalProperties: false,
    });
  });

  const deep: Json = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  it.each<[Json, string]>([
    [{}, 'a was not run: "what" is missing; it must be a string.'],
    [{ what: 7 }, 'a was not run: "what" is 7, but it must be a string.'],
    [{ what: deep }, 'a was not run: "what" is a list, but it must be a string.'],
    [{ what: { x: 1 } }, 'a was not run: "what" is an object, but it must be a string.'],
    [{ what: "x" }, 'a was not run: "what" has 1 characters, but it must have at least 2.'],
    [{ what: "x".repeat(900) }, 'a was not run: "what" has 900 characters, but it must have at most 5.'],
    [{ what: "xx", size: 50 }, 'a was not run: "size" is 50, but it must be at most 20.'],
    [{ what: "xx", size: 1.5 }, 'a was not run: "size" is 1.5, but it must be a whole number.'],
    [{ what: "xx", color: "green" }, 'a was not run: "color" is "green", but it must be one of "red", "blue".'],
    [{ what: "xx", tags: ["a", "b", "c"] }, 'a was not run: "tags" has 3 entries, but it must have at most 2.'],
    [{ what: "xx", tags: ["a", "bbbb"] }, 'a was not run: "tags.1" has 4 characters, but it must have at most 3.'],
    [null, "a was not run: its input is null, but it must be an object."],
    ["what", 'a was not run: its input is "what", but it must be an object.'],
    [
      JSON.parse('{"what":"xx","__proto__":{"size":1}}'),
      'a was not run: there is no argument "__proto__"; the arguments are "what", "size", "color", "tags".',
    ],
  ])("law 10 says what is wrong with an input", (input, sentence) => {
    expect(tool("a").check(input)).toBe(sentence);
  });

  it("runs with its defaults filled in", async () => {
    const { schema, check, run } = tool("a");
    expect(schema.description).toBe("Does a.");
    expect(check({ what: "abc" })).toBeUndefined();
    // The context is not looked at by this tool.
    expect(await run({ what: "abc" }, Object.create(null))).toEqual({ text: "abc 5", failed: false });
  });
});

describe("recordedTools", () => {
  const parameters = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const expected = { name: "book", description: "Books.", input: parameters };

  it.each([
    ["parameters", { name: "book", description: "Books.", parameters }],
    ["input_schema", { name: "book", description: "Books.", input_schema: parameters }],
    ["a function", { type: "function", function: { name: "book", description: "Books.", parameters } }],
  ])("reads a tool with %s, which answers no call by itself", async (_, entry) => {
    const [recorded] = recordedTools([entry]);
    expect(recorded?.schema).toEqual(expected);
    expect(recorded?.check({ anything: [1] })).toBeUndefined();
    expect(await recorded?.run({}, Object.create(null))).toEqual({
      text: "The recording has no answer for this call.",
      failed: true,
    });
  });

  it("gives a tool without parameters an empty object", () => {
    expect(recordedTools([{ name: "now" }])[0]?.schema.input).toEqual({ type: "object", properties: {} });
  });

  it.each([
    ["no list", { name: "book" }, /must hold a list/],
    ["no name", [{ name: "a" }, { description: "x" }], /entry 2 of the tools file/],
    ["a bad name", [{ name: "book it!" }], /entry 1 of the tools file.*book it!/],
    ["a bad schema", [{ name: "a", parameters: "string" }], /entry 1/],
    ["nothing", [null], /entry 1/],
  ])("law 10 refuses %s", (_, schemas, message) => {
    expect(() => recordedTools(schemas)).toThrow(message);
    expect(() => recordedTools(schemas)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});
