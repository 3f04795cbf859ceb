import type { Compilation } from "../../compiler/index.ts";
import {
  type ContactId,
  issueId,
  outboxId,
  type Spoken,
  type StopReason,
  type StoredEvent,
  type ThreadId,
  type TurnEvent,
  untrusted,
} from "../../protocol/index.ts";
import type { Claim, StagedReply } from "../../stores/index.ts";
import type { Cast } from "../cast.ts";
import { compileFor, type Occasion, type Prepared } from "../gather.ts";
import type { Lease } from "../lease.ts";
import type { Parts } from "../parts.ts";
import { unremembered } from "../unremembered.ts";

/** What of a running turn says whom it answers. */
interface Answering {
  readonly parts: Pick<Parts, "wall" | "random" | "tools">;
  readonly lease: Pick<Lease, "claim">;
  readonly taken: number;
  readonly replies: ReadonlyMap<ContactId, Spoken>;
  readonly sent: Compilation | undefined;
}

/** The events as the model sees them: where they are of several senders, each is named as its channel does, whatever it says. */
export function occasionOf({ events, staged }: Claim): Pick<Occasion, "events" | "senders"> {
  if (staged === undefined) return { events };
  const senders = new Map<ThreadId, ContactId>(staged.map(({ thread }) => [thread.id, thread.scope.contact]));
  const named = (event: StoredEvent): StoredEvent => {
    const sender = senders.get(event.thread);
    return sender === undefined ? event : { ...event, name: untrusted(sender) };
  };
  return { events: events.map(named), senders };
}

/** The claims of the senders of whom the turn handles something, each with what it handles. */
export function stagedOf({ staged = [] }: Claim, taken: readonly StoredEvent[]): readonly Claim[] {
  const ids = new Set(taken.map(({ id }) => id));
  return staged.map((one) => ({ ...one, events: one.events.filter(({ id }) => ids.has(id)) }));
}

/** In a turn of several senders: the claims of those of whom it handles something. None in all other turns. */
export const handledOf = ({ lease: { claim }, taken }: Pick<Answering, "lease" | "taken">): readonly Claim[] =>
  stagedOf(claim, claim.events.slice(0, taken)).filter(isHandled);

/** Who of several senders has no reply yet; nothing in all other turns. */
export function unansweredOf(work: Answering): readonly ContactId[] | undefined {
  const handled = handledOf(work);
  if (handled.length < 2) return undefined;
  return handled.map(({ thread }) => thread.scope.contact).filter((contact) => !work.replies.has(contact));
}

/** What the turn tells where it left any of several senders without a reply. */
export function leftUnanswered(work: Answering, stop: StopReason): Extract<TurnEvent, { type: "unanswered" }>[] {
  const senders = unansweredOf(work)?.length ?? 0;
  const of = handledOf(work).length;
  return senders === 0 ? [] : [{ type: "unanswered", senders, of, waits: stop === "credits" }];
}

const isHandled = ({ events }: Claim): boolean => events.length > 0;

/** What the turn came to for each sender whose messages it has handled: of one that is alone in it, the final text is the reply. */
export function repliesOf(
  { parts, replies, sent }: Answering,
  { staged = [] }: Claim,
  said: { readonly stop: StopReason; readonly reply: Spoken | null },
): readonly StagedReply[] {
  const handled = staged.filter(isHandled);
  return handled.flatMap(({ thread, events }) => {
    const reply = handled.length === 1 ? said.reply : (replies.get(thread.scope.contact) ?? null);
    // Whom the credits left without a reply keeps waiting.
    if (reply === null && said.stop === "credits") return [];
    const outbox = outboxId(issueId("outbox", parts.wall(), parts.random(10)));
    return {
      thread: thread.id,
      reply,
      outbox,
      unremembered: unremembered(events, { id: outbox, text: reply }, { parts, sent }),
    };
  });
}

/**
 * The turn's first request. Where not all messages of several senders have room, it is made anew for those that have: nothing of the
 * others is in it then.
 */
export async function compileStaged(parts: Parts, cast: Cast, occasion: Occasion): Promise<Prepared> {
  const prepared = await compileFor(parts, cast, occasion);
  if (occasion.senders === undefined || prepared.taken === occasion.events.length) return prepared;
  return compileStaged(parts, cast, { ...occasion, events: occasion.events.slice(0, prepared.taken) });
}
