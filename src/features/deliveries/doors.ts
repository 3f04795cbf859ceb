import { type Actor, authorize, type OutboxId, type TurnId } from "../../protocol/index.ts";
import type { OutboxMessage } from "../../store/index.ts";
import type { Parts, Runtime } from "../../turn/index.ts";
import { agentNamed, type Desk, deskOf, note, type OutgoingMessage, threadOf, turnOf } from "../../turn/index.ts";
import { deliverDue } from "./deliver.ts";

/** As many of a thread's messages that wait are read at once. */
const PAGE = 100;

/** What becomes of replies once they are committed. */
export function deliveryDoors(
  parts: Parts,
): Pick<Runtime, "undelivered" | "heard" | "deliveriesDue" | "deliverDue" | "outbox" | "delivered"> {
  const { store } = parts;
  return {
    async *undelivered(actor, { id: thread }) {
      const { scope } = await threadOf(parts, actor, thread, "run");
      const { org, agent, contact } = scope;
      const wish = { contact, thread, status: "waiting", oldest: true, limit: PAGE } as const;
      for (let more = true; more; ) {
        const messages = await store.mail({ org, agent }, wish);
        for (const message of messages) {
          // Claimed before it is shown: another program that looks just now would say it a second time.
          if (await store.deliver(scope, message.id, parts.clock())) yield message;
        }
        more = messages.length === PAGE;
      }
    },
    outbox: async (actor, name, wish) => outbox(deskOf(parts, actor, name), wish),
    delivered: async (actor, name, id) => delivered(deskOf(parts, actor, name), id),
    heard: (actor, turn) => heard(parts, actor, turn),
    deliveriesDue: async (actor, name, limit) => {
      const { org, deliver } = agentNamed(parts, actor, name);
      authorize(actor, "operate", { org, agent: name, contact: null });
      if (parts.sendDelivery === undefined || deliver === undefined) return { due: 0 };
      return store.deliveriesDue({ org, agent: name }, { now: parts.wall(), limit });
    },
    async *deliverDue(actor, name, signal) {
      const agent = agentNamed(parts, actor, name);
      authorize(actor, "operate", { org: agent.org, agent: agent.name, contact: null });
      const send = parts.sendDelivery;
      if (send !== undefined) yield* deliverDue(parts, agent, { send, signal });
    },
  };
}

async function heard(parts: Parts, actor: Actor, turn: TurnId): Promise<void> {
  const { scope } = await turnOf(parts, actor, turn);
  authorize(actor, "run", scope);
  const { org, agent, contact } = scope;
  const waiting = await parts.store.mail({ org, agent }, { contact, turn, status: "waiting", limit: 1 });
  for (const { id } of waiting) await parts.store.deliver(scope, id, parts.clock());
}

/** What the agent said, the newest first. */
async function outbox(
  desk: Desk,
  wish: { readonly status?: OutboxMessage["status"]; readonly limit: number },
): Promise<readonly OutgoingMessage[]> {
  const found = await desk.parts.store.mail(desk.owner, wish);
  await note(desk, "read outbox", `messages: ${found.length}`);
  return found;
}

/** Says that a message was delivered by other means. */
async function delivered(desk: Desk, id: OutboxId): Promise<boolean> {
  const { parts, owner } = desk;
  const isDone = await parts.store.deliver({ ...owner, contact: null }, id, parts.clock());
  if (isDone) await note(desk, "delivered", id);
  return isDone;
}
