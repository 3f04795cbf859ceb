import { describe, expect, it } from "vitest";
import { z } from "zod";
import { allParts } from "../../app/entry/features.ts";
import { goesOnSays, waitingSays } from "../../print/index.ts";
import {
  type Approval,
  DEFAULT_BUDGETS,
  type Request,
  readFrames,
  StrataError,
  type ToolContext,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import { openSqlite, type Store, type Thread } from "../../store/index.ts";
import { collect, OPERATOR, sampleAgent, type TestRuntime, testRuntime } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { memoryTools } from "../memories/index.ts";
import { APPROVAL_API } from "./index.ts";
import { APPROVAL_STORE } from "./store.ts";

/** What the waiting tool does, and how. */
interface Paying {
  readonly run?: (context: ToolContext) => unknown;
  readonly effect?: "none" | "external";
  readonly seconds?: number;
  readonly message?: string;
  readonly description?: string;
  readonly store?: (store: Store) => Partial<Store>;
}

interface Waiting extends TestRuntime {
  readonly thread: Thread;
  readonly waits: Approval;
  readonly paid: string[];
}

/** A stage on which one call of `look` waits for a person. */
async function waiting({ store: change, ...how }: Paying = {}): Promise<Waiting> {
  const paid: string[] = [];
  const real = await openSqlite(":memory:", { parts: await allParts() });
  const store = { ...real, ...change?.(real) };
  const tools = toolset([...memoryTools(store), paying(paid, how), idle()]);
  const script = [{ parts: [{ call: "look", id: "c1", input: { at: "order 7" } }] }, "It waits.", "I was told."];
  const stand = await testRuntime(script, { agent: sampleAgent(), store, parts: { tools } });
  const thread = await stand.open();
  await stand.say(thread, "Pay order 7");
  const [waits] = await stand.runtime.use(APPROVAL_API).approvals(OPERATOR, thread.scope, { status: "waiting" }, 9);
  if (waits === undefined) throw new Error("nothing waits");
  return { ...stand, thread, waits, paid };
}

function paying(paid: string[], { run, effect = "external", seconds, message, description = "Pays." }: Paying) {
  return defineTool({
    name: "look",
    description,
    input: z.object({ at: z.string() }),
    effect,
    trust: "operator",
    needsApproval: true,
    ...(seconds !== undefined && { limits: { seconds } }),
    run: async ({ at }, context) => {
      paid.push(at);
      await run?.(context);
      return message ?? `paid ${at}`;
    },
  });
}

const idle = () =>
  defineTool({
    name: "ring",
    description: "Rings.",
    input: z.object({}),
    effect: "none",
    trust: "contact",
    run: () => "",
  });

/** What the agent reads in its next turn. */
async function told({ runtime, thread, sent }: Waiting): Promise<string> {
  await collect(runtime.run(OPERATOR, thread));
  const frames = readFrames(textOf(sent.at(-1)));
  return frames.map(({ text }) => text).join("\n");
}

const textOf = (request: Request | undefined): string =>
  request?.messages
    .at(-1)
    ?.parts.map((part) => ("text" in part ? part.text : ""))
    .join("\n") ?? "";

/** A store that cannot record a call's outcome as long as it is busy. */
function busyWhile(store: Store, isBusy: () => boolean): Partial<Store> {
  const { finishApproval: finish } = store.part(APPROVAL_STORE);
  const finishApproval: typeof finish = (...given) =>
    isBusy() ? Promise.reject(new StrataError("store_busy", "the database is locked")) : finish(...given);
  return { part: (of) => ({ ...store.part(of), ...(of.name === APPROVAL_STORE.name && { finishApproval }) }) };
}

describe("what came of an approved call", () => {
  it("is kept though the database is busy for a moment", async () => {
    let tries = 2;
    const stand = await waiting({ store: (store) => busyWhile(store, () => tries-- > 0) });
    const done = await stand.runtime.use(APPROVAL_API).decide(OPERATOR, stand.waits.id, { verdict: "approved" });
    expect(done).toMatchObject({ status: "done", outcome: { text: "paid order 7" } });
    expect(stand.paid).toEqual(["order 7"]);
  });

  it("is shown to the person if it cannot be stored, who then resolves it; nothing runs again", async () => {
    let isLocked = true;
    const stand = await waiting({ store: (store) => busyWhile(store, () => isLocked) });
    const { runtime, waits } = stand;
    const lost = await runtime
      .use(APPROVAL_API)
      .decide(OPERATOR, waits.id, { verdict: "approved" })
      .catch((thrown) => thrown);
    expect(lost).toMatchObject({ code: "store_busy", message: expect.stringContaining('answered "paid order 7"') });
    expect(lost.message).toContain(`strata approval resolve ${waits.id} --note`);
    expect(await runtime.use(APPROVAL_API).approval(OPERATOR, waits.id)).toMatchObject({ status: "approved" });
    isLocked = false;
    const note = untrusted("349 euros left the account");
    const resolved = await runtime.use(APPROVAL_API).decide(OPERATOR, waits.id, { verdict: "resolved", note });
    expect(resolved).toMatchObject({ status: "done", outcome: { text: note, failed: false } });
    expect(await told(stand)).toMatch(
      /look was approved.*The operator has checked and says: 349 euros left the account/,
    );
    expect(stand.paid).toEqual(["order 7"]);
  });

  it("is resolved with a word of what was found, after an approval and before any end, by operators only", async () => {
    const going = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const stand = await waiting({
      run: () => {
        begun.resolve();
        return going.promise;
      },
    });
    const { runtime, waits } = stand;
    const resolve = (actor = OPERATOR, note = "it was paid") =>
      runtime.use(APPROVAL_API).decide(actor, waits.id, { verdict: "resolved", note: untrusted(note) });
    await expect(resolve()).rejects.toMatchObject({ code: "approval_decided" });
    const running = runtime.use(APPROVAL_API).decide(OPERATOR, waits.id, { verdict: "approved" });
    await begun.promise;
    await expect(resolve()).rejects.toThrow(/ is running; wait for its end/);
    going.resolve();
    await running;
    await expect(resolve()).rejects.toMatchObject({ code: "approval_decided" });
    await expect(resolve(OPERATOR, " ")).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("ends with the signal of whoever approved it", async () => {
    const stop = new AbortController();
    const run = ({ signal }: ToolContext) => {
      stop.abort();
      signal.throwIfAborted();
    };
    const { runtime, waits } = await waiting({ run, effect: "none" });
    const end = await runtime
      .use(APPROVAL_API)
      .decide(OPERATOR, waits.id, { verdict: "approved", signal: stop.signal });
    expect(end).toMatchObject({ status: "done", outcome: { failed: true, text: expect.stringContaining("stopped") } });
  });

  it.each(["its time is over", "the person stops it"])(
    "is not known where %s and it acts outside: it stays open, and the agent is told so",
    async (how) => {
      const stop = new AbortController();
      const never = new Promise<never>(() => undefined);
      const run = () => {
        if (how === "the person stops it") stop.abort();
        return never;
      };
      const stand = await waiting({ run, seconds: 0.01 });
      const { runtime, waits } = stand;
      const left = await runtime
        .use(APPROVAL_API)
        .decide(OPERATOR, waits.id, { verdict: "approved", signal: stop.signal });
      expect(left).toMatchObject({ status: "approved" });
      expect(left.outcome).toBeUndefined();
      expect(await told(stand)).toMatch(/look was approved and started.*its effect is unknown/s);
      const note = untrusted("nothing was paid");
      expect(await runtime.use(APPROVAL_API).decide(OPERATOR, waits.id, { verdict: "resolved", note })).toMatchObject({
        status: "done",
      });
    },
  );

  it("is cut to the budget of a result before it is stored and shown, and says so", async () => {
    const stand = await waiting({ message: "word ".repeat(200_000) });
    const done = await stand.runtime.use(APPROVAL_API).decide(OPERATOR, stand.waits.id, { verdict: "approved" });
    const tokens = Math.ceil(Buffer.byteLength(done.outcome?.text ?? "") / 3);
    expect(tokens).toBeLessThanOrEqual(DEFAULT_BUDGETS.result);
    expect(tokens).toBeGreaterThan(DEFAULT_BUDGETS.result / 2);
    expect(done.outcome?.text).toMatch(
      /\(The result above is truncated: its first \d+ of 1000000 characters are shown\.\)$/,
    );
    expect(await told(stand)).toContain("of 1000000 characters are shown.)");
  });
});

describe("a call whose tool was changed since", () => {
  it("is not run: what was approved is another tool's; it can be denied", async () => {
    const stand = await waiting();
    const changed: string[] = [];
    const tools = toolset([...memoryTools(stand.store), paying(changed, { description: "Pays twice." }), idle()]);
    const { runtime } = await testRuntime([], { agent: stand.agent, store: stand.store, parts: { tools } });
    await expect(
      runtime.use(APPROVAL_API).decide(OPERATOR, stand.waits.id, { verdict: "approved" }),
    ).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/look has changed since .* deny it/),
    });
    expect(await runtime.use(APPROVAL_API).approval(OPERATOR, stand.waits.id)).toMatchObject({ status: "waiting" });
    expect(changed).toEqual([]);
    expect(await runtime.use(APPROVAL_API).decide(OPERATOR, stand.waits.id, { verdict: "denied" })).toMatchObject({
      status: "denied",
    });
  });
});

