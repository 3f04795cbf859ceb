import { type AgentName, allow, PROGRAM } from "../protocol/index.ts";
import { type Dispatcher, inProcess, type Timers } from "../work/index.ts";
import { allJobs } from "./entry/features.ts";
import type { App } from "./open.ts";

/** How background work runs in a program. */
export interface WorkOptions {
  /** Called with what an operator should know: in sentences, and not the same one twice. */
  readonly tell?: (message: string) => void;
  /** Whether reports about an agent are wanted; by default they are for every agent. */
  readonly isWanted?: (agent: AgentName) => Promise<boolean>;
  /** Time; by default the real one. */
  readonly timers?: Timers;
}

const after: Timers["after"] = (milliseconds, act) => {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
};

/** Starts the features' jobs. Once `close` has resolved, nothing new begins and everything that ran has ended. */
export async function startWork(
  { runtime, operator, clock, onChange }: App,
  options: WorkOptions = {},
): Promise<Dispatcher> {
  const { tell = () => undefined, isWanted = async () => true, timers = { clock, after } } = options;
  const world = { runtime, operator: allow({ ...operator, id: PROGRAM }, "operate"), isWanted, clock: timers.clock };
  const dispatcher = inProcess({ jobs: await allJobs(), world, timers, tell });
  const forget = onChange(() => dispatcher.wake());
  return {
    wake: dispatcher.wake,
    close: (drain) => {
      forget();
      return dispatcher.close(drain);
    },
  };
}
