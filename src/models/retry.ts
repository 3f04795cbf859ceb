import { setTimeout as pause } from "node:timers/promises";
import { APICallError } from "@ai-sdk/provider";
import type { Clock } from "../protocol/index.ts";
import { isOutOfCredit, rootOf, statusOf } from "./failure.ts";

/** How to retry a call that failed before its first word. Time and randomness come from here. */
export interface Retry {
  /** The most retries. */
  readonly times: number;
  /** Waits that long; rejects at once when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** For a `Retry-After` that names a date. */
  readonly clock: Pick<Clock, "real">;
}

/** Four retries after about 0.5, 1, 2 and 4 seconds, or after the pause that the provider asks for. */
export const RETRY: Retry = {
  times: 4,
  sleep: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  random: Math.random,
  clock: { real: Date.now },
};

const FIRST = 500;
const LONGEST = 30_000;

/** For a longer pause there is no retry: the turn ends and reports until when. */
export const LONGEST_ASKED = 60_000;

/** Milliseconds to wait before the next try, and how many of them the provider asked for. */
export interface Pause {
  readonly milliseconds: number;
  readonly asked: number;
}

/** The pause before the next try after `tries` tries; undefined if retrying does not help. */
export function pauseAfter(thrown: unknown, tries: number, { random, clock }: Retry): Pause | undefined {
  if (!passes(thrown)) return undefined;
  const whole = Math.min(FIRST * 2 ** (tries - 1), LONGEST);
  const own = Math.round(whole * (0.5 + random() / 2));
  const asked = askedPause(thrown, clock.real());
  return { milliseconds: Math.max(own, asked), asked };
}

/** True for temporary failures: the provider is busy, briefly broken, or not reachable. */
function passes(failed: unknown): boolean {
  const thrown = rootOf(failed);
  if (isOutOfCredit(thrown)) return false;
  const status = statusOf(thrown);
  if (status !== undefined) return [408, 424, 429].includes(status) || status >= 500;
  return isNetworkFailure(thrown);
}

/** Node's fetch says `fetch failed` or `terminated` and gives the cause; the packages wrap some of it. */
function isNetworkFailure(thrown: unknown): boolean {
  if (APICallError.isInstance(thrown)) return thrown.isRetryable;
  return thrown instanceof TypeError && thrown.cause !== undefined;
}

/** What `Retry-After` and `retry-after-ms` ask for, the longer of them; 0 for nothing or nonsense. */
function askedPause(thrown: unknown, now: number): number {
  const headers = APICallError.isInstance(thrown) ? (thrown.responseHeaders ?? {}) : {};
  const named = (name: string) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? "";
  const after = named("retry-after").trim();
  const asked = /^\d+(?:\.\d+)?$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - now;
  const inMilliseconds = Number(named("retry-after-ms"));
  return Math.max(0, Math.ceil(finite(asked)), Math.ceil(finite(inMilliseconds)));
}

const finite = (value: number): number => (Number.isFinite(value) ? value : 0);
