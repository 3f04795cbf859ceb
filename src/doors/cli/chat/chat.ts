import { type Command, Option } from "commander";
import type { App, Thread } from "../../../app.ts";
import { answererSays, answeringOf } from "../../../features/agents/index.ts";
import { DELIVERY_API } from "../../../features/deliveries/index.ts";
import { count, printable, waitingMessagesSays } from "../../../print/index.ts";
import {
  type Agent,
  asStrataError,
  MODES,
  type Mode,
  StrataError,
  type TurnId,
  threadId,
} from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { agentNamed, chosenAgent, inSession } from "../shell/session.ts";
import { isQuietIn, jsonTeller, plainTeller } from "../shell/teller.ts";
import { isInteractive, stdinLines } from "../shell/terminal.ts";
import { answerCommand, type ChatCommand, isKnownCommand, QUIT, readCommand } from "./chat-commands.ts";
import { chatInTerminal } from "./chat-terminal.ts";
import {
  type ConversationChoice,
  leaveClosed,
  senderOf,
  speak,
  type Talk,
  type Talkers,
  talkWith,
  versionLines,
} from "./conversation.ts";

interface ChatOptions {
  readonly as?: string;
  readonly new?: true;
  readonly thread?: string;
  readonly mode?: Mode;
  readonly commands?: true;
}

/** `strata chat AGENT`: talk to an agent. */
export function declareChat(program: Command, context: Context): void {
  program
    .command("chat")
    .description(
      "talk to an agent; from a pipe, each line is a message; a command such as /think is run with --commands, else refused",
    )
    .argument("[agent]", "the agent's name; can be left out if only one is declared")
    .option(
      "--as <contact>",
      "the contact you speak as; each contact has its own memories and threads (default: me, or the thread's)",
    )
    .option("--new", "begin a new thread instead of continuing the last one that is no fork")
    .option("--thread <id>", "continue this thread; it may be a fork")
    .addOption(
      new Option("--mode <mode>", "how much of the prompt is sent (default: as the agent says)").choices(MODES),
    )
    .option("--commands", "also from a pipe, run lines that are commands of the chat; /help lists them")
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata chat companion\n  $ printf 'My cat is called Miso.\\nWhat is my cat called?\\n' | strata chat companion --as ann\n  $ printf '/think high\\nWhy is it slow?\\n' | strata chat --commands",
    )
    .action((name: string | undefined, options: ChatOptions, command: Command) =>
      inSession(context, command, async ({ app, json }) => {
        if (json && options.commands === true) throw new StrataError("invalid_input", NOT_IN_JSON);
        const agent = name === undefined ? onlyAgent(app) : agentNamed(app, name);
        const thread = await threadNamed(app, agent, options);
        const talkers = {
          app,
          agent,
          contact: await senderOf(app, agent, options.as ?? thread?.scope.contact),
          mode: options.mode,
        };
        const wanted = thread ? { thread } : { anew: options.new === true };
        return converse(context, talkers, { json, wanted, commands: options.commands === true });
      }),
    );
}

const NOT_IN_JSON =
  "--commands answers in words, so it does not go with --json; `strata setting set` and `strata explain --json` do the same for programs";

/** @throws StrataError `invalid_input` if several agents could be meant, `config_missing` */
function onlyAgent(app: App): Agent {
  const declared = app.runtime.agents(app.operator);
  if (declared.length <= 1) return chosenAgent(app, undefined);
  // The others answer other agents alone.
  const all = declared.filter(({ entry }) => entry !== false);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  const commands = all.map(({ name }) => `\`strata chat ${name}\``).join(", ");
  throw new StrataError("invalid_input", `there are ${all.length} agents; name the one to talk to: ${commands}`);
}

/** The named thread, if it belongs to this agent and contact. @throws StrataError `invalid_input`, `thread_not_found`, … */
async function threadNamed(
  app: App,
  declared: Agent,
  { as, new: anew, thread: text }: ChatOptions,
): Promise<Thread | undefined> {
  if (text === undefined) return undefined;
  if (anew === true)
    throw new StrataError("invalid_input", "--new begins a thread and --thread continues one; use only one of them");
  const thread = await app.runtime.thread(app.operator, threadId(text));
  const { agent, contact } = thread.scope;
  const wanted = as === undefined ? contact : await senderOf(app, declared, as);
  if (agent === declared.name && wanted === contact) return thread;
  const next = `\`strata chat ${agent} --thread ${thread.id}\` continues it`;
  throw new StrataError("invalid_input", `${thread.id} is a thread of ${agent} with ${printable(contact)}; ${next}`, {
    thread: thread.id,
  });
}

