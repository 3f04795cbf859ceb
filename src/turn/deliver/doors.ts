import { type Actor, authorize, type TurnId } from "../../protocol/index.ts";
import { agentNamed, threadOf, turnOf } from "../access.ts";
import type { Parts } from "../parts.ts";
import type { Runtime } from "../runtime.ts";
import { deliverDue } from "./deliveries.ts";

/** As many of a thread's messages that wait are read at once. */
const PAGE = 100;

/** What becomes of replies once they are committed. */
export function deliveryDoors(parts: Parts): Pick<Runtime, "undelivered" | "heard" | "deliverDue"> {
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
    heard: (actor, turn) => heard(parts, actor, turn),
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
