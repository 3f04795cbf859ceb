import type { Compilation } from "../../compiler/index.ts";
import {
  type ContactId,
  isBatch,
  isReserved,
  issueId,
  outboxId,
  REPLY_TOOL,
  type Spoken,
  type StepRecord,
  type StopReason,
  type StoredEvent,
  type ThreadId,
  type TurnEvent,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { BatchReply, Claim } from "../../store/index.ts";
import type { Lease } from "../intake/lease.ts";
import { compileFor, type Occasion, type Prepared } from "../loop/gather.ts";
import { limitsOf } from "../loop/run-tool.ts";
import type { Funds, TurnParts, TurnSetup } from "../loop/steps.ts";
import { unremembered } from "../loop/unremembered.ts";
import type { Parts } from "../parts.ts";
import type { ReplyTo } from "../runtime.ts";

/** The part of a running turn that says whom it answers. */
interface Answering {
  readonly parts: Pick<TurnParts, "clock" | "random" | "tools" | "steps">;
  readonly lease: Pick<Lease, "claim">;
  readonly taken: number;
  readonly replies: ReadonlyMap<ContactId, Spoken>;
  readonly sent: Compilation | undefined;
}

/** The events as the model sees them: in a turn of several senders, each event has its contact as name, whatever it claims. */
export function occasionOf({ events, batchMembers }: Claim): Pick<Occasion, "events" | "senders"> {
  if (batchMembers === undefined) return { events };
  const senders = new Map<ThreadId, ContactId>(batchMembers.map(({ thread }) => [thread.id, thread.scope.contact]));
  const named = (event: StoredEvent): StoredEvent => {
    const sender = senders.get(event.thread);
    return sender === undefined ? event : { ...event, name: untrusted(sender) };
  };
  return { events: events.map(named), senders };
}

/** The claims of the senders of whom the turn handles something, each with what it handles. */
export function batchMembersOf({ batchMembers = [] }: Claim, taken: readonly StoredEvent[]): readonly Claim[] {
  const ids = new Set(taken.map(({ id }) => id));
  return batchMembers.map((one) => ({ ...one, events: one.events.filter(({ id }) => ids.has(id)) }));
}

/** In a turn of several senders: the claims of those of whom it handles something. None in all other turns. */
export const handledOf = ({ lease: { claim }, taken }: Pick<Answering, "lease" | "taken">): readonly Claim[] =>
  batchMembersOf(claim, claim.events.slice(0, taken)).filter(isHandled);

/** Who of several senders has no reply yet; nothing in all other turns. */
export function unansweredOf(state: Answering): readonly ContactId[] | undefined {
  const handled = handledOf(state);
  if (handled.length < 2) return undefined;
  return handled.map(({ thread }) => thread.scope.contact).filter((contact) => !state.replies.has(contact));
}

/** The turn's only sender; undefined in a self-started turn. */
export function onlySenderOf(state: Answering): ContactId | undefined {
  if (unansweredOf(state) !== undefined) return undefined;
  const { contact } = (handledOf(state)[0] ?? state.lease.claim).thread.scope;
  return isReserved(contact) ? undefined : contact;
}

/** The reply that the only sender was given by a call: then the final text is not the reply. */
export const soleReply = (state: Answering): Spoken | undefined => {
  const only = onlySenderOf(state);
  return only === undefined ? undefined : state.replies.get(only);
};

/** Why the text for the only sender was not sent, if a step withheld it. */
export const withheldOf = ({ outgoing }: Pick<StepRecord, "outgoing">): string | undefined =>
  outgoing?.find(({ did }) => did === "withheld")?.because;

/** The event that says that the turn left its sender, or any of several, without a reply. */
export function leftUnanswered(
  state: Answering & Pick<StepRecord, "outgoing"> & { readonly replyTo: ReplyTo },
  { stop, reply }: { readonly stop: StopReason; readonly reply: Spoken | null },
): Extract<TurnEvent, { type: "unanswered" }> | undefined {
  const { turn, thread } = state.lease.claim;
  // Self-started turns answer no one, and replayed messages were answered in their time.
  const isForOne = state.replyTo !== "nobody" && (!isReserved(thread.scope.contact) || isBatch(thread.scope));
  const several = unansweredOf(state);
  const senders = several?.length ?? (isForOne && reply === null && withheldOf(state) === undefined ? 1 : 0);
  if (senders === 0) return undefined;
  const [of, waits] =
    several === undefined ? [1, false] : [handledOf(state).length, fundsEnded(state, stop) !== undefined];
  return { type: "unanswered", turn, senders, of, waits, because: stop };
}

/** The funds whose end has ended the turn, if any have. */
export const fundsEnded = ({ parts }: Pick<Answering, "parts">, stop: StopReason): Funds | undefined =>
  parts.steps.funds.find((one) => one.stop.reason === stop);

const isHandled = ({ events }: Claim): boolean => events.length > 0;

/** The reply for each sender whose messages the turn has handled; for a single sender it is the final text. */
export function repliesOf(
  state: Answering,
  { batchMembers = [] }: Claim,
  said: { readonly stop: StopReason; readonly reply: Spoken | null },
): readonly BatchReply[] {
  const { parts, replies, sent } = state;
  const handled = batchMembers.filter(isHandled);
  return handled.flatMap(({ thread, events }) => {
    const reply = handled.length === 1 ? said.reply : (replies.get(thread.scope.contact) ?? null);
    // The messages of a sender who got no reply because the money ran out keep waiting.
    if (reply === null && fundsEnded(state, said.stop) !== undefined) return [];
    const replyId = outboxId(issueId("outbox", parts.clock.real(), parts.random(10)));
    return {
      thread: thread.id,
      reply,
      replyId,
      unremembered: unremembered(events, { id: replyId, text: reply }, { parts, sent }),
    };
  });
}

/**
 * The turn's first request. If not all messages of several senders have room or can be answered, it holds only those that do: the
 * others keep waiting.
 */
export async function compileBatch(parts: TurnParts, setup: TurnSetup, occasion: Occasion): Promise<Prepared> {
  const events = occasion.senders === undefined ? occasion.events : answerable(parts, setup, occasion.events);
  const prepared = await compileFor(parts, setup, { ...occasion, events });
  if (occasion.senders === undefined || prepared.taken === events.length) return prepared;
  return compileBatch(parts, setup, { ...occasion, events: events.slice(0, prepared.taken) });
}

/** Messages of several senders, from the first on, for which the turn's calls suffice: one for each message, and each sender's reply. */
function answerable(
  { tools }: Pick<Parts, "tools">,
  { agent, limits }: TurnSetup,
  events: readonly StoredEvent[],
): readonly StoredEvent[] {
  const tool = tools.get(toolName(REPLY_TOOL));
  const replies = tool === undefined ? limits.toolCalls : limitsOf(agent, tool).calls;
  const senders = new Set<ThreadId>();
  const tooMany = events.findIndex(({ thread }, i) => {
    senders.add(thread);
    // The final text is the reply to a sender that is alone.
    return senders.size > 1 && (senders.size > replies || i + 1 + senders.size > limits.toolCalls);
  });
  return tooMany < 0 ? events : events.slice(0, tooMany);
}
