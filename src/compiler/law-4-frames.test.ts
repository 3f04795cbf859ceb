import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clean } from "../guard/index.ts";
import {
  type ContentItem,
  type FramedAbove,
  framedAbove,
  isMedia,
  isoSecond,
  type LayerContent,
  looksLikeOurs,
  type Message,
  partText,
  type ReadFrame,
  readFrames,
  type StoredEvent,
  type Trust,
  toolName,
  untrusted,
} from "../protocol/index.ts";
import { type Compilation, compile, extend, frameResult } from "./index.ts";
import { hostileText, longText, randomEvents, randomItems, trustLevel } from "./random.contract.ts";
import {
  agentOf,
  bytes3,
  contentsOf,
  immutable,
  inputOf,
  layer,
  messageOf,
  recall,
  request,
  unlessTooSmall,
} from "./samples.contract.ts";

/** What must be read back of one text from outside. */
interface Told {
  readonly kind: string;
  readonly trust: Trust;
  readonly at: string;
  readonly text: string;
}

/** A frame's display of a time, by its kind. */
function shownTime({ kind, at }: Pick<ReadFrame, "kind" | "at">): string {
  if (kind === "result") return "";
  return isoSecond(at).slice(0, kind === "memory" ? "2026-11-21".length : "2026-11-21T09:30".length);
}

const told = (frame: ReadFrame): Told => ({
  kind: frame.kind,
  trust: frame.trust,
  at: shownTime(frame),
  text: frame.text,
});

/** Each text of an event; an event without words says nothing, in a frame. */
function written(event: StoredEvent): { event: StoredEvent; text: string }[] {
  const texts = event.content.flatMap((part) => (isMedia(part) ? [] : [partText(part)]));
  return (texts.length === 0 ? [""] : texts).map((text) => ({ event, text }));
}

const ofEvent = (one: StoredEvent): Told[] =>
  written(one).map(({ event: { kind, trust, at }, text }) => ({
    kind,
    trust,
    at: shownTime({ kind, at }),
    text: clean(untrusted(text)),
  }));

const ofItem = ({ kind, trust, at, text }: ContentItem): Told => ({
  kind,
  trust,
  at: shownTime({ kind, at }),
  text: clean(text),
});

/** Everything a user or a tool is heard to say in a request. */
const heard = (messages: readonly Message[]): string[] =>
  messages
    .filter((one) => one.role !== "assistant")
    .flatMap((one) => one.parts.flatMap((part) => ("text" in part ? [part.text] : [])));

