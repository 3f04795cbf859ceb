import { describe, expect, it } from "vitest";
import { type Epoch, type TranscriptMessage, toolName } from "../protocol/index.ts";
import { compile, extend } from "./index.ts";
import {
  bytes3,
  committed,
  entryOf,
  event,
  inputOf,
  keeping,
  messageOf,
  recount,
  reply,
  request,
  sentBeforeTail,
  textsOf,
  toolRound,
  turnNumber,
} from "./samples.contract.ts";

/** A thread of `turns` turns of about 100 tokens each: a message, a tool round, an answer. */
function epochOf(turns: number): Epoch {
  const { epoch } = compile(inputOf());
  const transcript = Array.from({ length: turns }, (_, i) => turnNumber(i + 1)).flatMap((turn, i) => [
    messageOf({ role: "user", parts: [{ type: "text", text: frameOf(`turn ${i + 1}`) }] }, turn),
    ...toolRound(turn, ["nothing found"], `t${i + 1}`),
    reply(`answer ${i + 1} ${"x".repeat(60)}`, turn),
  ]);
  return { ...epoch, transcript };
}

const frameOf = (text: string) => {
  const part = compile(inputOf({ events: [event(text)] })).own[0]?.message.parts[0];
  if (part?.type !== "text") throw new Error("an event's first part is its frame");
  return part.text as never;
};

const sizeOf = (messages: readonly TranscriptMessage[]) => messages.reduce((sum, one) => sum + one.tokens, 0);
const turn = turnNumber(100);

