import { addAbortSignal, type Readable, type Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Timers } from "../../../app.ts";

/** A stream that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** All that a command knows of its process. `main.ts` gives the real one, a test its own. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted when the program is asked to end: Ctrl-C, SIGTERM, or the program that started it is gone. */
  readonly signal: AbortSignal;
  /** The clock of a server's background work; by default the real one. */
  readonly timers?: Timers;
}

/** Whether a person sits at both ends. */
export function isInteractive({ stdin, stdout }: Terminal): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

type Source = Pick<Terminal, "stdin" | "signal">;

/**
 * The lines of stdin as they come, without their ends, until it ends or the program is asked to stop. A line ends at a line feed, a
 * carriage return before it aside: JSON may hold the other line ends of Unicode as they are, at which Node's own reader would cut.
 */
export async function* stdinLines(source: Source): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stdinText(source)) {
    // Only new text is searched: a line may come in many pieces.
    const [first = "", ...others] = text.split("\n");
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? "";
    for (const line of lines) yield withoutReturn(line);
  }
  if (rest !== "") yield withoutReturn(rest);
}

/** All of stdin unchanged, except for a byte order mark. */
export async function allOfStdin(source: Source): Promise<string> {
  let all = "";
  for await (const text of stdinText(source)) all += text;
  return all;
}

/** What some programs write before a text to say that it is UTF-8. */
const MARK = /^\ufeff/;

async function* stdinText({ stdin, signal }: Source): AsyncGenerator<string> {
  if (signal.aborted) return;
  const decoder = new StringDecoder("utf8");
  let begun = false;
  try {
    for await (const chunk of addAbortSignal(signal, stdin)) {
      const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
      yield begun ? text : text.replace(MARK, "");
      begun ||= text !== "";
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  yield decoder.end();
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
