import { describe, expect, it } from "vitest";
import type { Epoch, TranscriptMessage } from "../protocol/index.ts";
import { type CompileInput, compile, type EarlyCut, extend } from "./index.ts";
import { inputOf, keeping, reply, turnNumber } from "./samples.contract.ts";

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

const LIMIT = 60_000;

/** A turn of an agent that keeps so much, with these prices of the cache. */
function made(epoch: Epoch, keep: number | undefined, rates: Partial<CompileInput["rates"]> = {}, early?: EarlyCut) {
  const { ledger, epoch: now } = compile(
    inputOf({
      ...{ epoch, turn: turnNumber(900), limit: LIMIT, agent: keeping(keep) },
      rates: { read: 0.1, write: 1.25, ...rates },
      ...(early && { early }),
    }),
  );
  const own = now.transcript.filter(({ turn }) => turn !== null);
  return { cutting: ledger.cutting, ledger, now, own, tokens: own.reduce((sum, one) => sum + one.tokens, 0) };
}

describe("a conversation of which so much must stay", () => {
  it("is cut at m + sqrt(2 s m (w - r) / r), and not before", () => {
    const keep = 5_000;
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
    const keep = 5_000;
    expect(made(epochOf(...turns(43, 233)), keep).cutting?.due).toBe(true);
    const planned = made(epochOf(...turns(43, 233), 20), keep);
    expect(planned.now).toMatchObject({ n: 2, reason: "cut" });
    expect(planned.cutting?.because).toBe("from there on reading all of it costs more than a cut");
    expect(made(epochOf(...turns(42, 233), 20), keep).now).toMatchObject({ n: 1, cut: 0 });
    expect(made(epochOf(20), keep).cutting).not.toHaveProperty("due");
  });

  it("plans no further cut if the planned one is made a turn early", () => {
    const early = { cut: true, because: "the provider's cache was cold, and a cut is due in 1 turn" };
    const { cutting, now } = made(epochOf(...turns(43, 233)), 5_000, {}, early);
    expect(now).toMatchObject({ n: 2, reason: "cut" });
    expect(cutting).toEqual({ at: 10_176, keep: 5_000, each: 233, because: early.because });
  });

  it("is cut later where reads are cheaper, and where each turn says more", () => {
    const at = (each: number, rates: Partial<CompileInput["rates"]>) =>
      made(epochOf(...turns(9, each)), 2_000, rates).cutting?.at;
    expect(at(100, {})).toBe(2_000 + Math.round(Math.sqrt(2 * 100 * 2_000 * 11.5)));
    expect(at(100, { read: 0.05 })).toBe(2_000 + Math.round(Math.sqrt(2 * 100 * 2_000 * 24)));
    expect(at(200, {})).toBe(2_000 + Math.round(Math.sqrt(2 * 200 * 2_000 * 11.5)));
  });

  it("is cut where the budget ends, at the latest: also where reading costs nothing", () => {
    const { cutting, now } = made(epochOf(...turns(200, 280)), 4_000, { read: 0 });
    expect(now.n).toBe(1);
    expect(cutting?.at).toBeGreaterThan(LIMIT * 0.95);
    const full = made(epochOf(...turns(220, 280)), 4_000, { read: 0 });
    expect(full.cutting?.because).toBe("there was no room for more");
    expect(full.tokens).toBe(15 * 280);
  });

  it("keeps the turn whole that reaches it, and is not cut where all there is must stay", () => {
    const large = [...turns(30, 300), 6_000, 300];
    const { tokens, now } = made(epochOf(...large), 1_000);
    expect([tokens, now.cut]).toEqual([6_300, 60]);
    expect(made({ ...now, transcript: now.transcript }, 1_000).now.n).toBe(now.n);
    expect(made(epochOf(6_000, 300), 1_000).now).toMatchObject({ n: 1, cut: 0 });
  });

  it("leaves a quarter of the room free, whatever must stay, so that the next cut is far away", () => {
    const { cutting, tokens } = made(epochOf(...turns(230, 280)), 59_000);
    expect(cutting?.keep).toBeLessThan(LIMIT * 0.75);
    expect(tokens).toBeLessThan(LIMIT * 0.75);
    expect(tokens).toBeGreaterThan(LIMIT * 0.7);
  });

  it("is not cut in the middle of a turn while there is room", () => {
    const start = compile(inputOf({ epoch: epochOf(...turns(43, 233)), agent: keeping(5_000), limit: LIMIT }));
    const long = { ...reply("long", turnNumber(900)), tokens: 9_000 };
    const next = extend(start, [long], inputOf().count);
    expect(next.epoch).toBe(start.epoch);
    // The more the turn itself says, the less may stay: also then it waits for the next turn.
    const full = compile(inputOf({ epoch: epochOf(...turns(2_000, 20)), agent: keeping(59_000), limit: LIMIT }));
    const said = extend(full, [{ ...long, tokens: 15_000 }], inputOf().count);
    expect(said.ledger.cutting?.at).toBeLessThan(40_000);
    expect([full.epoch.n, said.epoch]).toEqual([1, full.epoch]);
    const longer = extend(next, [{ ...long, tokens: 42_000 }], inputOf().count);
    expect(longer.ledger.cutting).toMatchObject({ keep: 5_000, because: "there was no room for more" });
    expect(longer.epoch.cut).toBeGreaterThan(0);
  });

  describe("if the agent does not say how much", () => {
    it("is not cut before its room ends while nearly all of it would stay: between people who write short messages", () => {
      const people = made(epochOf(...turns(90, 100)), undefined);
      expect(people.now).toMatchObject({ n: 1, cut: 0 });
      expect(people.cutting?.at).toBeGreaterThan(LIMIT * 0.95);
      expect(made(epochOf(...turns(30, 300)), undefined).now).toMatchObject({ n: 2, reason: "cut" });
      expect(made(epochOf(...turns(90, 100)), 600).now).toMatchObject({ n: 2, reason: "cut" });
    });

    it("keeps 600 tokens, at most a tenth of what may be sent, and is not cut before it has 8,000, or 12,000 with results", () => {
      const epoch = epochOf(...turns(20, 300));
      expect(made(epoch, undefined).cutting).toEqual({ at: 8_000, keep: 600, each: 300 });
      const answered: Epoch = {
        ...epoch,
        transcript: epoch.transcript.map((one) => ({ ...one, message: { role: "tool", parts: [] } })),
      };
      expect(made(answered, undefined).cutting).toEqual({ at: 12_000, keep: 600, each: 300 });
      expect(compile(inputOf({ epoch: epochOf(300), turn: turnNumber(900), limit: 5_000 })).ledger.cutting?.keep).toBe(
        500,
      );
    });

    it("is cut only if what goes costs more to read in 25 turns than what stays costs to write", () => {
      // Half of it goes, so 25 reads of a token must cost at least what one costs to write instead of reading it.
      const isCut = (read: number, write: number): boolean =>
        made(epochOf(...turns(30, 300)), undefined, { read, write }).now.reason === "cut";
      expect([isCut(0.05, 1.29), isCut(0.05, 1.31), isCut(0.025, 1.25), isCut(0, 1.25)]).toEqual([
        true,
        false,
        false,
        false,
      ]);
    });
  });

  it("says in the ledger of each request when it is cut, as soon as there is a turn that can be", () => {
    expect(compile(inputOf({ epoch: epochOf(300), turn: turnNumber(900) })).ledger.cutting).toMatchObject({
      each: 300,
    });
    expect(compile(inputOf()).ledger.cutting).toBeUndefined();
  });
});
