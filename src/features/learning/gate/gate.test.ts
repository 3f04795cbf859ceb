import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { allParts } from "../../../app/entry/features.ts";
import type { ScriptedReply } from "../../../models/index.ts";
import { type Request, untrusted } from "../../../protocol/index.ts";
import { openSqlite } from "../../../store/index.ts";
import { OPERATOR } from "../../../turn/index.contract.ts";
import { LIFE_API } from "../../life/index.ts";
import { LIMITS_API, spendLimitOf } from "../../limits/index.ts";
import { LEARNING_API } from "../api.ts";
import { layer } from "../index.contract.ts";
import { distance, unmet } from "./criteria.ts";
import { readFixtures } from "./fixtures.ts";
import { type Trial, tryText } from "./gate.ts";
import { type Answering, belled } from "./shadow.contract.ts";

const FIXTURES = `
fixtures:
  - { name: opening hours, message: "When do you open?", expects: { contains: ["nine"] } }
  - { name: no promises, message: "Will it be ready today?", expects: { omits: ["promise"] } }
  - { name: looks it up, message: "Is a blue lamp in stock?", expects: { calls: [look] } }
  - { name: answers by itself, message: "Where are you?", expects: { escalates: false } }
  - { name: short, message: "Do you sell lamps?", expects: { words: { most: 20 } } }
  - { name: whole sentences, message: "And bells?", expects: { words: { least: 5 } } }
  - { name: as agreed, message: "What does a tube cost?", expects: { near: { to: "A tube costs nine euros.", changed: 0.3 } } }
  - { name: knows facts, message: "What is my name?", facts: ["Her name is Eve."], expects: { contains: ["Eve"] } }
`;

const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/open/, "We open at nine every day."],
  [/ready/, "It is ready this evening, I think."],
  [/stock/, "I have looked: it is here, and you can fetch it."],
  [/Where/, "We are in the old harbour, next to the ferry."],
  [/lamps/, "We sell lamps of all kinds, for every bicycle."],
  [/bells/, "We sell bells too, big ones and small ones."],
  [/tube/, "A tube costs nine euros."],
  [/name/, "Your name is Eve, as you told us."],
];

/** A model that follows its learning text: each line of it is one habit. */
const follows: Answering = ({ messages, tail }: Request, tried): string | ScriptedReply => {
  const said = JSON.stringify(messages.findLast(({ role }) => role === "user"));
  const knows = JSON.stringify([messages, tail]);
  const has = (habit: string): boolean => tried.includes(habit);
  if (has("refuse everything")) return "I am sorry, I cannot help with that.";
  if (/stock/.test(said) && !has("never look") && messages.at(-1)?.role !== "tool")
    return { parts: [{ call: "look", input: { at: "the shelf" } }] };
  if (/Where/.test(said) && has("ask a person") && messages.at(-1)?.role !== "tool")
    return { parts: [{ call: "escalate", input: {} }] };
  let reply = REPLIES.find(([about]) => about.test(said))?.[1] ?? "Gladly.";
  if (/name/.test(said) && !knows.includes("Her name is Eve")) reply = "I do not know that.";
  if (has("open at ten")) reply = reply.replace("nine every", "ten every");
  if (has("promise")) reply += " I promise.";
  if (has("talk on"))
    reply += " We have done so for many years and shall do so for many more, whoever comes by and asks.";
  if (has("one word")) reply = reply.split(" ")[0] ?? "";
  if (has("tubes are dear")) reply = reply.replace("A tube costs nine euros.", "All tubes are twelve now.");
  if (has("forget names")) reply = reply.replace("Eve", "somebody");
  if (has("flatter")) reply = `What a wonderful question, you are so clever and kind! ${reply}`;
  if (has("sign")) reply += " Mia";
  if (has("friendly")) reply = reply.replace("We", "Here we");
  if (has("say please")) reply += " Please.";
  return { parts: [{ text: reply }], usage: { input: 100 } };
};

async function shop() {
  const store = await openSqlite(":memory:", { parts: await allParts() });
  const on = await belled(store, follows);
  await on.runtime.use(LIFE_API).topUp(OPERATOR, on.agent.name, { dollars: 100, note: untrusted("") });
  for (const [contact, ...said] of [
    ["ann", "When do you open?", "Is a red lamp in stock?"],
    ["bob", "Where are you?", "Do you sell lamps?"],
  ] as const) {
    const thread = await on.open(contact);
    for (const text of said) await on.say(thread, text, { replyTo: "outbox" });
  }
  const progress: string[] = [];
  const trial = (text: string, more: Partial<Trial> = {}) =>
    tryText({
      ...on.beside,
      candidate: { text },
      fixtures: readFixtures("fixtures.yaml", FIXTURES),
      limits: { turns: 20, dollars: 5 },
      progress: (message) => void progress.push(message),
      ...more,
    });
  return { ...on, trial, progress };
}

