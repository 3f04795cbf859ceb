import { setTimeout as pause } from "node:timers/promises";
import { asStrataError, type TurnEvent } from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import type { Parts } from "../parts.ts";
import type { Run, RunOptions } from "../runtime.ts";

/** How often whoever follows a run looks whether its answers are there, in milliseconds: soon at first, then less often. */
const lookAfter = (looks: number): number => Math.min(1_000, 20 * 2 ** Math.min(looks, 6));

/**
 * A run from its first turn to its end: where one of its turns waits for agents, they are run here if nobody else does, and then the next
 * turn. A client or a person who is asked may take days: then it ends with the turn that waits for them.
 */
export async function* follow(parts: Parts, run: Run, thread: Thread, options: RunOptions): AsyncGenerator<TurnEvent> {
  for (;;) {
    let last: TurnEvent | undefined;
    for await (const event of run(thread, options)) {
      last = event;
      yield event;
    }
    if (last?.type !== "waiting" || !(await answered(parts, run, thread, options.signal))) return;
  }
}

/** Waits until the thread's next turn is due, and runs the agents that were asked. False where nobody but a client or a person can go on. */
async function answered(parts: Parts, run: Run, thread: Thread, signal: AbortSignal | undefined): Promise<boolean> {
  const { store, clock } = parts;
  for (let looks = 0; ; looks++) {
    if ((await store.pending(thread.scope, thread.id)).length > 0) return true;
    const open = (await store.openCalls(thread.scope, thread.id)).filter(({ state }) => state === "open");
    if (!open.some(({ waitsFor }) => waitsFor === "agent")) return false;
    for (const called of await store.calledThreads(thread.scope, thread.id))
      await runCalled(parts, run, called, signal);
    if (open.some(({ due }) => due !== undefined && due <= clock.real()))
      await store.answerOverdue(thread.scope, { now: clock.real(), at: clock.recorded() });
    if ((await store.pending(thread.scope, thread.id)).length > 0) return true;
    try {
      await pause(lookAfter(looks), undefined, signal && { signal });
    } catch {
      return false;
    }
  }
}

/** Runs what is due on a called thread; where another program runs it, that one does. */
async function runCalled(parts: Parts, run: Run, called: Thread, signal: AbortSignal | undefined): Promise<void> {
  try {
    for await (const _ of follow(parts, run, called, { replyTo: "nobody", ...(signal && { signal }) }));
  } catch (thrown) {
    if (asStrataError(thrown).code !== "thread_busy") throw thrown;
  }
}
