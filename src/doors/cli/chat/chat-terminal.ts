import { clearScreenDown, createInterface, cursorTo, type Interface, type Key, moveCursor } from "node:readline";
import { Writable } from "node:stream";
import { count, printable } from "../../../print/index.ts";
import { asStrataError, type TurnId } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { isQuietIn, plainTeller } from "../shell/teller.ts";
import type { Output } from "../shell/terminal.ts";
import { answerCommand, type ChatCommand, QUIT, readCommand } from "./chat-commands.ts";
import { speak, type Talk } from "./conversation.ts";

/** Puts the lines that a person types together to messages. */
interface MessageReader {
  /** Takes a line; gives the message when it is whole, nothing while it continues. */
  readonly take: (line: string) => string | undefined;
  /** The same for a line that came with more in one paste: the message continues until a line is typed. */
  readonly paste: (line: string) => string | undefined;
  /** Whether a message has begun and continues. */
  readonly isOpen: () => boolean;
  /** Drops the unfinished input. */
  readonly clear: () => void;
}

const QUOTES = '"""';

/** A line that ends in a backslash continues with the next; `"""` begins a block and ends it; any other line is a message. */
export function messageReader(): MessageReader {
  let lines: string[] = [];
  let isBlock = false;
  let isPasted = false;
  const end = (last: string): string => {
    const message = [...lines, last].join("\n");
    clear();
    return message;
  };
  const clear = (): void => {
    lines = [];
    isBlock = false;
    isPasted = false;
  };
  const go = (line: string): undefined => void lines.push(line);
  const inBlock = (line: string): string | undefined => {
    if (!line.trimEnd().endsWith(QUOTES)) return go(line);
    const last = line.trimEnd().slice(0, -QUOTES.length);
    // The end of the block may be on a separate line.
    return last.trim() === "" && lines.length > 0 ? end(lines.pop() ?? "") : end(last);
  };
  const opensBlock = (line: string): boolean => lines.length === 0 && line.trimStart().startsWith(QUOTES);
  const take = (line: string): string | undefined => {
    if (isBlock) return inBlock(line);
    if (opensBlock(line)) {
      isBlock = true;
      const first = line.trimStart().slice(QUOTES.length);
      return first.trim() === "" ? undefined : inBlock(first);
    }
    // A paste may have ended with its last line's end.
    if (isPasted && line === "") return end(lines.pop() ?? "");
    return line.endsWith("\\") ? go(line.slice(0, -1)) : end(line);
  };
  return {
    take,
    paste: (line) => {
      if (isBlock || opensBlock(line)) return take(line);
      isPasted = true;
      return go(line);
    },
    isOpen: () => isBlock || lines.length > 0,
    clear,
  };
}

