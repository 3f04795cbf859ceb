import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { databases, server, title } from "../../../tests/postgres.ts";
import { allParts } from "../../app/entry/features.ts";
import type { Script } from "../../models/index.ts";
import {
  type Agent,
  BATCH_SENDERS,
  contactId,
  layerId,
  REPLY_TOOL,
  type Request,
  readFrames,
  type Source,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import {
  type KillingStore,
  killingPostgres,
  killingSqlite,
  problems,
  replies,
  tablesOfToday,
} from "../../store/index.contract.ts";
import { openSqlite } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import type { OutgoingStep, TurnSteps } from "../../turn/index.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { cardOf } from "../../wire/index.ts";
import { DELIVERY_API } from "../deliveries/index.ts";
import { LIFE_API } from "../life/index.ts";
import { LOG_STORE } from "../logs/index.ts";
import { memoryTools } from "../memories/index.ts";
import type { InboxOptions } from "./api.ts";
import { INBOX_API } from "./api.ts";
import { replyTool } from "./index.ts";
import { surviveBatchKills } from "./kills.contract.ts";

const live = (id: string, rank: number, source: Source): Agent["layers"][number] => ({
  id: layerId(id),
  rank,
  mutability: "live",
  scope: "turn",
  trust: "platform",
  minimum: 0,
  required: false,
  modes: { full: "whole", compact: "whole", minimal: "whole" },
  source,
});

const AGENT = sampleAgent({
  history: "log",
  inbox: "batch",
  recall: "search",
  tools: [REPLY_TOOL, "memory_save", "ring"].map(toolName),
  layers: [
    {
      ...live("core", 0, { kind: "text", text: trusted("A lower layer wins.") }),
      mutability: "immutable",
      scope: "agent",
    },
    live("obligations", 10, { kind: "obligations" }),
    live("conversation", 11, { kind: "conversation", entries: 5, compact: 2 }),
    live("recall", 12, { kind: "recall", limit: 5 }),
  ],
});

const wordsOf = (request: Request | undefined): string =>
  JSON.stringify([request?.messages, request?.tail]).replaceAll("\\n", "\n").replaceAll('\\"', '"');

/** Whom the frames of the turn's messages name. */
function named(request: Request | undefined): readonly string[] {
  const [first] = request?.messages ?? [];
  const texts = first?.role === "user" ? first.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [];
  return [
    ...new Set(readFrames(texts.join("\n")).flatMap(({ kind, name }) => (kind === "message" ? (name ?? []) : []))),
  ];
}

const call = (sender: string, text: string) => ({ call: REPLY_TOOL, input: { sender, text } });

/** Answers each sender by name, then says that it is done; a single sender by its final text. */
const politely: Script<Request> = (request) => {
  const isFollowUp = request.messages.length > 1;
  const senders = named(request);
  if (isFollowUp || senders.length < 2) return isFollowUp ? "All is answered." : "You alone, hello.";
  return { parts: senders.map((sender) => call(sender, `Dear ${sender}, secret-${sender} is safe.`)) };
};

async function inbox(
  script: readonly Script<Request>[],
  { each, steps = [], ...change }: Partial<Agent> & { each?: true; steps?: readonly TurnSteps[] } = {},
) {
  const store = await openSqlite(":memory:", { parts: await allParts() });
  const rung: string[] = [];
  const holders = { alive: true };
  const real = { now: Date.parse("2026-11-21T08:00:00Z") };
  const ring = defineTool({
    name: "ring",
    description: "Rings a bell.",
    input: z.strictObject({ bell: z.string() }),
    effect: "external",
    trust: "contact",
    run: ({ bell }) => {
      rung.push(bell);
      return `rang ${bell}`;
    },
  });
  const tools = toolset([...memoryTools(store), replyTool(), ring]);
  const { version: _, inbox: batch, ...declared } = { ...AGENT, ...change };
  const on = await testRuntime(script, {
    agent: sampleAgent({ ...declared, ...(each ? {} : { inbox: batch }) }),
    store,
    steps,
    parts: {
      tools,
      cardOf: () => cardOf("anthropic:claude-sonnet-4-5"),
      alive: () => holders.alive,
      clock: { real: () => real.now },
    },
  });
  const post = async (contact: string, text: string) => {
    const thread = await on.open(contact);
    await on.runtime.post(OPERATOR, thread, [message(text, ++on.time.at)]);
    return thread;
  };
  const scopeOf = (contact: string) => ({ org: ORG, agent: on.agent.name, contact: contactId(contact) });
  const run = (options: InboxOptions = {}) =>
    collect(on.runtime.use(INBOX_API).runInbox(OPERATOR, on.agent.name, options));
  const later = (seconds: number): void => {
    real.now += seconds * 1_000;
    on.time.at += seconds * 1_000;
  };
  const mail = async (contact: string) => (await replies(store, scopeOf(contact))).map(({ text }) => text);
  const problems = async () =>
    (await collect(store.verify(ORG))).flatMap((one) => (one.type === "problem" ? [one.message] : []));
  return { ...on, store, post, run, later, mail, scopeOf, problems, rung, holders };
}

describe("a turn over the messages of several senders", () => {
  it("000.34 shows each message in a frame that names its sender, whatever the sender says, and answers each apart", async () => {
    const on = await inbox([politely, politely]);
    const ann = await on.open("ann");
    await on.runtime.post(OPERATOR, ann, [{ ...message("secret-ann?", on.time.at), name: untrusted("bob") }]);
    await on.post("bob", "secret-bob?");
    expect(endOf(await on.run())).toMatchObject({ type: "done", text: "All is answered." });
    const [first] = on.sent;
    expect(named(first)).toEqual(["ann", "bob"]);
    expect(wordsOf(first)).toContain("2 messages are waiting for a reply in this turn. They are from 2 senders");
    expect(await on.mail("ann")).toEqual(["Dear ann, secret-ann is safe."]);
    expect(await on.mail("bob")).toEqual(["Dear bob, secret-bob is safe."]);
    const log = await on.store.part(LOG_STORE).log(on.scopeOf("bob"));
    expect(log?.entries).toMatchObject([{ body: "secret-bob?", reply: "Dear bob, secret-bob is safe." }]);
    expect(await on.problems()).toEqual([]);
  });

  it("sends each sender what a step makes of their reply, and nothing of one that it withholds", async () => {
    const outgoing: OutgoingStep["outgoing"] = async (_turn, { text, to }) =>
      to === "bob" ? { withheld: "a person must approve it first" } : { text: `${text} – Mia`, told: false };
    const on = await inbox([politely, politely, politely], {
      steps: [{ outgoing: { by: "desk", applies: () => true, outgoing } }],
    });
    await on.post("ann", "secret-ann?");
    await on.post("bob", "secret-bob?");
    expect(endOf(await on.run())).toMatchObject({ type: "done", unanswered: 1 });
    expect(await on.mail("ann")).toEqual(["Dear ann, secret-ann is safe. – Mia"]);
    expect(await on.mail("bob")).toEqual([]);
    await on.post("cid", "hello");
    await on.run();
    expect(await on.mail("cid")).toEqual(["You alone, hello. – Mia"]);
    expect(await on.problems()).toEqual([]);
  });

  it("25.23 takes a call that answers the only sender for the reply, and the text behind it for none", async () => {
    const once = { parts: [call("ann", "Dear ann.")], end: { finish: "calls" as const } };
    const twice = { parts: [call("ann", "Once more.")], end: { finish: "calls" as const } };
    const on = await inbox([once, twice, "All answered."]);
    await on.post("ann", "question-ann");
    expect(endOf(await on.run())).toMatchObject({ type: "done", text: "Dear ann." });
    expect(await on.mail("ann")).toEqual(["Dear ann."]);
    expect(wordsOf(on.sent[1])).toMatch(
      / platform[^\n]*\n\| It will be sent when the turn ends. Everyone has a reply./,
    );
    expect(wordsOf(on.sent[2])).toContain("already has a reply in this turn");
    expect(await on.problems()).toEqual([]);
  });

  it("25.23 says that only the agent's own memories are searched where several senders wrote", async () => {
    const look = { parts: [{ call: "memory_search", input: { query: "bread" } }], end: { finish: "calls" as const } };
    const on = await inbox([look, politely], { tools: [REPLY_TOOL, "memory_search"].map(toolName) });
    await on.post("ann", "bread?");
    await on.post("bob", "cake?");
    await on.run();
    expect(wordsOf(on.sent[1])).toContain("only your own memories are searched, none about a sender");
  });

  it("25.20 says after each reply who is still waiting", async () => {
    const one = (sender: string) => ({ parts: [call(sender, `Dear ${sender}.`)], end: { finish: "calls" as const } });
    const on = await inbox([one("ann"), one("bob"), "All is answered."]);
    await on.post("ann", "question-ann");
    await on.post("bob", "question-bob");
    await on.run();
    const owed = on.sent.map(({ tail }) => tail.find(({ layer }) => layer === "obligations")?.text ?? "");
    expect(owed[0]).toContain("2 messages are waiting");
    expect(owed[1]).toContain("1 message is waiting");
    expect(owed[1]).toContain("question-bob");
    expect(owed[1]).not.toContain("question-ann");
    expect(owed[2]).toContain("Everyone has a reply.");
  });

  it("has no two senders in it who are shown alike: a reply to one could be meant for the other", async () => {
    const on = await inbox([politely, politely, politely]);
    for (const sender of ["bob", "<BOB>", "ann"]) await on.post(sender, `I am ${sender}`);
    await on.run();
    expect(named(on.sent[0])).toEqual(["bob", "ann"]);
    await on.run();
    expect(wordsOf(on.sent[2])).not.toContain("ann");
    expect(await on.mail("<BOB>")).toEqual(["You alone, hello."]);
  });

  it("leaves who has no room in it to the next, and each message is handled once", async () => {
    const turn = { modelCalls: 8, toolCalls: 96, seconds: 120 };
    const budgets = { ...AGENT.budgets, total: 3_000, reply: 400, turn };
    const on = await inbox(
      Array.from({ length: 40 }, () => politely),
      { budgets },
    );
    const names = ["ann", "bob", "cid", "dee"];
    for (const sender of names)
      for (let n = 0; n < 12; n++) await on.post(sender, `secret-${sender} ${"word ".repeat(60)}`);
    while ((await on.run()).length > 0);
    const [first] = on.sent;
    expect(named(first)).toEqual(["ann"]);
    // Nor does anything else in the request reveal the others.
    expect(wordsOf(first)).not.toContain("secret-bob");
    for (const name of names) {
      const { entries } = (await on.store.part(LOG_STORE).log(on.scopeOf(name))) ?? { entries: [] };
      expect(new Set(entries.map(({ event }) => event)).size).toBe(12);
      expect((await on.mail(name)).every((text) => text.includes(name) || text === "You alone, hello.")).toBe(true);
    }
    expect(await on.problems()).toEqual([]);
  });

  it("says whether each sender is proven where senders are addresses", async () => {
    const [a, b] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`];
    const on = await inbox([politely, politely], { senders: "ethereum" });
    for (const sender of [a, b]) await on.post(sender, "hello");
    await on.run();
    expect(
      wordsOf(on.sent[0]).match(/\[message contact claimed [^\]]+\]\n(?:\|# [^\n]*\n)?\|@ 0x[ab]{40}\n/gu),
    ).toHaveLength(2);
    expect(await on.mail(b)).toHaveLength(1);
  });

  it("with one sender is that sender's own turn, and the final text is the reply", async () => {
    const on = await inbox(["You alone, hello."]);
    await on.post("ann", "hi");
    expect(endOf(await on.run())).toMatchObject({ type: "done", text: "You alone, hello." });
    expect(await on.mail("ann")).toEqual(["You alone, hello."]);
    expect(await on.run()).toEqual([]);
  });

  it("answers none but those who wait in it, and each once; a message without a reply counts as handled", async () => {
    const calls = [call("bob", "yes"), call("bob", "again"), call("eve", "psst"), call("ANN ", "oh")];
    const on = await inbox([{ parts: calls.slice(0, 3) }, "done"]);
    await on.post("eve", "earlier");
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    await on.store.withdraw(on.scopeOf("eve"), (await on.open("eve")).id, { now: 0, at: 0, alive: () => true });
    await on.run();
    const results = JSON.stringify(on.sent[1]?.messages);
    expect(results.match(/eve.{1,9}is not waiting for a reply in this turn/g)).toHaveLength(1);
    expect(results).toMatch(
      /bob.{1,9}already has a reply in this turn, and gets only one\. Still waiting for a reply: /,
    );
    expect([await on.mail("ann"), await on.mail("bob"), await on.mail("eve")]).toEqual([[], ["yes"], []]);
    expect(await on.store.part(LOG_STORE).log(on.scopeOf("ann"))).toBeUndefined();
    expect(await on.run()).toEqual([]);
  });

  it("answers each also where its model may be called once more or once at all", async () => {
    const modelCalls = (n: number) => ({
      budgets: { ...AGENT.budgets, turn: { modelCalls: n, toolCalls: 32, seconds: 120 } },
    });
    const saving = { parts: [{ call: "memory_save", input: { content: "Ann likes tea" } }] };
    const answering = { parts: [call("ann", "yes"), call("bob", "no"), ...saving.parts] };
    for (const [script, n] of [
      [[saving, answering], 2],
      [[answering], 1],
    ] as const) {
      const on = await inbox(script, modelCalls(n));
      for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
      const events = await on.run();
      expect(endOf(events)).toMatchObject({ type: "done", because: "answered", totals: { modelCalls: n } });
      expect(events.map(({ type }) => type)).not.toContain("unanswered");
      expect([await on.mail("ann"), await on.mail("bob")]).toEqual([["yes"], ["no"]]);
      if (n === 2) expect(JSON.stringify(on.sent[1]?.messages)).toContain("only `reply_to_sender` will run");
    }
  });

  it("tells how many it left without a reply, and nothing where each has one", async () => {
    const on = await inbox([{ parts: [call("bob", "yes")] }, "done", politely, politely]);
    const told = async () => {
      for (const sender of ["ann", "bob", "cid"]) await on.post(sender, "hi");
      return (await on.run()).filter(({ type }) => type === "unanswered");
    };
    expect(await told()).toMatchObject([{ type: "unanswered", senders: 2, of: 3, waits: false, because: "answered" }]);
    expect(await told()).toEqual([]);
  });

  it("takes no more senders and messages than its calls can answer; the rest keeps waiting", async () => {
    const turn = { modelCalls: 8, toolCalls: 9, seconds: 120 };
    const on = await inbox(
      Array.from({ length: 40 }, () => politely),
      { budgets: { ...AGENT.budgets, turn } },
    );
    const names = ["ann", "bob", "cid"];
    for (const sender of names) for (let n = 0; n < 5; n++) await on.post(sender, `secret-${sender}`);
    const first = await on.run();
    // Seven messages and two replies: nine calls.
    expect(named(on.sent[0])).toEqual(["ann", "bob"]);
    expect(await on.runtime.use(INBOX_API).inbox(OPERATOR, on.agent.name, 99)).toHaveLength(15 - 7);
    expect(first.map(({ type }) => type)).not.toContain("unanswered");
    while ((await on.run()).length > 0);
    expect(await on.runtime.use(INBOX_API).inbox(OPERATOR, on.agent.name, 99)).toEqual([]);
    for (const request of on.sent) expect(wordsOf(request).match(/\[message ·/gu)?.length ?? 0).toBeLessThan(8);
    expect(await on.problems()).toEqual([]);
  });

  it("takes no more senders than its agent may answer by a rule of the tool", async () => {
    const rules = [{ tool: toolName(REPLY_TOOL), calls: 2 }];
    const on = await inbox([politely, politely, politely, politely], { rules });
    for (const sender of ["ann", "bob", "cid"]) await on.post(sender, `secret-${sender}`);
    await on.run();
    expect(named(on.sent[0])).toEqual(["ann", "bob"]);
    expect((await on.runtime.use(INBOX_API).inbox(OPERATOR, on.agent.name, 9)).map(({ contact }) => contact)).toEqual([
      "cid",
    ]);
  });

  it("saves nothing to memory: of whom it is nobody could know", async () => {
    const saving = { parts: [{ call: "memory_save", input: { content: "Ann likes tea" } }] };
    const on = await inbox([saving, "done"]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    await on.run();
    expect(JSON.stringify(on.sent[1]?.messages)).toContain("Not saved");
  });

  it("S16 000.37 holds no word of anybody who is not a member of it, whoever writes when", async () => {
    const names = ["ann", "bob", "cid", "dee", "eve", "fay", "gil"] as const;
    const post = fc.record({ who: fc.constantFrom(...names), runs: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(post, { minLength: 4, maxLength: 24 }), async (posts) => {
        const on = await inbox(Array.from({ length: 80 }, () => politely));
        const turn = async (): Promise<boolean> => {
          const [before, sent] = [await waiting(), on.sent.length];
          if ((await on.run()).length === 0) return false;
          const after = await waiting();
          const staged = [...before].filter((name) => !after.has(name));
          expect(staged.length).toBeGreaterThan(0);
          expect(staged.length).toBeLessThanOrEqual(BATCH_SENDERS);
          for (const request of on.sent.slice(sent)) {
            const words = wordsOf(request);
            for (const name of names) if (!staged.includes(name)) expect(words).not.toContain(`secret-${name}`);
          }
          return true;
        };
        const waiting = async () =>
          new Set(
            (await on.runtime.use(INBOX_API).inbox(OPERATOR, on.agent.name, 99)).map(({ contact }) => String(contact)),
          );
        for (const { who, runs } of posts) {
          await on.post(who, `I am ${who}: secret-${who}`);
          if (runs) await turn();
        }
        while (await turn());
        for (const name of names) {
          const own = JSON.stringify([await on.mail(name), await on.store.part(LOG_STORE).log(on.scopeOf(name))]);
          for (const other of names) if (other !== name) expect(own).not.toContain(`secret-${other}`);
        }
        expect(await on.problems()).toEqual([]);
      }),
      { numRuns: 15, interruptAfterTimeLimit: 55_000 },
    );
  }, 60_000);
});

describe("a turn of several senders that is interrupted", () => {
  it("law 7: is taken up by the next worker with all its messages, and what acted outside does not act again", async () => {
    const ringing = { parts: [{ call: "ring", input: { bell: "door" } }] };
    const on = await inbox([ringing, new Error("never asked"), ringing, politely, "unused"]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    // The commit is never made, as if the program had been killed.
    const settle = on.store.settle;
    const lost: typeof settle = async () => {
      throw new Error("killed");
    };
    on.store.settle = lost;
    await on.run();
    on.store.settle = settle;
    expect(on.rung).toEqual(["door"]);
    on.holders.alive = false;
    expect(endOf(await on.run())).toMatchObject({ type: "done" });
    expect(on.rung).toEqual(["door"]);
    expect(await on.problems()).toEqual([]);
  });

  const RINGING = { parts: [{ call: "ring", input: { bell: "door" } }] };
  /** What the newest request says about the newest call. */
  const told = (sent: readonly Request[]): string => JSON.stringify(sent.at(-1)?.messages.at(-1));

  it("law 7: does not act again for those who are left when one of its senders is erased", async () => {
    const on = await inbox([RINGING, RINGING, "You alone, hello."]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    const stop = new AbortController();
    for await (const event of on.runtime.use(INBOX_API).runInbox(OPERATOR, on.agent.name, { signal: stop.signal })) {
      if (event.type !== "tool-end") continue;
      await on.runtime.erase(OPERATOR, { contact: contactId("ann") });
      stop.abort();
    }
    expect(endOf(await on.run())).toMatchObject({ type: "done", text: "You alone, hello." });
    expect(on.rung).toEqual(["door"]);
    expect(told(on.sent)).toContain("in an earlier attempt");
    expect(await on.problems()).toEqual([]);
  });

  it("law 7: does not act again where it failed and its senders are then handled apart, nor tells one what it did for all", async () => {
    const broken = new Error("no such model");
    const on = await inbox([RINGING, broken, RINGING, broken, RINGING, "Ann, hello.", RINGING, "Bob, hello."]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    for (let tries = 0; tries < 2; tries++) expect(endOf(await on.run()).type).toBe("failed");
    expect(told(on.sent)).toContain("rang door");
    for (const text of ["Ann, hello.", "Bob, hello."]) {
      expect(endOf(await on.run())).toMatchObject({ type: "done", text });
      expect(told(on.sent)).toContain("in an earlier attempt");
      expect(told(on.sent)).not.toContain("rang");
    }
    expect(on.rung).toEqual(["door"]);
    expect(await on.problems()).toEqual([]);
  });

  it("law 7: does not act again where one of its senders is handled with another, and does what is asked again", async () => {
    const again = { parts: [...RINGING.parts, ...RINGING.parts] };
    const on = await inbox([RINGING, new Error("no such model"), again, politely]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    expect(endOf(await on.run()).type).toBe("failed");
    await on.runtime.withdraw(OPERATOR, (await on.open("ann")).id);
    await on.post("cid", "hi");
    expect(endOf(await on.run()).type).toBe("done");
    expect(named(on.sent[2])).toEqual(["bob", "cid"]);
    expect(on.rung).toEqual(["door", "door"]);
    expect(await on.problems()).toEqual([]);
  });

  it("law 5: tells those who are left nothing of what it did for all, where it is taken up again without one of them", async () => {
    const on = await inbox([RINGING, new Error("never asked"), RINGING, politely, "You alone, hello."]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    const settle = on.store.settle;
    on.store.settle = async () => {
      throw new Error("killed");
    };
    const [begun] = await on.run();
    on.store.settle = settle;
    on.holders.alive = false;
    await on.runtime.withdraw(OPERATOR, (await on.open("ann")).id);
    const [again] = await on.run();
    expect(again).toMatchObject({ type: "turn-start", turn: begun?.type === "turn-start" && begun.turn, events: 1 });
    expect(on.rung).toEqual(["door"]);
    expect(told(on.sent)).toContain("in an earlier attempt");
    expect(told(on.sent)).not.toContain("rang");
  });

  it("law 7: two workers at once take no message twice and leave none", async () => {
    const on = await inbox(Array.from({ length: 20 }, () => politely));
    const names = ["ann", "bob", "cid", "dee", "eve", "fay", "gil", "hal"];
    for (const name of names) await on.post(name, `I am ${name}`);
    await Promise.all([on.run(), on.run()]);
    await on.run();
    for (const name of names) expect(await on.mail(name)).toHaveLength(1);
    expect(await on.problems()).toEqual([]);
  });
});

describe("a turn of several senders that is killed", () => {
  /** As many runs as the time holds; `checks/waits.ts --batch` runs them by the hundred. */
  async function survive(killing: KillingStore, milliseconds: number): Promise<void> {
    const end = Date.now() + milliseconds;
    // On both databases, this life shows a retry that takes what waits then, instead of what it took at first; of others, one in four does.
    await surviveBatchKills(killing, 1);
    for (let seed = Date.now() % 1_000_000; Date.now() < end; seed++) await surviveBatchKills(killing, seed);
    expect(await problems(killing.store, ORG)).toEqual([]);
    await killing.store.close();
  }
  const ONCE = "law 7 25.1 acts once for each message, wherever its program dies and whatever comes meanwhile";

  it(ONCE, async () => survive(await killingSqlite(await allParts()), 1_000));

  describe.skipIf(server === undefined)(title("in PostgreSQL"), () => {
    const { make, url } = databases();
    it(ONCE, { timeout: 60_000 }, async () =>
      survive(await killingPostgres(url(await make(await tablesOfToday(await allParts()))), await allParts()), 400),
    );
  });
});

describe("what waits where nobody pays for it", () => {
  it("is refused before anything is made of it, and where nothing waits there is nothing to refuse", async () => {
    const on = await inbox([], { life: { credits: { low: 5, critical: 1, modelCalls: 2 } } });
    expect(await on.run()).toEqual([]);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    await expect(on.run()).rejects.toMatchObject({ code: "out_of_credits" });
    const threads = await on.store.threads({ org: ORG, agent: on.agent.name, contact: null }, 9);
    expect(threads.map(({ channel }) => channel)).toEqual(["test", "test"]);
  });
});

describe("a turn of several senders that the credits of its agent end", () => {
  const life = { credits: { low: 5, critical: 1, modelCalls: 2 } };
  const DEAR = { usage: { input: 5_000 } };
  const poor = async (script: readonly Script<Request>[]) => {
    const on = await inbox(script, { life });
    const pay = (dollars: number) =>
      on.runtime.use(LIFE_API).topUp(OPERATOR, on.agent.name, { dollars, note: untrusted("") });
    await pay(0.01);
    for (const sender of ["ann", "bob"]) await on.post(sender, "hi");
    const waiting = async () =>
      (await on.runtime.use(INBOX_API).inbox(OPERATOR, on.agent.name, 9)).map(({ contact }) => contact);
    return { ...on, pay, waiting };
  };

  it("fails where none was answered, and all keep waiting", async () => {
    const on = await poor([{ parts: [{ text: "Hm." }, call("eve", "psst")], ...DEAR }, politely, politely]);
    expect(endOf(await on.run())).toMatchObject({ type: "failed", error: { code: "out_of_credits" } });
    expect(await on.waiting()).toEqual(["ann", "bob"]);
    await on.pay(5);
    await on.run();
    expect(await on.waiting()).toEqual([]);
    expect([await on.mail("ann"), await on.mail("bob")].map(({ length }) => length)).toEqual([1, 1]);
    expect(await on.problems()).toEqual([]);
  });

  it("law 7: does not act again for them when they are handled after a payment", async () => {
    const ringing = { parts: [{ call: "ring", input: { bell: "door" } }] };
    const dear = { parts: [call("eve", "psst")], ...DEAR };
    const on = await poor([ringing, dear, ringing, { parts: [call("ann", "yes"), call("bob", "no")] }, "Done."]);
    expect(endOf(await on.run())).toMatchObject({ type: "failed", error: { code: "out_of_credits" } });
    await on.pay(5);
    expect(endOf(await on.run())).toMatchObject({ type: "done", text: "Done." });
    expect(on.rung).toEqual(["door"]);
    expect(await on.problems()).toEqual([]);
  });

  it("law 7: does not act again for who was left without an answer", async () => {
    const ringing = { parts: [{ call: "ring", input: { bell: "door" } }, call("ann", "yes")] };
    const on = await poor([ringing, { parts: [call("eve", "psst")], ...DEAR }, ringing, "You alone."]);
    expect(endOf(await on.run())).toMatchObject({ type: "done", because: "credits" });
    await on.pay(5);
    expect(endOf(await on.run())).toMatchObject({ type: "done", text: "You alone." });
    expect(on.rung).toEqual(["door"]);
  });

  it("has answered whom it answered, and the others keep waiting", async () => {
    const on = await poor([{ parts: [call("ann", "yes")] }, { parts: [call("eve", "psst")], ...DEAR }, "You alone."]);
    const events = await on.run();
    expect(endOf(events)).toMatchObject({ type: "done", because: "credits" });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "unanswered", senders: 1, of: 2, waits: true, because: "credits" }),
    );
    expect(await on.mail("ann")).toEqual(["yes"]);
    expect(await on.waiting()).toEqual(["bob"]);
    const bob = await on.open("bob");
    expect(await on.runtime.turns(OPERATOR, bob.id)).toMatchObject([
      { end: { status: "failed", code: "out_of_credits", message: expect.stringContaining("keep waiting") } },
    ]);
    await on.pay(5);
    await on.run();
    expect([await on.mail("ann"), await on.mail("bob")]).toEqual([["yes"], ["You alone."]]);
    expect(await on.problems()).toEqual([]);
  });
});

describe("what waits, where somebody looks again and again", () => {
  const EACH = { each: true } as const;
  const LOOK = { waited: 30_000 };

  it("is left for a while to the door that has received it, and then answered for the outbox", async () => {
    const on = await inbox(["Here I am."], EACH);
    const { id } = await on.post("ann", "Are you there?");
    on.later(29);
    expect(await on.run(LOOK)).toEqual([]);
    await on.post("bob", "And for me?");
    on.later(1);
    expect(endOf(await on.run(LOOK))).toMatchObject({ type: "done", text: "Here I am." });
    expect(await on.run(LOOK)).toEqual([]);
    const wish = { status: "waiting", limit: 9 } as const;
    expect(await on.runtime.use(DELIVERY_API).outbox(OPERATOR, on.agent.name, wish)).toMatchObject([
      { thread: id, contact: "ann" },
    ]);
    const shown = await collect(on.runtime.use(DELIVERY_API).undelivered(OPERATOR, await on.open("ann")));
    expect(shown.map(({ text }) => text)).toEqual(["Here I am."]);
    expect(await on.runtime.use(DELIVERY_API).outbox(OPERATOR, on.agent.name, wish)).toEqual([]);
  });

  it("and fails is tried less and less often, and keeps nobody else waiting", async () => {
    const failing: Script<Request> = (request) =>
      wordsOf(request).includes("broken") ? new Error("no such model") : "Hello.";
    const on = await inbox(
      Array.from({ length: 9 }, () => failing),
      EACH,
    );
    await on.post("ann", "broken");
    await on.post("bob", "Good day.");
    on.later(30);
    expect(endOf(await on.run(LOOK)).type).toBe("failed");
    expect(endOf(await on.run(LOOK))).toMatchObject({ type: "done", text: "Hello." });
    expect(await on.run(LOOK)).toEqual([]);
    const triedAfter = async (seconds: number): Promise<boolean> => {
      on.later(seconds);
      return (await on.run(LOOK)).length > 0;
    };
    expect([await triedAfter(29), await triedAfter(1)]).toEqual([false, true]);
    expect([await triedAfter(59), await triedAfter(1)]).toEqual([false, true]);
    expect([await triedAfter(119), await triedAfter(1)]).toEqual([false, true]);
    // An operator who requests a turn gets one.
    expect(endOf(await on.run()).type).toBe("failed");
  });

  it("of several senders and fails because of one of them is handled for the others", async () => {
    const failing: Script<Request> = (request) =>
      wordsOf(request).includes("broken") ? new Error("no such model") : politelyOnce(request);
    const politelyOnce = (request: Request) => (typeof politely === "function" ? politely(request) : "");
    const on = await inbox(Array.from({ length: 20 }, () => failing));
    for (const [name, text] of [
      ["ann", "Good day."],
      ["bob", "broken"],
      ["cid", "Good day."],
    ] as const)
      await on.post(name, text);
    for (let looks = 0; looks < 8; looks++) {
      await on.run({ waited: 0 });
      on.later(60);
    }
    expect((await on.runtime.use(INBOX_API).inbox(OPERATOR, on.agent.name, 9)).map(({ contact }) => contact)).toEqual([
      "bob",
    ]);
    for (const name of ["ann", "cid"]) expect(await on.mail(name)).toHaveLength(1);
    expect(await on.problems()).toEqual([]);
  });
});

describe("erasing one of several senders", () => {
  it("leaves no word of theirs in the turn of all, and the others keep their messages and replies", async () => {
    const on = await inbox([politely, politely]);
    const thread = await on.post("ann", "secret-ann?");
    await on.post("bob", "secret-bob?");
    const [start] = await on.run();
    if (start?.type !== "turn-start") throw new Error("no turn");
    expect((await on.runtime.rebuilt(OPERATOR, start.turn, 1)).request).toEqual(on.sent[0]);
    await on.runtime.erase(OPERATOR, { contact: thread.scope.contact });
    await expect(on.runtime.rebuilt(OPERATOR, start.turn, 1)).rejects.toMatchObject({ code: "record_broken" });
    expect(JSON.stringify(await on.runtime.turn(OPERATOR, start.turn))).not.toContain("secret");
    expect(await on.mail("bob")).toEqual(["Dear bob, secret-bob is safe."]);
    expect(await on.problems()).toEqual([]);
  });
});

describe("the contact of such turns", () => {
  it("is nobody's name: no door takes a message for it", async () => {
    const on = await inbox([]);
    for (const name of ["~inbox", "~inbox:x"])
      await expect(on.open(name)).rejects.toMatchObject({ code: "not_allowed" });
  });
});
