import { describe, expect, it } from "vitest";
import { type Epoch, spoken, type TranscriptMessage, type TurnId } from "../protocol/index.ts";
import { compile, extend, unreasoned } from "./index.ts";
import {
  agentOf,
  bytes3,
  clock,
  committed,
  contentsOf,
  immutable,
  inputOf,
  keeping,
  messageOf,
  recount,
  reply,
  request,
  says,
  sentBeforeTail,
  toolRound,
  turnNumber,
} from "./samples.contract.ts";

const WITH_CLOCK = {
  agent: agentOf(immutable("core", { rank: 0 }), clock()),
  contents: contentsOf({ time: says("Noon.") }),
};

/** The model thinks, and what it says is bound to it. */
const thought = (text: string, turn: TurnId): TranscriptMessage =>
  messageOf(
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: spoken("z".repeat(90)), metadata: { anthropic: { signature: "c2ln" } } },
        { type: "text", text: spoken(text), metadata: { openai: { itemId: "msg_1" } } },
      ],
    },
    turn,
  );

function epochOf(turns: number): Epoch {
  let made = compile(inputOf({ ...WITH_CLOCK, turn: turnNumber(1) }));
  for (let n = 2; n <= turns; n++) {
    const epoch = committed(made, thought(`answer ${n}`, turnNumber(n - 1)));
    made = compile(inputOf({ ...WITH_CLOCK, epoch, turn: turnNumber(n) }));
  }
  return committed(made, thought("the last", turnNumber(turns)));
}

const refusedOf = (epoch: Epoch) => {
  const first = compile(inputOf({ ...WITH_CLOCK, epoch, turn: turnNumber(50) }));
  return { first, again: unreasoned(first, bytes3) ?? first };
};

describe("a request without the model's reasoning", () => {
  const { first, again } = refusedOf(epochOf(6));

  it("holds all that was said, in an epoch of its own, and nothing that is bound to reasoning", () => {
    expect(again.epoch).toMatchObject({ n: 2, reason: "refused", cut: 0 });
    expect(again.opened).toEqual([again.epoch]);
    const sent = JSON.stringify(request(again));
    expect(sent).not.toMatch(/reasoning|metadata|signature/);
    expect(sent).toContain("the last");
    expect(again.tail).toEqual(first.tail);
    expect(again.ledger.epoch).toMatchObject({ n: 2, reason: "refused", opened: true });
  });

  it("is counted as it is sent", () => {
    expect(again.ledger.tokens).toBe(recount(request(again), bytes3));
    expect(again.ledger.tokens).toBeLessThan(first.ledger.tokens);
  });

  it("law 1: continues without it in the rounds and turns that follow, byte for byte", () => {
    const turn = turnNumber(50);
    const round = extend(again, [thought("Let me see.", turn), ...toolRound(turn, ["found"]).slice(1)], bytes3);
    const next = compile(
      inputOf({ ...WITH_CLOCK, epoch: committed(round, thought("Found.", turn)), turn: turnNumber(51) }),
    );
    expect(sentBeforeTail(round).startsWith(sentBeforeTail(again))).toBe(true);
    expect(sentBeforeTail(next).startsWith(sentBeforeTail(round))).toBe(true);
    expect(sentBeforeTail(next)).not.toContain("reasoning");
    expect(next.opened).toEqual([]);
  });

  it("does not bring it back with a cut", () => {
    const epoch = committed(refusedOf(epochOf(40)).again, thought("And more.", turnNumber(50)));
    const whole = compile(inputOf({ ...WITH_CLOCK, epoch, turn: turnNumber(51) })).ledger.tokens;
    const cut = compile(inputOf({ ...WITH_CLOCK, epoch, turn: turnNumber(51), limit: whole - 1 }));
    expect(cut.epoch.reason).toBe("cut");
    expect(cut.epoch.transcript.length).toBeGreaterThan(1);
    expect(sentBeforeTail(cut)).not.toContain("reasoning");
  });

  it("is none where there is nothing to leave out, or where it was left out already", () => {
    const bare = compile(inputOf());
    expect(unreasoned(bare, bytes3)).toBeUndefined();
    const plain = compile(inputOf({ epoch: committed(bare, reply("ok", turnNumber(1))), turn: turnNumber(2) }));
    expect(unreasoned(plain, bytes3)).toBeUndefined();
    expect(unreasoned(again, bytes3)).toBeUndefined();
  });
});

describe("a cut on a model that binds its reasoning", () => {
  const epoch = epochOf(6);
  const next = { ...WITH_CLOCK, epoch, turn: turnNumber(50) };
  const whole = compile(inputOf(next)).ledger.tokens;

  it("takes no words away where the reasoning was all that was too much", () => {
    const cut = compile(inputOf({ ...next, limit: whole - 1, binds: true, agent: keeping(whole, WITH_CLOCK.agent) }));
    expect(cut.epoch).toMatchObject({ n: 2, reason: "cut", cut: 0 });
    expect(sentBeforeTail(cut)).not.toMatch(/reasoning|not shown any more/);
    expect(cut.epoch.transcript).toHaveLength(epoch.transcript.length);
    expect(cut.ledger.tokens).toBe(recount(request(cut), bytes3));
  });

  it("leaves everything as it was received while nothing is cut", () => {
    const made = compile(inputOf({ ...next, binds: true }));
    expect(made.epoch).toBe(epoch);
    expect(request(made).messages.slice(0, -1)).toEqual(epoch.transcript.map(({ message }) => message));
  });
});
