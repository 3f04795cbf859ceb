import {
  type AgentName,
  type Allowed,
  contactId,
  type Ledger,
  type Model,
  StrataError,
  type ThreadId,
  type TurnEvent,
  type TurnId,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import type { Runtime } from "../runtime.ts";
import { type Exchange, REPLAY, type RecordedReply } from "./recording.ts";

/** The inputs of a replay besides the runtime. */
export interface ReplayPlan {
  readonly actor: Allowed<"post">;
  readonly agent: AgentName;
  /** Names the recording's conversations apart from those of other files. */
  readonly digest: string;
  readonly exchanges: readonly Exchange[];
  /** Makes the model that speaks for one exchange; if omitted, the agent's own model answers. */
  readonly speaker?: (replies: readonly RecordedReply[]) => Model;
  /** Sets the threads' clock, in milliseconds since 1970. */
  readonly setClock: (at: number) => void;
  /** Waits this many milliseconds: for a thread that another program holds. */
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** A replay yields one turn per exchange, in the recording's order. */
export interface ReplayedTurn {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  /** False when an earlier run of the same file had done it already. */
  readonly fresh: boolean;
  /** The ledgers of its requests, for a fresh one. */
  readonly ledgers: readonly Ledger[];
  readonly end: Extract<TurnEvent, { type: "done" | "failed" }> | undefined;
}

const UNLIMITED = {
  modelCalls: Number.POSITIVE_INFINITY,
  toolCalls: Number.POSITIVE_INFINITY,
  seconds: Number.POSITIVE_INFINITY,
};
/** A thread that another program holds is asked for again this often, this many times. */
const PATIENCE = { every: 500, times: 120 };

/**
 * Replays a recorded conversation through the whole runtime, one turn per exchange. It skips what an earlier run has done, so that an
 * interrupted replay continues at the same place. A thread whose turn failed is not continued.
 */
export async function* replay(runtime: Runtime, plan: ReplayPlan): AsyncGenerator<ReplayedTurn> {
  const failed = new Set<string>();
  for (const exchange of plan.exchanges) {
    if (failed.has(exchange.thread)) continue;
    plan.signal?.throwIfAborted();
    plan.setClock(exchange.at);
    const thread = await runtime.open(plan.actor, conversationOf(plan, exchange));
    const turn = await runExchange(runtime, plan, exchange, thread);
    if (turn.end?.type === "failed") failed.add(exchange.thread);
    yield turn;
  }
}

/** A thread of the recording without a contact becomes one by itself: two such threads never share a memory. */
const conversationOf = ({ agent, digest }: ReplayPlan, { thread, contact }: Exchange) => ({
  agent,
  contact: contactId(contact),
  channel: REPLAY,
  key: `${digest}:${thread}`,
  recorded: true as const,
});

async function runExchange(
  runtime: Runtime,
  plan: ReplayPlan,
  exchange: Exchange,
  thread: Thread,
): Promise<ReplayedTurn> {
  for (let tries = 0; ; tries++) {
    const stored = await runtime.post(plan.actor, thread, exchange.events);
    const turn = stored.at(-1)?.turn;
    if (turn !== undefined) return { thread: thread.id, turn, fresh: false, ledgers: [], end: undefined };
    try {
      // Of a run of messages too long for one turn, the first part got the recorded replies.
      const replies = stored.some((event) => event.turn !== undefined) ? [] : exchange.replies;
      const ran = await runOnce(runtime, plan, { ...exchange, replies }, thread);
      if (ran !== undefined) return ran;
    } catch (thrown) {
      if (!(thrown instanceof StrataError && thrown.code === "thread_busy") || tries >= PATIENCE.times) throw thrown;
    }
    await plan.wait(PATIENCE.every);
  }
}

/** Nothing when another program has taken the events in the meantime. */
async function runOnce(
  runtime: Runtime,
  plan: ReplayPlan,
  exchange: Exchange,
  thread: Thread,
): Promise<ReplayedTurn | undefined> {
  const { replies, results } = exchange;
  const { speaker, signal } = plan;
  const options = {
    replyTo: "nobody" as const,
    ...(speaker && { model: speaker(replies), recorded: results, limits: UNLIMITED }),
    ...(signal && { signal }),
  };
  const ledgers: Ledger[] = [];
  let asked: RecordedReply | undefined;
  let ran: ReplayedTurn | undefined;
  for await (const event of runtime.run(plan.actor, thread, options)) {
    if (event.type === "compiled") {
      ledgers.push(event.ledger);
      asked = replies[event.round - 1];
      if (asked !== undefined) plan.setClock(asked.at);
    }
    if (event.type === "text-delta" && asked !== undefined) plan.setClock(asked.saidAt);
    if (event.type === "done" || event.type === "failed")
      ran = { thread: thread.id, turn: event.turn, fresh: true, ledgers, end: event };
  }
  return ran;
}
