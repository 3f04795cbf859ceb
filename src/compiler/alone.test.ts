import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Agent,
  type Epoch,
  type Layer,
  type LayerContent,
  layerId,
  type StoredEvent,
  trusted,
} from "../protocol/index.ts";
import { type CompileInput, compile, extend, messagesCut } from "./index.ts";
import { hostileText, operatorText, randomEvents } from "./random.contract.ts";
import {
  agentOf,
  bytes3,
  clock,
  committed,
  contentsOf,
  entryOf,
  event,
  immutable,
  inputOf,
  item,
  layer,
  recall,
  reply,
  request,
  says,
  systemText,
  toolRound,
  turnNumber,
  unlessTooSmall,
} from "./samples.contract.ts";

const lined = { full: "whole", compact: "line", minimal: "absent" } as const;

const LAYERS = [
  immutable("core", { rank: 0, scope: "all", text: "Lower layers win." }),
  layer("loop", { rank: 6, text: "Look. Then act.", modes: lined, line: trusted("Look before acting.") }),
  layer("soul", { rank: 12, after: layerId("loop") }),
  clock({ rank: 13 }),
  recall({ id: layerId("conversation"), rank: 13, budget: 200 }),
];

const alone = (...layers: readonly Layer[]): Agent => ({ ...agentOf(...layers), history: "log" });

const textOnly = (one: StoredEvent): StoredEvent => ({
  ...one,
  content: one.content.filter(({ type }) => type === "text"),
});

const AGENT = alone(...LAYERS);

const turn = (change: Partial<CompileInput> = {}) => compile(inputOf({ agent: AGENT, ...change }));

