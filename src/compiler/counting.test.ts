import { describe, expect, it } from "vitest";
import { type CountTokens, type TranscriptMessage, trusted } from "../protocol/index.ts";
import { compile, extend } from "./index.ts";
import {
  agentOf,
  bytes3,
  clock,
  contentsOf,
  entryOf,
  event,
  immutable,
  inputOf,
  item,
  layer,
  messageOf,
  recall,
  reply,
  request,
  says,
  textsOf,
  tool,
  toolRound,
  turnNumber,
} from "./samples.contract.ts";

const words = (what: string, n: number): string => Array.from({ length: n }, (_, i) => `${what}${i}`).join(" ");

/** Twelve layers, as the workbench has them: ten in the prefix, two live. */
const agent = agentOf(
  immutable("core", { rank: 0, scope: "all", text: words("core", 200) }),
  immutable("safety", { rank: 1, scope: "all", text: words("safety", 200) }),
  ...Array.from({ length: 8 }, (_, i) => layer(`layer-${i}`, { rank: i + 2, text: words(`l${i}x`, 300) })),
  clock(),
  recall(),
);
const contents = contentsOf({
  time: says("Noon."),
  memory: { kind: "items", items: [item(words("memory", 40)), item(words("other", 40))] },
});
const input = inputOf({ agent, contents, tools: [tool("find"), tool("save")], limit: 100_000 });

/** A frame's header and day: what follows need not say the day again. */
const FRAMED = "[message contact 09:30Z]\n|# Sat 2026-11-21\n| ";

/** Two hundred messages, each with different words. */
const transcript: readonly TranscriptMessage[] = Array.from({ length: 100 }, (_, i) => turnNumber(1_000 + i)).flatMap(
  (turn, i) => [
    messageOf({ role: "user", parts: [{ type: "text", text: trusted(`${FRAMED}${words(`asked${i}`, 20)}`) }] }, turn),
    reply(words(`said${i}`, 20), turn),
  ],
);
const epoch = { ...compile(input).epoch, transcript };

/** A counter that remembers what it was asked. */
function listening(): { count: CountTokens; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    count: (text) => {
      asked.push(text);
      return bytes3(text);
    },
  };
}

const oldTexts = new Set(transcript.flatMap((one) => textsOf(one.message)));

describe("what is counted", () => {
  it("never is a message of the transcript or a layer of a frozen prefix: their tokens are known", () => {
    const { count, asked } = listening();
    const made = compile({ ...input, epoch, count });
    extend(made, toolRound(input.turn, ["nothing"]), count);
    expect(request(made).messages).toHaveLength(201);
    expect(entryOf(made, "transcript").tokens).toBeGreaterThan(10_000);
    for (const text of asked) {
      expect(oldTexts.has(text)).toBe(false);
      expect(text).not.toMatch(/asked\d|said\d|core\d|l0x\d/);
    }
    const fresh = [...made.tail.map((part) => part.text), ...made.own.flatMap((one) => textsOf(one.message))];
    expect(asked).toEqual(expect.arrayContaining(fresh));
  });

  it("is in the next turn what is new in it, and nothing that tells how long the thread has become", () => {
    const { count, asked } = listening();
    const first = compile({ ...input, epoch, count });
    const before = new Set(asked.splice(0));
    const longer = { ...epoch, transcript: [...transcript, ...first.own, reply("Yes.", input.turn)] };
    const next = compile({ ...input, epoch: longer, events: [event("And now?")], count });
    const fresh = asked.filter((text) => !before.has(text));
    expect(new Set(fresh)).toEqual(new Set(next.own.flatMap((one) => textsOf(one.message))));
  });

  it("is not the transcript when it is cut either: only the mark and what stays in short are new", () => {
    const { count, asked } = listening();
    const { tokens } = compile({ ...input, epoch }).ledger;
    const made = compile({ ...input, epoch, count, limit: tokens - 1 });
    expect(made.epoch.reason).toBe("cut");
    for (const text of asked) expect(oldTexts.has(text)).toBe(false);
  });

  it("is every text of a first turn, and each of them whole and once for a counter that remembers", () => {
    const { count, asked } = listening();
    const made = compile({ ...input, count });
    const { prefix, messages, tail } = request(made);
    const sent = [
      ...prefix.system.map((block) => block.text),
      ...messages.flatMap(textsOf),
      ...tail.map((part) => part.text),
      ...prefix.tools.map((one) => one.name + one.description + JSON.stringify(one.input)),
    ].join("");
    const once = [...new Set(asked)].join("");
    expect(once.length).toBeLessThanOrEqual(sent.length);
    expect(once.length).toBeGreaterThan(sent.length * 0.98);
  });

  it("sees a message that was handed in as the model wrote it, calls and all", () => {
    const [call] = toolRound(input.turn, ["x"]);
    expect(call?.tokens).toBe(4 + 4 + bytes3("memory_search") + bytes3('{"query":"call"}') + 4);
    const said = messageOf({ role: "user", parts: [{ type: "image", mediaType: "image/png", data: "AAAA" }] }, null);
    expect(said.tokens).toBe(1_608);
  });
});
