import type { ContactId, OutboxId, ThreadId } from "../../protocol/index.ts";
import type { OutboxMessage } from "../../stores/index.ts";
import type { InboxMessage } from "../agent-doors.ts";
import { type Desk, note } from "./desk.ts";

/** As many threads are looked through for what waits, the last active first. */
const MOST_THREADS = 10_000;

/** What waits for the agent, the oldest first. What stands on a thread that a turn holds is staged. */
export async function inbox(desk: Desk, limit: number): Promise<readonly InboxMessage[]> {
  const all = await waiting(desk);
  await note(desk, "read inbox", `${Math.min(all.length, limit)} messages`);
  return all.slice(0, limit);
}

/** The same, for those who count. */
export async function waiting({ parts, owner }: Desk): Promise<readonly InboxMessage[]> {
  const { store } = parts;
  const threads = await store.threads({ ...owner, contact: null }, MOST_THREADS);
  const held = await heldThreads(parts, owner.org);
  const found = threads.map(async ({ id, scope }) =>
    (await store.pending(scope, id)).map(
      (event): InboxMessage => ({ contact: scope.contact, event, status: held.has(id) ? "staged" : "waiting" }),
    ),
  );
  // Ids are issued in the order of arrival; what a sender says of the time is theirs.
  return (await Promise.all(found)).flat().sort((a, b) => (a.event.id < b.event.id ? -1 : 1));
}

async function heldThreads({ store, alive, wall }: Desk["parts"], org: Desk["owner"]["org"]) {
  const held = (await store.leases(org)).filter(({ holder, until }) => alive(holder) && until > wall());
  return new Set(held.map(({ thread }) => thread));
}

type Outgoing = OutboxMessage & { readonly contact: ContactId };

/** What the agent said, the newest first. */
export async function outbox(
  desk: Desk,
  { status, limit }: { readonly status?: OutboxMessage["status"]; readonly limit: number },
): Promise<readonly Outgoing[]> {
  const wanted = (await said(desk)).filter((message) => status === undefined || message.status === status);
  const newest = wanted.toReversed().slice(0, limit);
  const contacts = await contactsOf(desk, new Set(newest.map(({ thread }) => thread)));
  await note(desk, "read outbox", `${newest.length} messages`);
  return newest.flatMap((message) => {
    const contact = contacts.get(message.thread);
    return contact === undefined ? [] : [{ ...message, contact }];
  });
}

/** All that the agent said, the oldest first. */
export const said = ({ parts, owner }: Desk): Promise<readonly OutboxMessage[]> =>
  parts.store.outbox({ ...owner, contact: null }, Number.MAX_SAFE_INTEGER);

async function contactsOf({ parts, owner }: Desk, threads: ReadonlySet<ThreadId>) {
  const found = [...threads].map(async (id) => {
    const thread = await parts.store.thread({ ...owner, contact: null }, id);
    return thread === undefined ? [] : [[id, thread.scope.contact] as const];
  });
  return new Map((await Promise.all(found)).flat());
}

/** Says that a message was delivered by other means. */
export async function delivered(desk: Desk, id: OutboxId): Promise<boolean> {
  const { parts, owner } = desk;
  const isDone = await parts.store.deliver({ ...owner, contact: null }, id, parts.clock());
  if (isDone) await note(desk, "delivered", id);
  return isDone;
}
