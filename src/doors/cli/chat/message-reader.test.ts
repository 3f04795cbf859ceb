import { describe, expect, it } from "vitest";
import { messageReader } from "./chat-terminal.ts";

/** The messages that typed lines make, and whether one is still open at the end. */
function typed(...lines: readonly string[]) {
  const reader = messageReader();
  const messages = lines.map(reader.take).filter((message) => message !== undefined);
  return { messages, open: reader.isOpen() };
}

describe("the reader of typed messages", () => {
  it.each([
    ["a line is a message", ["one", "", "two"], ["one", "", "two"]],
    ["a backslash at the end goes on", ["one\\", "two\\", "three", "four"], ["one\ntwo\nthree", "four"]],
    ["quotes hold a block", ['"""', "one", "", "two\\", '"""', "three"], ["one\n\ntwo\\", "three"]],
    ["a block may begin and end beside its words", ['"""one', 'two"""'], ["one\ntwo"]],
    ["a block may stand on one line", ['"""one"""'], ["one"]],
    ["an empty block is an empty message", ['"""', '"""', "one"], ["", "one"]],
    ["quotes inside a line are words", ['she said """no"""'], ['she said """no"""']],
    ["a command in a block is text of the block", ['"""', "/quit", "now", '"""'], ["/quit\nnow"]],
  ])("%s", (_title, lines, messages) => {
    expect(typed(...lines)).toEqual({ messages, open: false });
  });

  it.each([
    ["a typed end", ["one\\", "", "/two"], "three", "one\\\n\n/two\nthree"],
    ["nothing", ["one", "two"], "", "one\ntwo"],
  ])("puts the lines of a paste and %s behind it to one message", (_title, pasted, typed, message) => {
    const reader = messageReader();
    expect(pasted.map(reader.paste)).toEqual(pasted.map(() => undefined));
    expect(reader.isOpen()).toBe(true);
    expect(reader.take(typed)).toBe(message);
    expect(reader.take("")).toBe("");
  });

  it("reads a block in a paste as it reads a typed one", () => {
    const reader = messageReader();
    expect(['"""', "one", '"""'].map(reader.paste)).toEqual([undefined, undefined, "one"]);
  });

  it("keeps what continues until it is whole or dropped", () => {
    expect(typed('"""', "one")).toEqual({ messages: [], open: true });
    expect(typed("one\\")).toEqual({ messages: [], open: true });
    const reader = messageReader();
    reader.take("one\\");
    reader.clear();
    expect(reader.take("two")).toBe("two");
  });
});