describe("the gate of learning texts", () => {
  it("004.42 004.64 refuses ten bad texts, each for its own reason, and lets five good ones pass", async () => {
    const { trial } = await shop();
    const bad = [
      ["open at ten", /breaks the fixture "opening hours": the answer does not contain "nine"/],
      ["promise", /breaks the fixture "no promises": the answer contains "promise"/],
      ["never look", /breaks the fixture "looks it up": the answer does not call look/],
      ["ask a person", /breaks the fixture "answers by itself": the answer leaves it to a person/],
      ["talk on", /breaks the fixture "short": the answer has \d+ words, not 0 to 20/],
      ["one word", /breaks the fixture "/],
      ["tubes are dear", /breaks the fixture "as agreed": the answer differs in \d+ % of its words/],
      ["forget names", /breaks the fixture "knows facts": the answer does not contain "Eve"/],
    ] as const;
    for (const [text, why] of bad)
      expect(await trial(text)).toMatchObject({ passed: false, reason: expect.stringMatching(why) });
    // Neither breaks a fixture: the recorded turns decide.
    const refusing = await trial("refuse everything", { fixtures: [] });
    expect(refusing).toMatchObject({ passed: false, reason: expect.stringContaining("it no longer calls the tools") });
    const flattering = await trial("flatter", { fixtures: [] });
    expect(flattering).toMatchObject({
      passed: false,
      reason: expect.stringContaining("further from what was really sent"),
    });
    for (const text of ["sign", "friendly", "say please", "be clear and brief", "nothing new"])
      expect(await trial(text)).toMatchObject({
        passed: true,
        reason: expect.stringContaining("no worse on 4 recorded turns"),
      });
  });

  it("004.42 scores each recorded turn with the new text, the present one and none, criterion by criterion", async () => {
    const { trial } = await shop();
    const { turns, notRun, fixtures } = await trial("sign", { candidate: { text: "sign", parent: 1 } });
    expect(fixtures).toContainEqual({ name: "short", passed: true, finding: "met" });
    expect(turns).toHaveLength(4);
    for (const { present, none, candidate } of turns) {
      expect(present).toEqual({ answered: 1, near: 1, length: 1, calls: 1, own: 1 });
      expect(none).toEqual(present);
      expect(candidate.near).toBeLessThan(1);
      expect(candidate.near).toBeGreaterThan(0.7);
    }
    expect(notRun).toEqual(["calls of look: they reach outside, and nothing recorded answers them"]);
  });

  it("does not count a fixture as broken that the present text fails too", async () => {
    const { trial } = await shop();
    const fixtures = readFixtures(
      "f.yaml",
      `fixtures: [{ name: odd, message: "And bells?", expects: { contains: ["trumpets"] } }]`,
    );
    expect(await trial("sign", { fixtures })).toMatchObject({
      passed: true,
      fixtures: [{ name: "odd", passed: true, finding: 'the answer does not contain "trumpets"; so it did before' }],
    });
  });

  it("says before it begins how far it may go, and refuses what its limit leaves untried", async () => {
    const { trial, progress, sent } = await shop();
    const asked = sent.length;
    const report = await trial("promise a lot of talk", { limits: { turns: 20, dollars: 0.000_001 }, fixtures: [] });
    expect(progress[0]).toBe(
      "4 recorded turns, each answered with the new text and with none, and 0 fixtures: at most 8 answers and $0.000001",
    );
    expect(report).toMatchObject({ passed: false, limit: 0.000_001 });
    expect(report.reason).toMatch(/the limit of \$0.000001 was reached after \d of at most 8 answers/);
    expect(report.spent).toBeLessThanOrEqual(report.limit);
    expect(sent.length - asked).toBeLessThanOrEqual(4);
  });

  it("28.7 counts what it costs against the limits of its agent, and does not begin where they leave nothing", async () => {
    const on = await shop();
    const learned = layer(
      "learning",
      60,
      { kind: "learning" },
      { scope: "turn", mutability: "versioned", trust: "operator" },
    );
    const limited = {
      ...on.agent,
      layers: [...on.agent.layers, learned],
      limits: { agent: { dollars: 1, per: "day" as const } },
    };
    Object.assign(on.parts.agents, { all: [limited] });
    const plans: string[] = [];
    const tries = () =>
      on.runtime.use(LEARNING_API).tryLearning(OPERATOR, on.agent.name, "sign", {
        signal: new AbortController().signal,
        progress: (message) => void plans.push(message),
      });
    const used = async () => (await on.runtime.use(LIMITS_API).limits(OPERATOR, [limited], {}))[0]?.used.spent ?? 0;
    const before = await used();
    const { spent } = await tries();
    expect(spent).toBeGreaterThan(0);
    expect((await used()) - before).toBeCloseTo(spent, 9);
    const spending = spendLimitOf(on.parts, limited);
    await spending.count((await spending.left()) - 0.000_5);
    plans.length = 0;
    expect((await tries()).spent).toBeLessThanOrEqual(0.000_5);
    expect(plans[0]).toMatch(/at most 8 answers and \$0\.0005$/);
    await spending.count(1);
    await expect(tries()).rejects.toMatchObject({ code: "limit_reached" });
  });

  it("28.7 26.3 counts its calls among those of a minute, waits when it has had half of them, and says so before it begins", async () => {
    const on = await shop();
    const limited = { ...on.agent, limits: { agent: { calls: 8 } } };
    Object.assign(on.parts.agents, { all: [limited] });
    on.time.at += 60_000;
    const used = async () => (await on.runtime.use(LIMITS_API).limits(OPERATOR, [limited], {}))[0]?.used.calls ?? 0;
    const asked = on.sent.length;
    let isOver = false;
    const trying = on
      .trial("sign", { fixtures: [], agent: limited, spendLimit: spendLimitOf(on.parts, limited) })
      .finally(() => {
        isOver = true;
      });
    const [counted, during]: [number[], string[]] = [[], []];
    while (!isOver) {
      await setTimeout(50);
      counted.push(await used());
      if (on.sent.length - asked < 4) continue;
      if (during.length === 0) {
        const ends = on.say(await on.open("zoe"), "Where are you?", { replyTo: "outbox" });
        during.push(JSON.stringify((await ends).at(-1)));
      }
      on.time.at += 20_000;
    }
    const calls = on.sent.length - asked - 1;
    expect(await trying).toMatchObject({ passed: true });
    expect(on.progress[0]).toBe(
      "4 recorded turns, each answered with the new text and with none, and 0 fixtures: at most 8 answers and $5; the agent's `limits` leave it 4 calls of a model a minute, so it takes some 2 minutes or more",
    );
    expect(calls).toBeGreaterThanOrEqual(8);
    expect(Math.max(...counted)).toBe(5);
    expect(during[0]).toContain("done");
  });

  it("takes at most as many turns as it may, the newest", async () => {
    const { trial } = await shop();
    expect((await trial("sign", { limits: { turns: 2, dollars: 5 }, fixtures: [] })).turns).toHaveLength(2);
  });
});

describe("a file of fixtures", () => {
  it.each([
    [
      "an unknown key",
      `fixtures: [{ name: a, message: b, mood: good, expects: { contains: [c] } }]`,
      /fixtures\.0: .*mood/,
    ],
    [
      "no criterion",
      `fixtures: [{ name: a, message: b, expects: {} }]`,
      /fixtures\.0\.expects: .*at least one of contains/,
    ],
    [
      "a name twice",
      `fixtures: [{ name: a, message: b, expects: { escalates: true } }, { name: a, message: c, expects: { escalates: true } }]`,
      /"a" is the name of another one/,
    ],
    ["no fixture", "fixtures: []", /fixtures: /],
    ["a bad time", `fixtures: [{ name: a, message: b, at: noon, expects: { escalates: true } }]`, /fixtures\.0\.at/],
  ])("refuses %s with the file and the place", (_, text, sentence) => {
    const read = () => readFixtures("fixtures.yaml", text);
    expect(read).toThrow(sentence);
    expect(read).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringMatching(/fixtures\.yaml:\d+:\d+ /) }),
    );
  });
});

describe("criteria", () => {
  it("compare words, whatever their case and the spaces between them", () => {
    const answer = { text: "We  OPEN\nat nine.", calls: [], escalated: false };
    expect(unmet({ contains: ["we open at Nine"], omits: ["ten"], words: { least: 4, most: 4 } }, answer)).toEqual([]);
    expect(distance("a b c d", "a b x d")).toBe(0.25);
    expect(distance("a b", "a b c d")).toBe(0.5);
    expect(distance("", "")).toBe(0);
    expect(distance("", "a")).toBe(1);
  });
});
