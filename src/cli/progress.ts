import type { Context } from "./context.ts";

/** Progress on stderr: a line that rewrites itself in a terminal, elsewhere a line every few seconds. */
export interface Progress {
  /** `share` from 0 to 1 draws a bar. */
  readonly show: (text: string, share?: number) => void;
  /** Takes the line away. */
  readonly end: () => void;
}

/** Milliseconds between two signs of life: a terminal shows motion, a log should stay short. */
const EVERY = { terminal: 80, log: 5_000 };
const BAR = 24;

export function showProgress({ terminal: { stderr }, note }: Context, title: string): Progress {
  const isTerminal = stderr.isTTY === true;
  const every = isTerminal ? EVERY.terminal : EVERY.log;
  let shown = Date.now();
  let dirty = false;
  return {
    show: (text, share) => {
      const now = Date.now();
      if (now - shown < every) return;
      shown = now;
      if (!isTerminal) return note(`${title}: ${text}`);
      const line = `${title}${share === undefined ? "" : ` ${bar(share)}`} ${text}`;
      dirty = true;
      stderr.write(`\r\u001b[K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
    },
    end: () => {
      if (dirty) stderr.write("\r\u001b[K");
      dirty = false;
    },
  };
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)} ${Math.floor(share * 100)}%`;
}
