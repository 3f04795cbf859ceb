import { describe, expect, it } from "vitest";
import { type ToolSchema, toolName } from "../protocol/index.ts";
import { compile } from "./index.ts";
import { AT, agentOf, contentsOf, inputOf, item, layer, recall, request } from "./samples.contract.ts";

const tool = (name: string, input: ToolSchema["input"]): ToolSchema => ({
  name: toolName(name),
  description: `It does ${name}.`,
  input,
});

describe("law 1: the same bytes are sent", () => {
  it("in whatever order the tools come", () => {
    const tools = ["send", "ask", "look_up"].map((name) => tool(name, { type: "object", properties: {} }));
    const prefixOf = (given: readonly ToolSchema[]) =>
      JSON.stringify(request(compile(inputOf({ tools: given }))).prefix.tools);
    expect(prefixOf(tools.toReversed())).toBe(prefixOf(tools));
    expect(request(compile(inputOf({ tools }))).prefix.tools.map(({ name }) => name)).toEqual([
      "ask",
      "look_up",
      "send",
    ]);
  });

  it("in whatever order the keys of a schema were written, at every depth", () => {
    const seat = { type: "integer", minimum: 1 };
    const one = tool("look_up", { type: "object", properties: { seat, day: { type: "string" } } });
    const reordered = { minimum: 1, type: "integer" };
    const other = tool("look_up", { properties: { day: { type: "string" }, seat: reordered }, type: "object" });
    const bytesOf = (given: ToolSchema) => JSON.stringify(request(compile(inputOf({ tools: [given] }))).prefix.tools);
    expect(bytesOf(other)).toBe(bytesOf(one));
  });

  it("in whatever order the layers were written", () => {
    const layers = [
      layer("wide", { scope: "all", rank: 9 }),
      layer("first", { scope: "agent", rank: 1 }),
      layer("second", { scope: "agent", rank: 2 }),
      layer("own", { scope: "thread", rank: 0 }),
    ];
    const systemOf = (given: typeof layers) =>
      JSON.stringify(request(compile(inputOf({ agent: agentOf(...given) }))).prefix.system);
    expect(systemOf(layers.toReversed())).toBe(systemOf(layers));
  });

  it("in whatever order the items of a layer were found, the oldest first", () => {
    const items = [0, 1, 2].map((n) => item(`thing ${n}`, { at: AT - (2 - n) * 1_000 }));
    const tailOf = (given: typeof items) =>
      request(
        compile(
          inputOf({ agent: agentOf(recall()), contents: contentsOf({ memory: { kind: "items", items: given } }) }),
        ),
      ).tail.map(({ text }) => text);
    expect(tailOf(items.toReversed())).toEqual(tailOf(items));
    expect(tailOf(items).join("\n")).toMatch(/thing 0[\s\S]*thing 1[\s\S]*thing 2/);
  });
});
