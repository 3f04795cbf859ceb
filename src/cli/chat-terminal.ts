import { createInterface } from "node:readline";
import { asStrataError, type TurnId } from "../protocol/index.ts";
import { answerCommand, isCommand } from "./chat-commands.ts";
import type { Context } from "./context.ts";
import { speak, type Talk } from "./conversation.ts";
import { messageReader } from "./message-reader.ts";
import { plainTeller } from "./teller.ts";

/** The chat with a person at a terminal. Ctrl-C stops the turn that runs, else drops what is typed, else leaves. */
export async function chatInTerminal(context: Context, talk: Talk): Promise<void> {
  const { stdin, stdout, signal } = context.terminal;
  const prompt = `${context.style.cyan(talk.contact)} › `;
  const lines = createInterface({ input: stdin, output: stdout, prompt, terminal: true });
  const message = messageReader();
  const turns = turnsOf(context, talk);
  const ask = (): void => {
    lines.setPrompt(message.isOpen() ? "… " : prompt);
    lines.prompt();
  };
  const stop = (): void => {
    if (turns.stop()) return;
    if (message.isOpen() || lines.line !== "") {
      message.clear();
      // The end of the line, then all before it.
      for (const name of ["e", "u"]) lines.write(null, { ctrl: true, name });
      stdout.write("\n");
      ask();
    } else lines.close();
  };
  const end = (): void => {
    turns.stop();
    lines.close();
  };
  lines.on("SIGINT", stop);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  // Whoever leaves by Ctrl-D or Ctrl-C leaves the cursor behind the prompt.
  lines.on("close", () => stdout.write("\n"));
  ask();
  for await (const line of lines) {
    const text = message.take(line);
    if (text?.trim() === "/quit") break;
    if (text !== undefined) await turns.answer(text);
    if (signal.aborted) break;
    ask();
  }
  lines.close();
  signal.removeEventListener("abort", end);
}

/** The turns of one chat: at most one runs, and the last one is remembered. */
function turnsOf(context: Context, talk: Talk) {
  const tell = plainTeller(context);
  let running: AbortController | undefined;
  let last: TurnId | undefined;
  const run = async (text: string, signal: AbortSignal): Promise<TurnId | undefined> => {
    const saying = { tell, signal, onFailure: context.complain };
    if (!isCommand(text.trim())) return speak(context, talk, text, saying);
    return answerCommand(text.trim(), { context, talk, last, saying });
  };
  return {
    /** Answers a message or a command; an empty message needs no answer. */
    answer: async (text: string): Promise<void> => {
      if (text.trim() === "") return;
      running = new AbortController();
      try {
        last = (await run(text, running.signal)) ?? last;
      } catch (thrown) {
        context.complain(asStrataError(thrown));
      }
      running = undefined;
    },
    /** False when none runs. */
    stop: (): boolean => {
      running?.abort();
      return running !== undefined;
    },
  };
}