describe("a call that its agent waits for, too", () => {
  const agent = sampleAgent({ rules: [{ tool: toolName("look"), wait: true }] });
  const PAY = { call: "look", id: "c1", input: { at: "order 7" } };

  /** A program on that store; each of them is another start. */
  async function program(script: Parameters<typeof testRuntime>[0], store?: Store, how: Paying = {}) {
    const paid: string[] = [];
    const kept = store ?? (await openSqlite(":memory:", { parts: await allParts() }));
    const tools = toolset([...memoryTools(kept), paying(paid, how), idle()]);
    const stand = await testRuntime(script, { agent, store: kept, parts: { tools, alive: () => false } });
    const api = stand.runtime.use(APPROVAL_API);
    const asked = async (thread: Thread) => {
      const [approval] = await api.approvals(OPERATOR, thread.scope, { status: "waiting" }, 9);
      if (approval === undefined) throw new Error("nothing waits");
      return approval;
    };
    return { ...stand, paid, api, asked };
  }

  const resultIn = (request: Request | undefined) => request?.messages.filter(({ role }) => role === "tool");

  it("ends the turn, and its result is the answer to the call, after a restart", async () => {
    const first = await program([{ parts: [{ text: "I ask." }, PAY] }]);
    const thread = await first.open();
    const [begun, end] = [await first.say(thread, "Pay order 7"), first.sent.length];
    expect(begun.at(-1)).toMatchObject({
      type: "waiting",
      text: "I ask.",
      calls: [{ waitsFor: "person", tool: "look" }],
    });
    expect(end).toBe(1);
    const next = await program(["It is paid."], first.store);
    const { id, answers } = await next.asked(thread);
    expect(answers).toMatch(/^cal_/);
    expect(await next.api.decide(OPERATOR, id, { verdict: "approved" })).toMatchObject({ status: "done", answers });
    expect(next.paid).toEqual(["order 7"]);
    const events = await collect(next.runtime.follow(OPERATOR, thread));
    expect(events.at(-1)).toMatchObject({ type: "done", text: "It is paid." });
    expect(resultIn(next.sent[0])).toMatchObject([
      {
        parts: [{ id: "c1", failed: false, text: expect.stringMatching(/^\[result operator\]\n\| paid order 7$/) }],
      },
    ]);
    // Law 1: the earlier request is sent again, with the result after it.
    const before = first.sent[0]?.messages ?? [];
    expect(next.sent[0]?.messages.slice(0, before.length)).toEqual(before);
    const turns = await next.runtime.turns(OPERATOR, thread.id);
    expect(turns.map(({ status, run }) => [status, run])).toEqual([
      ["waiting", turns[0]?.id],
      ["done", turns[0]?.id],
    ]);
    for await (const finding of next.store.verify(thread.scope.org)) expect(finding.type).not.toBe("problem");
  });

  it("is answered with a sentence where a person denies it, and with their word where its result is not known", async () => {
    const denying = await program([{ parts: [PAY] }, "Then not."]);
    const thread = await denying.open();
    await denying.say(thread, "Pay order 7");
    const { id } = await denying.asked(thread);
    await denying.api.decide(OPERATOR, id, { verdict: "denied", note: untrusted("too much") });
    await collect(denying.runtime.follow(OPERATOR, thread));
    expect(denying.paid).toEqual([]);
    expect(resultIn(denying.sent[1])).toMatchObject([
      { parts: [{ failed: true, text: expect.stringContaining("was denied by the operator and not run: too much") }] },
    ]);

    const lost = await program([{ parts: [PAY] }, "So it is."], undefined, {
      run: () => new Promise<never>(() => undefined),
      seconds: 0.01,
    });
    const other = await lost.open();
    await lost.say(other, "Pay order 7");
    const call = await lost.asked(other);
    expect(await lost.api.decide(OPERATOR, call.id, { verdict: "approved" })).toMatchObject({ status: "approved" });
    // The agent keeps waiting, since the outcome is unknown.
    expect(await collect(lost.runtime.follow(OPERATOR, other))).toEqual([]);
    const open = await lost.runtime.openCalls(OPERATOR, other.id);
    expect(`${waitingSays(open)}; ${goesOnSays(open)}`).toBe(
      "waiting for a person (look): `strata approval list` shows whether the call is still to be decided, or was approved and nobody knows how it ended; the conversation goes on when that is done",
    );
    await lost.api.decide(OPERATOR, call.id, { verdict: "resolved", note: untrusted("it was paid") });
    await collect(lost.runtime.follow(OPERATOR, other));
    expect(JSON.stringify(resultIn(lost.sent[1]))).toContain("has checked and says: it was paid");
  });

  it("is told of as any other once the agent has gone on with a message", async () => {
    const stand = await program([{ parts: [PAY] }, "Yes?", "I was told."]);
    const thread = await stand.open();
    await stand.say(thread, "Pay order 7");
    await stand.say(thread, "Are you there?");
    expect(JSON.stringify(resultIn(stand.sent[1]))).toContain("No answer yet.");
    await stand.api.decide(OPERATOR, (await stand.asked(thread)).id, { verdict: "approved" });
    await collect(stand.runtime.follow(OPERATOR, thread));
    expect(textOf(stand.sent[2])).toMatch(/^\[approval operator .*: look was approved and ran\. Result:/s);
  });

  it("is asked for once where the model makes the same call twice in one message", async () => {
    const stand = await program([{ parts: [PAY, { ...PAY, id: "c2" }] }]);
    const thread = await stand.open();
    expect((await stand.say(thread, "Pay")).at(-1)).toMatchObject({ calls: [{ waitsFor: "person" }] });
    expect(await stand.api.approvals(OPERATOR, thread.scope, {}, 9)).toHaveLength(1);
  });
});