/** The chat with a person at a terminal. Ctrl-C cancels the running turn, otherwise drops the typed text, otherwise leaves. */
export async function chatInTerminal(context: Context, talk: Talk): Promise<void> {
  const { stdin, stdout, signal } = context.terminal;
  const prompt = `${context.style.cyan(talk.contact)} › `;
  const echo = echoTo(stdout);
  const lines = createInterface({ input: stdin, output: echo.output, prompt, terminal: true });
  const message = messageReader();
  const arrivals = arrivalsOf(context, lines);
  const turns = turnsOf(context, talk);
  let closed = false;
  let wasAhead = false;
  const ask = (): void => {
    // Lines that were typed ahead are still answered.
    if (closed || arrivals.waiting() > 0) return;
    lines.setPrompt(message.isOpen() ? "… " : prompt);
    // With input typed ahead and not finished: the prompt is drawn as many rows above the cursor as that has.
    stdout.write("\n".repeat(lines.getCursorPos().rows));
    lines.prompt(true);
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
  // Leaving by Ctrl-D or Ctrl-C leaves the cursor behind the prompt.
  lines.on("close", () => {
    closed = true;
    stdout.write("\n");
  });
  const notices = noticesOf(context, lines);
  ask();
  notices.tell();
  for await (const line of lines) {
    notices.hold();
    const { isPasted, isAhead } = arrivals.next();
    wasAhead ||= isAhead;
    const text = isPasted ? message.paste(line) : message.take(line);
    // Text assembled from several lines, or in a block, is sent unchanged.
    const command = text === line || line === "" ? readCommand(text ?? "") : undefined;
    if (command?.name === QUIT) break;
    if (text !== undefined) {
      // Its echo appeared above other turns, or nowhere.
      if (wasAhead) stdout.write(`${prompt}${printable(text)}\n`);
      wasAhead = false;
      // Input typed meanwhile would appear between the words of the reply: it is shown below it, once that has ended.
      echo.hold(true);
      await turns.answer(command ?? text);
      echo.hold(false);
    }
    if (signal.aborted) break;
    ask();
    notices.tell();
  }
  lines.close();
  notices.end();
  arrivals.end();
  signal.removeEventListener("abort", end);
}

/** Messages of background work: printed above the prompt, which is drawn again with the typed text; delayed while a turn runs. */
function noticesOf({ terminal: { stdout }, letWrite }: Context, lines: Interface) {
  const held: (() => void)[] = [];
  let holds = true;
  const over = (write: () => void): void => {
    const { rows } = lines.getCursorPos();
    moveCursor(stdout, 0, -rows);
    cursorTo(stdout, 0);
    clearScreenDown(stdout);
    write();
    // The prompt is drawn as many rows above the cursor as the input had.
    stdout.write("\n".repeat(rows));
    lines.prompt(true);
  };
  letWrite((write) => (holds ? void held.push(write) : over(write)));
  const tell = (): void => {
    holds = false;
    const [first, ...rest] = held.splice(0);
    if (first !== undefined) over(() => [first, ...rest].forEach((write) => void write()));
  };
  return {
    hold: (): void => {
      holds = true;
    },
    tell,
    end: (): void => {
      letWrite(undefined);
      for (const write of held.splice(0)) write();
    },
  };
}

/** The output of the line editor: shown, or held back while a turn writes. */
function echoTo(stdout: Output) {
  let isHeld = false;
  const shown = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isHeld) stdout.write(chunk);
      done();
    },
  });
  const output = Object.defineProperty(shown, "columns", { get: () => stdout.columns });
  stdout.on("resize", () => void shown.emit("resize"));
  return {
    output,
    hold: (held: boolean): void => {
      isHeld = held;
    },
  };
}

/** How a line came: in a paste, or while others before it were not answered yet. */
interface Arrival {
  readonly isPasted: boolean;
  readonly isAhead: boolean;
}

/** Asks the terminal to mark the beginning and end of a paste, and remembers how each line arrived. */
function arrivalsOf({ terminal: { stdin, stdout } }: Context, lines: Interface) {
  const come: Arrival[] = [];
  let pasting = false;
  let isBusy = false;
  const hear = (_sign: unknown, { name }: Key): void => {
    if (name === "paste-start" || name === "paste-end") pasting = name === "paste-start";
  };
  stdin.on("keypress", hear);
  lines.on("line", () => void come.push({ isPasted: pasting, isAhead: isBusy || come.some((one) => !one.isPasted) }));
  stdout.write("\u001b[?2004h");
  return {
    /** Asked once for each line, in their order. */
    next: (): Arrival => {
      isBusy = true;
      return come.shift() ?? { isPasted: false, isAhead: false };
    },
    /** How many lines wait; if none does, the caller is about to wait for one. */
    waiting: (): number => {
      isBusy = come.length > 0;
      return come.length;
    },
    end: (): void => {
      stdin.off("keypress", hear);
      stdout.write("\u001b[?2004l");
    },
  };
}

/** The turns of one chat: at most one runs, and the last one is remembered. */
function turnsOf(context: Context, talk: Talk) {
  let quiet = isQuietIn(context.terminal);
  const tell = plainTeller(context, () => quiet);
  const toggleQuiet = (): boolean => {
    quiet = !quiet;
    return quiet;
  };
  let running: AbortController | undefined;
  let last: TurnId | undefined;
  const run = async (typed: ChatCommand | string, signal: AbortSignal): Promise<TurnId | undefined> => {
    const onWaiting = (messages: number): void =>
      context.note(
        `${count(messages, "message")} without an answer: /retry runs the turn again, /withdraw drops what waits.`,
      );
    const saying = { tell, signal, onFailure: context.complain, onWaiting };
    if (typeof typed === "string") return speak(context, talk, typed, saying);
    return answerCommand(typed, { context, talk, last, saying, toggleQuiet });
  };
  return {
    /** Answers a message or a command; an empty message needs no answer. */
    answer: async (typed: ChatCommand | string): Promise<void> => {
      if (typeof typed === "string" && typed.trim() === "") return;
      running = new AbortController();
      try {
        last = (await run(typed, running.signal)) ?? last;
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
