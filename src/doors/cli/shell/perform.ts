import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { App } from "../../../app.ts";
import {
  type CommandPart,
  type FieldShape,
  fromWords,
  type Naming,
  type Operation,
  type Page,
  parsed,
  type Run,
  type RunningTurn,
  replacedBy,
  type Written,
} from "../../../features/index.ts";
import { count, printable, waitingMessagesSays } from "../../../print/index.ts";
import {
  type Agent,
  asStrataError,
  isBatch,
  isReserved,
  type StoredEvent,
  StrataError,
  type ThreadId,
  type TurnEvent,
} from "../../../protocol/index.ts";
import { contactNamed } from "../chat/conversation.ts";
import type { Context } from "./context.ts";
import { writeOutput } from "./files.ts";
import { showProgress } from "./progress.ts";
import { chosenAgent, inRecord, inSession, onRecord, type Session } from "./session.ts";
import { jsonTeller, plainTeller } from "./teller.ts";

/** An operation on the command line. */
export interface Verb {
  readonly operation: Operation;
  readonly part: CommandPart<string>;
  readonly fields: readonly FieldShape[];
}

/** A typed command: the operation, and the words and options under the names of their fields. */
export interface Performed {
  readonly command: Command;
  readonly verb: Verb;
  readonly given: Readonly<Record<string, unknown>>;
  readonly naming: Naming;
}

/** Performs a command, and prints the result. */
export async function perform(context: Context, performed: Performed): Promise<void> {
  const { command, verb } = performed;
  const { confirm } = verb.part;
  if (confirm !== undefined && command.opts()["yes"] !== true)
    throw new StrataError("invalid_input", `${confirm}; confirm with --yes`);
  checkOut(context, command.opts());
  checkWords(performed);
  await opening(verb)(context, command, (session) => work(context, session, performed));
}

/** @throws StrataError `invalid_input` if a file would be lost */
function checkOut({ terminal }: Context, { out, force }: { readonly out?: string; readonly force?: true }): void {
  if (out === undefined || force === true || !existsSync(resolve(terminal.cwd, out))) return;
  const message = `${out} already exists; name another file, or add --force to replace it`;
  throw new StrataError("invalid_input", message, { file: out });
}

/**
 * A wrong word is named as that, whether or not there is data to look into. If the agent is omitted, or the contact (by default the person
 * at this machine), the input is only known once the agents are.
 * @throws StrataError `invalid_input`, and what the makers of ids throw
 */
function checkWords({ verb: { operation, fields, part }, given, naming }: Performed): void {
  const supplied = part.contact === undefined ? ["agent"] : ["agent", "contact"];
  if (fields.some(({ name, required }) => required && supplied.includes(name) && given[name] === undefined)) return;
  parsed(operation.takes, fromWords(fields, given), naming);
}

function opening({ part: { opens } }: Verb): typeof inRecord {
  if (opens === "record") return inRecord;
  if (opens === "record to run") return onRecord;
  return (context, command, work) => inSession(context, command, work, { recordOnly: opens === "data" });
}

async function work(context: Context, session: Session, { command, verb, given, naming }: Performed): Promise<void> {
  const { operation, fields } = verb;
  const { app, json } = session;
  checkNoAgent(context, session, { verb, given });
  const about = subject(session, verb, given, command);
  const progress = showProgress(context, commandName(operation));
  const call = { actor: app.operator, signal: context.terminal.signal, progress: progress.show };
  const asked = { values: fromWords(fields, about.values), naming };
  const page = { style: context.style, agentWords: about.agentWords };
  switch (operation.kind) {
    case "value":
    case "series": {
      const answer = await operation.run(app, asked, call).finally(progress.end);
      if (json) context.json(answer.json);
      else {
        context.say(...(await answer.lines(page)));
        context.note(...answer.hints(page));
      }
      // On stderr, so that it also accompanies the JSON of a list.
      if (answer.next !== undefined)
        context.note(`There may be more: add \`--after ${asWord(answer.next)}\` to read on.`);
      for (const fault of answer.faults(page)) context.fail(fault);
      if (answer.failed !== undefined) return context.fail(answer.failed);
      if (answer.follows !== undefined) await tellFollowing(context, session, answer.follows);
      return;
    }
    case "turn":
      return runTurn(context, session, { ran: operation.run(app, asked, call), page });
    case "run":
      return followRun(context, session, { run: operation.run(app, asked, call), page });
    case "file":
      return writeFile(context, command, await operation.run(app, asked, call)).finally(progress.end);
  }
}

/** As a word of a command line: a place in a list may hold a contact's name. */
const asWord = (text: string): string => (/^[\w.@+:-]+$/.test(text) ? text : JSON.stringify(text));

async function runTurn(
  context: Context,
  session: Session,
  { ran, page }: { readonly ran: RunningTurn; readonly page: Page },
): Promise<void> {
  const forPeople = !session.json;
  if (forPeople) context.say(...(await ran.before(page)));
  const events = ran.begun === undefined ? introduced(context, session, ran.events) : ran.events;
  const started = await tellTurn(context, session, events, ran.begun);
  if (!forPeople) return;
  if (started === undefined) context.say(ran.idle);
  else context.note(...(await ran.hints(started, page)));
}

