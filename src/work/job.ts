import type { AgentName, Allowed, Clock, ContactId } from "../protocol/index.ts";
import type { Runtime } from "../turn/index.ts";

/** What jobs work with. */
export interface JobWorld {
  readonly runtime: Runtime;
  /** In whose name they are done. */
  readonly operator: Allowed<"operate">;
  readonly clock: Pick<Clock, "real">;
  /** Whether reports about the agent are wanted: shipped agents, which run if none is declared, may have no audience. */
  readonly isWanted: (agent: AgentName) => Promise<boolean>;
}

/** Something that is to be done again and again without anybody asking for it. */
export interface Job<World = JobWorld> {
  /** Feature and work: `inbox.messages`. */
  readonly name: string;
  /**
   * The tasks that are due now. It is called whenever something happens, so it must not change anything, and must return only tasks
   * that can begin now: others would be due again at once, in an endless loop.
   */
  readonly due: (world: World) => Promise<Due>;
  /** An expensive look is made at most once in this many milliseconds. */
  readonly every?: number;
}

export interface Due {
  /** In the order in which they are to be done. */
  readonly tasks: readonly Task[];
  /**
   * When something falls due even if nothing happens before, in real time: all jobs are looked at then. If omitted, the next look finds it.
   */
  readonly next?: number | undefined;
}

/** One piece of work that is due. */
export interface Task {
  /** Whose it is: agents take turns, so that none keeps the others waiting. */
  readonly agent: AgentName;
  /** With whom; contacts of one agent take turns, too. */
  readonly contact?: ContactId;
  /** Tasks with one key, of whatever jobs, run one after the other: the thread's, if it is about one. */
  readonly key: string;
  /** Reported with the reason if it throws: `Messages for clerk were not handled`. */
  readonly trouble: string;
  /**
   * Runs the task and reports what an operator should know. If it throws, the job pauses for this agent, longer each time.
   * @param signal aborted when the dispatcher closes: the task ends soon then, and what it leaves is due again at the next start
   */
  readonly run: (signal: AbortSignal) => AsyncIterable<Notice>;
}

/** A sentence for whoever looks after the server. */
export interface Notice {
  /** For one subject, only a notice that differs from the last reported one is reported; if omitted, always. */
  readonly about?: string;
  /** Left empty, nothing is said. */
  readonly message: string;
  /** The last reported condition is over: reported only if there was one. */
  readonly isOver?: true;
}
