import type { App } from "../../../app.ts";
import { type AgentName, asStrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { every, onceEach } from "./every.ts";

/** How often a server looks for replies that are due, in milliseconds. */
const EVERY = 5_000;
/** As many replies of one agent are on their way at a time, each of another conversation. */
const SIDE_BY_SIDE = 4;

/** Sends replies of agents with `deliver` while a server runs. Gives the way to stop it. Each message's trouble is told once. */
export function deliverReplies({ note, style, terminal }: Context, { runtime, operator }: App): () => Promise<void> {
  const tell = onceEach((trouble) => note(style.yellow(trouble)));
  const send = async (agent: AgentName, signal: AbortSignal): Promise<void> => {
    try {
      for await (const { outbox, failed, again } of runtime.deliverDue(operator, agent, signal)) {
        if (failed === undefined || signal.aborted) continue;
        const next = again ? "it is tried again" : "it was tried too often and stays in the outbox";
        tell(`Reply ${outbox} of ${agent} was not taken (${failed}); ${next}.`, `${outbox} ${again}`);
      }
    } catch (thrown) {
      tell(`Replies of ${agent} could not be sent: ${asStrataError(thrown).message}`);
    }
  };
  return every(
    EVERY,
    () => {
      const sending = runtime.agents(operator).filter(({ deliver }) => deliver !== undefined);
      return sending.flatMap(({ name }) =>
        Array.from(
          { length: SIDE_BY_SIDE },
          (_, n) => [`${name} ${n}`, (signal: AbortSignal) => send(name, signal)] as const,
        ),
      );
    },
    terminal.repeat,
  );
}
