import { describe, expect, it } from "vitest";
import { openRuntime } from "../../app/entry/runtime.ts";
import {
  type Allowed,
  agentName,
  allow,
  contactId,
  digestOf,
  layerId,
  orgId,
  outboxId,
  SELF,
  untrusted,
} from "../../protocol/index.ts";
import { endOf, message, OPERATOR, ORG, type TestRuntime } from "../../turn/index.contract.ts";
import type { Runtime } from "../../turn/index.ts";
import { AGENT_API, selfChangeLines } from "../agents/index.ts";
import { DELIVERY_API } from "../deliveries/index.ts";
import { INBOX_API } from "../inbox/index.ts";
import { LIFE_API } from "../life/index.ts";
import { LOG_API } from "../logs/index.ts";
import { TEXT_API } from "./api-types.ts";
import { automatonRuntime, DECLARED, LOOP, written } from "./index.contract.ts";

const ANN = contactId("ann");
const name = agentName("automaton");
const reason = untrusted("on purpose");
const choice = { ...LOOP, n: 1, reason };

/** Every operation for operators, called by a given actor. */
const DOORS: Readonly<Record<string, (runtime: Runtime, actor: Allowed<"operate">) => Promise<unknown>>> = {
  snapshot: (runtime, actor) => runtime.use(AGENT_API).snapshot(actor, name),
  layers: (runtime, actor) => runtime.use(TEXT_API).layers(actor, name),
  skills: (runtime, actor) => runtime.use(TEXT_API).skills(actor, name),
  editText: (runtime, actor) => runtime.use(TEXT_API).editText(actor, name, { ...LOOP, text: "Look.", reason }),
  textVersions: (runtime, actor) => runtime.use(TEXT_API).textVersions(actor, name, LOOP),
  textMoves: (runtime, actor) => runtime.use(TEXT_API).textMoves(actor, name, LOOP),
  proposals: (runtime, actor) => runtime.use(TEXT_API).proposals(actor, name),
  "proposals of all": (runtime, actor) => runtime.use(TEXT_API).proposals(actor),
  decideText: (runtime, actor) => runtime.use(TEXT_API).decideText(actor, name, { ...choice, verdict: "approved" }),
  activateText: (runtime, actor) => runtime.use(TEXT_API).activateText(actor, name, choice),
  disableSkill: (runtime, actor) => runtime.use(TEXT_API).disableSkill(actor, name, { name: "invoicing", reason }),
  enableSkill: (runtime, actor) => runtime.use(TEXT_API).enableSkill(actor, name, { name: "haggling", reason }),
  attention: (runtime, actor) => runtime.use(AGENT_API).attention(actor, name),
  logs: (runtime, actor) => runtime.use(LOG_API).logs(actor, name, 9),
  log: (runtime, actor) => runtime.use(LOG_API).log(actor, name, ANN),
  life: (runtime, actor) => runtime.use(LIFE_API).life(actor, name),
  funds: (runtime, actor) => runtime.use(LIFE_API).funds(actor, name),
  topUp: (runtime, actor) => runtime.use(LIFE_API).topUp(actor, name, { dollars: 1, note: untrusted("") }),
  topUps: (runtime, actor) => runtime.use(LIFE_API).topUps(actor, name, 9),
  tick: (runtime, actor) => runtime.use(LIFE_API).tick(actor, name).next(),
  inbox: (runtime, actor) => runtime.use(INBOX_API).inbox(actor, name, 9),
  outbox: (runtime, actor) => runtime.use(DELIVERY_API).outbox(actor, name, { limit: 9 }),
  delivered: (runtime, actor) => runtime.use(DELIVERY_API).delivered(actor, name, outboxId(`out_${"0".repeat(26)}`)),
  acts: (runtime, actor) => runtime.use(AGENT_API).acts(actor, name, 9),
};

/** Which roles may do it, `tests/house/roles.test.ts` runs through all doors. */
const STRANGERS = [
  ["an operator of another agent", { agent: agentName("other") }],
  ["an operator for one contact alone", { contact: ANN }],
] as const;

