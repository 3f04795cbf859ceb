import { describe, expect, it } from "vitest";
import { readRecording } from "../index.ts";

const OPTIONS = { file: "talk.jsonl", digest: "d", gap: 45_000 };
const lines = (...all: readonly object[]): string => all.map((line) => JSON.stringify(line)).join("\n");
const contact = (text: string, more: object = {}) => ({ thread: "t", from: "contact", text, ...more });
const agent = (text: string, more: object = {}) => ({ thread: "t", from: "agent", text, ...more });
const call = (id: string) => ({ calls: [{ id, tool: "look", input: { b: 1, a: 2 } }] });

describe("a recording", () => {
  it("makes one exchange of a run of contact lines and all that the agent did about them", () => {
    const text = lines(contact("a"), contact("b"), agent("c"), agent("d"), contact("e"), agent("f"));
    const exchanges = readRecording(text, OPTIONS);
    expect(exchanges.map(({ events }) => events.map((event) => event.externalId))).toEqual([["d:1", "d:2"], ["d:5"]]);
    expect(exchanges.map(({ replies }) => replies.map((reply) => reply.texts))).toEqual([[["c", "d"]], [["f"]]]);
  });

  it("begins a reply again after results, keeps call ids and the order of their input's keys", () => {
    const text = lines(
      contact("look"),
      agent("", call("c1")),
      { thread: "t", from: "tool", id: "c1", text: "seen" },
      agent("I saw it"),
    );
    const [exchange] = readRecording(text, OPTIONS);
    expect(exchange?.replies.map(({ texts, calls }) => [texts, calls.map((one) => one.id)])).toEqual([
      [[], ["c1"]],
      [["I saw it"], []],
    ]);
    expect(JSON.stringify(exchange?.replies[0]?.calls[0]?.input)).toBe('{"b":1,"a":2}');
    expect(exchange?.results.get("c1")).toEqual({ text: "seen", failed: false });
  });

  it("steps its clock where there is no time, thread by thread, and takes the time that is there", () => {
    const text = lines(contact("a"), agent("b"), contact("c"), { ...contact("x"), thread: "u" });
    expect(readRecording(text, OPTIONS).map(({ at }) => new Date(at).toISOString().slice(11, 19))).toEqual([
      "00:00:00",
      "00:01:30",
      "00:00:00",
    ]);
    const [timed] = readRecording(lines(contact("a", { at: "2023-05-08T13:56:00.000Z" }), agent("b")), OPTIONS);
    expect(timed?.at).toBe(Date.UTC(2023, 4, 8, 13, 56));
    expect(timed?.replies[0]?.at).toBe(timed?.at);
  });

  it("asks an agent that speaks first to begin", () => {
    const [first, second] = readRecording(lines(agent("Welcome!"), contact("Hi"), agent("Hello")), OPTIONS);
    expect(first?.events).toMatchObject([{ kind: "scheduled", trust: "operator" }]);
    expect(first?.replies[0]?.texts).toEqual(["Welcome!"]);
    expect(second?.events).toMatchObject([{ kind: "message", trust: "contact" }]);
  });

  it("gives a line that the agent began its own date, and not that of its reply long before", () => {
    const day = (n: number, time = "09:00") => ({ at: `2023-05-0${n}T${time}:00.000Z` });
    const text = lines(
      contact("Bye", day(1)),
      agent("Bye!", day(1, "09:01")),
      agent("And good night.", day(1, "09:02")),
      agent("Hey, how was your week?", day(8)),
      contact("Good", day(8, "09:05")),
    );
    const exchanges = readRecording(text, OPTIONS);
    expect(exchanges.map(({ replies }) => replies.map((reply) => reply.texts))).toEqual([
      [["Bye!", "And good night."]],
      [["Hey, how was your week?"]],
      [],
    ]);
    const [, began] = exchanges;
    expect(began?.events).toMatchObject([{ kind: "scheduled", at: Date.UTC(2023, 4, 8, 9) }]);
    expect([began?.at, began?.replies[0]?.at]).toEqual([Date.UTC(2023, 4, 8, 9), Date.UTC(2023, 4, 8, 9)]);
  });

  it.each([
    ["not JSON", "{", /talk\.jsonl:2: "\{" is not JSON/],
    ["an unknown speaker", JSON.stringify({ ...contact("a"), from: "boss" }), /talk\.jsonl:2: from: .*, not "boss"/],
    ["an unknown key", JSON.stringify({ ...contact("a"), mood: "good" }), /talk\.jsonl:2: .*mood/],
    ["a bad time", JSON.stringify(contact("a", { at: "yesterday" })), /talk\.jsonl:2: at: /],
    [
      "a bad tool name",
      JSON.stringify(agent("", { calls: [{ id: "1", tool: "a b", input: {} }] })),
      /talk\.jsonl:2: calls\.0\.tool: "a b"/,
    ],
    [
      "a thread nobody can be called",
      JSON.stringify({ ...contact("a"), thread: " " }),
      /talk\.jsonl:2: thread: " " is not a contact/,
    ],
    [
      "a result nobody asked for",
      JSON.stringify({ thread: "t", from: "tool", id: "c9", text: "x" }),
      /talk\.jsonl:2: no call "c9" is open/,
    ],
    [
      "a result without an id",
      JSON.stringify({ thread: "t", from: "tool", text: "x" }),
      /talk\.jsonl:2: .*needs the id/,
    ],
  ])("refuses %s with file, line and what is expected, before anything is done", (_, line, sentence) => {
    const read = () => readRecording(`${lines(contact("fine"))}\n${line}`, OPTIONS);
    expect(read).toThrow(sentence);
    expect(read).toThrow(expect.objectContaining({ code: "invalid_line" }));
  });

  it("refuses a call id that is used twice", () => {
    const text = lines(contact("a"), agent("", call("c1")), agent("", call("c1")));
    expect(() => readRecording(text, OPTIONS)).toThrow(/talk\.jsonl:3: the call id "c1" is used twice/);
  });
});