/** For people: the events as they come, and lines after them. For programs: the value alone. */
async function followRun(
  context: Context,
  session: Session,
  { run, page }: { readonly run: Run; readonly page: Page },
): Promise<void> {
  const tell = plainTeller(context);
  const events = run.events(context.terminal.signal);
  let received: StoredEvent | undefined;
  for (;;) {
    const next = await events.next().catch(async (thrown: unknown) => {
      if (received !== undefined && !session.json) await noteWaiting(context, session, received.thread);
      throw thrown;
    });
    if (next.done === true) {
      if (session.json) context.json(next.value.value);
      else context.say(...(await next.value.lines(page)));
      return;
    }
    const event = next.value;
    if (event.type === "busy")
      context.note("Another program is running a turn in this conversation; the message waits for its end.");
    else if (event.type === "received") received = event.event;
    else if (!session.json) tell(event);
  }
}

/** What can be done with messages that a failed turn left: the next one is answered together with them. */
async function noteWaiting({ note }: Context, { app }: Session, id: ThreadId): Promise<void> {
  const { length } = await app.runtime.pending(app.operator, await app.runtime.thread(app.operator, id));
  if (length > 0) note(waitingMessagesSays(length, id));
}

async function writeFile({ terminal, note }: Context, command: Command, { text, summary }: Written): Promise<void> {
  const { out } = command.opts<{ readonly out?: string }>();
  if (out !== undefined) await writeOutput(out, terminal.cwd, text);
  else {
    let last = "\n";
    for await (const piece of text) {
      terminal.stdout.write(piece);
      last = piece;
    }
    // At a terminal, the prompt should begin on a new line.
    if (terminal.stdout.isTTY === true && !last.endsWith("\n")) terminal.stdout.write("\n");
  }
  note(...summary(out));
}

const commandName = ({ name }: Operation): string => name.replace(".", " ");

/** If there is one argument, which names an agent, and also text on stdin, the argument would be used as the text and stdin silently ignored. */
function checkNoAgent(
  { terminal }: Context,
  { app }: Session,
  { verb, given }: Pick<Performed, "verb" | "given">,
): void {
  const { part, operation } = verb;
  const text = part.stdin === undefined ? undefined : given[part.stdin];
  if (terminal.stdin.isTTY === true || given["agent"] !== undefined) return;
  if (!app.runtime.agents(app.operator).some(({ name }) => name === text)) return;
  const command = `strata ${commandName(operation)}`;
  const sentence = `${text} is an agent's name, but it is in the place of the ${part.stdin}`;
  const next = `\`${command} - ${text}\` reads stdin for ${text}; to use the word itself, name the agent, too, as with \`--agent ${text}\``;
  throw new StrataError("invalid_input", `${sentence}: ${next}`, { agent: text });
}

/** Runs the turn that follows, and prints it. After Ctrl-C it does not begin: its messages wait for the next turn. */
async function tellFollowing(context: Context, session: Session, begin: () => AsyncIterable<TurnEvent>): Promise<void> {
  const { signal } = context.terminal;
  if (signal.aborted) context.fail(asStrataError(signal.reason));
  else await tellTurn(context, session, begin());
}

/** The agent and contact that it is about. By default, the first agent and, if the operation says so, the person at this machine. */
function subject(session: Session, { fields, part }: Verb, given: Performed["given"], command: Command) {
  const agent = fields.find(({ name }) => name === "agent");
  if (agent === undefined || (!agent.required && given["agent"] === undefined))
    return { values: given, agentWords: "" };
  if (part.namesAgent === true && given["agent"] === undefined) checkOnlyAgent(session.app);
  const chosen = chosenAgent(session.app, given["agent"] === undefined ? undefined : String(given["agent"]));
  const isOwn = command.opts()["agentOwn"] === true;
  const me =
    part.contact !== undefined &&
    given["contact"] === undefined &&
    !isOwn &&
    !replacedBy(part, given).includes("contact")
      ? { contact: contactNamed(chosen) }
      : {};
  return { values: { ...given, agent: chosen.name, ...me }, agentWords: agentWords(session.app, chosen) };
}

/** Of several agents none is taken for granted where money moves. @throws StrataError `invalid_input` */
function checkOnlyAgent({ runtime, operator }: App): void {
  const names = runtime.agents(operator).map(({ name }) => name);
  if (names.length < 2) return;
  const sentence = `there are ${names.length} agents, and this moves money: name the one that is meant, with \`--agent ${names[0]}\``;
  throw new StrataError("invalid_input", sentence, { agents: names });
}

/** Prints a turn as it runs, and returns its first event; undefined if there was no turn. `begun` makes the lines for its start. */
async function tellTurn(
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

/** A turn, preceded by a line that names its contact. */
async function* introduced(
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

/** A line that names the turn's contact; none in an agent's own turn. */
async function whoseTurn(
  { app: { runtime, operator } }: Session,
  { thread, events }: TurnStart,
): Promise<readonly string[]> {
  const { scope } = await runtime.thread(operator, thread);
  if (isBatch(scope)) return [`· ${count(events, "message")} of several senders`];
  return isReserved(scope.contact) ? [] : [`· ${count(events, "message")} of ${printable(scope.contact)}`];
}

/** How the next command names the agent: not at all if it is the first. */
function agentWords(app: App, agent: Agent): string {
  return chosenAgent(app, undefined).name === agent.name ? "" : ` --agent ${agent.name}`;
}