describe("the doors of operators", () => {
  it.each([{ before: 2 }, { part: "haggling" }])("refuse of versions and moves %j without a layer", async (page) => {
    const { runtime } = await automatonRuntime([]);
    const refusal = { code: "invalid_input", message: expect.stringContaining("no layer was named") };
    await expect(runtime.use(TEXT_API).textVersions(OPERATOR, name, page)).rejects.toMatchObject(refusal);
    await expect(runtime.use(TEXT_API).textMoves(OPERATOR, name, page)).rejects.toMatchObject(refusal);
    await expect(runtime.use(TEXT_API).textMoves(OPERATOR, name, { below: 2 })).rejects.toMatchObject(refusal);
  });

  it.each(Object.entries(DOORS))(
    "S15 %s is closed to everybody else, and changes and tells nothing",
    async (_, knock) => {
      const set = await automatonRuntime(["Hello Ann."]);
      await set.say(await set.open("ann"), "hello");
      await written(set, "Look thrice.");
      const owner = { org: ORG, agent: name };
      const before = await Promise.all([set.store.head(ORG), set.store.acts(owner, 9)]);
      for (const [who, access] of STRANGERS) {
        const tried = knock(set.runtime, allow({ ...OPERATOR, ...access }, "operate"));
        // Without a name, an actor who reaches only another agent is asked about that one.
        await expect(tried, who).rejects.toMatchObject({
          code: expect.stringMatching(/^(not_allowed|agent_not_found)$/),
        });
      }
      expect(await Promise.all([set.store.head(ORG), set.store.acts(owner, 9)])).toEqual(before);
    },
  );

  it.each(Object.entries(DOORS).filter(([door]) => door !== "proposals of all"))(
    "S15 %s knows no agent of another organization",
    async (_, knock) => {
      const set = await automatonRuntime();
      const away = allow({ ...OPERATOR, org: orgId("away") }, "operate");
      await expect(knock(set.runtime, away)).rejects.toMatchObject({ code: "agent_not_found" });
    },
  );

  it("S15 proposals of all are those of the operator's own organization", async () => {
    const set = await automatonRuntime();
    await written(set, "Look thrice.");
    expect(await set.runtime.use(TEXT_API).proposals(allow({ ...OPERATOR, org: orgId("away") }, "read"))).toEqual([]);
    expect(await set.runtime.use(TEXT_API).proposals(OPERATOR)).toHaveLength(1);
  });

  it("are open to an operator of that agent", async () => {
    const set = await automatonRuntime();
    const own = allow({ ...OPERATOR, agent: name }, "operate");
    await written(set, "Look thrice.");
    expect(await set.runtime.use(TEXT_API).layers(own, name)).toHaveLength(8);
    expect(await set.runtime.use(TEXT_API).proposals(own)).toHaveLength(1);
  });
});

/** Ann and bob have each said something. */
async function talked(): Promise<TestRuntime> {
  const set = await automatonRuntime(["Tea for Ann.", "Coffee for Bob."]);
  await set.say(await set.open("ann"), "I want tea.");
  set.time.at += 60_000;
  await set.say(await set.open("bob"), "I want coffee.");
  return set;
}

describe("logs", () => {
  it("000.57 are listed by sender, the last active first", async () => {
    const set = await talked();
    expect(await set.runtime.use(LOG_API).logs(OPERATOR, name, 9)).toMatchObject([
      { contact: "bob", entries: 1 },
      { contact: "ann", entries: 1 },
    ]);
    expect(await set.runtime.use(LOG_API).logs(OPERATOR, name, 1)).toHaveLength(1);
  });

  it("000.58 are read one sender at a time, and nothing of another stands there", async () => {
    const set = await talked();
    const log = await set.runtime.use(LOG_API).log(OPERATOR, name, ANN);
    expect(log).toMatchObject({ contact: "ann", entries: [{ body: "I want tea.", reply: "Tea for Ann." }] });
    expect(JSON.stringify(log)).not.toMatch(/bob|coffee/i);
    expect(await set.runtime.use(LOG_API).log(OPERATOR, name, contactId("cat"))).toBeUndefined();
    await expect(set.runtime.use(LOG_API).log(OPERATOR, name, SELF)).rejects.toMatchObject({ code: "not_allowed" });
  });
});

