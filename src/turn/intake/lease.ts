import { asStrataError, type Digest, issueId, type OrgId, StrataError, turnId } from "../../protocol/index.ts";
import type { Claim, HeldThread, Thread } from "../../store/index.ts";
import type { Parts } from "../parts.ts";
import type { Arrival } from "./arrival.ts";

/** How long a lease holds without a renewal, how often it is renewed, and how often a request to stop is looked for. Milliseconds. */
const HOLD = 30_000;
const BEAT = 10_000;
const LOOK = 1_000;

/** A thread held for one turn. `signal` ends the turn: its reason is the StrataError to fail with. */
export interface Lease {
  readonly claim: Claim;
  readonly signal: AbortSignal;
  /** Stops the heartbeat and the timers. */
  readonly stop: () => void;
}

/** No lease: the thread was moved to another version of its agent in the meantime. */
interface Moved {
  readonly movedTo: Thread;
}

/**
 * Claims the thread and its waiting events; undefined if nothing waits.
 * @throws StrataError `thread_busy`
 */
export async function hold(
  parts: Parts,
  thread: Thread,
  ends: {
    readonly signal: AbortSignal | undefined;
    readonly seconds: number;
    readonly seen?: Digest;
    /** As many turns had ended when the turn was set up; with another number, the thread has moved. */
    readonly turns?: number;
    readonly most?: number | undefined;
    readonly arriving?: Arrival | undefined;
  },
): Promise<Lease | Moved | undefined> {
  const now = parts.clock.real();
  const request = {
    turn: turnId(issueId("turn", now, parts.random(10))),
    // Two turns of one worker are two holders: neither may take the other's thread.
    holder: `${parts.holder}/${Buffer.from(parts.random(6)).toString("hex")}`,
    now,
    until: now + HOLD,
    at: parts.clock.recorded(),
    version: thread.version,
    ...(ends.turns !== undefined && { turns: ends.turns }),
    ...(ends.seen !== undefined && { seen: ends.seen }),
    ...(ends.most !== undefined && { most: ends.most }),
    alive: parts.alive,
  };
  const claimed =
    (await ends.arriving?.claimed(request)) ?? (await parts.store.claim(thread.scope, thread.id, request));
  if (claimed.state === "idle") return undefined;
  if (claimed.state === "moved") return { movedTo: claimed.thread };
  if (claimed.state === "busy") throw busy(thread, Math.ceil((claimed.until - now) / 1000));
  // Waiting costs no time: only that of the run's earlier turns counts.
  const before = claimed.claim.continues && claimed.claim.continues.used.milliseconds / 1_000;
  return keepLease(parts, claimed.claim, {
    ...ends,
    seconds: before === undefined ? ends.seconds : Math.max(1, ends.seconds - before),
  });
}

function busy(thread: Thread, seconds: number): StrataError {
  return new StrataError(
    "thread_busy",
    `another worker is running a turn on ${thread.id}; try again when it has ended (at the latest ${seconds} seconds after its program stopped), or cancel it with \`strata thread cancel ${thread.id}\` or \`POST /v1/threads/${thread.id}/cancel\``,
    { thread: thread.id, seconds },
  );
}

function keepLease(
  parts: Parts,
  claim: Claim,
  ends: { readonly signal: AbortSignal | undefined; readonly seconds: number },
): Lease {
  const end = new AbortController();
  const cancel = (): void =>
    end.abort(new StrataError("turn_cancelled", "the turn was cancelled; its messages keep waiting"));
  const look = setInterval(() => void hear(parts, claim, cancel), LOOK);
  const beat = setInterval(() => void renew(parts, claim, end), BEAT);
  const clock = Number.isFinite(ends.seconds)
    ? setTimeout(() => end.abort(timeout(ends.seconds)), ends.seconds * 1000)
    : undefined;
  if (ends.signal?.aborted) cancel();
  ends.signal?.addEventListener("abort", cancel, { once: true });
  const stop = (): void => {
    clearInterval(beat);
    clearInterval(look);
    clearTimeout(clock);
    ends.signal?.removeEventListener("abort", cancel);
  };
  return { claim, signal: end.signal, stop };
}

/** The threads that living workers hold just now, in this program or in another. */
export async function heldNow(
  { store, clock, alive }: Pick<Parts, "store" | "clock" | "alive">,
  org: OrgId,
): Promise<readonly HeldThread[]> {
  const now = clock.real();
  return (await store.leases(org)).filter(({ holder, until }) => until > now && alive(holder));
}

/** Another program may have asked the turn to stop. */
async function hear({ store }: Parts, claim: Claim, cancel: () => void): Promise<void> {
  if (await store.stopAsked(claim).catch(() => false)) cancel();
}

async function renew(parts: Parts, claim: Claim, end: AbortController): Promise<void> {
  // A renewal that throws is tried again at the next beat; one that answers false is final.
  const held = await parts.store.renew(claim, parts.clock.real() + HOLD).catch(() => true);
  if (held) return;
  end.abort(
    new StrataError("lease_lost", `another worker took ${claim.thread.id} over; its turn continues there`, {
      thread: claim.thread.id,
    }),
  );
}

const timeout = (seconds: number): StrataError =>
  new StrataError(
    "turn_timeout",
    `the turn took longer than its ${seconds} s; raise budgets.turn.seconds or try again`,
    { seconds },
  );

/** How often a write is tried while another program holds the database. Each try waits for the lock by itself. */
const TRIES = 3;

/** Writes down what must not be lost because the database is busy for a moment. */
export async function retryWhileBusy<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (thrown) {
      if (tries >= TRIES || asStrataError(thrown).code !== "store_busy") throw thrown;
    }
  }
}

/** Milliseconds before what has failed is tried again, by the tries so far: half a minute, then twice as long each time, up to an hour. */
export const pauseAfter = (tries: number): number => Math.min(15_000 * 2 ** tries, 3_600_000);
