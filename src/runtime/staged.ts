import type { Compilation } from "../compiler/index.ts";
import {
  type ContactId,
  issueId,
  outboxId,
  type Spoken,
  type StoredEvent,
  type ThreadId,
  untrusted,
} from "../protocol/index.ts";
import type { Claim, StagedReply } from "../stores/index.ts";
import type { Occasion } from "./gather.ts";
import type { Lease } from "./lease.ts";
import type { Parts } from "./parts.ts";
import { unremembered } from "./unremembered.ts";

/** What of a running turn says whom it answers. */
interface Answering {
  readonly parts: Pick<Parts, "wall" | "random">;
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

/** Who of several senders has no reply yet; nothing in all other turns. */
export function unansweredOf({ lease: { claim }, taken, replies }: Answering): readonly ContactId[] | undefined {
  if (claim.staged === undefined) return undefined;
  const all = stagedOf(claim, claim.events.slice(0, taken)).filter(({ events }) => events.length > 0);
  return all.map(({ thread }) => thread.scope.contact).filter((contact) => !replies.has(contact));
}

/** What the turn came to for each sender whose messages it has handled. */
export function repliesOf({ parts, replies, sent }: Answering, claim: Claim): readonly StagedReply[] {
  return (claim.staged ?? [])
    .filter(({ events }) => events.length > 0)
    .map(({ thread, events }) => {
      const reply = replies.get(thread.scope.contact) ?? null;
      const outbox = outboxId(issueId("outbox", parts.wall(), parts.random(10)));
      return {
        thread: thread.id,
        reply,
        outbox,
        unremembered: unremembered(events, { id: outbox, text: reply }, sent),
      };
    });
}