describe("a transcript that no longer fits", () => {
  const epoch = epochOf(20);
  const whole = compile(inputOf({ epoch, turn })).ledger.tokens;
  const limit = whole - 1;
  const made = compile(inputOf({ epoch, turn, limit }));

  it("is cut in one step to the turns that must stay, and at most three quarters of its room, in a new epoch with its reason", () => {
    const room = limit - (made.ledger.tokens - sizeOf(made.epoch.transcript));
    expect(made.epoch).toMatchObject({ n: 2, reason: "cut" });
    expect(sizeOf(made.epoch.transcript)).toBeLessThanOrEqual((room * 3) / 4);
    // Without a declaration, a tenth of what may be sent.
    const whole = made.epoch.transcript.filter((one) => one.turn !== null);
    expect(sizeOf(whole)).toBeGreaterThanOrEqual(Math.floor(limit / 10));
    expect(sizeOf(whole.slice(4))).toBeLessThan(Math.floor(limit / 10));
    expect(made.opened).toEqual([made.epoch]);
    expect(made.ledger.epoch).toEqual({ n: 2, reason: "cut", opened: true, cut: made.epoch.cut });
  });

  it("keeps the prefix of the epoch before, byte for byte", () => {
    expect(JSON.stringify(made.epoch.prefix)).toBe(JSON.stringify(epoch.prefix));
  });

  it("begins with what others wrote and short replies, then a mark that says how many messages are gone, and then a whole turn", () => {
    const [short, mark, first] = made.epoch.transcript;
    const gone = epoch.transcript.length + 2 - made.epoch.transcript.length;
    expect(made.epoch.cut).toBe(gone);
    expect(short).toMatchObject({ turn: null, trust: "contact" });
    const [opening, kept = ""] = short === undefined ? [] : textsOf(short.message);
    expect(opening).toMatch(/^\(The beginning of this conversation, in short\. /);
    const turns = Array.from({ length: gone / 4 }, (_, i) => [
      `|> 09:30 turn ${i + 1}`,
      `|< 09:30 answer ${i + 1} ${"x".repeat(60)}`,
    ]);
    expect(kept).toBe(["[earlier contact 2026-11-21]", ...turns.flat()].join("\n"));
    expect(mark).toMatchObject({ turn: null, trust: "platform" });
    expect(mark && textsOf(mark.message)).toEqual([
      `(The first ${gone} messages of this conversation are shown only in short, above.)`,
    ]);
    expect(first?.message.role).toBe("user");
    expect(gone % 4).toBe(0);
  });

  it("keeps the newest messages as they were sent", () => {
    expect(made.epoch.transcript.slice(2)).toEqual(epoch.transcript.slice(made.epoch.cut));
  });

  it("keeps a call and its result together", () => {
    const parts = request(made).messages.flatMap((one) => [...one.parts]);
    const calls = parts.flatMap((part) => (part.type === "call" ? [part.id] : []));
    const results = parts.flatMap((part) => (part.type === "result" ? [part.id] : []));
    expect(results).toEqual(calls);
    expect(calls.length).toBeGreaterThan(0);
  });

  it("says so in the ledger", () => {
    expect(entryOf(made, "transcript")).toMatchObject({
      fate: "truncated",
      because: `the first ${made.epoch.cut} messages were cut`,
    });
  });

  it("is not cut again in the next turns: it grows from there", () => {
    const next = compile(inputOf({ epoch: committed(made, reply("ok", turn)), turn: turnNumber(101), limit }));
    expect(next.epoch.n).toBe(2);
    expect(next.opened).toEqual([]);
    expect(next.ledger.epoch.opened).toBe(false);
    expect(sentBeforeTail(next).startsWith(sentBeforeTail(made))).toBe(true);
  });

  it("counts on when it is cut once more, and has one mark, behind what both cuts left", () => {
    const long = reply("and so on ".repeat(500), turnNumber(50));
    const grown = { ...made.epoch, transcript: [...made.epoch.transcript, ...epochOf(3).transcript, long] };
    const again = compile(inputOf({ epoch: grown, turn, limit }));
    expect(again.epoch.n).toBe(3);
    const left = again.epoch.transcript.filter((one) => one.turn !== null).length;
    expect(again.epoch.transcript).toHaveLength(left + 3);
    expect(again.epoch.cut + left).toBe(epoch.transcript.length + 4 * 3 + 1);
    // The rest of the first cut is sent unchanged.
    expect(again.epoch.transcript[0]).toEqual(made.epoch.transcript[0]);
    const [, , mark] = again.epoch.transcript;
    expect(mark && textsOf(mark.message)[0]).toContain(`The first ${again.epoch.cut} messages`);
  });

  it("keeps nothing of a turn that alone is more than three quarters of the room", () => {
    const room = limit - (made.ledger.tokens - sizeOf(made.epoch.transcript));
    const cutBefore = (share: number) => {
      const last = reply("z".repeat(3 * Math.floor(room * share)), turnNumber(21));
      return compile(inputOf({ epoch: { ...epoch, transcript: [...epoch.transcript, last] }, turn, limit })).epoch;
    };
    expect(cutBefore(0.76).transcript.filter((one) => one.turn !== null)).toEqual([]);
    expect(cutBefore(0.76).cut).toBe(81);
    expect(cutBefore(0.7).cut).toBe(80);
  });
});

describe("a run whose calls are open", () => {
  const run = turnNumber(50);
  const open = { type: "call", id: "open", tool: toolName("ask"), input: {} } as const;
  /** Behind 20 turns: what began it, a round of its first turn, and the call that its second turn left open. */
  const tip = [
    messageOf({ role: "user", parts: [{ type: "text", text: frameOf("Ask them.") }] }, run),
    ...toolRound(run, ["looked"], "first"),
    messageOf({ role: "assistant", parts: [open] }, run, "agent"),
  ];
  const before = epochOf(20);
  const epoch = { ...before, transcript: [...before.transcript, ...tip], openRun: run };
  const result = { type: "result", id: "open", tool: open.tool, text: frameOf("noon"), failed: false } as const;
  const results = [messageOf({ role: "tool", parts: [result] }, run)];
  const whole = compile(inputOf({ epoch, turn, results })).ledger.tokens;
  const least = compile(inputOf({ epoch: { ...before, transcript: tip, openRun: run }, turn, results })).ledger.tokens;

  it.each([undefined, 1, 60, 9_000])("law 1 is never cut, however little room there is: keep %j", (keep) => {
    for (let limit = whole - 1; limit >= least + 60; limit -= Math.ceil((whole - least) / 7)) {
      const made = compile(inputOf({ epoch, turn, results, limit, agent: keeping(keep) }));
      expect(made.epoch.cut).toBeGreaterThan(0);
      expect(made.epoch.transcript.slice(-tip.length)).toEqual(tip);
      expect(made.own[0]).toEqual(results[0]);
    }
  });

  it("stays as long as it is open, and is cut whole once it is over", () => {
    const { openRun: _, ...over } = epoch;
    const ended = {
      ...over,
      transcript: [...epoch.transcript, ...results, reply(`Noon. ${"x".repeat(4 * whole)}`, run)],
    };
    const made = compile(inputOf({ epoch: ended, turn, limit: whole }));
    expect(made.epoch.transcript.filter((one) => one.turn === run)).toEqual([]);
  });
});

describe("a cut in the middle of a turn", () => {
  it("keeps the turn's own messages and tail; both epochs of the turn are reported", () => {
    const epoch = epochOf(20);
    const limit = compile(inputOf({ epoch, turn })).ledger.tokens + 20;
    const first = compile(inputOf({ epoch, turn, limit }));
    expect(first.epoch.n).toBe(1);
    const second = extend(first, toolRound(turn, ["a".repeat(300)]), bytes3);
    expect(second.epoch).toMatchObject({ n: 2, reason: "cut" });
    expect(second.own.slice(0, 1)).toEqual(first.own);
    expect(second.tail).toEqual(first.tail);
    expect(second.ledger.epoch.opened).toBe(true);
    const third = extend(second, [reply("b".repeat(3 * (limit - second.ledger.tokens)), turn)], bytes3);
    expect(third.opened.map((one) => one.n)).toEqual([2, 3]);
    expect(recount(request(third), bytes3)).toBeLessThanOrEqual(limit);
  });
});

describe("the room of the mark", () => {
  const epoch = epochOf(3);
  const uncut = compile(inputOf({ epoch, turn }));
  const markSize = uncut.least;
  const rest = uncut.ledger.tokens - sizeOf(epoch.transcript);

  it("is all a transcript needs at the least", () => {
    const made = compile(inputOf({ epoch, turn, limit: rest + markSize }));
    expect(made.epoch.transcript.flatMap(({ message }) => textsOf(message))).toEqual([
      "(The first 12 messages of this conversation are no longer shown. No action needed.)\n|# Sat 2026-11-21",
    ]);
    expect(made.ledger.tokens).toBe(rest + markSize);
  });

  it.each([undefined, 1, 9_000])("is part of the three quarters that may stay: keep %j", (keep) => {
    for (const all of [epoch, epochOf(20)])
      for (let room = markSize; room < sizeOf(all.transcript); room += 7) {
        const made = compile(inputOf({ epoch: all, turn, limit: rest + room, agent: keeping(keep) }));
        expect(made.epoch.cut).toBeGreaterThan(0);
        expect(sizeOf(made.epoch.transcript)).toBeLessThanOrEqual(Math.max(markSize, (room * 3) / 4));
      }
  });
});