/** Talks until the input ends: with a prompt in a terminal, silently over a pipe. */
export async function converse(
  context: Context,
  talkers: Talkers,
  {
    json,
    wanted,
    commands = false,
  }: { readonly json: boolean; readonly wanted: ConversationChoice; readonly commands?: boolean },
): Promise<void> {
  const talk = await talkWith(talkers, wanted);
  const before = talk.thread();
  await leaveClosed(context, talk);
  await greet(context, talk);
  if (!json && before !== undefined) await showUndelivered(context, talk.app, before);
  if (isInteractive(context.terminal) && !json) await chatInTerminal(context, talk);
  else await overPipe(context, talk, { json, commands });
}

/** Answers that were not shown because the program that should have shown them ended first. */
async function showUndelivered({ note, say }: Context, app: App, thread: Thread): Promise<void> {
  for await (const { text } of app.runtime.use(DELIVERY_API).undelivered(app.operator, thread)) {
    note("Answered earlier, but perhaps never shown:");
    say(printable(text));
  }
}

async function greet(context: Context, { app, agent, contact, thread: opened }: Talk): Promise<void> {
  const { note } = context;
  if (isInteractive(context.terminal)) {
    context.adviseInChat();
    // As a turn opens it: a server of one's own is asked which model it has.
    const [{ model } = { model: app.modelNameOf(agent) }] = await answeringOf(app, [agent]);
    note(
      `${agent.name} (${answererSays(model, agent.handler?.file)}) listens to ${contact}. /help shows more, Ctrl-D leaves.`,
    );
    const guess = app.guessedWindow(model);
    if (guess !== undefined) note(`Careful: ${guess}.`);
  }
  const thread = opened();
  if (thread === undefined) return;
  if (thread.turns > 0) {
    note(`Continues thread ${thread.id} (${count(thread.turns, "turn")}); \`/new\` begins a new one.`);
  }
  note(...(await versionLines(app, agent, { thread, anew: "/new (or --new)" })));
  const waiting = (await app.runtime.pending(app.operator, thread)).length;
  if (waiting > 0)
    note(
      `${count(waiting, "earlier message")} without an answer will be sent with your next one; ${takesBack(context, thread)}`,
    );
}

/** In a chat at a terminal, suggested commands can be typed directly; elsewhere they are commands of the shell. */
const takesBack = ({ terminal }: Context, { id }: Pick<Thread, "id">): string =>
  isInteractive(terminal)
    ? "/retry runs a turn for it now, /withdraw drops what waits."
    : `\`strata thread withdraw ${id}\` drops what waits.`;

async function overPipe(
  context: Context,
  talk: Talk,
  { json, commands }: { readonly json: boolean; readonly commands: boolean },
): Promise<void> {
  const { signal } = context.terminal;
  const onWaiting = (messages: number, thread: Thread): void => {
    if (!json) context.note(waitingMessagesSays(messages, thread.id));
  };
  let isQuiet = isQuietIn(context.terminal);
  let last: TurnId | undefined;
  const toggleQuiet = (): boolean => {
    isQuiet = !isQuiet;
    return isQuiet;
  };
  const tell = json ? jsonTeller(context) : plainTeller(context, () => isQuiet);
  const saying = { tell, signal, onFailure: context.fail, onWaiting };
  for await (const line of stdinLines(context.terminal)) {
    if (signal.aborted) break;
    const command = readCommand(line);
    if (command !== undefined && (!commands || !isKnownCommand(command))) context.fail(notObeyed(line, command));
    else if (command?.name === QUIT) break;
    else if (command !== undefined)
      try {
        last = (await answerCommand(command, { context, talk, last, saying, toggleQuiet })) ?? last;
      } catch (thrown) {
        context.fail(asStrataError(thrown));
      }
    else if (line.trim() !== "") last = (await speak(context, talk, line, saying)) ?? last;
  }
  if (signal.aborted && context.exitCode() === 0) context.fail(asStrataError(signal.reason));
}

/** Lines of a pipe may be a contact's, and commands are an operator's: they run only if an option allows it. */
function notObeyed(line: string, command: ChatCommand): StrataError {
  const text = printable(JSON.stringify(line.trim()));
  return new StrataError(
    "invalid_input",
    isKnownCommand(command)
      ? `${text} is a command of the chat, so it was not sent; \`strata chat --commands\` runs it also from a pipe`
      : `${text} looks like a command of the chat, and there is none of that name, so it was not sent; \`strata ask TEXT\` sends it as it is`,
  );
}
