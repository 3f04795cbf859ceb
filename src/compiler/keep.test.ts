import { describe, expect, it } from "vitest";
import type { Epoch, TranscriptMessage } from "../protocol/index.ts";
import { type CompileInput, compile, extend, type Keep } from "./index.ts";
import { inputOf, reply, turnNumber } from "./samples.contract.ts";

/** A transcript of turns with that many tokens each, two messages a turn. */
function epochOf(...sizes: readonly number[]): Epoch {
  const transcript = sizes.flatMap((tokens, n): TranscriptMessage[] => {
    const said = reply(`turn ${n + 1}`, turnNumber(n + 1));
    return [
      { ...said, message: { role: "user", parts: [] }, tokens: Math.floor(tokens / 2) },
      { ...said, tokens: Math.ceil(tokens / 2) },
    ];
  });
  return { ...compile(inputOf()).epoch, transcript };
}

const turns = (n: number, tokens: number): readonly number[] => Array.from({ length: n }, () => tokens);

const keeping = (tokens: number, shares: Partial<Keep> = {}): Keep => ({ tokens, read: 0.1, write: 1.25, ...shares });

const LIMIT = 60_000;

function made(epoch: Epoch, keep: Keep, more: Partial<CompileInput> = {}) {
  const { ledger, epoch: now } = compile(inputOf({ epoch, keep, turn: turnNumber(900), limit: LIMIT, ...more }));
  const own = now.transcript.filter(({ turn }) => turn !== null);
  return { cutting: ledger.cutting, ledger, now, own, tokens: own.reduce((sum, one) => sum + one.tokens, 0) };
}

