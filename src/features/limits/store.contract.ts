import { actorId, type ContactScope, type ThreadId } from "../../protocol/index.ts";
import { type KeptSample, NOW, nextCall, open, ran, said, take } from "../../store/index.contract.ts";
import { paidBy } from "./chain-store.ts";
import { type Allowed, type AskedCall, LIMITS_STORE, type Subject } from "./store.ts";

/** The contact, with two calls a minute and a dollar a day. */
export const contactOf = ({ agent, contact }: ContactScope, allowed?: Allowed): Subject => ({
  ...{ kind: "contact", agent, contact, name: "" },
  allowed: allowed ?? { calls: 2, money: { dollars: 1, per: "day", since: NOW, until: NOW + 86_400_000 } },
});

/** A call of this turn that may cost so much. */
export const asking = (
  of: { readonly scope: ContactScope; readonly thread: ThreadId; readonly holder: string },
  most: number,
  more: Partial<AskedCall> = {},
): AskedCall => ({ call: nextCall(), most, ...of, at: NOW, real: NOW, alive: () => true, ...more });

/** A key has posted something; one call of the turn is settled, another was lost. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const limits = store.part(LIMITS_STORE);
    const thread = await open(store, scope);
    await store.receive(scope, thread.id, [said(words)], paidBy(actorId("key:kites")));
    const claim = await take(store, thread);
    const { holder } = claim;
    const asked = asking({ scope, thread: thread.id, holder }, 0.25);
    await limits.take(scope.org, [contactOf(scope)], asked);
    await limits.settle(scope.org, { call: asked.call, dollars: 0.125 });
    await limits.take(scope.org, [contactOf(scope)], asking({ scope, thread: thread.id, holder }, 0.5));
    await store.settle(claim, ran(claim).outcome);
  },
  reads: async (store, scope) => {
    const limits = store.part(LIMITS_STORE);
    const threads = await store.threads(scope, 9);
    const turns = (await Promise.all(threads.map(({ id }) => store.turns(scope, id)))).flat();
    return [
      await limits.used(scope.org, [contactOf(scope)], NOW),
      await limits.crossed(scope.org, [contactOf(scope)], NOW),
      await limits.chain(scope.org, { events: turns.flatMap(({ events }) => events.map(({ id }) => id)) }),
    ];
  },
};
