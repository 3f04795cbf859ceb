import { describe, expect, it } from "vitest";
import { type Agent, type TurnEvent, trusted, untrusted } from "../../protocol/index.ts";
import { OPERATOR, sampleAgent, testRuntime } from "../index.contract.ts";

const MINUTE = 60_000;
const LONG = "The sea was calm and the wind came from the west, as it had for days. ".repeat(4);

/** An agent whose prefix is kept by its provider, and whose conversation is soon too long. */
function talker(change: Partial<Agent["budgets"]> = {}): Agent {
  const { layers, budgets } = sampleAgent();
  const kind = { kind: "text", text: trusted("Be kind. ".repeat(600)) } as const;
  return sampleAgent({
    layers: layers.map((layer) => (layer.id === "identity" ? { ...layer, source: kind } : layer)),
    tools: [],
    recall: "none",
    budgets: { ...budgets, total: 4_400, reply: 200, ...change },
  });
}

/** This many turns a minute apart, then one after a pause; returns what it sent. */
async function talked(turns: number, pause: number, agent = talker()) {
  const stand = await testRuntime(
    Array.from({ length: turns + 3 }, () => "Aye."),
    { agent },
  );
  const thread = await stand.open();
  for (let n = 1; n <= turns; n++) {
    stand.time.at += MINUTE;
    await stand.say(thread, `Day ${n}. ${LONG}`);
  }
  stand.time.at += pause;
  const conversation = { agent: agent.name, contact: thread.scope.contact, channel: "test", key: "main" };
  const composed = await stand.runtime.compose(OPERATOR, conversation, untrusted(LONG));
  const events = await stand.say(thread, LONG);
  const compiled = events.find((event): event is Extract<TurnEvent, { type: "compiled" }> => event.type === "compiled");
  if (compiled === undefined) throw new Error("nothing was compiled");
  return { ...stand, thread, events, ledger: compiled.ledger, composed };
}

/** After how many turns it would be cut without any pause. */
async function dueAfter(agent = talker()): Promise<number> {
  const { store, time, open, say } = await testRuntime(
    Array.from({ length: 40 }, () => "Aye."),
    { agent },
  );
  const thread = await open();
  for (let turns = 0; turns < 40; turns++) {
    time.at += MINUTE;
    const events = await say(thread, `Day ${turns + 1}. ${LONG}`);
    if (!events.some(({ type }) => type === "cut")) continue;
    await store.close();
    return turns;
  }
  throw new Error("it is never cut");
}

describe("a conversation whose cache is cold", () => {
  it("is cut at once if a cut is soon due, and the ledger says why", async () => {
    const due = await dueAfter();
    const { ledger, events, composed, store } = await talked(due - 2, 10 * MINUTE);
    expect(ledger.epoch).toMatchObject({ n: 2, reason: "cut", opened: true });
    expect(ledger.epoch.cut).toBeGreaterThan(0);
    expect(ledger.cutting?.because).toMatch(/^the provider's cache was cold, and a cut is due in [1-4] turns?$/);
    expect(events.some(({ type }) => type === "cut")).toBe(true);
    expect(composed.ledger.cutting).toEqual(ledger.cutting);
    const warm = await talked(due - 2, MINUTE);
    expect(warm.ledger.epoch).toMatchObject({ n: 1, cut: 0 });
    expect(warm.ledger.cutting?.because).toBeUndefined();
    await Promise.all([store.close(), warm.store.close()]);
  });

  it("waits if the cut is further away than its next long pause, and the ledger says that, too", async () => {
    // Every other turn comes after a long pause.
    const stand = await testRuntime(
      Array.from({ length: 20 }, () => "Aye."),
      { agent: talker() },
    );
    const thread = await stand.open();
    let last: TurnEvent[] = [];
    for (let n = 1; n <= 6; n++) {
      stand.time.at += n % 2 === 0 ? 90 * MINUTE : MINUTE;
      last = await stand.say(thread, "Is it calm?");
    }
    const compiled = last.find((event) => event.type === "compiled");
    expect(compiled?.type === "compiled" && compiled.ledger.epoch).toMatchObject({ n: 1, cut: 0 });
    expect(compiled?.type === "compiled" && compiled.ledger.cutting?.because).toMatch(
      /^the provider's cache was cold, and a cut is due in \d+ turns: it can wait for the next long pause$/,
    );
    await stand.store.close();
  });

  it("waits as long for the cuts that follow: what the ones before it left does not count as what was said since", async () => {
    const agent = talker({ total: 20_000, keep: 400 });
    const stand = await testRuntime(
      Array.from({ length: 40 }, () => "Aye."),
      { agent },
    );
    const thread = await stand.open();
    const say = async (n: number, pause: number) => {
      stand.time.at += pause;
      const events = await stand.say(thread, `Day ${n}. ${LONG}`);
      return events.find((event) => event.type === "compiled");
    };
    // Every other turn comes after a long pause.
    const cuts: number[] = [];
    for (let n = 1; n < 40; n++) {
      const compiled = await say(n, n % 2 === 0 ? 90 * MINUTE : MINUTE);
      if (compiled?.ledger.epoch.opened && compiled.ledger.epoch.reason === "cut") cuts.push(n);
    }
    const turns = cuts.slice(1).map((n, at) => n - (cuts[at] ?? n));
    expect(turns.length).toBeGreaterThan(2);
    expect(Math.min(...turns)).toBeGreaterThan(2);
    await stand.store.close();
  });

  it("is cut early also below the mark that an agent's own wish sets", async () => {
    const agent = talker({ total: 20_000, keep: 400 });
    const due = await dueAfter(agent);
    const { ledger, store } = await talked(due - 1, 10 * MINUTE, agent);
    expect(ledger.cutting).toMatchObject({ keep: 400 });
    expect(ledger.cutting?.because).toContain("cache was cold");
    expect(ledger.epoch.cut).toBeGreaterThan(0);
    await store.close();
  });
});