describe("the mail of an agent", () => {
  it("is listed for all senders: waiting messages, oldest first, and replies, newest first", async () => {
    const set = await talked();
    const { runtime } = set;
    for (const [who, text] of [
      ["bob", "And cake?"],
      ["ann", "And milk?"],
    ] as const) {
      await runtime.post(OPERATOR, await set.open(who), [message(text, set.time.at)]);
      set.time.at += 1_000;
    }
    expect(await runtime.use(INBOX_API).inbox(OPERATOR, name, 9)).toMatchObject([
      { contact: "bob", status: "waiting", event: { content: [{ text: "And cake?" }] } },
      { contact: "ann", status: "waiting", event: { content: [{ text: "And milk?" }] } },
    ]);
    expect(await runtime.use(INBOX_API).inbox(OPERATOR, name, 1)).toHaveLength(1);
    expect(await runtime.use(DELIVERY_API).outbox(OPERATOR, name, { limit: 9 })).toMatchObject([
      { contact: "bob", text: "Coffee for Bob." },
      { contact: "ann", text: "Tea for Ann." },
    ]);
  });

  it("is delivered once, by whoever says so", async () => {
    const set = await automatonRuntime(["Tea for Ann."]);
    const thread = await set.open("ann");
    await set.runtime.post(OPERATOR, thread, [message("Tea?", set.time.at)]);
    // Nobody takes the end of the turn: its reply keeps waiting.
    for await (const event of set.runtime.run(OPERATOR, thread)) if (event.type === "done") break;
    const [waiting] = await set.runtime.use(DELIVERY_API).outbox(OPERATOR, name, { status: "waiting", limit: 9 });
    expect(waiting).toMatchObject({ contact: "ann", status: "waiting" });
    const id = waiting?.id ?? outboxId(`out_${"0".repeat(26)}`);
    expect(await set.runtime.use(DELIVERY_API).delivered(OPERATOR, name, id)).toBe(true);
    expect(await set.runtime.use(DELIVERY_API).delivered(OPERATOR, name, id)).toBe(false);
    expect(await set.runtime.use(DELIVERY_API).outbox(OPERATOR, name, { status: "waiting", limit: 9 })).toEqual([]);
  });
});

describe("who looks", () => {
  it("is recorded with what and when, and the record names no sender and no word of theirs", async () => {
    const set = await talked();
    const { runtime, store } = set;
    await runtime.use(LOG_API).logs(OPERATOR, name, 9);
    await runtime.use(LOG_API).log(OPERATOR, name, ANN);
    await runtime.use(INBOX_API).inbox(OPERATOR, name, 9);
    await runtime.use(DELIVERY_API).outbox(OPERATOR, name, { limit: 9 });
    await runtime.use(AGENT_API).snapshot(OPERATOR, name);
    const acts = await runtime.use(AGENT_API).acts(OPERATOR, name, 9);
    expect(acts.map(({ what, role, at }) => [what, role, at])).toEqual(
      ["read snapshot", "read outbox", "read inbox", "read log", "read logs"].map((what) => [
        what,
        "operator",
        set.time.at,
      ]),
    );
    expect(JSON.stringify(acts)).not.toMatch(/ann|bob|tea|coffee/i);
    const findings = [];
    for await (const finding of store.verify(ORG)) findings.push(finding.type);
    expect(findings).not.toContain("problem");
  });

  it("is recorded of a proposal, which may be a contact's words, and not of what nobody outside has said", async () => {
    const set = await talked();
    const before = await set.store.head(ORG);
    await set.runtime.use(TEXT_API).layers(OPERATOR, name);
    await set.runtime.use(TEXT_API).proposals(OPERATOR);
    await set.runtime.use(TEXT_API).textVersions(OPERATOR, name);
    await written(set, "Look twice.", { status: "kept" });
    await written(set, "Look thrice.", { parent: 1 });
    await set.runtime.use(TEXT_API).layers(OPERATOR, name);
    await set.runtime.use(AGENT_API).attention(OPERATOR);
    expect(await set.runtime.use(AGENT_API).acts(OPERATOR, name, 9)).toEqual([]);
    expect((await set.store.head(ORG)).seq).toBe(before.seq + 2);
    await set.runtime.use(TEXT_API).proposals(OPERATOR);
    await set.runtime.use(TEXT_API).textVersions(OPERATOR, name, LOOP);
    expect(await set.runtime.use(AGENT_API).acts(OPERATOR, name, 9)).toMatchObject([
      { what: "read proposals", about: "proposals: 1" },
      { what: "read proposals", about: "proposals: 1" },
    ]);
  });
});

describe("the proposals of all agents", () => {
  it("are noted as read if they are shown, and not if others come before them", async () => {
    const set = await automatonRuntime();
    const later = { ...set.agent, name: agentName("gardener") };
    const runtime = openRuntime({ ...set.parts, agents: { ...set.parts.agents, all: [set.agent, later] } });
    await written(set, "Look thrice.");
    set.time.at += 1_000;
    await written({ ...set, agent: later }, "Look twice.");
    expect(await runtime.use(TEXT_API).proposals(OPERATOR, undefined, 1)).toMatchObject([{ agent: "automaton" }]);
    expect(await runtime.use(AGENT_API).acts(OPERATOR, name, 9)).toMatchObject([{ about: "proposals: 1" }]);
    expect(await runtime.use(AGENT_API).acts(OPERATOR, later.name, 9)).toEqual([]);
  });
});

