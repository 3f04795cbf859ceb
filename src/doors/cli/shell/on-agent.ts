import type { Argument, Command } from "commander";
import type { App } from "../../../app.ts";
import { count, printable } from "../../../print/index.ts";
import { type Agent, isBatch, isReserved, type TurnEvent } from "../../../protocol/index.ts";
import type { Context } from "./context.ts";
import { chosenAgent, type Session } from "./session.ts";
import { jsonTeller, plainTeller } from "./teller.ts";

/** Lists a group's commands without `[options]`, so that what each does has room beside it in a small terminal. */
export function shortTerms(group: Command): void {
  group.configureHelp({ ...group.configureHelp(), subcommandTerm: shortTerm });
}

const shortTerm = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" ");

function argumentTerm(one: Argument): string {
  const says = `${one.name()}${one.variadic ? "..." : ""}`;
  return one.required ? `<${says}>` : `[${says}]`;
}

/** Tells a turn as it runs, and gives its start; nothing where there was none. `begun` says what is printed when it has begun. */
export async function tellTurn(
  context: Context,
  session: Session,
  turn: AsyncIterable<TurnEvent>,
  begun?: (event: TurnStart) => readonly string[],
): Promise<TurnStart | undefined> {
  const tell = session.json ? jsonTeller(context) : plainTeller(context);
  let started: TurnStart | undefined;
  for await (const event of turn) {
    if (event.type === "turn-start") {
      started = event;
      if (begun !== undefined && !session.json) context.say(...begun(event));
    }
    tell(event);
    if (event.type === "failed") context.fail(event.error);
  }
  return started;
}

/** A turn, with a line before it that says who is answered. */
export async function* introduced(
  context: Context,
  session: Session,
  turn: AsyncIterable<TurnEvent>,
): AsyncGenerator<TurnEvent> {
  for await (const event of turn) {
    if (event.type === "turn-start" && !session.json) context.note(...(await whoseTurn(session, event)));
    yield event;
  }
}
type TurnStart = Extract<TurnEvent, { type: "turn-start" }>;

/** Who is answered; nobody in a turn of the agent's own. */
async function whoseTurn(
  { app: { runtime, operator } }: Session,
  { thread, events }: TurnStart,
): Promise<readonly string[]> {
  const { scope } = await runtime.thread(operator, thread);
  if (isBatch(scope)) return [`· ${count(events, "message")} of several senders`];
  return isReserved(scope.contact) ? [] : [`· ${count(events, "message")} of ${printable(scope.contact)}`];
}

/** How the next command names the agent: not at all where it is the first. */
export function agentWords(app: App, agent: Agent): string {
  return chosenAgent(app, undefined).name === agent.name ? "" : ` --agent ${agent.name}`;
}
