import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENT_STATES, type AgentState, StrataError } from "../../protocol/index.ts";
import { isWaiting, mayFollow, moved } from "./states.ts";

/** The order as given on the blueprint's page, written out again. */
const LEGAL = new Set([
  "bootstrapping>loading context",
  "idle>loading context",
  "sleeping>loading context",
  "faulted>loading context",
  "loading context>inferring",
  "inferring>executing actions",
  "executing actions>inferring",
  "inferring>persisting",
  "executing actions>persisting",
  "persisting>sleeping",
  // Without credits, and with credits again.
  "bootstrapping>sleeping",
  "idle>sleeping",
  "faulted>sleeping",
  "sleeping>idle",
  ...AGENT_STATES.map((state) => `${state}>faulted`),
]);

const state = fc.constantFrom<AgentState>(...AGENT_STATES);

describe("the states of an agent that lives by itself", () => {
  it("000.20 follow each other as declared and in no other way: of all pairs, each is a move or throws with both names", () => {
    for (const from of AGENT_STATES) {
      for (const to of AGENT_STATES) {
        const legal = LEGAL.has(`${from}>${to}`);
        expect(mayFollow(from, to), `${from} to ${to}`).toBe(legal);
        if (legal) expect(moved(from, to)).toBe(to);
        else expect(() => moved(from, to)).toThrow(`from ${from} to ${to}`);
      }
    }
  });

  it("lead from any wish to a state where it waits or to a step of a turn, and any fault heals by a turn", () => {
    fc.assert(
      fc.property(state, fc.array(state, { maxLength: 40 }), (start, wishes) => {
        let now = start;
        for (const wish of wishes) {
          try {
            now = moved(now, wish);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(StrataError);
          }
        }
        // Wherever it starts, a failure followed by the next turn ends asleep.
        const steps = ["faulted", "loading context", "inferring", "persisting", "sleeping"] as const;
        for (const step of steps) now = moved(now, step);
        expect(isWaiting(now)).toBe(true);
      }),
    );
  });
});
