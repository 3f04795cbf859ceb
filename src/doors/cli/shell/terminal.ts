import type { Readable, Writable } from "node:stream";
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
  /** The time of what a server does without being asked; without it, the real one. */
  readonly timers?: Timers;
}

/** Whether a person sits at both ends. */
export function isInteractive({ stdin, stdout }: Terminal): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}
