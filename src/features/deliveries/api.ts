import { type AgentName, type Allowed, authorize, type OutboxId, type TurnId } from "../../protocol/index.ts";
import type { Paging, Thread } from "../../store/index.ts";
import {
  type AgentAccess,
  accessTo,
  agentNamed,
  featureApi,
  type Parts,
  recordAct,
  threadOf,
  turnOf,
} from "../../turn/index.ts";
import { answeredBy, type Delivery, type DeliveryPorts, type DeliveryReport, deliverDue } from "./deliver.ts";
import { OUTBOX_STORE, type OutboxMessage, type ReplyState } from "./store.ts";

/** A reply as it is listed: with the line by which it leaves, if its agent has lines. */
export type MailView = OutboxMessage & Pick<Delivery, "line"> & { readonly state: ReplyState };

/** What happens to replies once they are committed. */
export interface DeliveryApi {
  /** The agent's messages, newest first; without `status` and `state` also its reports on turns that it began itself. */
  outbox(
    actor: Allowed<"read">,
    agent: AgentName,
    wish: Paging & { readonly status?: OutboxMessage["status"]; readonly state?: ReplyState },
  ): Promise<readonly MailView[]>;
  /** Records that a waiting or sent message was delivered. False if that is already known. */
  delivered(actor: Allowed<"operate">, agent: AgentName, id: OutboxMessage["id"]): Promise<boolean>;
  /**
   * Committed replies of the thread that may never have been shown, because the program that showed them ended first. Each counts as
   * delivered once it is given: if several programs ask, one gets it.
   */
  undelivered(actor: Allowed<"run">, thread: Thread): AsyncGenerator<OutboxMessage>;
  /** Records that the turn's reply arrived at its destination, outside the record: it counts as delivered. */
  confirmDelivery(actor: Allowed<"run">, turn: TurnId): Promise<void>;
  /** How many of an agent's replies `deliverDue` could send now, counted up to a limit, and when the next falls due in real time. */
  deliveriesDue(
    actor: Allowed<"operate">,
    agent: AgentName,
    limit: number,
  ): Promise<{ readonly due: number; readonly next?: number }>;
  /**
   * Sends an agent's due replies if its present declaration says `deliver`; each try is reported. The platform's own work: a server calls
   * it repeatedly and concurrently, so that a conversation whose replies are taken slowly does not delay others.
   */
  deliverDue(actor: Allowed<"operate">, agent: AgentName, signal: AbortSignal): AsyncGenerator<DeliveryReport>;
}

/** The functions of deliveries, as `runtime.use` gives them. */
export const DELIVERY_API = featureApi<DeliveryApi>("deliveries");

/** How many of a thread's waiting messages are read at once. */
const PAGE = 100;

/** What happens to replies once they are committed. */
export function deliveryApi(parts: Parts, { sendDelivery: send }: DeliveryPorts): DeliveryApi {
  const store = parts.store.part(OUTBOX_STORE);
  return {
    async *undelivered(actor, { id: thread }) {
      const { scope } = await threadOf(parts, actor, thread);
      const { org, agent, contact } = scope;
      const wish = { contact, thread, status: "waiting", oldest: true, limit: PAGE } as const;
      for (let more = true; more; ) {
        const messages = await store.mail({ org, agent }, wish);
        for (const message of messages) {
          // Claimed before it is shown: another program that looks just now would say it a second time.
          if (await store.deliver(scope, { id: message.id }, parts.clock.recorded())) yield message;
        }
        more = messages.length === PAGE;
      }
    },
    outbox: async (actor, name, wish) => outbox(accessTo(parts, actor, name), wish),
    delivered: async (actor, name, id) => delivered(accessTo(parts, actor, name), id),
    confirmDelivery: (actor, turn) => confirmDelivery(parts, actor, turn),
    deliveriesDue: async (actor, name, limit) => {
      const { org, deliver } = agentNamed(parts, actor, name);
      authorize(actor, { org, agent: name, contact: null });
      if (send === undefined || deliver === undefined) return { due: 0 };
      return store.deliveriesDue({ org, agent: name }, { now: parts.clock.real(), limit });
    },
    async *deliverDue(actor, name, signal) {
      const agent = agentNamed(parts, actor, name);
      authorize(actor, { org: agent.org, agent: agent.name, contact: null });
      if (send !== undefined) yield* deliverDue(parts, agent, { send, signal });
    },
  };
}

async function confirmDelivery(parts: Parts, actor: Allowed<"view">, turn: TurnId): Promise<void> {
  const { scope } = await turnOf(parts, actor, turn);
  await parts.store.part(OUTBOX_STORE).deliver(scope, { turn }, parts.clock.recorded());
}

/** The agent's messages, newest first. */
async function outbox(
  access: AgentAccess,
  wish: Paging & { readonly status?: OutboxMessage["status"]; readonly state?: ReplyState },
): Promise<readonly MailView[]> {
  const { parts, owner, agent } = access;
  const found = await parts.store.part(OUTBOX_STORE).mail(owner, {
    ...wish,
    // A report is not delivered, so it has none of these.
    ...(wish.status === undefined && wish.state === undefined && { ownTurns: true }),
  });
  await recordAct(access, "read outbox", `messages: ${found.length}`);
  const states = await parts.store.part(OUTBOX_STORE).states(
    owner,
    found.map(({ id }) => id),
  );
  const seen = found.map((one): MailView => ({ ...one, state: states.get(one.id) ?? "waiting" }));
  if (agent.business?.lines === undefined) return seen;
  const left = seen.map(async (one): Promise<MailView> => {
    const { line } = await answeredBy(parts, { ...owner, contact: one.contact }, one.turn);
    return line === undefined ? one : { ...one, line };
  });
  return Promise.all(left);
}

/** Says that a message was delivered by other means. */
async function delivered(access: AgentAccess, id: OutboxId): Promise<boolean> {
  const { parts, owner } = access;
  const kept = parts.store.part(OUTBOX_STORE);
  const at = parts.clock.recorded();
  const isDone = (await kept.deliver({ ...owner, contact: null }, { id }, at)) || (await kept.confirm(owner, id, at));
  if (isDone) await recordAct(access, "delivered", id);
  return isDone;
}
