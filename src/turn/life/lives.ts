import type { AgentState } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import { moved } from "./states.ts";

/** What one running turn does with its agent's state. */
export interface Being {
  readonly state: AgentState;
  /** @throws StrataError `unexpected` for a move that the table of states does not have */
  enter(state: AgentState): void;
  /** The turn is over: it counts no more. */
  end(): void;
}

/** The agents' states in this program, as far as turns of it run: between a turn's start and its end they are written nowhere. */
export interface Lives {
  begin(owner: AgentOwner, state: AgentState): Being;
  /** The states of the agent's running turns, the last that began at the end. */
  states(owner: AgentOwner): readonly AgentState[];
}

export function openLives(): Lives {
  const running = new Map<string, Set<Being>>();
  const keyOf = ({ org, agent }: AgentOwner): string => JSON.stringify([org, agent]);
  return {
    begin: (owner, start) => {
      let now = start;
      const turns = running.get(keyOf(owner)) ?? new Set();
      running.set(keyOf(owner), turns);
      const being: Being = {
        get state() {
          return now;
        },
        enter: (state) => {
          now = moved(now, state);
        },
        end: () => {
          turns.delete(being);
          if (turns.size === 0) running.delete(keyOf(owner));
        },
      };
      turns.add(being);
      return being;
    },
    states: (owner) => [...(running.get(keyOf(owner)) ?? [])].map(({ state }) => state),
  };
}
