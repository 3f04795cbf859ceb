import type { App } from "../app.ts";
import { type AgentName, asStrataError } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { every, onceEach } from "./every.ts";

/** How often a server looks what waits for agents with `inbox: batch`, and how long it leaves one whose turn failed; in milliseconds. */
const EVERY = 5_000;
const REST = 60_000;

/** Runs turns over the messages of several senders while a server runs. Gives the way to stop it. Each trouble is told once. */
export function runInboxes({ note, style }: Context, { runtime, operator }: App): () => Promise<void> {
  const tell = onceEach((trouble) => note(style.yellow(trouble)));
  const rests = new Map<AgentName, number>();
  const empty = async (name: AgentName, signal: AbortSignal): Promise<void> => {
    if ((rests.get(name) ?? 0) > performance.now()) return;
    const trouble = await emptied(runtime, operator, { name, signal });
    if (trouble === undefined || signal.aborted) return;
    rests.set(name, performance.now() + REST);
    tell(`Messages for ${name} were not handled: ${trouble}`);
  };
  return every(EVERY, () => {
    const batches = runtime.agents(operator).filter(({ inbox }) => inbox === "batch");
    return batches.map(({ name }) => [name, (signal) => empty(name, signal)]);
  });
}

/** Turn after turn until nothing waits; or why it ended before. */
async function emptied(
  runtime: App["runtime"],
  operator: App["operator"],
  { name, signal }: { readonly name: AgentName; readonly signal: AbortSignal },
): Promise<string | undefined> {
  try {
    for (let more = true; more && !signal.aborted; ) {
      more = false;
      for await (const event of runtime.runInbox(operator, name, { signal })) {
        more = true;
        if (event.type === "failed") return event.error.message;
      }
    }
    return undefined;
  } catch (thrown) {
    const { code, message } = asStrataError(thrown);
    // Another program handles them, or it is told as how the agent lives.
    return code === "thread_busy" || code === "out_of_credits" ? undefined : message;
  }
}
