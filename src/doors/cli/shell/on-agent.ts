import type { Argument, Command } from "commander";
import type { App } from "../../../app.ts";
import { type Agent, isBatch, isReserved, StrataError, type TurnEvent } from "../../../protocol/index.ts";
import type { Context } from "./context.ts";
import { chosenAgent, inRecord, inSession, type Session } from "./session.ts";
import { count, printable } from "./style.ts";
import { jsonTeller, plainTeller } from "./teller.ts";

/** Whose, by the option. */
export interface OfAgent {
  readonly agent?: string;
}

/** Declares that a command is about one agent, named behind all its other arguments or by an option. */
export const ofAgent = (command: Command, otherwise = "the first agent"): Command =>
  command.argument("[agent]", `which agent (default: ${otherwise})`).option("--agent <name>", "the same, as an option");

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

/** The one name that was given, in whichever way. @throws StrataError `invalid_input` for two */
export function nameGiven(named: string | undefined, { agent }: OfAgent): string | undefined {
  if (named === undefined || agent === undefined || named === agent) return named ?? agent;
  const message = `two agents were named: ${JSON.stringify(named)} and --agent ${JSON.stringify(agent)}; name the one that you mean`;
  throw new StrataError("invalid_input", message, { agents: [named, agent] });
}

/** The options, with the name that was given in whichever way. @throws StrataError `invalid_input` for two */
export function withName<T extends OfAgent>(named: string | undefined, options: T): T {
  const agent = nameGiven(named, options);
  return agent === undefined ? options : { ...options, agent };
}

/** Which command is at work, and whose name it was given. */
export interface Asked {
  readonly command: Command;
  /** The name behind the command. */
  readonly named: string | undefined;
  readonly options: OfAgent;
}

/** A command at work on one agent. */
export interface OnAgent extends Session {
  readonly agent: Agent;
}

/** What a command prints: for programs, or for people. */
export interface Answer {
  readonly json: unknown;
  readonly lines: readonly string[];
}

type Work = (on: OnAgent) => Promise<Answer>;

/** Finds the agent and prints what came of the work on it. No module is needed for it, and data is made where none is. */
export const onAgent = (context: Context, asked: Asked, work: Work): Promise<void> =>
  inSession(context, asked.command, (session) => answer(context, { session, asked, work }), { recordOnly: true });

/** The same for what only looks at the record: where no data is, none is made. @throws StrataError `file_not_found` */
export const onRecordOfAgent = (context: Context, asked: Asked, work: Work): Promise<void> =>
  inRecord(context, asked.command, (session) => answer(context, { session, asked, work }));

async function answer(
  context: Context,
  { session, asked, work }: { readonly session: Session; readonly asked: Asked; readonly work: Work },
): Promise<void> {
  const { json, lines } = await work({ ...session, agent: agentAsked(session, asked) });
  if (session.json) context.json(json);
  else context.say(...lines);
}

const agentAsked = ({ app }: Session, { named, options }: Asked): Agent => chosenAgent(app, nameGiven(named, options));

/** Runs a turn of the agent and tells it as it comes, or that there was none. */
export const turnOfAgent = (
  context: Context,
  asked: Asked,
  begin: (on: OnAgent, signal: AbortSignal) => AsyncIterable<TurnEvent>,
): Promise<void> =>
  inSession(context, asked.command, async (session) => {
    const agent = agentAsked(session, asked);
    const began = await tellTurn(
      context,
      session,
      introduced(context, session, begin({ ...session, agent }, context.terminal.signal)),
    );
    if (!began && !session.json) context.say(`Nothing waits for ${agent.name}.`);
  });

/** Tells a turn as it runs; false where there was none. */
export async function tellTurn(context: Context, session: Session, turn: AsyncIterable<TurnEvent>): Promise<boolean> {
  const tell = session.json ? jsonTeller(context) : plainTeller(context);
  let began = false;
  for await (const event of turn) {
    began = true;
    tell(event);
    if (event.type === "failed") context.fail(event.error);
  }
  return began;
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

/** Who is answered; nobody in a turn of the agent's own. */
async function whoseTurn(
  { app: { runtime, operator } }: Session,
  { thread, events }: Extract<TurnEvent, { type: "turn-start" }>,
): Promise<readonly string[]> {
  const { scope } = await runtime.thread(operator, thread);
  if (isBatch(scope)) return [`· ${count(events, "message")} of several senders`];
  return isReserved(scope.contact) ? [] : [`· ${count(events, "message")} of ${printable(scope.contact)}`];
}

/** How the next command names the agent: not at all where it is the first. */
export function agentWords(app: App, agent: Agent): string {
  return chosenAgent(app, undefined).name === agent.name ? "" : ` --agent ${agent.name}`;
}
