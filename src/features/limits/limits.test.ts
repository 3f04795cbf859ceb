import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { projectInCode } from "../../app/entry/agents.ts";
import { type Agent, type Allowed, actorId, allow, contactId } from "../../protocol/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { cardOf } from "../../wire/index.ts";
import { handlerOf } from "../handlers/index.contract.ts";
import { LIMITS_API, type LimitsWish } from "./index.ts";

type Rules = NonNullable<Agent["limits"]>;

const MINUTE = 60_000;
/** What each reply costs: a cent and a half. */
const DEAR = { parts: [{ text: "Well." }], usage: { input: 5_000 } };

/** An agent with limits, whose model has a price. A reply has at most 1,000 tokens: a call may cost some two cents. */
const limited = (limits: Rules, replies: Parameters<typeof testRuntime>[0], more: Partial<Agent> = {}) =>
  testRuntime(replies, {
    agent: sampleAgent({ limits, budgets: { ...sampleAgent().budgets, reply: 1_000 }, ...more }),
    parts: { cardOf: () => cardOf("anthropic:claude-sonnet-4-5") },
  });

const REFUSED = { type: "failed", error: { code: "limit_reached" } };
const key = (name: string): Allowed<"run" | "post"> =>
  allow({ org: ORG, id: actorId(`key:${name}`), role: "member" }, "run", "post");

/** Posts as that actor, and runs a turn. */
async function sayAs(on: Awaited<ReturnType<typeof limited>>, actor: ReturnType<typeof key>, contact: string) {
  const thread = await on.open(contact);
  await on.runtime.post(actor, thread, [message("Hi", on.time.at)]);
  return endOf(await collect(on.runtime.run(actor, thread)).catch((error) => [{ type: "failed", error } as never]));
}

it("27.7 a period without dollars is refused: calls are always those of any 60 seconds", () => {
  const load = (limits: object) =>
    projectInCode(
      { organization: "home", agents: { helper: { description: "It helps.", layers: [], limits } } },
      { folder: tmpdir(), env: {} },
    );
  expect(() => load({ contact: { calls: 2, per: "day" } })).toThrow(/any 60 seconds/);
  expect(() => load({ groups: { trial: { calls: 1, per: "ever", keys: ["key_a"] } } })).toThrow(/any 60 seconds/);
  expect(() => load({ contact: { calls: 2, dollars: 1, per: "day" } })).not.toThrow();
});

