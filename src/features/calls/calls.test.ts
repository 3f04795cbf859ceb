import { describe, expect, it } from "vitest";
import { z } from "zod";
import { scripted } from "../../models/index.ts";
import { StrataError, toolName } from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { collect, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../../turn/index.contract.ts";
import { answersLater, type LaterAnswer } from "../../turn/index.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { FEATURE } from "./index.ts";

const ASK = { parts: [{ call: "ask", id: "c1", input: {} }] };

/** A conversation in which the agent has just asked; real time is moved by hand. */
async function asking(script: Parameters<typeof testRuntime>[0], later: LaterAnswer) {
  const now = { is: Date.UTC(2026, 10, 21, 9, 30) };
  const tool = defineTool({
    name: "ask",
    description: "Asks.",
    input: z.strictObject({}),
    effect: "none",
    trust: "contact",
    run: (_, context) => answersLater(context, later),
  });
  const parts = { tools: toolset([tool]), clock: { real: () => now.is } };
  const set = await testRuntime([ASK, ...script], { agent: sampleAgent({ tools: [toolName("ask")] }), parts });
  const thread = await set.open();
  await set.say(thread, "Ask.");
  return { ...set, thread, now };
}

/** What the dispatcher would do now: each job's number of tasks, its next time, and the results. */
async function dispatched({ runtime, now }: TestRuntime & { readonly now: { readonly is: number } }) {
  const world = { runtime, operator: OPERATOR, clock: { real: () => now.is }, isWanted: async () => true };
  const all: Record<string, { tasks: number; next: number | undefined }> = {};
  for (const job of FEATURE.jobs ?? []) {
    const { tasks, next } = await job.due(world);
    for (const task of tasks) await collect(task.run(new AbortController().signal));
    all[job.name] = { tasks: tasks.length, next };
  }
  return all;
}

const statuses = async ({ store }: TestRuntime, thread: Thread) =>
  (await store.turns(thread.scope, thread.id)).map(({ status }) => status).join(" ");

describe("the background work for calls whose answers come later", () => {
  it("answers a call when its time is up, and not before, and the run goes on without anybody asking", async () => {
    const set = await asking(["Then without."], { waitsFor: "client", seconds: 60 });
    const { thread, now, sent } = set;
    const due = now.is + 60_000;
    expect(await dispatched(set)).toMatchObject({
      "calls.overdue": { tasks: 0, next: due },
      "calls.runs": { tasks: 0 },
    });
    now.is = due - 1;
    expect(await dispatched(set)).toMatchObject({ "calls.overdue": { tasks: 0 } });
    expect(await statuses(set, thread)).toBe("waiting");
    now.is = due;
    expect(await dispatched(set)).toMatchObject({ "calls.overdue": { tasks: 1 }, "calls.runs": { tasks: 1 } });
    expect(await statuses(set, thread)).toBe("waiting done");
    expect(JSON.stringify(sent[1]?.messages.at(-1))).toContain("No answer came in time.");
    const nothing = { tasks: 0, next: undefined };
    expect(await dispatched(set)).toEqual({ "calls.overdue": nothing, "calls.runs": nothing });
  });

  it("has nothing to do where a call may wait for ever, and none for what was cancelled", async () => {
    const set = await asking([], { waitsFor: "client" });
    const nothing = { tasks: 0, next: undefined };
    expect(await dispatched(set)).toEqual({ "calls.overdue": nothing, "calls.runs": nothing });
    const timed = await asking([], { waitsFor: "client", seconds: 1 });
    await timed.runtime.cancel(OPERATOR, timed.thread.id);
    timed.now.is += 2_000;
    expect(await dispatched(timed)).toEqual({ "calls.overdue": nothing, "calls.runs": nothing });
  });

  it("is not tried again and again where the run's model is gone", async () => {
    const set = await asking([], { waitsFor: "client", seconds: 1 });
    const { thread, now, store, agent } = set;
    const { model } = scripted([]);
    const next = await testRuntime([], {
      agent,
      store,
      parts: {
        clock: { real: () => now.is },
        modelOf: async ({ model: ref }) => (ref === undefined ? model : gone(ref)),
      },
    });
    now.is += 2_000;
    const task = dispatched({ ...next, now });
    await expect(task).rejects.toMatchObject({ code: "model_unknown" });
    const nothing = { tasks: 0, next: undefined };
    expect(await dispatched({ ...next, now })).toEqual({ "calls.overdue": nothing, "calls.runs": nothing });
    expect(await statuses(set, thread)).toBe("waiting failed");
  });
});

const gone = (ref: string): never => {
  throw new StrataError("model_unknown", `there is no model ${ref}`);
};
