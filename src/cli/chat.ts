import { createInterface } from "node:readline";
import type { Command } from "commander";
import { asStrataError, contactId, type TurnId } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import { chatConversation, speak, type Talk, type Talkers } from "./conversation.ts";
import { agentNamed, inSession, shortVersion } from "./session.ts";
import { count } from "./style.ts";
import { jsonTeller, plainTeller } from "./teller.ts";
import { isInteractive } from "./terminal.ts";
import { turnView } from "./turn-view.ts";

interface Options {
  readonly as: string;
  readonly new?: true;
}

/** `strata chat AGENT`: talk to an agent. */
export function declareChat(program: Command, context: Context): void {
  program
    .command("chat")
    .description("talk to an agent; over a pipe, each line is a message")
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
  if (isInteractive(context.terminal) && !json) await inTerminal(context, talk);
  else await overPipe(context, talk, json);
}

async function greet({ terminal, note }: Context, { app, agent, contact, thread }: Talk): Promise<void> {
  if (isInteractive(terminal)) {
    note(`${agent.name} (${app.modelNameOf(agent)}) listens to ${contact}. /help tells more, Ctrl-D leaves.`);
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

/** Ctrl-C stops the turn that runs; at the prompt it leaves. */
async function inTerminal(context: Context, talk: Talk): Promise<void> {
  const { stdin, stdout, signal } = context.terminal;
  const prompt = `${context.style.cyan(talk.contact)} › `;
  const lines = createInterface({ input: stdin, output: stdout, prompt, terminal: true });
  let running: AbortController | undefined;
  const stop = (): void => (running === undefined ? lines.close() : running.abort());
  const end = (): void => {
    running?.abort();
    lines.close();
  };
  lines.on("SIGINT", stop);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const tell = plainTeller(context);
  let last: TurnId | undefined;
  // Whoever leaves by Ctrl-D or Ctrl-C leaves the cursor behind the prompt.
  lines.on("close", () => stdout.write("\n"));
  lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === "/quit") break;
    if (/^\/\S*$/.test(text))
      await answerCommand(context, talk, text, last).catch((thrown) => context.complain(asStrataError(thrown)));
    else if (text !== "") {
      running = new AbortController();
      last = (await speak(context, talk, line, { tell, signal: running.signal, onFailure: context.complain })) ?? last;
      running = undefined;
    }
    if (signal.aborted) break;
    lines.prompt();
  }
  lines.close();
  signal.removeEventListener("abort", end);
}

const HELP = [
  "/why   explains the last turn: every piece that was sent, its rank, trust and cost",
  "/quit  leaves, like Ctrl-D; Ctrl-C stops a turn that runs",
  "The dim line after each reply says what was sent to the model.",
];

async function answerCommand(context: Context, talk: Talk, text: string, last: TurnId | undefined): Promise<void> {
  if (text === "/help") return context.note(...HELP);
  if (text !== "/why") return context.note(`There is no command ${text}; /help lists them.`);
  const { app, thread } = talk;
  const { runtime, operator } = app;
  const turn =
    last === undefined ? (await runtime.turns(operator, thread.id)).at(-1) : await runtime.turn(operator, last);
  if (turn === undefined) return context.note("Nothing was said yet; say something first.");
  context.say(...(await turnView(app, turn, context.style)));
}
