import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Does something every so many milliseconds. Gives the way to stop. */
export type Repeat = (milliseconds: number, act: () => void) => () => void;

/** All that a command knows of its process. `main.ts` gives the real one, a test its own. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted when the program is asked to end: Ctrl-C, SIGTERM, or the program that started it is gone. */
  readonly signal: AbortSignal;
  /** How a server does things again and again; without it, in real time. */
  readonly repeat?: Repeat;
}

/** Whether a person sits at both ends. */
export function isInteractive({ stdin, stdout }: Terminal): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}
