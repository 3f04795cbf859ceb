import { expect, it } from "vitest";
import { actorId } from "../../protocol/index.ts";
import { ANN, NOW, onEachDatabase, open, said, scopeOf, take } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { asking, contactOf } from "./store.contract.ts";
import { LIMITS_STORE } from "./store.ts";

/** A turn that runs. */
async function running(store: Store, scope = ANN) {
  const thread = await open(store, scope);
  await store.receive(scope, thread.id, [said("hi")]);
  const { holder, fence } = await take(store, thread);
  return { scope, thread: thread.id, holder, fence, limits: store.part(LIMITS_STORE) };
}

const MINUTE = 60_000;

onEachDatabase("limits", [LIMITS_STORE], (opened) => {
  it("26.3 a call that would cross its money is refused before it is made, and may be made when another was cheaper", async () => {
    const store = await opened();
    const { limits, ...of } = await running(store);
    const subjects = [contactOf(ANN, { money: { dollars: 1, per: "day", since: NOW, until: NOW + 9 * MINUTE } })];
    const first = asking(of, 0.6);
    expect(await limits.take(ANN.org, subjects, first)).toBeUndefined();
    expect(await limits.take(ANN.org, subjects, asking(of, 0.6))).toMatchObject({
      what: "dollars",
      until: NOW + 5_000,
      used: { spent: 0, held: 0.6 },
    });
    await limits.settle(ANN.org, { call: first.call, dollars: 0.25 });
    // Settled again, it still counts once.
    await limits.settle(ANN.org, { call: first.call, dollars: 0.25 });
    const second = asking(of, 0.6);
    expect(await limits.take(ANN.org, subjects, second)).toBeUndefined();
    await limits.settle(ANN.org, { call: second.call, dollars: 0.6 });
    // Spending frees nothing before the next period.
    expect(await limits.take(ANN.org, subjects, asking(of, 0.2))).toMatchObject({ until: NOW + 9 * MINUTE });
    expect(await limits.used(ANN.org, subjects, NOW)).toEqual([{ calls: 2, spent: 0.85, held: 0 }]);
    // A call that costs more than the whole limit never fits.
    expect(await limits.take(ANN.org, subjects, asking(of, 2))).not.toHaveProperty("until");
    await store.close();
  });

  it("26.3 a call for several is made for all of them or for none", async () => {
    const store = await opened();
    const { limits, ...of } = await running(store);
    const [one, other] = [
      contactOf(ANN, { calls: 5 }),
      { ...contactOf(ANN, { calls: 1 }), kind: "agent", contact: "" } as const,
    ];
    expect(await limits.take(ANN.org, [one, other], asking(of, 0))).toBeUndefined();
    expect(await limits.take(ANN.org, [one, other], asking(of, 0))).toMatchObject({ subject: { kind: "agent" } });
    expect(await limits.used(ANN.org, [one, other], NOW)).toMatchObject([{ calls: 1 }, { calls: 1 }]);
    await store.close();
  });

  it("003.42 in any sixty seconds there are as many calls as are allowed, and no more", async () => {
    const store = await opened();
    const { limits, ...of } = await running(store);
    const subjects = [contactOf(ANN, { calls: 3 })];
    const at = (seconds: number) => ({ at: NOW + seconds * 1_000 });
    for (const seconds of [0, 10, 50])
      expect(await limits.take(ANN.org, subjects, asking(of, 0, at(seconds)))).toBeUndefined();
    const refused = await limits.take(ANN.org, subjects, asking(of, 0, at(59)));
    expect(refused).toMatchObject({ what: "calls", until: NOW + MINUTE });
    expect(await limits.take(ANN.org, subjects, asking(of, 0, at(60)))).toBeUndefined();
    // The one of ten seconds is the next to leave the minute.
    const again = await limits.take(ANN.org, subjects, asking(of, 0, at(61)));
    expect(again).toMatchObject({ until: NOW + 70_000 });
    await store.close();
  });

  it("26.3 what a turn has reserved whose program died is free again, and its late bill still counts", async () => {
    const store = await opened();
    const { limits, ...of } = await running(store);
    const subjects = [contactOf(ANN)];
    const dead = asking(of, 0.9);
    await limits.take(ANN.org, subjects, dead);
    const other = await running(store, scopeOf("bob"));
    const asked = (real: number, alive = true) =>
      asking({ scope: other.scope, thread: other.thread, holder: other.holder }, 0.5, { real, alive: () => alive });
    expect(await limits.take(ANN.org, subjects, asked(NOW))).toBeDefined();
    // Its lease has ended: 30 seconds after the last sign of life.
    expect(await limits.take(ANN.org, subjects, asked(NOW + 30_001))).toBeUndefined();
    await limits.settle(ANN.org, { call: dead.call, dollars: 0.125 });
    expect(await limits.used(ANN.org, subjects, NOW)).toMatchObject([{ spent: 0.125, held: 0.5 }]);
    await store.close();
  });

  it("26.3 a turn that has lost its thread reserves nothing, and an erased contact is named nowhere again", async () => {
    const store = await opened();
    const { limits, ...of } = await running(store);
    const asked = asking(of, 0.5);
    await limits.take(ANN.org, [contactOf(ANN)], asked);
    await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
    await expect(limits.take(ANN.org, [contactOf(ANN)], asking(of, 0.5))).rejects.toMatchObject({ code: "lease_lost" });
    await limits.settle(ANN.org, { call: asked.call, dollars: 0.5 });
    expect(await limits.used(ANN.org, [contactOf(ANN)], NOW)).toEqual([{ calls: 0, spent: 0, held: 0 }]);
    await store.close();
  });

  it("26.3 the bill of an earlier period counts in none that follows", async () => {
    const store = await opened();
    const { limits, ...of } = await running(store);
    const on = (since: number) => [contactOf(ANN, { money: { dollars: 1, per: "day", since } })];
    const [early, late] = [asking(of, 0.5), asking(of, 0.5)];
    await limits.take(ANN.org, on(NOW), early);
    await limits.take(ANN.org, on(NOW + MINUTE), late);
    await limits.settle(ANN.org, { call: late.call, dollars: 0.25 });
    await limits.settle(ANN.org, { call: early.call, dollars: 0.5 });
    expect(await limits.used(ANN.org, on(NOW + MINUTE), NOW)).toMatchObject([{ spent: 0.25, held: 0 }]);
    await store.close();
  });
});
