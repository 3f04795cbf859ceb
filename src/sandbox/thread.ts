import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { Answers, type Seat } from "./seat.ts";
import type { Outcome, Task } from "./task.ts";

const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/** Memory of V8 itself. The VM has its own limit, which is not part of this. */
const V8_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };

/** Milliseconds to wait for a thread to say how much CPU time it has used. */
const LONGEST_WAIT = 1_000;

/** A thread of this program without its environment and arguments. It keeps no program alive while it has nothing to do. */
export async function openThread(): Promise<Seat> {
  const worker = new Worker(PROGRAM, {
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: V8_LIMITS,
  });
  const answers = new Answers<Outcome>();
  worker.on("message", (answer: Outcome) => answers.give(answer));
  worker.on("exit", () => answers.end());
  let why: unknown;
  worker.on("error", (error) => {
    why = error;
  });
  if ((await answers.next()) === undefined)
    throw why instanceof Error ? why : new Error("a thread of the cage did not start");
  worker.unref();
  return {
    run: async (task: Task) => {
      worker.ref();
      const answer = answers.next();
      worker.postMessage(task);
      const outcome = await answer;
      worker.unref();
      return outcome;
    },
    used: async () => {
      const measured = worker.cpuUsage().catch(() => undefined);
      const usage = await Promise.race([measured, wait(LONGEST_WAIT, undefined, { ref: false })]);
      return usage && (usage.user + usage.system) / 1_000;
    },
    end: async () => void (await worker.terminate()),
  };
}