/** Lines outside of every frame: only the platform may speak there. */
const outside = (text: string): string[] =>
  text.split("\n").filter((line) => !/^\|[@#]? /.test(line) && !looksLikeOurs(line));

const MARK = /^\(The [a-z-]+ above is truncated: its first (\d+) of \d+ characters are shown\.\)$/;

const itemsOf = (content: LayerContent): readonly ContentItem[] => (content.kind === "items" ? content.items : []);
const inTime = (items: readonly ContentItem[]) => items.toSorted((a, b) => a.at - b.at);

const result = fc.record({
  text: hostileText,
  trust: trustLevel,
  at: fc.integer({ min: 0, max: 253_402_300_799_000 }),
});

function answered(made: Compilation, all: readonly { text: string; trust: Trust; at: number }[]): Compilation {
  const calls = all.map((_, i) => ({ type: "call" as const, id: `c${i}`, tool: toolName("find"), input: {} }));
  const parts = all.flatMap(({ text, trust, at }, i) => {
    const call = calls[i];
    return call === undefined
      ? []
      : [frameResult(call, { text: untrusted(text), failed: false, trust, at }, 100_000, bytes3)];
  });
  const turn = inputOf().turn;
  return extend(
    made,
    [messageOf({ role: "assistant", parts: calls }, turn), messageOf({ role: "tool", parts }, turn)],
    bytes3,
  );
}

describe("law 4", () => {
  const agent = agentOf(immutable("core", { rank: 0 }), layer("persona"), recall());

  it("law 4: what outsiders wrote reads back as exactly the frames that were made, each with its own trust", () => {
    fc.assert(
      fc.property(randomEvents(), randomItems(), fc.array(result, { maxLength: 3 }), (events, memory, results) => {
        const first = compile(inputOf({ agent, events, contents: contentsOf({ memory }), limit: 10_000_000 }));
        const made = answered(first, results);
        const sent = request(made);
        expect(readFrames(heard(sent.messages).join("\n")).map(told)).toEqual([
          ...events.flatMap(ofEvent),
          ...results.map(({ text, trust }) => ({
            kind: "result",
            trust,
            at: "",
            text: clean(untrusted(text)),
          })),
        ]);
        expect(sent.tail.flatMap((part) => readFrames(part.text).map(told))).toEqual(
          inTime(itemsOf(memory)).map(ofItem),
        );
        for (const text of heard(sent.messages)) {
          expect(outside(text)).toEqual([]);
          expect(text.split("\n").filter(looksLikeOurs)).toHaveLength(readFrames(text).length);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("law 4: cut to any room it is still as many frames, each the beginning of what was written", () => {
    let cuts = 0;
    fc.assert(
      fc.property(randomEvents(longText), fc.integer({ min: 300, max: 4_000 }), (events, limit) => {
        const made = unlessTooSmall(() => compile(inputOf({ agent, events, limit })));
        if (made === undefined) return;
        const texts = heard(request(made).messages);
        for (const text of texts) expect(text.isWellFormed()).toBe(true);
        let above: FramedAbove = {};
        const shown = texts.flatMap((text, i) => {
          const frames = readFrames(text, above);
          above = framedAbove(text, above);
          if (frames.length === 0) expect(text).toMatch(MARK);
          else expect(outside(text)).toEqual([]);
          const mark = MARK.exec(texts[i + 1] ?? "");
          if (mark !== null) cuts++;
          return frames.map((frame) => ({ ...told(frame), first: mark === null ? undefined : Number(mark[1]) }));
        });
        const whole = events.flatMap(written);
        expect(shown).toHaveLength(whole.length);
        whole.forEach(({ event, text }, i) => {
          const first = shown[i]?.first;
          const { kind, trust } = event;
          const beginning = clean(untrusted(text.slice(0, first)));
          expect(shown[i]).toEqual({ kind, trust, at: shownTime(event), text: beginning, first });
        });
      }),
      { numRuns: 200 },
    );
    expect(cuts).toBeGreaterThan(20);
  });

  it("law 4, law 8: a result that is kept shows its beginning and its end in frames, within its room, and the platform's note between them", () => {
    let kept = 0;
    const note = /^\(Lines \d+ to \d+ of \d+ are not shown: .* call read_result with result 3\.\)$/;
    const call = { type: "call", id: "c", tool: toolName("find"), input: {} } as const;
    fc.assert(
      fc.property(longText, fc.integer({ min: 0, max: 900 }), trustLevel, (some, room, trust) => {
        const text = untrusted(`${some}\n`.repeat(12));
        const keep = { n: 3, reader: toolName("read_result"), most: 1_000_000 };
        const part = frameResult(call, { text, failed: false, trust, at: 0, keep }, room, bytes3);
        if (part.kept === undefined) return;
        kept++;
        expect(bytes3(part.text)).toBeLessThanOrEqual(room);
        expect(part.kept).toEqual({ n: 3, trust, text: clean(text) });
        const frames = readFrames(part.text);
        expect(frames.map(({ kind, trust: of }) => [kind, of])).toEqual([
          ["result", trust],
          ["result", trust],
        ]);
        expect(outside(part.text)).toEqual([expect.stringMatching(note)]);
        expect(part.text.split("\n").filter(looksLikeOurs)).toHaveLength(2);
        expect(part.kept.text.startsWith(frames[0]?.text ?? "?")).toBe(true);
        expect(part.kept.text.endsWith(frames[1]?.text ?? "?")).toBe(true);
        expect(part.text.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(kept).toBeGreaterThan(20);
  });

  it("law 4: no byte from outside reaches the prefix, whoever sends what", () => {
    const quiet = compile(inputOf({ agent, limit: 10_000_000 }));
    fc.assert(
      fc.property(randomEvents(), randomItems(), fc.array(result, { maxLength: 3 }), (events, memory, results) => {
        const first = compile(inputOf({ agent, events, contents: contentsOf({ memory }), limit: 10_000_000 }));
        expect(JSON.stringify(request(answered(first, results)).prefix)).toBe(JSON.stringify(request(quiet).prefix));
      }),
      { numRuns: 200 },
    );
  });

  it("law 4: a gathered layer that asks to stand in the prefix is refused, whatever it gathered", () => {
    fc.assert(
      fc.property(randomItems(), fc.constantFrom("all", "org", "agent", "thread" as const), (memory, scope) => {
        fc.pre(itemsOf(memory).length > 0);
        const input = inputOf({
          agent: agentOf(recall({ scope })),
          contents: contentsOf({ memory }),
          limit: 1_000_000,
        });
        expect(() => compile(input)).toThrow("give it scope turn");
      }),
      { numRuns: 50 },
    );
  });

  it("law 4: a file's name is one line that cannot be ours", () => {
    fc.assert(
      fc.property(hostileText, (name) => {
        const file = { type: "file", mediaType: "text/plain", data: "aGk=", name } as const;
        const [event] = inputOf().events;
        const made = compile(inputOf({ agent, events: event === undefined ? [] : [{ ...event, content: [file] }] }));
        const sent = request(made)
          .messages.flatMap((one) => [...one.parts])
          .find((part) => part.type === "file");
        const shown = sent?.type === "file" ? (sent.name ?? "") : "";
        expect(shown.split(/[\n\r\u2028\u2029\u0085]/)).toHaveLength(1);
        expect(looksLikeOurs(shown)).toBe(false);
        expect([...shown].length).toBeLessThanOrEqual(64);
      }),
      { numRuns: 300 },
    );
  });
});
