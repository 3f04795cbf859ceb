import {
  type Agent,
  type AgentName,
  type ContactScope,
  OUTSIDE_KINDS,
  type StoredEvent,
  type TurnId,
} from "../../protocol/index.ts";
import type { Parts } from "../../turn/index.ts";
import { pauseAfter } from "../../turn/index.ts";
import { OUTBOX_STORE, type OutboxMessage } from "./store.ts";

/** What deliveries need from outside. */
export interface DeliveryPorts {
  /** Sends replies of agents with `deliver`; without it they wait in the outbox. */
  readonly sendDelivery?: SendDelivery;
}

/** A reply on its way to the server that takes it. */
export interface Delivery
  extends Pick<OutboxMessage, "id" | "contact" | "thread" | "turn" | "channel" | "text" | "at"> {
  readonly agent: AgentName;
  /** The messages that it answers, in the order received; none if the agent began by itself. */
  readonly inReplyTo: readonly Pick<StoredEvent, "id" | "externalId">[];
  /** The line by which it leaves: the one to which they came. */
  readonly line?: string;
}

/** Sends a reply. Throws if it was refused: the error's message is kept with the reply. */
export type SendDelivery = (
  delivery: Delivery,
  to: {
    readonly url: string;
    readonly token: string | undefined;
    /** The secret that signs the request, and the time of the signature; without it the request is not signed. */
    readonly signing?: { readonly secret: string; readonly at: number };
    readonly signal: AbortSignal;
  },
) => Promise<void>;

/** The result of one try. */
export interface DeliveryReport {
  readonly agent: Agent["name"];
  readonly outbox: OutboxMessage["id"];
  /** Absent if it was accepted. */
  readonly failed?: string;
  /** False: it is not tried again, and stays in the outbox as undeliverable. */
  readonly again: boolean;
}

/** How often a message is tried: for about a day. */
const MOST_TRIES = 30;

/** How long a message is held, in milliseconds. */
const HELD = 120_000;
/** Milliseconds one server may take: much less than a message is held. */
const PATIENCE = 15_000;

const STOPPED = "the program stopped while it was sent";

type Delivering = Pick<Parts, "store" | "vault" | "clock" | "holder">;

/**
 * Sends what is due of one agent's replies, one after the other. The holder of a message has its thread to itself; the receiver knows a
 * message by its id, so that one whose confirmation was lost is not accepted twice.
 */
export async function* deliverDue(
  parts: Delivering,
  agent: Agent,
  { send, signal }: { readonly send: SendDelivery; readonly signal: AbortSignal },
): AsyncGenerator<DeliveryReport> {
  const { deliver } = agent;
  if (deliver === undefined) return;
  const owner = { org: agent.org, agent: agent.name };
  while (!signal.aborted) {
    // One at a time: replies behind a slow receiver are not leased meanwhile, which would keep other programs from sending them.
    const now = parts.clock.real();
    const lease = { holder: parts.holder, now, until: now + HELD, limit: 1 };
    const [due] = await parts.store.part(OUTBOX_STORE).dueDeliveries(owner, lease);
    if (due === undefined) return;
    const { tries, status: _, ...message } = due;
    const problem = await catchMessage(async () => {
      const token = deliver.key === undefined ? undefined : parts.vault.secret(deliver.key);
      const secret = deliver.signing === undefined ? undefined : parts.vault.secret(deliver.signing);
      const signing = secret === undefined ? {} : { signing: { secret, at: parts.clock.real() } };
      const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
      const answered = await answeredBy(parts, { ...owner, contact: message.contact }, message.turn);
      await send(
        { ...message, agent: agent.name, ...answered },
        { url: deliver.url, token, ...signing, signal: patience },
      );
    });
    // Not the receiver's fault: the next program to start sends it at once, and it does not count as a try.
    const stopped = signal.aborted && problem !== undefined;
    const report = await noteTry(parts, agent, { id: message.id, tries, failed: stopped ? STOPPED : problem, stopped });
    if (report !== undefined) yield report;
  }
}

/** The messages that a turn answers, and the line of the newest: its own, and those that its run began with before it waited for something. */
export async function answeredBy(
  { store }: Pick<Delivering, "store">,
  scope: ContactScope,
  id: TurnId,
): Promise<Pick<Delivery, "inReplyTo" | "line">> {
  const turn = await store.turn(scope, id);
  if (turn === undefined) return { inReplyTo: [] };
  const first = turn.run === id ? undefined : await store.turn(scope, turn.run);
  const events = [...(first?.events ?? []), ...turn.events];
  const line = events.findLast((event) => event.line !== undefined)?.line;
  const inReplyTo = events.flatMap(({ id: event, kind, externalId }) =>
    OUTSIDE_KINDS.some((one) => one === kind && one !== "scheduled")
      ? [{ id: event, ...(externalId !== undefined && { externalId }) }]
      : [],
  );
  return { inReplyTo, ...(line !== undefined && { line }) };
}

/** A message that was sent, or why it was not taken. */
interface Try extends Pick<OutboxMessage, "id"> {
  readonly tries: number;
  readonly failed: string | undefined;
  readonly stopped: boolean;
}

/** Records the result of a try. Nothing if the message was settled elsewhere meanwhile. */
async function noteTry(
  { store, vault, clock, holder }: Delivering,
  { org, name: agent }: Agent,
  { id, tries, failed, stopped }: Try,
): Promise<DeliveryReport | undefined> {
  const at = clock.real();
  const again = stopped || (failed !== undefined && tries + 1 < MOST_TRIES);
  const next = at + (stopped ? 0 : pauseAfter(tries + 1));
  const tried = { outbox: id, at, ...(again && { again: next }), ...(stopped && { stopped }) };
  const sentence = failed === undefined ? {} : { failed: vault.hide(failed) };
  const isNoted = await store.part(OUTBOX_STORE).noteDelivery({ org, agent }, holder, { ...tried, ...sentence });
  return isNoted ? { agent, outbox: id, ...sentence, again } : undefined;
}

async function catchMessage(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
