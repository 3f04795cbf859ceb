import { describe, expect, it } from "vitest";
import { agentSpec } from "../../agents/index.ts";
import {
  type ApprovalId,
  actorId,
  allow,
  contactId,
  type Layer,
  layerId,
  type Request,
  readFrames,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { collect, endOf, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { toolset } from "../../turn/tools/index.ts";
import { AGENT_API, attentionLines } from "../agents/index.ts";
import { APPROVAL_API, ESCALATION_API, FEATURE } from "./index.ts";

const QUESTION = { question: "May Ann have 10 % off?", reason: "No rule says so.", minutes: 30 };
const asks = (input: object = QUESTION) => ({ parts: [{ call: "escalate", id: "c1", input: { ...input } }] });
const MEMBER = allow({ org: ORG, id: actorId("member:mia"), role: "member" }, "decide", "read", "run");
const DAY = 24 * 3_600_000;

const layer = (id: string, rank: number, source: Layer["source"], more: Partial<Layer> = {}): Layer => ({
  ...{ mutability: "immutable", scope: "agent", trust: "operator", minimum: 0, required: false },
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  ...more,
  ...{ id: layerId(id), rank, source },
});

/** A clerk that may ask a person, on one conversation. */
async function desk(script: Parameters<typeof testRuntime>[0], wait = false) {
  const agent = sampleAgent({
    tools: [toolName("escalate")],
    recall: "none",
    ...(wait && { rules: [{ tool: toolName("escalate"), wait: true as const }] }),
    layers: [
      layer("core", 0, { kind: "text", text: trusted("You are a clerk.") }),
      layer("delivery", 50, { kind: "delivery" }, { scope: "turn", mutability: "live", trust: "platform" }),
    ],
  });
  const tools = FEATURE.tools?.({ store: undefined as never, agentOf: () => undefined, files: "" }) ?? [];
  const on = await testRuntime(script, { agent, parts: { tools: toolset(tools) } });
  const thread = await on.open();
  const escalations = on.runtime.use(ESCALATION_API);
  const ask = async (text: string) => endOf(await on.say(thread, text, { replyTo: "outbox" }));
  const only = async (): Promise<ApprovalId> => {
    const [one, another] = await escalations.newestEscalations(OPERATOR, { status: "open", limit: 9 });
    if (one === undefined || another !== undefined) throw new Error("not one question is open");
    return one.id as ApprovalId;
  };
  const verified = async () => {
    const found = [];
    for await (const one of on.store.verify(ORG)) if (one.type === "problem") found.push(one);
    expect(found).toEqual([]);
  };
  const goOn = async () => endOf(await collect(on.runtime.follow(OPERATOR, thread)));
  return { ...on, thread, escalations, ask, only, verified, goOn };
}

const newest = (request: Request | undefined): string =>
  request?.messages
    .at(-1)
    ?.parts.map((part) => ("text" in part ? part.text : ""))
    .join("\n") ?? "";
const tailOf = (request: Request | undefined): string => request?.tail.map(({ text }) => text).join("\n") ?? "";

describe("a question of an agent to a person", () => {
  it("004.33 is open until a member answers it; the answer is a frame of the platform's on the thread, and the agent goes on", async () => {
    const on = await desk([asks(), "I am asking the team.", "Yes, you may."]);
    expect(await on.ask("Can I have a discount?")).toMatchObject({ type: "done", text: "I am asking the team." });
    const id = await on.only();
    expect(newest(on.sent[1])).toContain(`A person of the team has your question (${id})`);
    const done = await on.escalations.answer(MEMBER, id, untrusted("Yes, once."));
    expect(done).toMatchObject({
      status: "answered",
      question: QUESTION.question,
      reason: QUESTION.reason,
      decided: { by: "member", byId: "member:mia", answer: "Yes, once." },
    });
    await expect(on.escalations.answer(MEMBER, id, untrusted("No."))).rejects.toMatchObject({
      code: "approval_decided",
      message: expect.stringMatching(/^the question apr_\w+ was answered at \S+Z already.*`strata escalation list`/),
    });
    expect(await on.goOn()).toMatchObject({ text: "Yes, you may." });
    expect(readFrames(newest(on.sent[2]))).toMatchObject([
      { kind: "approval", trust: "member", text: `The answer to your question ${id}:\nYes, once.` },
    ]);
    expect(on.sent[2]?.messages.slice(0, 1)).toEqual(on.sent[0]?.messages);
    await on.verified();
  });

  it("004.7 stands in the directive of the tail while it is open, by its id alone, and no longer once it is answered", async () => {
    const on = await desk([asks(), "I am asking.", "Still asking.", "Yes.", "Bye."]);
    await on.ask("Discount?");
    const id = await on.only();
    await on.ask("And?");
    expect(tailOf(on.sent[2])).toContain(
      `A question of yours to the team (${id}) still waits for an answer. Do not ask again.`,
    );
    expect(tailOf(on.sent[2])).not.toContain("May Ann have");
    on.time.at += DAY;
    await on.escalations.answer(OPERATOR, id, untrusted("Yes."));
    await on.goOn();
    await on.ask("Thanks");
    expect(tailOf(on.sent[4])).not.toContain("question of yours");
    expect(on.sent[0]?.prefix.system).toEqual(on.sent[4]?.prefix.system);
  });

  it("overdue it stays open, and attention says so until somebody acts", async () => {
    const on = await desk([asks(), "I am asking.", "Hm."]);
    await on.ask("Discount?");
    const lines = async () => (await on.runtime.use(AGENT_API).attention(OPERATOR)).flatMap(attentionLines);
    expect(await lines()).toContain(
      "1 question of helper waits for a person: `strata escalation list helper` shows it",
    );
    on.time.at += DAY;
    expect(await lines()).toContain(
      "1 question of helper waits for a person (1 overdue): `strata escalation list helper` shows it",
    );
    expect(await on.escalations.escalation(OPERATOR, await on.only())).toMatchObject({ overdue: true, status: "open" });
    await on.ask("And?");
    expect(tailOf(on.sent[2])).toContain("still waits for an answer, longer than you wanted.");
    await on.escalations.close(OPERATOR, await on.only());
    expect(await lines()).toEqual([]);
  });

  it("is taken by one and by another after that, and stays open; who took it is linked", async () => {
    const on = await desk([asks(), "I am asking."]);
    await on.ask("Discount?");
    const id = await on.only();
    expect(await on.escalations.take(MEMBER, id)).toMatchObject({ status: "open", taken: { byId: "member:mia" } });
    expect(await on.escalations.take(OPERATOR, id)).toMatchObject({ taken: { byId: OPERATOR.id } });
    await on.verified();
    await on.escalations.answer(MEMBER, id, untrusted("Yes."));
    expect(await on.escalations.escalation(OPERATOR, id)).toMatchObject({
      taken: { byId: OPERATOR.id },
      decided: { byId: "member:mia" },
    });
    await expect(on.escalations.take(OPERATOR, id)).rejects.toThrow("already, so nothing was changed");
    await on.verified();
  });

  it("closed, it tells the agent why, and a second decision changes nothing", async () => {
    const on = await desk([asks(), "I am asking.", "I see."]);
    await on.ask("Discount?");
    const id = await on.only();
    expect(await on.escalations.close(MEMBER, id, untrusted("he came by"))).toMatchObject({ status: "closed" });
    await expect(on.escalations.answer(OPERATOR, id, untrusted("Yes."))).rejects.toThrow("nothing was changed");
    await on.goOn();
    expect(newest(on.sent[2])).toContain(`Your question ${id} was closed without an answer: he came by`);
    await on.verified();
  });

  it("with `wait`, the answer is the result of the call", async () => {
    const on = await desk([asks(), "Yes, you may."], true);
    await on.say(on.thread, "Discount?", { replyTo: "outbox" });
    await on.escalations.answer(MEMBER, await on.only(), untrusted("Yes, once."));
    expect(await on.goOn()).toMatchObject({ text: "Yes, you may." });
    expect(newest(on.sent[1])).toContain("Yes, once.");
    expect(newest(on.sent[1])).not.toContain("The answer to your question");
    await on.verified();
  });

  it("is neither approved nor listed as a call, and no call is answered like a question", async () => {
    const on = await desk([asks(), "I am asking."]);
    await on.ask("Discount?");
    const id = await on.only();
    const approvals = on.runtime.use(APPROVAL_API);
    expect(await approvals.newestApprovals(OPERATOR, { limit: 9 })).toEqual([]);
    await expect(approvals.decide(OPERATOR, id, { verdict: "approved" })).rejects.toThrow("strata escalation answer");
    expect(await on.only()).toBe(id);
  });

  it("no more than five of a conversation wait at once", async () => {
    const turns = [1, 2, 3, 4, 5, 6].flatMap((n) => [asks({ question: `Question ${n}?` }), "I am asking."]);
    const on = await desk(turns);
    for (const n of [1, 2, 3, 4, 5, 6]) await on.ask(`Well, ${n}?`);
    expect(await on.escalations.newestEscalations(OPERATOR, { status: "open", limit: 9 })).toHaveLength(5);
    expect(newest(on.sent[11])).toContain("Not asked: 5 questions of yours in this conversation still wait");
  });

  it("no contact and no other agent's key answers it", async () => {
    const on = await desk([asks(), "I am asking."]);
    await on.ask("Discount?");
    const id = await on.only();
    const contact = { org: ORG, id: actorId("key:ann"), role: "contact", contact: contactId("ann") } as const;
    expect(() => allow(contact, "decide")).toThrow();
    const bob = allow({ org: ORG, id: actorId("member:x"), role: "member", contact: contactId("bob") }, "decide");
    await expect(on.escalations.answer(bob, id, untrusted("Yes."))).rejects.toThrow("no approval");
    expect(agentSpec(on.agent)).toBeDefined();
  });
});
