import type { App } from "../../../app.ts";
import { type Agent, type AgentName, asStrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { type Unanswered, unansweredLine } from "../shell/teller.ts";
import { every, onceEach } from "./every.ts";

/** How often a server looks what waits for its agents, and how long it leaves one whose turn failed; in milliseconds. */
const EVERY = 5_000;
const REST = 60_000;
/** How long a message of one sender is left to the door that has received it, which mostly answers it. */
const LEFT = 30_000;

/**
 * While a server runs, lets agents that live by themselves and those with `inbox: batch` handle what waits: also what waited for
 * credits, or was left by a program that ended. Gives the way to stop it. Each trouble is told once.
 */
export function runInboxes({ note, style, terminal }: Context, { runtime, operator }: App): () => Promise<void> {
  const tell = onceEach((trouble) => note(style.yellow(trouble)));
  const unanswered = (event: Unanswered): void => note(style.yellow(unansweredLine(event)));
  const rests = new Map<AgentName, number>();
  const empty = async ({ name, inbox }: Agent, signal: AbortSignal): Promise<void> => {
    if ((rests.get(name) ?? 0) > performance.now()) return;
    const trouble = await emptied(
      { runtime, operator, unanswered },
      { name, signal, waited: inbox === "batch" ? 0 : LEFT },
    );
    if (trouble === undefined || signal.aborted) return;
    rests.set(name, performance.now() + REST);
    tell(`Messages for ${name} were not handled: ${trouble}`);
  };
  return every(
    EVERY,
    () => {
      const handling = runtime.agents(operator).filter(({ inbox, life }) => inbox === "batch" || life !== undefined);
      return handling.map((agent) => [agent.name, (signal) => empty(agent, signal)]);
    },
    terminal.repeat,
  );
}

/** What runs turns, and who is told that senders got no reply. */
interface Handling extends Pick<App, "runtime" | "operator"> {
  readonly unanswered: (event: Unanswered) => void;
}

/** Turn after turn until nothing waits; or why it ended before. */
async function emptied(
  { runtime, operator, unanswered }: Handling,
  { name, ...options }: { readonly name: AgentName; readonly signal: AbortSignal; readonly waited: number },
): Promise<string | undefined> {
  try {
    for (let more = true; more && !options.signal.aborted; ) {
      more = false;
      for await (const event of runtime.runInbox(operator, name, options)) {
        more = true;
        if (event.type === "unanswered") unanswered(event);
        // That it has no credits is told as how the agent lives.
        if (event.type === "failed") return event.error.code === "out_of_credits" ? undefined : event.error.message;
      }
    }
    return undefined;
  } catch (thrown) {
    const { code, message } = asStrataError(thrown);
    // Another program handles them, or it is told as how the agent lives.
    return code === "thread_busy" || code === "out_of_credits" ? undefined : message;
  }
}