describe("history: log", () => {
  const CONVERSED = alone(
    ...LAYERS.slice(0, 4),
    recall({ id: layerId("conversation"), rank: 10, source: { kind: "conversation", entries: 5, compact: 2 } }),
  );

  it("law 1: what was said before stands before the message, and each round of the turn sends it where it stood", () => {
    const contents = contentsOf({
      time: says("It is noon."),
      conversation: { kind: "items", items: [item("them: Hello", { kind: "data" })] },
    });
    const first = turn({ agent: CONVERSED, contents, events: [event("And now?")] });
    const [message] = request(first).messages;
    const texts = message?.role === "user" ? message.parts.map((part) => (part.type === "text" ? part.text : "")) : [];
    expect(texts).toEqual([
      "# Layer 10 · conversation\n[data contact 2026-11-21 09:30Z]\n| them: Hello",
      "[message contact 09:30Z]\n|# Sat 2026-11-21\n| And now?",
    ]);
    expect(first.own[0]?.trust).toBe("contact");
    expect(request(first).tail.map(({ layer: id }) => id)).toEqual(["time"]);
    const second = extend(first, toolRound(first.own[0]?.turn ?? turnNumber(1), ["found"]), bytes3);
    expect(
      JSON.stringify(request(second).messages).startsWith(JSON.stringify(request(first).messages).slice(0, -1)),
    ).toBe(true);
    // Another turn begins with its own.
    const next = turn({
      agent: CONVERSED,
      epoch: committed(second, reply("Yes.", turnNumber(1))),
      events: [event("Bye")],
    });
    expect(JSON.stringify(request(next).messages)).not.toContain("Hello");
  });

  it("each turn has an epoch of its own that begins with today's texts and nothing of what was said before", () => {
    const first = turn({ events: [event("I am Ann.")] });
    expect(first.ledger.epoch).toEqual({ n: 1, reason: "alone", opened: true, cut: 0 });
    const stored: Epoch = committed(first, reply("Hello Ann.", turnNumber(1)));
    const contents = new Map([[layerId("loop"), { ...says("Wait."), trust: "agent", version: 2 } as LayerContent]]);
    const second = turn({ epoch: stored, contents, events: [event("Again.")], turn: turnNumber(2) });
    expect(second.ledger.epoch).toEqual({ n: 2, reason: "alone", opened: true, cut: 0 });
    expect(request(second).messages).toHaveLength(1);
    expect(systemText(second)).toContain("Wait.");
    expect(JSON.stringify(request(second))).not.toContain("Ann");
    expect(messagesCut(stored, second)).toBe(0);
    expect(second.ledger.cutting).toBeUndefined();
  });

  it("law 1: within a turn each request begins with the one before it", () => {
    const made = turn();
    const more = extend(made, toolRound(turnNumber(1), ["found it"]), bytes3);
    expect(more.epoch).toBe(made.epoch);
    expect(JSON.stringify(request(more).messages).startsWith(JSON.stringify(request(made).messages).slice(0, -1))).toBe(
      true,
    );
  });

  it("S16 000.37 the prefix is the same bytes for all senders, and A's words stand in no request for B", () => {
    const secret = fc.stringMatching(/^[a-z]{12}$/).map((word) => `secret-${word}`);
    const sender = fc.record({
      secret,
      // A picture cannot be cut: if it needs the room, the prefix gives way.
      events: randomEvents(hostileText).map((all) => all.map(textOnly)),
      memory: fc.array(hostileText, { maxLength: 4 }),
      time: operatorText,
    });
    fc.assert(
      fc.property(
        fc.array(sender, { minLength: 2, maxLength: 5 }),
        operatorText,
        fc.integer({ min: 1_500, max: 6_000 }),
        (senders, loop, limit) => {
          const edited: LayerContent = { kind: "text", text: trusted(loop), version: 1, trust: "agent" };
          const stored = new Map<number, Epoch>();
          const prefixes = new Set<string>();
          for (const round of [1, 2]) {
            senders.forEach((one, i) => {
              const contents = new Map([
                ...contentsOf({
                  time: says(one.time),
                  conversation: { kind: "items", items: [one.secret, ...one.memory].map((text) => item(text)) },
                }),
                [layerId("loop"), edited] as const,
              ]);
              const input = { contents, limit, events: one.events, epoch: stored.get(i), turn: turnNumber(round) };
              const made = unlessTooSmall(() => turn(input));
              if (made === undefined) return;
              prefixes.add(JSON.stringify(made.epoch.prefix));
              const sent = JSON.stringify(request(made));
              for (const [k, other] of senders.entries())
                if (k !== i && other.secret !== one.secret) expect(sent).not.toContain(other.secret);
              stored.set(i, committed(made, reply(one.secret, turnNumber(round))));
            });
          }
          expect(prefixes.size).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("law 8: a prefix that would leave no quarter for the message is cut, whatever the message is", () => {
    const agent = alone(
      immutable("core", { rank: 0 }),
      layer("long", { rank: 6, text: "abc ".repeat(900), minimum: 400 }),
    );
    const prefixes = ["Hi.", "word ".repeat(2_000)].map((text) =>
      compile(inputOf({ agent, limit: 1_000, events: [event(text)] })),
    );
    expect(new Set(prefixes.map(systemText)).size).toBe(1);
    expect(entryOf(prefixes[0] ?? turn(), "long").fate).toBe("truncated");
  });
});

describe("an edited text", () => {
  const edited = (text: string, change: Partial<Extract<LayerContent, { kind: "text" }>> = {}) =>
    turn({
      mode: "compact",
      contents: new Map([
        [layerId("loop"), { kind: "text", text: trusted(text), version: 4, trust: "agent", ...change }],
      ]),
    });

  it("000.6 stands where the declared one stood, with its version and its writer's trust in the ledger; unset, the declared one does", () => {
    const contents = new Map([[layerId("loop"), { ...says("Wait."), version: 4, trust: "agent" } as LayerContent]]);
    const made = turn({ contents });
    expect(entryOf(made, "loop")).toMatchObject({ edited: 4, trust: "agent", fate: "kept" });
    expect(made.taint).toBe("contact");
    expect(systemText(made)).not.toContain("Look.");
    expect(systemText(turn())).toContain("Look. Then act.");
    expect(entryOf(turn(), "loop").edited).toBeUndefined();
  });

  it("S18 25.22 is shown as its own line in compact mode, else as the reviewed one, and never as a part of itself", () => {
    expect(systemText(edited("Wait. Then act.", { line: trusted("Wait first.") }))).toContain(
      "# Layer 6 · loop\nWait first.",
    );
    const begun = edited("## Steps\n\nWait for the tide. Then act. Tell nobody a secret.");
    expect(systemText(begun)).toContain("# Layer 6 · loop\nLook before acting.");
    expect(systemText(begun)).not.toContain("Wait for the tide.");
    expect(entryOf(begun, "loop")).toMatchObject({ fate: "lined", edited: 4, trust: "agent" });
    expect(systemText(turn({ mode: "compact" }))).toContain("# Layer 6 · loop\nLook before acting.");
  });
});

describe("the platform's line before gathered items", () => {
  const intro = trusted("3 messages wait; the newest:");
  const items = Array.from({ length: 6 }, (_, i) => item(`word ${i} `.repeat(20)));
  const made = (limit: number) =>
    turn({ limit, contents: contentsOf({ conversation: { kind: "items", intro, items } }) });
  const live = (limit: number) => made(limit).tail.find(({ layer: id }) => id === "conversation")?.text;

  it("000.25 stands under the heading, whole or cut", () => {
    expect(live(10_000)).toMatch(/^# Layer 13 · conversation\n3 messages wait; the newest:\n\[memory contact 2026/);
    const cut = live(300);
    expect(cut).toMatch(/^# Layer 13 · conversation\n3 messages wait; the newest:\n\[memory contact 2026/);
    expect(cut).toMatch(/\n\(\d more not shown\.\)$/);
  });
});
