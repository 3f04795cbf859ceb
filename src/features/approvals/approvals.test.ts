import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { allParts } from "../../app/entry/features.ts";
import {
  type ApprovalId,
  allow,
  approvalId,
  type Request,
  readFrames,
  StrataError,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import { openSqlite, type Thread } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { MEMORY_API, memoryTools } from "../memories/index.ts";
import { APPROVAL_API } from "./index.ts";

const REFUND = { call: "look", id: "c1", input: { at: "order 7" } };

/** A stage whose agent has one tool that asks, as the tool or the declaration says. */
async function asking(
  script: readonly Parameters<typeof testRuntime>[0][number][],
  how: "tool" | "declaration" = "tool",
) {
  const acted: string[] = [];
  const store = await openSqlite(":memory:", { parts: await allParts() });
  const refund = defineTool({
    name: "look",
    description: "Refunds an order.",
    input: z.object({ at: z.string() }),
    effect: "external",
    trust: "operator",
    ...(how === "tool" && { needsApproval: ({ at }: { readonly at: string }) => at !== "a penny" }),
    run: async ({ at }) => {
      if (at === "nothing") throw new Error("nothing to refund");
      acted.push(at);
      return {
        text: untrusted(`refunded ${at}`),
        failed: false,
        writes: [
          { kind: "memory", memory: { content: untrusted(`Refunded ${at}.`), tags: [], trust: "operator", at: 1 } },
        ],
      };
    },
  });
  const agent = sampleAgent(how === "tool" ? {} : { rules: [{ tool: refund.schema.name, approval: true }] });
  const rest = memoryTools(store);
  const ring = defineTool({
    name: "ring",
    description: "Rings.",
    input: z.object({}),
    effect: "none",
    trust: "contact",
    run: () => "rang",
  });
  const stand = await testRuntime(script, { agent, store, parts: { tools: toolset([...rest, refund, ring]) } });
  const waiting = async (thread: Thread) =>
    stand.runtime.use(APPROVAL_API).approvals(OPERATOR, thread.scope, { status: "waiting" }, 10);
  return { ...stand, acted, waiting };
}

const onlyId = (found: readonly { readonly id: ApprovalId }[]): ApprovalId => {
  const [one, another] = found;
  if (one === undefined || another !== undefined) throw new Error(`${found.length} approvals wait`);
  return one.id;
};

const newest = (request: Request | undefined): string =>
  request?.messages
    .at(-1)
    ?.parts.map((part) => ("text" in part ? part.text : ""))
    .join("\n") ?? "";

describe("a call that needs approval", () => {
  it.each(["tool", "declaration"] as const)(
    "waits, by the word of the %s; the turn goes on and says so",
    async (how) => {
      const { say, open, sent, acted, waiting } = await asking([{ parts: [REFUND] }, "A person has to agree."], how);
      const thread = await open();
      const events = await say(thread, "Refund order 7");
      expect(endOf(events)).toMatchObject({ type: "done", text: "A person has to agree." });
      const [approval] = await waiting(thread);
      expect(approval).toMatchObject({ tool: "look", input: { at: "order 7" }, status: "waiting", taint: "contact" });
      expect(events).toContainEqual({
        type: "report",
        what: "approval",
        message: expect.stringContaining(`look {"at":"order 7"} waits for a person`),
        data: { approval: approval?.id, tool: "look", input: { at: "order 7" } },
      });
      expect(newest(sent[1])).toContain(`Not run yet: look is waiting for a person's approval (${approval?.id})`);
      expect(acted).toEqual([]);
    },
  );

  it("runs once when it is approved; its writes land with it, and the agent hears of it in a frame", async () => {
    const { say, open, sent, acted, waiting, runtime } = await asking([{ parts: [REFUND] }, "Waiting.", "It is done."]);
    const thread = await open();
    await say(thread, "Refund order 7");
    const id = onlyId(await waiting(thread));
    const done = await runtime.use(APPROVAL_API).decide(OPERATOR, id, { verdict: "approved" });
    expect(done).toMatchObject({
      status: "done",
      decidedBy: "operator",
      decidedById: OPERATOR.id,
      outcome: { text: "refunded order 7", failed: false },
    });
    expect(acted).toEqual(["order 7"]);
    expect(await runtime.use(MEMORY_API).memories(OPERATOR, thread.scope, 5)).toMatchObject([
      { content: "Refunded order 7." },
    ]);
    const end = endOf(await collect(runtime.run(OPERATOR, thread)));
    expect(end).toMatchObject({ type: "done", text: "It is done." });
    expect(readFrames(newest(sent[2]))).toMatchObject([
      {
        kind: "approval",
        trust: "operator",
        text: expect.stringContaining("approved and ran. Result:\nrefunded order 7"),
      },
    ]);
    await expect(runtime.use(APPROVAL_API).decide(OPERATOR, id, { verdict: "approved" })).rejects.toMatchObject({
      code: "approval_decided",
    });
    expect(acted).toEqual(["order 7"]);
  });

  it("does not run when it is denied, and the agent learns why", async () => {
    const { say, open, sent, acted, waiting, runtime } = await asking([{ parts: [REFUND] }, "Waiting.", "Sorry."]);
    const thread = await open();
    await say(thread, "Refund order 7");
    const id = onlyId(await waiting(thread));
    const note = untrusted("too late");
    expect(await runtime.use(APPROVAL_API).decide(OPERATOR, id, { verdict: "denied", note })).toMatchObject({
      status: "denied",
      note,
    });
    await collect(runtime.run(OPERATOR, thread));
    expect(newest(sent[2])).toContain("was denied by the operator and not run: too late");
    expect(acted).toEqual([]);
  });

  it("that fails says how, and keeps no write", async () => {
    const call = { ...REFUND, input: { at: "nothing" } };
    const { say, open, waiting, runtime } = await asking([{ parts: [call] }, "Waiting."]);
    const thread = await open();
    await say(thread, "Refund nothing");
    const outcome = { text: "look failed: nothing to refund", failed: true };
    expect(
      await runtime.use(APPROVAL_API).decide(OPERATOR, onlyId(await waiting(thread)), { verdict: "approved" }),
    ).toMatchObject({
      outcome,
    });
    expect(await runtime.use(MEMORY_API).memories(OPERATOR, thread.scope, 5)).toEqual([]);
  });

  it("is one question however often it is asked in a turn, and none where the input needs none", async () => {
    const penny = { ...REFUND, id: "c3", input: { at: "a penny" } };
    const { say, open, acted, waiting } = await asking([{ parts: [REFUND, { ...REFUND, id: "c2" }, penny] }, "Well."]);
    const thread = await open();
    await say(thread, "Refund order 7, twice");
    expect(await waiting(thread)).toHaveLength(1);
    expect(acted).toEqual(["a penny"]);
  });

  it("is reported when it can be decided: once its turn is committed, and before the end", async () => {
    const { open, runtime, time, acted } = await asking([{ parts: [REFUND] }, "It waits."]);
    const thread = await open();
    await runtime.post(OPERATOR, thread, [message("Refund order 7", time.at)]);
    const types: string[] = [];
    for await (const event of runtime.run(OPERATOR, thread)) {
      types.push(event.type);
      if (event.type !== "report") continue;
      expect(event.message).toContain(`or \`POST /v1/approvals/${event.data["approval"]}/approve\``);
      await runtime
        .use(APPROVAL_API)
        .decide(OPERATOR, approvalId(String(event.data["approval"])), { verdict: "approved" });
    }
    expect(types.slice(-3)).toEqual(["text-delta", "report", "done"]);
    expect(acted).toEqual(["order 7"]);
  });

  it("law 7: waits only once its turn is committed, and is reported only then", async () => {
    const { say, open, waiting } = await asking([{ parts: [REFUND] }, new StrataError("model_failed", "gone")]);
    const thread = await open();
    const events = await say(thread, "Refund order 7");
    expect(endOf(events).type).toBe("failed");
    expect(events.map(({ type }) => type)).not.toContain("report");
    expect(await waiting(thread)).toEqual([]);
  });

  it("is found by nobody out of whose reach it is", async () => {
    const { say, open, waiting, runtime } = await asking([{ parts: [REFUND] }, "Waiting."]);
    const thread = await open();
    await say(thread, "Refund order 7");
    const id = onlyId(await waiting(thread));
    const bob = allow({ ...OPERATOR, contact: (await open("bob")).scope.contact }, "operate");
    await expect(runtime.use(APPROVAL_API).decide(bob, id, { verdict: "approved" })).rejects.toMatchObject({
      code: "approval_not_found",
    });
  });

  it.each<[string, () => unknown, number]>([
    ["a promise of no", async () => false, 1],
    ["a promise that breaks", () => Promise.reject(new Error("no answer")), 1],
    [
      "an error",
      () => {
        throw new Error("no idea");
      },
      1,
    ],
    ["a word", () => "", 1],
    ["nothing", () => undefined, 0],
    ["a plain no", () => false, 0],
  ])("is one whose tool answers with %s", async (_, answer, count) => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", hear);
    onTestFinished(() => void process.off("unhandledRejection", hear));
    const { say, open, waiting, parts } = await asking([{ parts: [REFUND] }, "Well."]);
    const refund = parts.tools.get(toolName("look"));
    if (refund === undefined) throw new Error("no tool");
    Reflect.set(refund, "needsApproval", answer);
    const thread = await open();
    await say(thread, "Refund order 7");
    expect(await waiting(thread)).toHaveLength(count);
    await setImmediate();
    expect(unhandled).toEqual([]);
  });
});
