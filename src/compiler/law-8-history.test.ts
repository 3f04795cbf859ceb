import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Agent, Epoch, Layer } from "../protocol/index.ts";
import { type Compilation, compile } from "./index.ts";
import { randomKeep } from "./random.contract.ts";
import {
  agentOf,
  bytes3,
  committed,
  event,
  immutable,
  inputOf,
  keeping,
  layer,
  recount,
  reply,
  request,
  turnNumber,
  unlessTooSmall,
} from "./samples.contract.ts";

const words = (tokens: number): string => "word and ".repeat(tokens).slice(0, tokens * 3);

/** Layers of the prefix, some with a budget, some with a minimum, and the core. */
const prefixLayers: fc.Arbitrary<Layer[]> = fc
  .array(
    fc.record({
      tokens: fc.integer({ min: 20, max: 3_000 }),
      budget: fc.option(fc.integer({ min: 70, max: 1_500 }), { nil: undefined }),
      minimum: fc.constantFrom(0, 0, 0, 80),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((all) => [
    immutable("core", { rank: 0, text: words(100) }),
    ...all.map(({ tokens, budget, minimum }, n) =>
      layer(`layer-${n}`, {
        rank: n + 1,
        minimum,
        text: `L${n} ${words(tokens)}`,
        ...(budget !== undefined && { budget }),
      }),
    ),
  ]);

const talk = fc.record({
  layers: prefixLayers,
  system: fc.option(fc.integer({ min: 200, max: 4_000 }), { nil: undefined }),
  history: fc.integer({ min: 300, max: 3_000 }),
  limit: fc.integer({ min: 2_500, max: 9_000 }),
  kept: randomKeep,
  /** Tokens of each message: together with its reply never more than a fifth of the limit. */
  sizes: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 8, maxLength: 24 }),
});
type Talk = typeof talk extends fc.Arbitrary<infer T> ? T : never;

interface Step {
  /** The epoch before the turn. */
  readonly before: Epoch | undefined;
  readonly made: Compilation;
}

/** A conversation of these messages, each answered in a few words. */
function talked({ layers, limit, sizes, kept, ...budgets }: Talk): {
  readonly agent: Agent;
  readonly steps: readonly Step[];
} {
  const plain = keeping(kept.keep, agentOf(...layers));
  const { system, history } = budgets;
  const agent = { ...plain, budgets: { ...plain.budgets, history, ...(system !== undefined && { system }) } };
  const steps: Step[] = [];
  let epoch: Epoch | undefined;
  for (const [i, size] of sizes.entries()) {
    const turn = turnNumber(i + 1);
    const events = [event(words(Math.ceil((size * limit) / 1_000)))];
    const made = unlessTooSmall(() => compile(inputOf({ agent, limit, turn, epoch, events, rates: kept.rates })));
    if (made === undefined) break;
    expect(recount(request(made), bytes3)).toBeLessThanOrEqual(limit);
    steps.push({ before: epoch, made });
    epoch = committed(made, reply(words(Math.ceil((size * limit) / 1_000)), turn));
  }
  return { agent, steps };
}

/** Whether the conversation was cut because it had no room, and not because reading it would have cost more than a cut. */
const lacksRoom = ({ ledger }: Compilation): boolean => ledger.cutting?.because === "there was no room for more";

const tokensOfTurns = ({ transcript }: Epoch): number =>
  transcript.reduce((sum, { tokens, turn }) => sum + (turn === null ? 0 : tokens), 0);

const systemOf = ({ prefixEntries }: Epoch): number =>
  prefixEntries.reduce((sum, { place, tokens }) => sum + (place === "system" ? tokens : 0), 0);

/** The limit for the layers while the conversation has too little: their budgets, their minimums, and `system` together. */
function withinBudgets({ layers, budgets: { system } }: Agent, { prefixEntries }: Epoch): number {
  const kept = layers.map(({ id, mutability, budget, minimum }) => {
    const wanted = prefixEntries.find(({ section }) => section === id)?.wanted ?? 0;
    if (mutability === "immutable") return { own: wanted, least: wanted };
    const own = budget ?? (system === undefined ? 0 : wanted);
    return { own: Math.min(wanted, Math.max(own, minimum)), least: Math.min(wanted, minimum) };
  });
  const own = kept.reduce((sum, one) => sum + one.own, 0);
  const least = kept.reduce((sum, one) => sum + one.least, 0);
  return Math.max(least, Math.min(own, system ?? own));
}

describe("law 8: the conversation's budget", () => {
  it("law 8: a conversation within `history` is cut for want of room only where the layers have given way to their budgets", () => {
    const seen = { cuts: 0, early: 0, resized: 0, narrow: 0 };
    fc.assert(
      fc.property(talk, (plan) => {
        const { agent, steps } = talked(plan);
        const claim = Math.min(plan.history, Math.floor(plan.limit / 2));
        for (const { before, made } of steps) {
          if (made.epoch.reason === "resized") seen.resized++;
          if (made.epoch.prefixEntries.some(({ fate }) => fate === "truncated" || fate === "dropped")) seen.narrow++;
          if (before === undefined || made.epoch.cut === before.cut) continue;
          seen.cuts++;
          if (tokensOfTurns(before) > claim || !lacksRoom(made)) continue;
          seen.early++;
          expect(systemOf(made.epoch)).toBeLessThanOrEqual(withinBudgets(agent, made.epoch));
        }
      }),
      { numRuns: 300 },
    );
    for (const what of ["cuts", "early", "narrow"] as const) expect(seen[what], what).toBeGreaterThan(10);
  });

  it("law 8: where the budgets leave `history` its room, no conversation within it is ever cut for want of room", () => {
    let held = 0;
    fc.assert(
      fc.property(talk, (plan) => {
        const { agent, steps } = talked(plan);
        const claim = Math.min(plan.history, Math.floor(plan.limit / 2));
        for (const { before, made } of steps) {
          if (before === undefined || tokensOfTurns(before) > claim) continue;
          const { own, epoch } = made;
          const said = own.reduce((sum, { tokens }) => sum + tokens, 0);
          // A margin for calls stays free as well.
          if (withinBudgets(agent, epoch) + said + claim > plan.limit * (1 - 2 / 32)) continue;
          if (epoch.cut > before.cut && !lacksRoom(made)) continue;
          held++;
          expect(epoch.cut).toBe(before.cut);
        }
      }),
      { numRuns: 300 },
    );
    expect(held).toBeGreaterThan(100);
  });

  it("law 8: a prefix that takes the room of a conversation is sized anew once, and the conversation stays whole", () => {
    const big = layer("manual", { rank: 9, budget: 500, text: words(6_000) });
    const agent = agentOf(immutable("core", { rank: 0, text: words(100) }), big);
    const first = compile(inputOf({ agent, limit: 6_300 }));
    expect(first.ledger.entries.find(({ section }) => section === "manual")?.fate).toBe("kept");
    let epoch = committed(first, reply(words(200), turnNumber(1)));
    const made: Compilation[] = [];
    for (let n = 2; n < 9; n++) {
      const one = compile(inputOf({ agent, limit: 6_300, epoch, turn: turnNumber(n) }));
      made.push(one);
      epoch = committed(one, reply(words(150), turnNumber(n)));
    }
    expect(made.map(({ epoch: { n, reason, cut } }) => [n, reason, cut])).toEqual(made.map(() => [2, "resized", 0]));
  });
});
