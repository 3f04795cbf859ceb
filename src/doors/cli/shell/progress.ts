import type { Context } from "./context.ts";

/** Progress on stderr: a line that rewrites itself in a terminal, elsewhere a line every few seconds. */
export interface Progress {
  /** `share` from 0 to 1 draws a bar. What is `planned` is shown at once, and stays. */
  readonly show: (text: string, share?: number | "planned") => void;
  /** Shows the final state, and removes the line in a terminal. */
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
  /** An update that was not shown because it came too soon after another. */
  let skipped: (() => void) | undefined;
  const draw = (text: string, share: number | undefined): void => {
    dirty = true;
    skipped = undefined;
    const line = `${title}${share === undefined ? "" : ` ${bar(share)}`} ${text}`;
    if (isTerminal) stderr.write(`\r\u001b[K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
    else note(`${title}: ${text}`);
  };
  return {
    show: (text, share) => {
      if (share === "planned") return note(`${title}: ${text}`);
      const now = Date.now();
      skipped = () => draw(text, share);
      if (now - shown < every) return;
      shown = now;
      draw(text, share);
    },
    end: () => {
      // Work that finished before anything was shown needs no end either.
      if (dirty) skipped?.();
      if (dirty && isTerminal) stderr.write("\r\u001b[K");
      dirty = false;
    },
  };
}

const SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** Milliseconds of silence before anything is shown of it. */
const PATIENCE = 400;

/** A sign of life in a terminal during silence: it moves, and shows the elapsed time. Gives the function that removes it. */
export function showWaiting({ terminal: { stdout }, style }: Context, who: string): () => void {
  if (stdout.isTTY !== true) return () => undefined;
  const since = Date.now();
  let shown = false;
  const draw = (): void => {
    const silent = Date.now() - since;
    if (silent < PATIENCE) return;
    shown = true;
    const sign = SIGNS[Math.floor(silent / EVERY.terminal) % SIGNS.length] ?? "";
    const line = `${sign} ${who} has not answered yet, ${Math.floor(silent / 1_000)} s; Ctrl-C cancels the turn`;
    stdout.write(`\r\u001b[K${style.dim(line.slice(0, (stdout.columns ?? 80) - 1))}`);
  };
  const timer = setInterval(draw, EVERY.terminal);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (shown) stdout.write("\r\u001b[K");
    shown = false;
  };
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)} ${Math.floor(share * 100)}%`;
}
