import { type AgentState, StrataError } from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";

/**
 * Which states may follow which. It waits as `bootstrapping`, `idle`, `sleeping` or `faulted`, and a turn leads from there through its
 * steps to `sleeping`. Without credits it falls asleep without a turn; a payment wakes it.
 */
const MOVES = {
  bootstrapping: ["loading context", "sleeping", "faulted"],
  idle: ["loading context", "sleeping", "faulted"],
  sleeping: ["loading context", "idle", "faulted"],
  faulted: ["loading context", "sleeping", "faulted"],
  "loading context": ["inferring", "faulted"],
  inferring: ["executing actions", "persisting", "faulted"],
  "executing actions": ["inferring", "persisting", "faulted"],
  persisting: ["sleeping", "faulted"],
} as const satisfies Record<AgentState, readonly AgentState[]>;

/** What may come after the state `From`. */
export type After<From extends AgentState> = (typeof MOVES)[From][number];

/** States in which an agent waits: no turn of it runs. */
const WAITING: readonly AgentState[] = ["bootstrapping", "idle", "sleeping", "faulted"];

export const isWaiting = (state: AgentState): boolean => WAITING.includes(state);

/** Whether the one may come after the other. */
export function mayFollow(from: AgentState, to: AgentState): boolean {
  const after: readonly AgentState[] = MOVES[from];
  return after.includes(to);
}

/** The next state, if both are known when it is written: one that the table does not allow does not compile. */
export function after<From extends AgentState, To extends After<From>>(from: From, to: To): To {
  return moved(from, to);
}

/**
 * The next state, if the one before is known only at run time.
 * @throws StrataError `unexpected`: no path of the program leads there
 */
export function moved<To extends AgentState>(from: AgentState, to: To): To {
  if (mayFollow(from, to)) return to;
  const message = `an agent cannot go from ${from} to ${to}: this is a bug in Strata, please report it`;
  throw new StrataError("unexpected", message, { from, to });
}

/** What one running turn does with its agent's state. */
export interface RunningState {
  readonly state: AgentState;
  /** @throws StrataError `unexpected` for a move that the table of states does not have */
  enterState(state: AgentState): void;
  /** The turn is over: it counts no more. */
  end(): void;
}

/** The states of agents with running turns in this program: between a turn's start and its end they are not recorded. */
export interface RunningStates {
  begin(owner: AgentOwner, state: AgentState): RunningState;
  /** The states of the agent's running turns, the last that began at the end. */
  states(owner: AgentOwner): readonly AgentState[];
}

export function runningStates(): RunningStates {
  const running = new Map<string, Set<RunningState>>();
  const keyOf = ({ org, agent }: AgentOwner): string => JSON.stringify([org, agent]);
  return {
    begin: (owner, start) => {
      let now = start;
      const turns = running.get(keyOf(owner)) ?? new Set();
      running.set(keyOf(owner), turns);
      const turn: RunningState = {
        get state() {
          return now;
        },
        enterState: (state) => {
          now = moved(now, state);
        },
        end: () => {
          turns.delete(turn);
          if (turns.size === 0) running.delete(keyOf(owner));
        },
      };
      turns.add(turn);
      return turn;
    },
    states: (owner) => [...(running.get(keyOf(owner)) ?? [])].map(({ state }) => state),
  };
}