describe("an agent at once", () => {
  it("000.72 is shown with its layers, logs and mail", async () => {
    const set = await talked();
    await set.runtime.post(OPERATOR, await set.open("ann"), [message("And milk?", set.time.at)]);
    const snapshot = await set.runtime.use(AGENT_API).snapshot(OPERATOR, name);
    expect(snapshot).toMatchObject({
      agent: { name: "automaton" },
      logs: [{ contact: "bob" }, { contact: "ann" }],
      inbox: 1,
      outbox: 0,
      undeliverable: 0,
    });
    expect(snapshot.layers).toEqual(await set.runtime.use(TEXT_API).layers(OPERATOR, name));
    expect(snapshot).not.toHaveProperty("life");
  });

  it("000.72 is shown with its life if it lives by itself", async () => {
    const set = await automatonRuntime([], { life: { credits: { low: 5, critical: 1, modelCalls: 2 } } });
    await set.runtime.use(LIFE_API).topUp(OPERATOR, name, { dollars: 20, note: untrusted("") });
    const { life } = await set.runtime.use(AGENT_API).snapshot(OPERATOR, name);
    expect(life).toMatchObject({ agent: "automaton", vitals: { balance: 20, tier: "Normal" } });
  });
});

describe("what waits for an operator", () => {
  it("is listed agent by agent: proposals, and who sleeps without credits", async () => {
    const set = await automatonRuntime([], { life: { credits: { low: 5, critical: 1, modelCalls: 2 } } });
    await written(set, "Look thrice.", { ...LOOP, layer: layerId("inbox") });
    expect(await set.runtime.use(AGENT_API).attention(OPERATOR)).toEqual([
      {
        agent: "automaton",
        approvals: 0,
        drafts: { open: 0, overdue: 0 },
        escalations: { open: 0, overdue: 0 },
        proposals: 1,
        proposed: [{ layer: "inbox", n: 1, parent: 0, inputs: "contact" }],
        edited: [],
        ownTurns: [],
        contradicting: 0,
        displaced: 0,
        outdated: 0,
        passedOver: [],
        undeliverable: 0,
        unanswered: [],
        asleep: "it has no credits yet",
      },
    ]);
    await set.runtime.use(LIFE_API).topUp(OPERATOR, name, { dollars: 1, note: untrusted("") });
    const [paid] = await set.runtime.use(AGENT_API).attention(OPERATOR);
    expect(paid).toMatchObject({ proposals: 1 });
    expect(paid).not.toHaveProperty("asleep");
    await set.runtime.use(LIFE_API).topUp(OPERATOR, name, { dollars: -1, note: untrusted("a mistake") });
    expect(await set.runtime.use(AGENT_API).attention(OPERATOR, name)).toMatchObject([
      { asleep: "it has no credits left" },
    ]);
  });

  it("25.24 says whose conversation proposals and the agent's own edits came from, until an edit is undone or old", async () => {
    const set = await automatonRuntime(["Hello Ann."]);
    const { turn } = endOf(await set.say(await set.open("ann"), "hello"));
    await written(set, "Look thrice.", { turn });
    const place = { rank: 7, source: "text", declared: digestOf(DECLARED.inbox) } as const;
    const kept = { layer: layerId("inbox"), status: "kept", inputs: "agent", turn, place } as const;
    await written(set, "Answer briefly.", kept);
    const attention = async () => {
      const [one] = await set.runtime.use(AGENT_API).attention(OPERATOR);
      if (one === undefined) throw new Error("the agent is not listed");
      return one;
    };
    const first = await attention();
    expect(first).toMatchObject({
      proposed: [{ layer: "loop", n: 1, parent: 0, inputs: "contact", turn, contact: "ann" }],
      edited: [{ layer: "inbox", n: 1, parent: 0, inputs: "agent", turn, contact: "ann" }],
    });
    expect(JSON.stringify(first)).not.toMatch(/thrice|briefly/);
    expect(selfChangeLines(first)).toEqual([
      "1 proposal of automaton waits: `strata layer proposals automaton` shows it",
      "  loop 1 from a turn with ann, trust contact",
      "automaton changed its own text inbox (version 1, from a turn with ann, trust agent): `strata layer diff inbox 0 1 automaton` shows it, `strata layer rollback inbox automaton` undoes it",
    ]);
    set.time.at += 8 * 86_400_000;
    expect((await attention()).edited).toEqual([]);
    await written(set, "Answer kindly.", { ...kept, parent: 1 });
    expect((await attention()).edited).toMatchObject([{ n: 2 }]);
    const undone = { layer: layerId("inbox"), reason };
    await set.runtime.use(TEXT_API).rollbackText(OPERATOR, name, undone);
    expect((await attention()).edited).toEqual([]);
  });
});
