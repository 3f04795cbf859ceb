import { createInterface } from "node:readline";
import type { Command } from "commander";
import { asStrataError, contactId } from "../protocol/index.ts";
import { chatInTerminal } from "./chat-terminal.ts";
import type { Context } from "./context.ts";
import { chatConversation, speak, type Talk, type Talkers } from "./conversation.ts";
import { agentNamed, inSession, shortVersion } from "./session.ts";
import { count, printable } from "./style.ts";
import { jsonTeller, plainTeller } from "./teller.ts";
import { isInteractive } from "./terminal.ts";

interface Options {
  readonly as: string;
  readonly new?: true;
}

/** `strata chat AGENT`: talk to an agent. */
export function declareChat(program: Command, context: Context): void {
  program
    .command("chat")
    .description("talk to an agent; over a pipe, each line is a message, also one that begins with a slash")
    .argument("<agent>", "the agent's name")
    .option("--as <contact>", "who you are to the agent; each contact has memories and threads of their own", "me")
    .option("--new", "begin a new thread instead of going on with the last one")
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata chat companion\n  $ printf 'My cat is called Miso.\\nWhat is my cat called?\\n' | strata chat companion --as ann",
    )
    .action((name: string, options: Options, command: Command) =>
      inSession(context, command, ({ app, json }) => {
        const talkers = { app, agent: agentNamed(app, name), contact: contactId(options.as) };
        return converse(context, talkers, { json, anew: options.new === true });
      }),
    );
}

/** Talks until the input ends: with a prompt in a terminal, silently over a pipe. */
export async function converse(
  context: Context,
  talkers: Talkers,
  { json, anew }: { readonly json: boolean; readonly anew: boolean },
): Promise<void> {
  const { runtime, operator } = talkers.app;
  const talk = { ...talkers, thread: await runtime.open(operator, await chatConversation(talkers, anew)) };
  await greet(context, talk);
  if (!json) await showUndelivered(context, talk);
  if (isInteractive(context.terminal) && !json) await chatInTerminal(context, talk);
  else await overPipe(context, talk, json);
}

/** What was answered when the program that should have shown it ended first. */
async function showUndelivered({ note, say }: Context, { app, thread }: Talk): Promise<void> {
  for await (const { text } of app.runtime.undelivered(app.operator, thread)) {
    note("Answered before, and perhaps never shown:");
    say(printable(text));
  }
}

async function greet({ terminal, note }: Context, { app, agent, contact, thread }: Talk): Promise<void> {
  if (isInteractive(terminal)) {
    note(`${agent.name} (${app.modelNameOf(agent)}) listens to ${contact}. /help tells more, Ctrl-D leaves.`);
  }
  if (thread.turns > 0) {
    note(`Continues thread ${thread.id} (${count(thread.turns, "turn")}); --new begins another.`);
  }
  if (thread.version !== agent.version) {
    const [old, now] = [thread.version, agent.version].map(shortVersion);
    note(
      `This thread began with version ${old} of ${agent.name} and stays with it; ${now} is declared now. --new begins a thread with that.`,
    );
  }
  const waiting = (await app.runtime.pending(app.operator, thread)).length;
  if (waiting > 0) note(`${count(waiting, "earlier message")} without an answer will go along with your next one.`);
}

async function overPipe(context: Context, talk: Talk, json: boolean): Promise<void> {
  const { stdin, signal } = context.terminal;
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const saying = { tell: json ? jsonTeller(context) : plainTeller(context), signal, onFailure: context.fail };
  for await (const line of lines) {
    if (signal.aborted) break;
    if (line.trim() !== "") await speak(context, talk, line, saying);
  }
  signal.removeEventListener("abort", stop);
  if (signal.aborted && context.exitCode() === 0) context.fail(asStrataError(signal.reason));
}
