import type { App, TurnRecord } from "../app.ts";
import { StrataError, type TurnEvent, type TurnId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import type { Session } from "./session.ts";
import { printable } from "./style.ts";
import { jsonTeller, plainTeller } from "./teller.ts";

/** Shows what the turn said, then says it anew on a fork. @throws StrataError what the new turn failed of */
export async function regenerate(
  context: Context,
  { app, json }: Session,
  id: TurnId,
  model: string | undefined,
): Promise<void> {
  const { runtime, operator } = app;
  const old = await runtime.turn(operator, id);
  const speaker = model === undefined ? {} : { model: await named(app, old, model) };
  if (!json) context.say(context.style.dim(`Before (${id}, ${old.model ?? "no model"}):`), before(old), "");
  const tell = json ? jsonTeller(context) : plainTeller(context);
  const { signal } = context.terminal;
  for await (const event of runtime.regenerate(operator, id, { ...speaker, signal })) {
    if (event.type === "turn-start" && !json) context.say(context.style.dim(heading(event)));
    tell(event);
    if (event.type === "failed") throw event.error;
  }
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
