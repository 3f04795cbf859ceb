import { type Actor, authorize, type TurnId } from "../../protocol/index.ts";
import { turnOf } from "../access.ts";
import type { Parts } from "../parts.ts";

/** Milliseconds in which who listens to a turn takes its `done`, and in which who waits for what another's turn said finds it. */
const LISTENS = 60_000;
const FINDS = 3_000;

/** From when on a reply that is committed now may be sent by itself: nobody shall get it twice who is there to take it. */
export const deliverAfter = (now: number, isUnheard: boolean): number => now + (isUnheard ? FINDS : LISTENS);

/** Counts a turn's reply as delivered: who asked for it has it, out of the record. */
export async function heard(parts: Parts, actor: Actor, id: TurnId): Promise<void> {
  const { scope } = await turnOf(parts, actor, id);
  authorize(actor, "run", scope);
  const { org, agent, contact } = scope;
  const waiting = await parts.store.mail({ org, agent }, { contact, turn: id, status: "waiting", limit: 1 });
  for (const reply of waiting) await parts.store.deliver(scope, reply.id, parts.clock());
}
