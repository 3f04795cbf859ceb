import {
  type Agent,
  type AgentName,
  type Allowed,
  asStrataError,
  BATCH_SENDERS,
  batchContact,
  type ContactId,
  eventId,
  issuedAt,
  issueId,
  type StoredEvent,
  type ThreadId,
  type TurnEvent,
  threadId,
} from "../../protocol/index.ts";
import type { BatchOpening, Failures, Paging, Position, Thread } from "../../store/index.ts";
import {
  type AgentAccess,
  accessTo,
  agentNamed,
  closedChannels,
  featureApi,
  keepVersion,
  pauseAfter,
  REPLAY,
  type Run,
  type RunOptions,
  recordAct,
  type TurnParts,
} from "../../turn/index.ts";
import { shownSender } from "./tools.ts";

/** Options of a turn over an agent's waiting messages. */
export interface InboxOptions extends RunOptions {
  /**
   * For callers that poll: only messages that have waited this many milliseconds, so that a door which has just received a message can
   * answer it itself; and nothing for now from a conversation whose turns fail. By default, all waiting messages.
   */
  readonly waited?: number;
}

/** A message that waits for an agent, and from whom. */
export interface InboxMessage {
  readonly contact: ContactId;
  readonly event: StoredEvent;
  /** `running`: a turn is handling it now. */
  readonly status: "waiting" | "running";
}

/** A thread on which something waits that could be answered now. */
export interface WaitingThread {
  readonly thread: ThreadId;
  readonly contact: ContactId;
  /** When the message came that waits longest, in real time. */
  readonly since: number;
  /** True if only the queue answers it; otherwise the program that posted it may be about to. */
  readonly isHanded: boolean;
}

/** An agent's waiting messages, and turns over them. @throws StrataError `not_allowed`, `agent_not_found` */
export interface InboxApi {
  /**
   * One turn over the message that has waited longest; the events of `run`, none if nothing waits. Of one sender, or with `inbox: batch` of
   * up to five: then each gets what the agent sends them with `reply_to_sender`, and the final text is not sent. Replies wait in the outbox
   * even if the caller reads `done`. An interrupted turn is taken up first. @throws StrataError `out_of_credits`
   */
  runInbox(actor: Allowed<"operate">, agent: AgentName, options?: InboxOptions): AsyncGenerator<TurnEvent>;
  /**
   * The threads with waiting messages that a turn could answer now: they are not held, the agent can pay, its last turns there have not
   * just failed, and no person has stopped the last one. The longest waiting comes first.
   */
  waiting(actor: Allowed<"operate">, agent: AgentName): Promise<readonly WaitingThread[]>;
  /** The agent's waiting messages, oldest first. */
  inbox(actor: Allowed<"read">, agent: AgentName, limit: number, after?: Position): Promise<readonly InboxMessage[]>;
}

/** The functions of inbox, as `runtime.use` gives them. */
export const INBOX_API = featureApi<InboxApi>("inbox");

/** The channel of turns of several senders. */
const CHANNEL = "inbox";

/** Another worker may take what was just found: how often the rest is searched. */
const TRIES = 5;

/** Channels without mail: a recording's leftovers are handled by its next replay. */
const notMail = (parts: TurnParts): readonly string[] => [...closedChannels(parts), REPLAY];

/** Repeated failures are retried less and less often. */
const restedAt =
  (at: number) =>
  ({ count, at: last }: Failures): boolean =>
    count === 0 || Math.abs(at - last) >= pauseAfter(count);

/** Waiting messages and turns over them, for operators. */
export function inboxApi(parts: () => TurnParts, run: Run): InboxApi {
  return {
    waiting: async (actor, name) => threadsWaiting(parts(), accessTo(parts(), actor, name).agent),
    inbox: async (actor, name, limit, after) => inbox(accessTo(parts(), actor, name), { limit, after }),
    async *runInbox(actor, name, options = {}) {
      const { agent } = accessTo(parts(), actor, agentNamed(parts(), actor, name).name);
      yield* runInbox(parts(), agent, { run, options });
    },
  };
}

/** The agent's waiting messages, oldest first. */
async function inbox(access: AgentAccess, page: Paging): Promise<readonly InboxMessage[]> {
  const { parts, owner } = access;
  const found = await parts.store.inbox(owner, { now: parts.clock.real(), ...page });
  await recordAct(access, "read inbox", `messages: ${found.length}`);
  return found.map(({ contact, event, isRunning }) => ({ contact, event, status: isRunning ? "running" : "waiting" }));
}

async function threadsWaiting(parts: TurnParts, agent: Agent): Promise<readonly WaitingThread[]> {
  const { store, steps, waiting, clock, alive } = parts;
  const resting = new Set((await steps.blockedThreads(parts, agent)).keys());
  const wish = { except: notMail(parts), rested: restedAt(clock.recorded()), resting, now: clock.real(), alive };
  const all = await store.waitingThreads({ org: agent.org, agent: agent.name }, wish);
  const found = all.filter(({ thread }) => !waiting.isStopped(thread));
  if (found.length === 0) return [];
  if ((await steps.refusal(parts, { agent, waits: async () => true })) !== undefined) return [];
  return found.map(({ thread, contact, first }) => ({
    thread,
    contact,
    since: issuedAt(first),
    isHanded: waiting.isHandedOver(thread),
  }));
}

/**
 * One turn over the message that has waited longest: of one sender, or of several if the agent's inbox is set so. Nothing if nothing waits.
 * The caller cannot know whose turn it will be, so it does not count as a listener: the replies stay in the outbox.
 */
async function* runInbox(
  parts: TurnParts,
  agent: Agent,
  { run, options }: { readonly run: Run; readonly options: InboxOptions },
): AsyncGenerator<TurnEvent> {
  // Before any search or write. If nothing waits, there is nothing to refuse.
  const waiting = { org: agent.org, agent: agent.name };
  const waits = async () => (await parts.store.inbox(waiting, { now: parts.clock.real(), limit: 1 })).length > 0;
  await parts.steps.checkStart(parts, { agent, waits });
  for (let tries = 1; ; tries++) {
    const thread = await nextThread(parts, agent, options.waited);
    if (thread === undefined) return;
    let began = false;
    try {
      for await (const event of run(thread, { ...options, replyTo: "outbox" })) {
        began = true;
        yield event;
      }
      return;
    } catch (thrown) {
      if (began || tries >= TRIES || asStrataError(thrown).code !== "thread_busy") throw thrown;
    }
  }
}

async function nextThread(parts: TurnParts, agent: Agent, waited: InboxOptions["waited"]): Promise<Thread | undefined> {
  const { org, name, version, inbox } = agent;
  const [at, now] = [parts.clock.recorded(), parts.clock.real()];
  await keepVersion(parts, agent);
  const id = threadId(issueId("thread", now, parts.random(10)));
  const most = inbox === "batch" ? BATCH_SENDERS : 1;
  const opening = {
    id,
    contact: batchContact(id),
    channel: CHANNEL,
    version,
    most,
    nameOf: shownSender,
    except: notMail(parts),
    resting: new Set((await parts.steps.blockedThreads(parts, agent)).keys()),
    ...(waited !== undefined && patience(at, now - waited)),
  };
  return parts.store.openBatch({ org, agent: name }, { ...opening, at, now, alive: parts.alive });
}

/** Later messages are left to their first receiver, and repeated failures are retried less and less often. */
function patience(at: number, latest: number): Pick<BatchOpening, "receivedBefore" | "rested"> {
  const receivedBefore = eventId(issueId("event", latest + 1, new Uint8Array(10)));
  return { receivedBefore, rested: restedAt(at) };
}
