import { describe, expect, it } from "vitest";
import { allFeatures } from "../../app/entry/features.ts";
import { INBOX_API } from "../../features/inbox/index.ts";
import { contactId, errorKind, ownStop, StrataError, type ThreadId, type TurnEvent } from "../../protocol/index.ts";
import { cardOf } from "../../wire/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../index.contract.ts";
import { createRuntime, type TurnSteps } from "../index.ts";

const NO = new StrataError("rate_limited", "not now");

/** Says `Hello` to an agent whose turns have these steps. */
async function turnWith(...steps: readonly TurnSteps[]): Promise<{
  readonly on: TestRuntime;
  readonly run: () => AsyncGenerator<TurnEvent>;
  readonly waiting: () => Promise<number>;
}> {
  // An agent with funds needs a price.
  const on = await testRuntime(["Hi!"], { parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") } });
  const core = createRuntime(on.parts, steps);
  const conversation = { agent: on.agent.name, contact: contactId("ann"), channel: "test", key: "main" };
  const thread = await core.runtime.open(OPERATOR, conversation);
  await core.runtime.post(OPERATOR, thread, [message("Hello", on.time.at)]);
  const waiting = async (): Promise<number> => (await core.runtime.pending(OPERATOR, thread)).length;
  return { on, run: () => core.runtime.run(OPERATOR, thread), waiting };
}

/** Writes down each event that it receives. */
function telling(name: string, told: string[]): TurnSteps {
  return {
    setup: async (_parts, setup) => {
      told.push(`${name} setup`);
      return setup;
    },
    checkStart: async () => {
      told.push(`${name} may begin`);
      return undefined;
    },
    onStart: async () => void told.push(`${name} begun`),
    phase: (_turn, phase) => void told.push(`${name} ${phase}`),
    ended: async (_turn, { status }, kept) => void told.push(`${name} ${status}, ${kept}`),
  };
}

describe("the steps that features add to a turn", () => {
  it("may let a thread rest: its messages are passed over, the next sender gets a turn, and a request for a turn is refused", async () => {
    const blocked = new Map<ThreadId, StrataError>();
    const rests: TurnSteps = { blockedThreads: async () => blocked };
    const on = await testRuntime(["To Bob."], {
      parts: { features: [...(await allFeatures()), { name: "rests", operations: [], steps: rests }] },
    });
    const threads = [await on.open("ann"), await on.open("bob")];
    for (const thread of threads) await on.runtime.post(OPERATOR, thread, [message("Hello", ++on.time.at)]);
    const [ann, bob] = threads.map(({ id }) => id);
    if (ann !== undefined) blocked.set(ann, NO);
    const waiting = async () =>
      (await on.runtime.use(INBOX_API).waiting(OPERATOR, on.agent.name)).map(({ thread }) => thread);
    expect(await waiting()).toEqual([bob]);
    expect(endOf(await collect(on.runtime.use(INBOX_API).runInbox(OPERATOR, on.agent.name)))).toMatchObject({
      text: "To Bob.",
    });
    expect(await waiting()).toEqual([]);
    for (const thread of threads.slice(0, 1))
      await expect(collect(on.runtime.run(OPERATOR, thread))).rejects.toThrow(NO);
    blocked.clear();
    expect(await waiting()).toEqual([ann]);
    await on.store.close();
  });

  it("are called one after the other, in the order of the list", async () => {
    const told: string[] = [];
    const { run } = await turnWith(telling("one", told), telling("two", told));
    expect(endOf(await collect(run())).type).toBe("done");
    const each = ["setup", "may begin", "begun", "asking", "asking", "committing", "done, recorded"];
    expect(told).toEqual(each.flatMap((what) => [`one ${what}`, `two ${what}`]));
  });

  it("may lower its limits, each from where the one before has left them", async () => {
    const halved: TurnSteps = {
      setup: async (_parts, { limits, ...setup }) => ({
        ...setup,
        limits: { ...limits, modelCalls: limits.modelCalls / 2 },
      }),
    };
    const found: number[] = [];
    const seen: TurnSteps = { onStart: async ({ setup: { limits } }) => void found.push(limits.modelCalls) };
    const { on, run } = await turnWith(halved, halved, seen);
    await collect(run());
    expect(found).toEqual([on.agent.budgets.turn.modelCalls / 4]);
  });

  it("may refuse it before it begins: nothing is recorded, and the messages keep waiting", async () => {
    const told: string[] = [];
    const refusing: TurnSteps = { checkStart: async (_parts, { waits }) => ((await waits()) ? NO : undefined) };
    const { on, run, waiting } = await turnWith(refusing, telling("after", told));
    await expect(collect(run())).rejects.toThrow(NO);
    expect([await waiting(), on.sent.length]).toEqual([1, 0]);
    expect(told).toEqual(["after setup"]);
  });

  it("may end it once it has begun: that is a failed turn, whose messages keep waiting", async () => {
    const told: string[] = [];
    const failing: TurnSteps = { onStart: async () => Promise.reject(NO) };
    const { on, run, waiting } = await turnWith(failing, telling("after", told));
    expect(endOf(await collect(run()))).toMatchObject({ type: "failed", error: NO });
    expect([await waiting(), on.sent.length]).toEqual([1, 0]);
    expect(told).toEqual(["after setup", "after may begin", "after failed, recorded"]);
  });

  it("hear of its end also where nobody listens any more", async () => {
    const told: string[] = [];
    const { run } = await turnWith(telling("one", told));
    for await (const { type } of run()) if (type === "compiled") break;
    expect(told.at(-1)).toBe("one failed, recorded");
  });

  it("may have funds of their own: without any, no model is called, and the error is theirs", async () => {
    const DRY = errorKind("well_dry", { status: 402, exit: 15, retry: true, message: "the well is dry" });
    const gone = DRY.of("the well is dry");
    const well: TurnSteps = {
      funds: {
        stop: ownStop("water", "the well is dry"),
        error: DRY,
        unanswered: "the well ran dry",
        holds: () => true,
        left: async () => 0,
        refusal: () => gone,
      },
    };
    const { on, run, waiting } = await turnWith(well);
    expect(endOf(await collect(run()))).toMatchObject({ type: "failed", error: gone });
    expect([await waiting(), on.sent.length]).toEqual([1, 0]);
  });
});

it("a thread that another program moved to a newer version is not taken back by who holds it as it was, though nothing was sent on it yet", async () => {
  const early = await testRuntime(["As of new, too."]);
  const thread = await early.open();
  const agent = sampleAgent({ description: "newer" });
  const newer = await testRuntime([], { store: early.store, agent });
  expect((await newer.open()).version).toBe(agent.version);
  expect(endOf(await early.say(thread, "Hello")).type).toBe("done");
  expect(await early.runtime.turns(OPERATOR, thread.id)).toMatchObject([{ version: agent.version }]);
});
