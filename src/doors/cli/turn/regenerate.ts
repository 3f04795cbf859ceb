import type { App, TurnRecord } from "../../../app.ts";
import { chatOn } from "../../../features/threads/index.ts";
import { StrataError, type ThreadId, type TurnEvent, type TurnId } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import type { Session } from "../shell/session.ts";
import { printable } from "../shell/style.ts";
import { jsonTeller, plainTeller } from "../shell/teller.ts";

/** What the command line says of it. */
export interface Regenerating {
  readonly model?: string;
  readonly again?: boolean;
}

/** Shows what the turn said, then says it anew on a fork. @throws StrataError what the new turn failed of */
export async function regenerate(
  context: Context,
  { app, json }: Session,
  id: TurnId,
  { model, again = false }: Regenerating,
): Promise<void> {
  const { runtime, operator } = app;
  const old = await runtime.turn(operator, id);
  const speaker = model === undefined ? {} : { model: await named(app, old, model) };
  if (!json) context.say(context.style.dim(`Before (${id}, ${old.model ?? "no model"}):`), before(old), "");
  const tell = json ? jsonTeller(context) : plainTeller(context);
  const { signal } = context.terminal;
  let fork: ThreadId | undefined;
  for await (const event of runtime.regenerate(operator, id, { ...speaker, again, signal })) {
    if (event.type === "turn-start") {
      fork = event.thread;
      if (!json) context.say(context.style.dim(heading(event)));
    }
    tell(event);
    if (event.type === "failed") throw event.error;
  }
  if (fork !== undefined && !json) context.note(chatOn({ id: fork, scope: old.scope }));
}

/** Opened as the agent would open it. @throws StrataError `model_unknown` */
async function named(app: App, { scope }: TurnRecord, model: string) {
  const agent = app.runtime.agent(app.operator, scope.agent);
  return app.modelOf({ ...agent, model });
}

function before({ id, end }: TurnRecord): string {
  if (end === undefined) throw new StrataError("invalid_input", `${id} still runs; wait for its end`, { turn: id });
  if (end.status === "failed") return `(it failed: ${printable(end.message)})`;
  return end.reply === null ? "(the agent said nothing)" : printable(end.reply);
}

const heading = ({ turn, thread, model }: Extract<TurnEvent, { type: "turn-start" }>): string =>
  `Now (${turn} on the fork ${thread}, ${model}):`;
