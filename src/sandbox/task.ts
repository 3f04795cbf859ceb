/** The limits of one slice. Each has its own error. */
export interface SliceLimits {
  /** Milliseconds of CPU time of its thread, of all its code together. Never time of the clock. */
  readonly cpuMs: number;
  /** Bytes that its values may take. */
  readonly memory: number;
  /** Bytes of its stack. */
  readonly stack: number;
  /** Characters of what it returns, and of each thing that it asks. */
  readonly output: number;
  /** The total number of its requests, including answered ones. */
  readonly asks: number;
  /** Lines that it may log, and the characters of each. */
  readonly logs: number;
  readonly logLength: number;
}

export const DEFAULT_LIMITS: SliceLimits = {
  cpuMs: 100,
  memory: 16 * 1024 * 1024,
  stack: 256 * 1024,
  output: 64_000,
  asks: 16,
  logs: 50,
  logLength: 2_000,
};

/**
 * One slice of a handler's life: from its first line to its end, or to the answers that it still waits for. The same task gives the same
 * outcome, so a handler that waits holds nothing: it is run again with one answer more.
 */
export interface Task {
  /** A script that leaves an object with the function `default` in `globalThis.__handler`, as `bundle` makes it. */
  readonly code: string;
  /** JSON with `payload`, `metadata` and `history`. */
  readonly input: string;
  /** The answers so far, in the order of their requests. */
  readonly answers: readonly Answer[];
  /** Decides what its `Math.random()` gives. */
  readonly seed: number;
  /** What its clock says from the first line to the last: milliseconds since 1970. */
  readonly now: number;
  readonly limits: SliceLimits;
}

/** An answer as JSON, or a sentence that the handler reads as the message of an error. */
export type Answer = { readonly value: string } | { readonly error: string };

/** `stuck`: it waits for something that will never be answered. `busy`: more slices wait than the pool keeps. */
export const FAILURES = ["threw", "cpu", "memory", "stack", "output", "asks", "logs", "stuck", "busy"] as const;

export type Failure = (typeof FAILURES)[number];

export type Outcome = {
  readonly logs: readonly string[];
  /** CPU milliseconds of the guest's code. */
  readonly cpuMs: number;
} & (
  | { readonly kind: "returned"; readonly value: string }
  /** Its requests, as JSON, from the first that has no answer yet. */
  | { readonly kind: "waits"; readonly asks: readonly string[] }
  /** `message` and `stack` are the guest's own words, cut. */
  | { readonly kind: "failed"; readonly reason: Failure; readonly message: string; readonly stack: string }
);
