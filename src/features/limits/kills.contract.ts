import type { KillingStore } from "../../store/index.contract.ts";
import { NOW, open, said, scopeOf, take } from "../../store/index.contract.ts";
import { asking } from "./store.contract.ts";
import { LIMITS_STORE, type Subject } from "./store.ts";
import { spendSubject } from "./subjects.ts";

/** Programs of one life, calls of each, and after how many statements one dies at the latest. */
const PROGRAMS = 4;
const CALLS = 6;
const LIFE = 90;

const MOST = 1;

/** An organization that may spend a dollar. */
export const ofOrganization = (name: string): Subject => ({
  ...{ kind: "group", agent: "", contact: "", name },
  allowed: { money: { dollars: MOST, per: "ever", since: NOW } },
});

/** An agent whose `budgets.spend` is a dollar. */
export const ofSpend = (): Subject => {
  const [subject] = spendSubject({ name: scopeOf().agent, budgets: { spend: { dollars: MOST, per: "ever" } } }, NOW);
  if (subject === undefined) throw new Error("the agent has no limit");
  return subject;
};

/**
 * Programs that reserve and settle calls concurrently, and die after any number of statements. Returns how many died.
 * @throws Error if more was reserved or spent than is allowed, a bill is lost or counted twice, or something stays reserved
 */
export async function surviveLimitKills({ store, mortal }: KillingStore, seed: number): Promise<number> {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  const chance = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const scope = scopeOf(`spender-${seed}`);
  const subjects = [ofOrganization(`life ${seed}`)];
  const limits = store.part(LIMITS_STORE);
  const used = async () => (await limits.used(scope.org, subjects, NOW))[0] ?? { spent: 0, held: 0 };
  const dead = new Set<string>();
  const alive = (holder: string): boolean => !dead.has(holder);
  let billed = 0;
  for (let n = 0; n < PROGRAMS; n++) {
    const holder = `program-${seed}-${n}`;
    const thread = await open(store, scope, `thread ${n}`);
    await store.receive(scope, thread.id, [said("hi")]);
    await take(store, thread, { holder });
    const one = async (): Promise<void> => {
      const most = (1 + chance(40)) / 100;
      const bill = (most * chance(101)) / 100;
      const asked = asking({ scope, thread: thread.id, holder }, most, { alive });
      if ((await limits.take(scope.org, subjects, asked)) !== undefined) return;
      await limits.settle(scope.org, { call: asked.call, dollars: bill });
      billed += bill;
    };
    const isMortal = n < PROGRAMS - 1 && chance(4) > 0;
    const died = await mortal(isMortal ? chance(LIFE) : Number.POSITIVE_INFINITY, async () => {
      // Dead programs do nothing more: their last calls have ended when this has.
      const ends = await Promise.allSettled(Array.from({ length: CALLS }, one));
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    });
    if (died) dead.add(holder);
    const { spent, held } = await used();
    if (spent + held > MOST + 1e-6) throw new Error(`${spent + held} are spent or reserved of ${MOST}`);
  }
  await limits.release(scope.org, { real: NOW, alive });
  const { spent, held } = await used();
  if (held !== 0) throw new Error(`${held} stay reserved`);
  if (Math.abs(spent - billed) > 1e-6) throw new Error(`${billed} were billed, and ${spent} are counted`);
  return dead.size;
}