describe("limits", () => {
  it("003.43 so many calls a minute for an agent: the next is refused with an error of its own, and its message keeps waiting", async () => {
    const on = await limited({ agent: { calls: 2 } }, ["One.", "Two.", "Three."]);
    const threads = await Promise.all(["ann", "bob", "cid"].map((contact) => on.open(contact)));
    const [ann, bob, cid] = threads as [(typeof threads)[number], (typeof threads)[number], (typeof threads)[number]];
    expect(endOf(await on.say(ann, "one")).type).toBe("done");
    expect(endOf(await on.say(bob, "two")).type).toBe("done");
    const error = await on.say(cid, "three").catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "limit_reached", details: { kind: "agent", what: "calls", retryAfter: 60 } });
    expect(error.traits).toMatchObject({ status: 429, retry: true });
    expect(error.message).toContain(
      "has used up its 2 model calls a minute; try again at 2026-11-21T09:31:00Z; a message that was sent is kept",
    );
    expect(on.sent).toHaveLength(2);
    on.time.at += MINUTE;
    expect(endOf(await collect(on.runtime.run(OPERATOR, cid)))).toMatchObject({ type: "done", text: "Three." });
    expect(await on.runtime.turns(OPERATOR, cid.id)).toHaveLength(1);
  });

  it("26.3 a contact learns when to come again, and nothing of whose limit it was", async () => {
    const on = await limited({ agent: { calls: 1 } }, ["One."]);
    expect(endOf(await on.say(await on.open("bob"), "one")).type).toBe("done");
    const ann = allow({ org: ORG, id: actorId("key:ann"), role: "contact", contact: contactId("ann") }, "run", "post");
    const refused = await sayAs(on, ann, "ann");
    expect(refused).toMatchObject({ ...REFUSED, error: { details: { retryAfter: 60 } } });
    expect(refused.type === "failed" && Object.keys(refused.error.details).sort()).toEqual(["retryAfter", "until"]);
    expect(refused.type === "failed" && refused.error.message).not.toContain("helper");
  });

  it("003.20 a call that comes too early waits inside its turn, where the agent says so", async () => {
    const on = await limited({ agent: { calls: 1 }, wait: true }, ["One.", "Two."]);
    await on.say(await on.open("ann"), "one");
    const later = on.say(await on.open("bob"), "two");
    on.time.at += MINUTE;
    expect(endOf(await later)).toMatchObject({ type: "done", text: "Two." });
  });

  it("26.3 a call that could cost more than a contact has left is not made; other contacts go on", async () => {
    const on = await limited({ contact: { dollars: 0.04 } }, [DEAR, DEAR, "Bob.", "Later."]);
    const ann = await on.open("ann");
    expect(endOf(await on.say(ann, "one")).type).toBe("done");
    expect(endOf(await on.say(ann, "two")).type).toBe("done");
    const refused = endOf(await on.say(ann, "three"));
    expect(refused).toMatchObject(REFUSED);
    expect(refused.type === "failed" && refused.error.message).toMatch(
      /could cost more than the contact ann of helper has left: \$0\.0300 of \$0\.04 a UTC day are spent; try again at 2026-11-22T00:00:00Z/,
    );
    expect(on.sent).toHaveLength(2);
    // Asked for again, no turn begins, and nothing new is recorded.
    await expect(collect(on.runtime.run(OPERATOR, ann))).rejects.toMatchObject({ code: "limit_reached" });
    expect(await on.runtime.turns(OPERATOR, ann.id)).toHaveLength(3);
    expect(endOf(await on.say(await on.open("bob"), "Hi"))).toMatchObject({ type: "done", text: "Bob." });
    on.time.at += 15 * 60 * MINUTE;
    expect(endOf(await collect(on.runtime.run(OPERATOR, ann)))).toMatchObject({ type: "done", text: "Later." });
  });

  it("26.3 each key by itself, whatever contact it speaks for; and several keys as a group", async () => {
    const groups = { trial: { calls: 3, keys: ["mia", "tom"] } };
    const on = await limited({ key: { calls: 2 }, groups }, ["1", "2", "3", "4"]);
    expect((await sayAs(on, key("mia"), "ann")).type).toBe("done");
    expect((await sayAs(on, key("mia"), "bob")).type).toBe("done");
    expect(await sayAs(on, key("mia"), "cid")).toMatchObject({
      ...REFUSED,
      error: { details: { kind: "key", name: "mia" } },
    });
    expect((await sayAs(on, key("tom"), "dan")).type).toBe("done");
    expect(await sayAs(on, key("tom"), "eve")).toMatchObject({ error: { details: { kind: "group", name: "trial" } } });
    expect((await sayAs(on, key("zoe"), "fay")).type).toBe("done");
  });

  it("003.24 27.7 several keys as a group, for what a handler asks: calls and money, whoever of them is the sender", async () => {
    const code =
      "export default async (p, m, { complete }) => { try { return { payload: (await complete({ message: p.text })).text }; } catch (e) { return { payload: e.message }; } };";
    const groups = { trial: { calls: 3, dollars: 0.04, keys: ["mia", "tom"] } };
    const on = await limited({ groups }, [DEAR, DEAR, "Zoe's."], { handler: handlerOf(code) });
    expect(await sayAs(on, key("mia"), "ann")).toMatchObject({ text: "Well." });
    expect(await sayAs(on, key("tom"), "bob")).toMatchObject({ text: "Well." });
    // A cent and a half twice: the rest cannot pay for the longest answer.
    const refused = { text: "a limit of calls or money is reached; try again later" };
    expect(await sayAs(on, key("mia"), "cid")).toMatchObject(refused);
    expect(await sayAs(on, key("zoe"), "dan")).toMatchObject({ text: "Zoe's." });
    const list = on.runtime.use(LIMITS_API).limits(OPERATOR, [on.agent], { key: "mia" });
    expect(await list).toMatchObject([{ kind: "group", name: "trial", used: { calls: 2, spent: 0.03 } }]);
  });

  it("26.3 a call that was broken off counts as the most that it could cost, one that the provider refused as nothing", async () => {
    const stop = new AbortController();
    const on = await limited({ agent: { dollars: 1 } }, [
      { parts: [], end: { error: { message: "no such key", statusCode: 401 } } },
      "Never read.",
    ]);
    const used = async () => (await on.runtime.use(LIMITS_API).limits(OPERATOR, [on.agent], {}))[0]?.used;
    const ann = await on.open("ann");
    await on.say(ann, "one");
    expect(await used()).toEqual({ calls: 1, spent: 0, held: 0 });
    const bob = await on.open("bob");
    await on.runtime.post(OPERATOR, bob, [message("Hi", on.time.at)]);
    for await (const event of on.runtime.run(OPERATOR, bob, { signal: stop.signal }))
      if (event.type === "text-delta") stop.abort();
    const { spent = 0, held } = (await used()) ?? {};
    expect([spent > 0.015, held]).toEqual([true, 0]);
  });

  it("26.3 a raised limit holds at once for the threads that were refused", async () => {
    const on = await limited({ agent: { calls: 1 } }, ["One.", "Two."]);
    await on.say(await on.open("ann"), "one");
    const bob = await on.open("bob");
    await expect(on.say(bob, "two")).rejects.toMatchObject({ code: "limit_reached" });
    const raised = { ...on.agent, limits: { agent: { calls: 2 } } };
    Object.assign(on.parts.agents, { all: [raised] });
    expect(endOf(await collect(on.runtime.run(OPERATOR, bob)))).toMatchObject({ type: "done" });
  });

  it("26.3 are listed as far as the actor's access goes", async () => {
    const on = await limited(
      { agent: { calls: 5 }, organization: { dollars: 1, per: "ever" }, contact: { calls: 3 } },
      [DEAR],
    );
    await on.say(await on.open("ann"), "one");
    const list = (actor: Parameters<typeof allow>[0], wish: LimitsWish = {}) =>
      on.runtime.use(LIMITS_API).limits(allow(actor, "read"), [on.agent], wish);
    const all = await list(OPERATOR, { contact: contactId("ann"), key: "token:operator" });
    expect(all.map(({ kind, used }) => [kind, used.calls, used.spent])).toEqual([
      ["organization", 1, 0.015],
      ["agent", 1, 0],
      ["contact", 1, 0],
    ]);
    const ofAgent = { ...OPERATOR, role: "member", agent: on.agent.name } as const;
    expect((await list(ofAgent)).map(({ kind }) => kind)).toEqual(["agent"]);
    const ofBob = { ...ofAgent, contact: (await on.open("bob")).scope.contact };
    expect((await list(ofBob)).map(({ kind, used }) => [kind, used.calls])).toEqual([["contact", 0]]);
  });

  it("26.3 a model without a known price is refused where money is limited", async () => {
    const on = await testRuntime(["Well."], {
      agent: sampleAgent({ limits: { key: { dollars: 1 } } }),
      parts: { cardOf: () => ({ ...cardOf("anthropic:claude-sonnet-4-5"), priced: false }) },
    });
    await expect(on.say(await on.open(), "Hi")).rejects.toMatchObject({ code: "invalid_input" });
  });
});
