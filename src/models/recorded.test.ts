import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../protocol/index.ts";
import { recordedModel } from "./index.ts";
import { modelContract, replyOf, sampleRequest } from "./model.contract.ts";

const WIRE = "anthropic:claude-sonnet-4-5";
const request = sampleRequest("Hello");
const calls = [
  { id: "c1", tool: "look_up", input: { word: "sun" } },
  { id: "c2", tool: "look_up", input: "not an object" },
];

describe("recorded", () => {
  modelContract(() => recordedModel([{ texts: ["Good", "morning."], calls }], WIRE));
});

describe("a recording", () => {
  it("gives its replies in order, each text a part of its own, then the calls", async () => {
    const model = recordedModel(
      [
        { texts: ["Wait.", "Looking."], calls },
        { texts: ["Here."], calls: [] },
      ],
      WIRE,
    );
    expect(model).toMatchObject({ ref: "recording", wire: WIRE });
    expect(await replyOf(model, request)).toEqual({
      parts: [
        { type: "text", text: "Wait." },
        { type: "text", text: "Looking." },
        ...calls.map((call) => ({ type: "call", ...call })),
      ],
      finish: "calls",
      usage: NO_USAGE,
    });
    expect(await replyOf(model, request)).toMatchObject({ parts: [{ text: "Here." }], finish: "stop" });
  });

  it("says that it has ended, as often as it is asked", async () => {
    const model = recordedModel([], WIRE);
    const ended = { parts: [], finish: "recording-ended", usage: NO_USAGE };
    expect(await replyOf(model, request)).toEqual(ended);
    expect(await replyOf(model, request)).toEqual(ended);
  });
});
