import type { Agent } from "../protocol/index.ts";
import type { OutboxMessage } from "../stores/index.ts";
import type { SendDelivery } from "./delivery.ts";
import type { Parts } from "./parts.ts";

/** What came of one try. */
export interface DeliveryReport {
  readonly agent: Agent["name"];
  readonly outbox: OutboxMessage["id"];
  /** None: it was taken. */
  readonly failed?: string;
  /** False: it is not tried again, and stays in the outbox as undeliverable. */
  readonly again: boolean;
}

/** Milliseconds before the next try, by the tries so far: half a minute, then twice as long each time, up to an hour. */
const pauseAfter = (tries: number): number => Math.min(30_000 * 2 ** tries, 3_600_000);

/** As often a message is tried: about a day. */
const MOST_TRIES = 30;

/** How long one batch is held, and how many messages are in it. */
const HELD = 120_000;
const AT_ONCE = 20;
/** Milliseconds one server may take. */
const PATIENCE = 15_000;

/**
 * Sends what is due of one agent's replies, the oldest first. Who holds a message is alone with it; the receiver knows it by its
 * id, so that one which was taken though its answer was lost is not taken twice.
 */
export async function* deliverDue(
  parts: Pick<Parts, "store" | "vault" | "wall" | "holder">,
  agent: Agent,
  { send, signal }: { readonly send: SendDelivery; readonly signal: AbortSignal },
): AsyncGenerator<DeliveryReport> {
  const { deliver } = agent;
  if (deliver === undefined) return;
  const owner = { org: agent.org, agent: agent.name };
  const now = parts.wall();
  const lease = { holder: parts.holder, now, until: now + HELD, limit: AT_ONCE };
  for (const { tries, contact, status: _, ...message } of await parts.store.dueDeliveries(owner, lease)) {
    if (signal.aborted) return;
    const failed = await problemOf(async () => {
      const token = deliver.key === undefined ? undefined : parts.vault.secret(deliver.key);
      const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
      await send({ ...message, agent: agent.name, contact }, { url: deliver.url, token, signal: patience });
    });
    const at = parts.wall();
    const again = failed !== undefined && tries + 1 < MOST_TRIES;
    const tried = { outbox: message.id, at, ...(again && { again: at + pauseAfter(tries) }) };
    const says = failed === undefined ? {} : { failed: parts.vault.hide(failed) };
    if (await parts.store.noteDelivery(owner, parts.holder, { ...tried, ...says }))
      yield { agent: agent.name, outbox: message.id, ...says, again };
  }
}

async function problemOf(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