describe("a conversation of which so much must stay", () => {
  it("is cut at m + sqrt(2 s m (w - r) / r), and not before", () => {
    const keep = keeping(5_000);
    // 10,176 with 233 new tokens a turn, as was measured to be best.
    expect(made(epochOf(...turns(42, 233)), keep).cutting).toEqual({ at: 10_176, keep: 5_000, each: 233 });
    expect(made(epochOf(...turns(43, 233)), keep).now).toMatchObject({ n: 1, cut: 0 });
    const cut = made(epochOf(...turns(44, 233)), keep);
    expect(cut.now).toMatchObject({ n: 2, reason: "cut", cut: 2 * 22 });
    expect(cut.tokens).toBe(22 * 233);
    expect(cut.ledger.epoch).toMatchObject({ opened: true, cut: 44 });
    expect(cut.cutting?.because).toBe("from there on reading all of it costs more than a cut");
  });

  it("is cut when the turn before has planned it, even if that turn then says less than expected", () => {
    const keep = keeping(5_000);
    expect(made(epochOf(...turns(43, 233)), keep).cutting?.due).toBe(true);
    const planned = made(epochOf(...turns(43, 233), 20), keep);
    expect(planned.now).toMatchObject({ n: 2, reason: "cut" });
    expect(planned.cutting?.because).toBe("from there on reading all of it costs more than a cut");
    expect(made(epochOf(...turns(42, 233), 20), keep).now).toMatchObject({ n: 1, cut: 0 });
    expect(made(epochOf(20), keep).cutting).not.toHaveProperty("due");
  });

  it("plans no further cut if the planned one is made a turn early", () => {
    const early = { cut: true, because: "the provider's cache was cold, and a cut is due in 1 turn" };
    const { cutting, now } = made(epochOf(...turns(43, 233)), keeping(5_000), { early });
    expect(now).toMatchObject({ n: 2, reason: "cut" });
    expect(cutting).toEqual({ at: 10_176, keep: 5_000, each: 233, because: early.because });
  });

  it("is cut later where reads are cheaper, and where each turn says more", () => {
    const at = (each: number, shares: Partial<Keep>) =>
      made(epochOf(...turns(9, each)), keeping(2_000, shares)).cutting?.at;
    expect(at(100, {})).toBe(2_000 + Math.round(Math.sqrt(2 * 100 * 2_000 * 11.5)));
    expect(at(100, { read: 0.05 })).toBe(2_000 + Math.round(Math.sqrt(2 * 100 * 2_000 * 24)));
    expect(at(200, {})).toBe(2_000 + Math.round(Math.sqrt(2 * 200 * 2_000 * 11.5)));
  });

  it("is cut where the budget ends, at the latest: also where reading costs nothing", () => {
    const { cutting, now } = made(epochOf(...turns(200, 280)), keeping(4_000, { read: 0 }));
    expect(now.n).toBe(1);
    expect(cutting?.at).toBeGreaterThan(LIMIT * 0.95);
    const full = made(epochOf(...turns(220, 280)), keeping(4_000, { read: 0 }));
    expect(full.cutting?.because).toBe("there was no room for more");
    expect(full.tokens).toBe(15 * 280);
  });

  it("keeps the turn whole that reaches it, and is not cut where all there is must stay", () => {
    const large = [...turns(30, 300), 6_000, 300];
    const { tokens, now } = made(epochOf(...large), keeping(1_000));
    expect([tokens, now.cut]).toEqual([6_300, 60]);
    expect(made({ ...now, transcript: now.transcript }, keeping(1_000)).now.n).toBe(now.n);
    expect(made(epochOf(6_000, 300), keeping(1_000)).now).toMatchObject({ n: 1, cut: 0 });
  });

  it("leaves a quarter of the room free, whatever must stay, so that the next cut is far away", () => {
    const { cutting, tokens } = made(epochOf(...turns(230, 280)), keeping(59_000));
    expect(cutting?.keep).toBeLessThan(LIMIT * 0.75);
    expect(tokens).toBeLessThan(LIMIT * 0.75);
    expect(tokens).toBeGreaterThan(LIMIT * 0.7);
  });

  it("is not cut in the middle of a turn while there is room", () => {
    const start = compile(inputOf({ epoch: epochOf(...turns(43, 233)), keep: keeping(5_000), limit: LIMIT }));
    const long = { ...reply("long", turnNumber(900)), tokens: 9_000 };
    const next = extend(start, [long], inputOf().count);
    expect(next.epoch).toBe(start.epoch);
    const longer = extend(next, [{ ...long, tokens: 42_000 }], inputOf().count);
    expect(longer.ledger.cutting).toMatchObject({ keep: 5_000, because: "there was no room for more" });
    expect(longer.epoch.cut).toBeGreaterThan(0);
  });

  describe("if the agent does not say how much", () => {
    const floor = { plain: 2_000, withResults: 3_000 };
    const usual = (shares: Partial<Keep> = {}) => keeping(600, { floor, ...shares });

    it("is not cut before its room ends while nearly all of it would stay: between people who write short messages", () => {
      const people = made(epochOf(...turns(90, 100)), usual());
      expect(people.now).toMatchObject({ n: 1, cut: 0 });
      expect(people.cutting?.at).toBeGreaterThan(LIMIT * 0.95);
      expect(made(epochOf(...turns(30, 300)), usual()).now).toMatchObject({ n: 2, reason: "cut" });
      expect(made(epochOf(...turns(90, 100)), keeping(600)).now).toMatchObject({ n: 2, reason: "cut" });
    });

    it("is cut only if what goes costs more to read in 25 turns than what stays costs to write", () => {
      // Half of it goes, so 25 reads of a token must cost at least what one costs to write instead of reading it.
      const isCut = (read: number, write: number): boolean =>
        made(epochOf(...turns(30, 300)), usual({ read, write })).now.reason === "cut";
      expect([isCut(0.05, 1.29), isCut(0.05, 1.31), isCut(0.025, 1.25), isCut(0, 1.25)]).toEqual([
        true,
        false,
        false,
        false,
      ]);
    });
  });

  it("is in the ledger even if nothing is declared: then it is cut at the end of the room", () => {
    const epoch = epochOf(...turns(20, 300));
    const { ledger } = compile(inputOf({ epoch, turn: turnNumber(900), limit: LIMIT }));
    expect(ledger.cutting).toMatchObject({ each: 300 });
    expect(ledger.cutting?.at).toBeGreaterThan(LIMIT * 0.95);
    expect(compile(inputOf()).ledger.cutting).toBeUndefined();
  });
});
