import { setTimeout as pause } from "node:timers/promises";
import { asStrataError, type TurnEvent, untrusted } from "../../protocol/index.ts";
import type { OpenCall, Thread } from "../../store/index.ts";
import type { Parts } from "../parts.ts";
import type { Run, RunOptions, TurnOptions } from "../runtime.ts";

/** How often whoever follows a run looks whether its answers are there, in milliseconds: soon at first, then less often. */
const lookAfter = (looks: number): number => Math.min(1_000, 20 * 2 ** Math.min(looks, 6));

/**
 * A run from its next turn to its end, including one left by an earlier process. If one of its turns waits for agents, they run here unless
 * another program runs them, and then the next turn runs. A client or a person may take days to answer, so it ends with the turn that waits
 * for them. It also ends if another program runs the run's last turn; that turn's end is in the record.
 */
export async function* follow(
  parts: Parts,
  run: Run,
  thread: Thread,
  { arriving, ...options }: TurnOptions,
): AsyncGenerator<TurnEvent> {
  for (let turns = 0, tries = 0; ; turns++) {
    let last: TurnEvent | undefined;
    const how = turns > 0 ? { ...options, goesOn: true } : { ...options, ...(arriving && { arriving }) };
    try {
      for await (const event of run(thread, how)) {
        last = event;
        yield event;
      }
      if (last === undefined && turns === 0 && arriving !== undefined) return;
      tries = last === undefined ? tries + 1 : 0;
    } catch (thrown) {
      // Another program runs the next turn of the run. Its end is waited for like an answer.
      if (turns === 0 || asStrataError(thrown).code !== "thread_busy") throw thrown;
      tries++;
    }
    const isOver = last !== undefined && last.type !== "waiting";
    if (isOver || !(yield* untilDue(parts, run, thread, { ...options, tries }))) return;
  }
}

interface FollowState extends Pick<RunOptions, "signal" | "model"> {
  /** How often the next turn was begun in vain, because another program has it. */
  readonly tries: number;
}

/** Runs the called agents until the thread's next turn is due. False if only a client or a person can continue. */
async function* untilDue(
  parts: Parts,
  run: Run,
  { scope, id }: Thread,
  { signal, model, tries }: FollowState,
): AsyncGenerator<TurnEvent, boolean> {
  const { store, clock } = parts;
  if (tries > 0 && !(await rested(lookAfter(tries), signal))) return false;
  for (let looks = 0; ; looks++) {
    if (await store.isDue(scope, id)) return true;
    const open = (await store.openCalls(scope, id)).filter(({ state }) => state === "open");
    if (!open.some(({ waitsFor }) => waitsFor === "agent")) return false;
    const called = await store.calledThreads(scope, id);
    const runs = called.map((one) => {
      const call = open.find(({ id: known }) => known === one.caller?.call);
      // A version of the agent itself answers with the model that the agent answers with.
      const isOwn = model !== undefined && one.scope.agent === scope.agent;
      const how = { replyTo: "nobody", ...(signal && { signal }), ...(isOwn && { model }) } as const;
      return runCalled(call, follow(parts, run, one, how), one.parties?.target ?? one.scope.agent);
    });
    yield* sideBySide(runs);
    if (open.some(({ due }) => due !== undefined && due <= clock.real()))
      await store.answerOverdue(scope, { now: clock.real(), at: clock.recorded() });
    if (await store.isDue(scope, id)) return true;
    if (!(await rested(lookAfter(looks), signal))) return false;
  }
}

/** False where whoever follows the run stops meanwhile. */
const rested = (milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> =>
  pause(milliseconds, true, signal && { signal }).catch(() => false);

/** Tells of what is run on a called thread as of a call that runs. Where another program runs it, that one does. */
async function* runCalled(
  call: OpenCall | undefined,
  events: AsyncIterable<TurnEvent>,
  who: string,
): AsyncGenerator<TurnEvent> {
  try {
    for await (const event of events) {
      const sentence = progressOf(event, who);
      if (sentence !== undefined && call !== undefined)
        yield { type: "tool-progress", call: call.call, tool: call.tool, message: untrusted(sentence) };
    }
  } catch (thrown) {
    if (asStrataError(thrown).code !== "thread_busy") throw thrown;
  }
}

function progressOf(event: TurnEvent, who: string): string | undefined {
  switch (event.type) {
    case "turn-start":
      return `${who} began: ${event.turn}`;
    case "tool-start":
      return `${who} calls ${event.tool}`;
    case "tool-progress":
      return event.message;
    default:
      return undefined;
  }
}

/** All of them at the same time, with what each yields as it comes. */
async function* sideBySide<T>(all: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const steps = new Map(all.map((one) => [one, one.next()]));
  try {
    while (steps.size > 0) {
      const came = [...steps].map(async ([one, step]) => ({ one, result: await step }));
      const { one, result } = await Promise.race(came);
      if (result.done) steps.delete(one);
      else {
        steps.set(one, one.next());
        yield result.value;
      }
    }
  } finally {
    await Promise.allSettled([...steps.keys()].map((one) => one.return(undefined)));
  }
}
