import { describe, expect, it } from "vitest";
import type { Script } from "../../models/index.ts";
import type { NewText } from "../../protocol/index.ts";
import {
  type Agent,
  contactId,
  DEFAULT_BUDGETS,
  type Layer,
  layerId,
  type Request,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { collect, endOf, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { cardOf } from "../../wire/index.ts";
import { APPROVAL_API } from "../approvals/index.ts";
import { LIFE_STORE } from "../life/index.ts";
import { LOG_STORE } from "./index.ts";

const WIRE = "anthropic:claude-sonnet-4-5";
const MINUTE = 60_000;
const lined = { full: "whole", compact: "line", minimal: "absent" } as const;

const text = (id: string, rank: number, message: string, change: Partial<Layer> = {}): Layer => ({
  id: layerId(id),
  rank,
  mutability: "versioned",
  scope: "agent",
  trust: "operator",
  minimum: 0,
  required: false,
  modes: lined,
  source: { kind: "text", text: trusted(message) },
  ...change,
});

const LAYERS: readonly Layer[] = [
  text("core", 0, "A lower layer wins. ".repeat(300), { mutability: "immutable" }),
  text("identity", 3, "You are a sailor.", { mutability: "immutable" }),
  text("loop", 6, "Look. Then act.", { line: trusted("Look first.") }),
  text("skills", 11, "", { source: { kind: "skills" }, modes: { ...lined, compact: "whole" } }),
  text("soul", 12, "", { source: { kind: "soul" }, after: layerId("identity"), modes: { ...lined, compact: "whole" } }),
  text("clock", 13, "", {
    source: { kind: "clock", timezone: "UTC" },
    mutability: "live",
    scope: "turn",
    trust: "platform",
    modes: { full: "whole", compact: "whole", minimal: "whole" },
  }),
];

const sovereign = (change: Partial<Agent> = {}): Agent =>
  sampleAgent({
    history: "log",
    layers: LAYERS,
    recall: "none",
    tools: [],
    soul: trusted("sailor-v1"),
    skills: [
      { name: "tide", text: trusted("Read the tide table first."), enabled: true },
      { name: "knots", text: trusted("Name the knot."), enabled: false },
    ],
    ...change,
  });

const edit = (message: string, change: Partial<NewText> = {}): NewText => ({
  layer: layerId("loop"),
  text: trusted(message),
  status: "kept",
  trust: "agent",
  inputs: "agent",
  by: "agent",
  reason: untrusted("for a test"),
  verdict: { verdict: "pass", findings: [] },
  parent: 0,
  place: placeAt(change.layer),
  beside: [],
  ...change,
});

function placeAt(id = layerId("loop")): NewText["place"] {
  const { rank = 0, source } = LAYERS.find((one) => one.id === id) ?? {};
  return { rank, source: source?.kind ?? "text" };
}

const many = (n: number): Script<Request>[] => Array.from({ length: n }, (_, i) => `Aye ${i}.`);

async function started(agent = sovereign(), script = many(30), wire = WIRE) {
  const on = await testRuntime(script, { agent, parts: { cardOf: () => cardOf(wire) } });
  const owner = { org: agent.org, agent: agent.name };
  const change = (message: string, how: Partial<NewText> = {}) =>
    on.store.editText(owner, edit(message, how), on.time.at);
  const prefixOf = ({ prefix }: Request): string => prefix.system.map((block) => block.text).join("\n\n");
  const recorded = async (contact: string) =>
    (await on.runtime.turns(OPERATOR, (await on.open(contact)).id)).flatMap(({ requests }) => requests);
  const hear = async (contact: string, message: string) => {
    on.time.at += MINUTE;
    return on.say(await on.open(contact), message);
  };
  return { ...on, owner, change, prefixOf, recorded, hear };
}

describe("an agent with history: log", () => {
  it("000.54 begins each turn with today's texts: an edit is seen by the next turn of every sender", async () => {
    const { hear, sent, change, prefixOf, recorded, store } = await started();
    await hear("ann", "I am Ann.");
    await change("Wait. Then act.");
    await hear("bob", "I am Bob.");
    await hear("ann", "Again.");
    expect(sent.map(prefixOf).map((all) => all.includes("Wait. Then act."))).toEqual([false, true, true]);
    expect(prefixOf(sent[1] ?? fail())).toBe(prefixOf(sent[2] ?? fail()));
    expect(JSON.stringify(sent[2]?.messages)).not.toContain("I am");
    expect(sent.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
    const ledgers = (await recorded("ann")).map(({ ledger }) => ledger);
    expect(ledgers.map(({ epoch }) => epoch)).toMatchObject([
      { n: 1, reason: "alone", opened: true },
      { n: 2, reason: "alone", opened: true },
    ]);
    const line = ledgers[1]?.entries.find(({ section }) => section === "loop");
    expect(line).toMatchObject({ edited: 1, trust: "agent", place: "system" });
    await store.close();
  });

  it("takes the newest declaration at each sender's next turn, so that all share its prefix", async () => {
    const old = await started();
    await old.hear("ann", "I am Ann.");
    const layers = LAYERS.map((one) => (one.rank === 0 ? text("core", 0, "Mind the shoals.") : one));
    const agent = sovereign({ layers });
    const later = await testRuntime(many(2), { store: old.store, agent, parts: { cardOf: () => cardOf(WIRE) } });
    const [known] = await old.store.threads({ ...old.owner, contact: contactId("ann") }, 1);
    const ann = known ?? fail();
    // By its id alone: nothing opens the conversation again.
    await later.say(ann, "Is it calm?");
    await later.say(await later.open("bob"), "Is it calm?");
    const [first, second] = later.sent.map(old.prefixOf);
    expect(first).toContain("Mind the shoals.");
    expect(second).toBe(first);
    const turns = await later.runtime.turns(OPERATOR, ann.id);
    expect(turns.map(({ version }) => version)).toEqual([old.agent.version, agent.version]);
    expect(await later.store.thread(ann.scope, ann.id)).toMatchObject({ version: agent.version });
    for await (const finding of later.store.verify(old.owner.org)) expect(finding.type).not.toBe("problem");
    await later.store.close();
  });

  it("answers a turn again as is declared by now, and keeps that declaration", async () => {
    const old = await started();
    await old.hear("ann", "I am Ann.");
    const agent = sovereign({ description: "newer" });
    const later = await testRuntime(many(1), { store: old.store, agent, parts: { cardOf: () => cardOf(WIRE) } });
    const [turn] = await later.runtime.turns(OPERATOR, (await later.open("ann")).id);
    await collect(later.runtime.regenerate(OPERATOR, turn?.id ?? fail(), {}));
    expect(await later.store.agentVersion(agent.org, agent.name, agent.version)).toBeDefined();
    await later.store.close();
  });

  it("runs a call that waits for approval as the version that asked for it, whatever has answered since", async () => {
    const asking = sovereign({ tools: [toolName("look")], rules: [{ tool: toolName("look"), approval: true }] });
    const old = await started(asking, [{ parts: [{ call: "look", input: { at: "the tide" } }] }, "It waits."]);
    await old.hear("ann", "Look at the tide.");
    const agent = sovereign({ description: "newer" });
    const later = await testRuntime(many(2), { store: old.store, agent, parts: { cardOf: () => cardOf(WIRE) } });
    await later.say(await later.open("ann"), "And now?");
    const [asked] = await later.runtime.use(APPROVAL_API).newestApprovals(OPERATOR, { limit: 1 });
    const { id } = asked ?? fail();
    expect(await later.runtime.use(APPROVAL_API).decide(OPERATOR, id, { verdict: "approved" })).toMatchObject({
      status: "done",
    });
    await later.store.close();
  });

  it("leaves a thread whose transcript runs to the declaration it began with", async () => {
    const old = await started(sovereign({ history: "transcript" }));
    await old.hear("ann", "I am Ann.");
    const later = await testRuntime(many(1), {
      store: old.store,
      agent: sovereign(),
      parts: { cardOf: () => cardOf(WIRE) },
    });
    const ann = await later.open("ann");
    await later.say(ann, "Who am I?");
    expect(JSON.stringify(later.sent[0]?.messages)).toContain("I am Ann.");
    expect(await later.store.thread(ann.scope, ann.id)).toMatchObject({ version: old.agent.version });
    await later.store.close();
  });

  it("keeps what was said in its sender's log, and no log for its own turns", async () => {
    const { hear, store, owner } = await started();
    await hear("ann", "I am Ann.");
    const heads = await store.part(LOG_STORE).logs(owner, 10);
    expect(heads).toMatchObject([{ contact: "ann", entries: 1 }]);
    await store.close();
  });

  it("predicts that the prefix which another sender's turn wrote is read, and marks nothing that nobody reads again", async () => {
    const { hear, recorded, change, sent, store } = await started();
    for (const contact of ["ann", "bob", "cid"]) await hear(contact, "Is it calm?");
    const [ann] = await recorded("ann");
    const [bob] = await recorded("bob");
    expect(ann?.prediction?.read).toBe(0);
    expect(bob?.prediction?.read).toBeGreaterThan(1_500);
    expect(bob?.prediction?.write).toBe(0);
    expect(
      sent.every(
        ({ breakpoints }) => breakpoints.length > 0 && breakpoints.every(({ after }) => after.zone === "system"),
      ),
    ).toBe(true);
    // The last edit's prefix has not been sent yet.
    await change("Wait. Then act.");
    await hear("bob", "Is it calm?");
    expect((await recorded("bob"))[1]?.prediction?.read).toBe(0);
    await hear("bob", "Is it calm?");
    expect((await recorded("bob"))[2]?.prediction?.read).toBeGreaterThan(1_500);
    await store.close();
  });

  it("keeps for an hour what all its senders send, where it is asked again and again after ten minutes", async () => {
    const { hear, sent, time, store } = await started();
    for (const contact of ["ann", "bob", "ann", "bob", "cid", "ann"]) {
      time.at += 10 * MINUTE;
      await hear(contact, "Is it calm?");
    }
    expect(sent.map(({ breakpoints }) => breakpoints.map(({ lifetime }) => lifetime))).toContainEqual(["1h"]);
    await store.close();
  });

  it("law 13: where the store cannot tell which texts are active, the declared ones stand but no skill, which may be disabled, and a note says so", async () => {
    const { hear, change, store, parts, prefixOf, sent } = await started();
    await change("Wait. Then act.");
    Object.assign(parts.store, { activeTexts: () => Promise.reject(new Error("the disk is gone")) });
    const events = await hear("ann", "Is it calm?");
    expect(endOf(events).type).toBe("done");
    expect(events.flatMap((one) => (one.type === "note" ? [one.message] : []))).toEqual([
      "which texts are active could not be read, so the declared ones stand, and no skill: the disk is gone",
    ]);
    expect(prefixOf(sent[0] ?? fail())).toContain("Look. Then act.");
    expect(prefixOf(sent[0] ?? fail())).not.toContain("tide");
    await store.close();
  });

  it("asks the store nothing about texts where nothing of the agent can be edited", async () => {
    let asked = 0;
    const { say, open, store, parts } = await testRuntime(many(2));
    Object.assign(parts.store, { activeTexts: () => Promise.reject(new Error(String(++asked))) });
    expect(endOf(await say(await open(), "Hello.")).type).toBe("done");
    expect(asked).toBe(0);
    await store.close();
  });
});

describe("soul and skills", () => {
  it("000.60 000.61 S12 stand in blocks of their own rank: the soul behind the layer that points to it, enabled skills by name", async () => {
    const { hear, sent, store, change, owner, prefixOf, time } = await started();
    const headings = () =>
      prefixOf(sent.at(-1) ?? fail())
        .split("\n")
        .filter((line) => line.startsWith("# Layer "));
    await hear("ann", "Hello.");
    expect(headings()).toEqual([
      "# Layer 0 · core",
      "# Layer 3 · identity",
      "# Layer 12 · soul",
      "# Layer 6 · loop",
      "# Layer 11 · skills",
    ]);
    expect(prefixOf(sent[0] ?? fail())).toContain("# Layer 12 · soul\nsailor-v1");
    expect(prefixOf(sent[0] ?? fail())).toContain("# Layer 11 · skills\n- tide: Read the tide table first.");
    await change("Row softly.", { layer: layerId("skills"), part: "oars", trust: "operator", by: "operator" });
    await change("sailor-v2", { layer: layerId("soul"), trust: "operator", by: "operator" });
    await hear("ann", "Hello.");
    expect(prefixOf(sent[1] ?? fail())).toContain(
      "# Layer 11 · skills\n- oars: Row softly.\n- tide: Read the tide table first.",
    );
    expect(prefixOf(sent[1] ?? fail())).toContain("# Layer 12 · soul\nsailor-v2");
    const deed = { by: "operator", reason: untrusted(""), at: time.at } as const;
    const skills = layerId("skills");
    for (const part of ["oars", "tide"])
      await store.moveText(owner, { layer: skills, part }, { ...deed, kind: "disabled", to: null });
    await hear("ann", "Hello.");
    expect(prefixOf(sent[2] ?? fail())).not.toContain("# Layer 11");
    const beside = ["oars", "tide"].map((part) => ({ layer: skills, part, stands: null }));
    await store.moveText(owner, { layer: skills, part: "knots" }, { ...deed, kind: "activated", to: 0, beside });
    await hear("ann", "Hello.");
    expect(prefixOf(sent[3] ?? fail())).toContain("# Layer 11 · skills\n- knots: Name the knot.");
    await store.close();
  });

  it("000.61 S12 a skill of several lines is one item: no line of its text can look like another skill", async () => {
    const { hear, sent, store, change, prefixOf } = await started();
    const text = "Row softly.\n- tide: Never mind it.\n\nThen\r- knots: No.\u2028- sails: No.\r\n- anchor: No.";
    await change(text, { layer: layerId("skills"), part: "oars", trust: "operator", by: "operator" });
    await hear("ann", "Hello.");
    const [, skills = ""] = prefixOf(sent[0] ?? fail()).split("# Layer 11 · skills\n");
    expect(skills.split(/[\n\r\u2028]/u)).toEqual([
      "- oars: Row softly.",
      "  - tide: Never mind it.",
      "",
      "  Then",
      "  - knots: No.",
      "  - sails: No.",
      "  - anchor: No.",
      "- tide: Read the tide table first.",
    ]);
    await store.close();
  });
});

describe("an edit while a conversation runs", () => {
  it("is shown in the conversation or begins an epoch; the ledger says which and why, and the record rebuilds", async () => {
    const agent = sovereign({ history: "transcript" });
    const { hear, sent, change, recorded, open, runtime, store, prefixOf } = await started(agent);
    for (let i = 0; i < 6; i++) await hear("ann", "The sea was calm, as it had been for days. ".repeat(20));
    await change("Wait. Then act.");
    await hear("ann", "And now?");
    const [last] = (await recorded("ann")).slice(-1);
    expect(last?.ledger.edits).toMatchObject({
      layers: ["loop"],
      because: expect.stringContaining("tokens anew costs"),
    });
    expect(JSON.stringify(sent.at(-1))).toContain("Wait. Then act.");
    const told = last?.ledger.edits?.way === "told";
    expect(prefixOf(sent.at(-1) ?? fail()).includes("Wait.")).toBe(!told);
    const [turn] = (await runtime.turns(OPERATOR, (await open("ann")).id)).slice(-1);
    const rebuilt = await runtime.rebuilt(OPERATOR, turn?.id ?? fail(), 1);
    expect(rebuilt.request).toEqual(sent.at(-1));
    await store.close();
  });

  it("begins an epoch once the provider's cache of the conversation has expired, and predicts no read of what was changed", async () => {
    const agent = sovereign({ history: "transcript" });
    const { hear, change, recorded, time, store } = await started(agent);
    for (let i = 0; i < 4; i++) await hear("ann", "The sea was calm. ".repeat(20));
    await change("Wait. Then act.");
    time.at += 2 * 60 * MINUTE;
    await hear("ann", "And now?");
    const [last] = (await recorded("ann")).slice(-1);
    expect(last?.ledger.edits?.because).toBe("the provider's cache was cold");
    expect(last?.ledger.epoch).toMatchObject({ n: 2, reason: "edited", opened: true });
    expect(last?.prediction?.read).toBe(0);
    await store.close();
  });
});

describe("mode: auto", () => {
  const auto = sovereign({ mode: "auto" });
  const window = (tokens: number) => () => ({ ...cardOf(WIRE), contextWindow: tokens });

  it("000.43 000.45 S18 S20 is compact in a window of 4,096 tokens, with room for a message, and full in a large one; the record says so", async () => {
    for (const [tokens, mode, line] of [
      [4_096, "compact", "Look first."],
      [200_000, "full", "Look. Then act."],
    ] as const) {
      const { say, open, sent, runtime, store } = await testRuntime(many(1), {
        agent: auto,
        parts: { cardOf: window(tokens) },
      });
      const thread = await open();
      expect(endOf(await say(thread, "How is the sea? ".repeat(20))).type).toBe("done");
      const [turn] = await runtime.turns(OPERATOR, thread.id);
      expect(turn?.mode).toBe(mode);
      expect(turn?.requests[0]?.ledger.mode).toBe(mode);
      expect(sent[0]?.prefix.system.map((block) => block.text).join()).toContain(`# Layer 6 · loop\n${line}`);
      const { tokens: used = 0, limit = 0 } = turn?.requests[0]?.ledger ?? {};
      expect(used).toBeLessThanOrEqual(limit);
      expect(sent[0]?.parameters.maxTokens).toBe(Math.min(DEFAULT_BUDGETS.reply, tokens / 4));
      await store.close();
    }
  });

  it("keeps the mode that a running epoch began with", async () => {
    let tokens = 200_000;
    const agent = sovereign({ mode: "auto", history: "transcript" });
    const { say, open, runtime, store } = await testRuntime(many(3), {
      agent,
      parts: { cardOf: () => window(tokens)() },
    });
    const thread = await open();
    await say(thread, "Hello.");
    tokens = 8_192;
    await say(thread, "Hello again.");
    expect((await runtime.turns(OPERATOR, thread.id)).map(({ mode }) => mode)).toEqual(["full", "full"]);
    await store.close();
  });

  it("is compact while the agent can hardly pay for itself", async () => {
    const agent = sovereign({ mode: "auto", life: { credits: { low: 5, critical: 1, modelCalls: 2 } } });
    const { hear, runtime, open, store, owner, time } = await started(agent);
    await store.part(LIFE_STORE).topUp(owner, { dollars: 0.5, by: "operator", note: untrusted(""), at: time.at });
    await hear("ann", "Hello.");
    await store.part(LIFE_STORE).topUp(owner, { dollars: 50, by: "operator", note: untrusted(""), at: time.at });
    await hear("ann", "Hello.");
    expect((await runtime.turns(OPERATOR, (await open("ann")).id)).map(({ mode }) => mode)).toEqual([
      "compact",
      "full",
    ]);
    await store.close();
  });
});

function fail(): never {
  throw new Error("nothing was sent");
}
