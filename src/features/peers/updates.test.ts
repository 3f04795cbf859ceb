import { describe, expect, it } from "vitest";
import { allParts, allToolFamilies } from "../../app/entry/features.ts";
import { agentName, allow, ownKind, type Request, readFrames, untrusted } from "../../protocol/index.ts";
import { onEachDatabase } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { collect, OPERATOR } from "../../turn/index.contract.ts";
import { toolset } from "../../turn/tools/index.ts";
import { FEATURE as SUBAGENTS } from "../subagents/index.ts";
import { recordingOf } from "../threads/index.ts";
import { asks, GREETER, loadYaml, organism, type Scripts } from "./index.contract.ts";

const ADA = { name: "Ada" };
const CONTENT = [{ type: "text", text: untrusted("Greet Ada.") }] as const;
const WORD = "The bell is broken.";
const UPDATES = GREETER.replace("peers: [shouter]", "peers: [{name: shouter, updates: true}]").replace(
  "    payload:",
  "    peers: [stranger]\n    payload:",
);

const tells = (text = WORD, id = `tell ${text}`) => ({ call: "enqueue_parent", id, input: { text } });
const framesOf = (request: Request | undefined) =>
  (request?.messages ?? []).flatMap(({ role, parts }) =>
    role === "user" ? parts.flatMap((part) => (part.type === "text" ? readFrames(part.text) : [])) : [],
  );
const isFrom = (line: unknown, from: string) => typeof line === "object" && { from: "", ...line }.from === from;
const systemOf = (request: Request | undefined) => (request?.prefix.system ?? []).map(({ text }) => text).join("\n");
const toolsOf = (request: Request | undefined) => request?.prefix.tools.map(({ name }) => name);
const results = (request: Request | undefined) => JSON.stringify(request?.messages.at(-1));

/** The shouter sends its caller an update, and asks the stranger before it answers. */
const CHAIN: Scripts = {
  greeter: [asks("shouter", ADA), "Done."],
  shouter: [{ parts: [tells(), ...asks("stranger", { text: "Quiet?" }).parts] }, "HELLO ADA"],
  stranger: ["Quiet."],
};

it("004.6 is refused on an edge to a fork or to code, which get no tools", () => {
  const fork = GREETER.replace("peers: [shouter]", "peers: [{name: greeter, share: fork, updates: true}]");
  expect(() => loadYaml(fork)).toThrow("`enqueue_parent` is a tool");
});

onEachDatabase("004.6 what an agent tells its caller", await allParts(), (opened) => {
  async function chain(
    yaml: string,
    scripts: Scripts,
    given: { readonly store?: Store; readonly holder?: string } = {},
  ) {
    const { store = await opened(), holder } = given;
    const tools = SUBAGENTS.tools?.({ store, agentOf: () => undefined, files: "" }) ?? [];
    const parts = { tools: toolset(tools, await allToolFamilies()), ...(holder && { holder, alive: () => false }) };
    return organism(yaml, scripts, { store, parts });
  }

  describe("004.6 an agent that was asked tells its caller something", () => {
    it("004.6 only where the edge says so: a section says who asked, and that there is a tool for it", async () => {
      const on = await chain(UPDATES, CHAIN);
      await on.say(await on.open(), { content: CONTENT });
      expect(systemOf(on.sentTo("shouter")[0])).toContain("# Delegated\nThe agent greeter has given you this task");
      expect(toolsOf(on.sentTo("shouter")[0])).toEqual(["ask_stranger", "enqueue_parent"]);
      for (const request of [on.sentTo("greeter")[0], on.sentTo("stranger")[0]]) {
        expect(systemOf(request)).not.toContain("# Delegated");
        expect(toolsOf(request)).not.toContain("enqueue_parent");
      }
      // An agent that a person writes to has no caller, although an edge leads to it.
      const entry = await chain(UPDATES.replace("entry: [greeter]", "entry: [shouter]"), {
        shouter: [{ parts: [tells()] }, "HELLO"],
      });
      await entry.say(await entry.open("shouter"), {
        content: [{ type: "payload", payloadType: "Greeting", payload: { name: "Ann" } }],
      });
      expect(toolsOf(entry.sentTo("shouter")[0])).toEqual(["ask_stranger"]);
      expect(results(entry.sentTo("shouter")[1])).toContain('"failed":true');
    });

    it("004.6 the caller reads it with the answer: no turn begins for it, its call stays open, and the record is whole", async () => {
      const { open, say, sentTo, runtime, store } = await chain(UPDATES, CHAIN);
      const thread = await open();
      await say(thread, { content: CONTENT });
      const turns = await runtime.turns(OPERATOR, thread.id);
      expect(turns.map(({ status }) => status).sort()).toEqual(["done", "waiting"]);
      const [last] = turns.filter(({ status }) => status === "done");
      expect(last?.events).toMatchObject([{ kind: "answer" }, { kind: "peer", name: "shouter" }]);
      expect(sentTo("greeter")).toHaveLength(2);
      expect(JSON.stringify(sentTo("greeter")[1])).toContain("HELLO ADA");
      expect(framesOf(sentTo("greeter")[1])).toContainEqual(expect.objectContaining({ kind: "peer", text: WORD }));
      const slots = await runtime.slots(OPERATOR, thread.id);
      expect(slots.filter(({ kind }) => kind === "peer")).toMatchObject([
        { from: "shouter", to: "greeter", text: WORD },
      ]);
      for await (const finding of store.verify(OPERATOR.org)) expect(finding.type).not.toBe("problem");
    });

    it("law 6: 004.6 it has the lowest trust of all that led to it", async () => {
      const trustIn = async (change: object) => {
        const { open, say, sentTo } = await chain(UPDATES, CHAIN);
        await say(await open(), { content: CONTENT, ...change });
        return framesOf(sentTo("greeter")[1]).find(({ kind }) => kind === "peer")?.trust;
      };
      expect(await trustIn({})).toBe("contact");
      expect(await trustIn({ kind: "instruction", trust: "operator" })).toBe("agent");
    });

    it("004.6 at most five times in a turn, and 4,000 characters each", async () => {
      const six = Array.from({ length: 6 }, (_, i) => tells(`Word ${i}.`));
      const { open, say, sentTo } = await chain(UPDATES, {
        greeter: [asks("shouter", ADA), "Done."],
        shouter: [{ parts: [tells("x".repeat(4_001)), ...six] }, "HELLO"],
      });
      await say(await open(), { content: CONTENT });
      const read = framesOf(sentTo("greeter")[1]).filter(({ kind }) => kind === "peer");
      expect(read.map(({ text }) => text)).toEqual([0, 1, 2, 3, 4].map((i) => `Word ${i}.`));
      expect(results(sentTo("shouter")[1])).toContain("4000");
    });

    it("a further peer that is shown the conversation reads who said it", async () => {
      const yaml = UPDATES.replace("updates: true}", "updates: true}, {name: stranger, share: full}");
      const { open, say, sentTo } = await chain(yaml, {
        greeter: [asks("shouter", ADA), asks("stranger", { text: "What now?" }), "Done."],
        shouter: [{ parts: [tells()] }, "HELLO"],
        stranger: ["Nothing."],
      });
      await say(await open(), { content: CONTENT });
      const shown = framesOf(sentTo("stranger")[0]).map(({ text }) => text);
      expect(shown.join("\n")).toMatch(new RegExp(`"from":"shouter","text":"${WORD}"`));
    });

    it("in a longer chain it stands with who said it, on the thread of the agent that asked, and nowhere else", async () => {
      const yaml = UPDATES.replace("peers: [stranger]", "peers: [{name: stranger, updates: true}]").replace(
        "    peers:",
        "    budgets: {turn: {modelCalls: 40, toolCalls: 40}}\n    peers:",
      );
      const { open, say, asked, runtime, store, sentTo } = await chain(yaml, {
        greeter: [asks("shouter", ADA), "Done."],
        shouter: [asks("stranger", { text: "Quiet?" }), "HELLO"],
        stranger: [{ parts: [tells()] }, "Quiet."],
      });
      const thread = await open();
      await say(thread, { content: CONTENT });
      const [called] = await asked("shouter");
      const slots = await runtime.slots(OPERATOR, called?.id ?? thread.id);
      expect(slots.map(({ kind, from, to }) => [kind, from, to])).toEqual([
        ["peer", "greeter", "shouter"],
        ["peer", "stranger", "shouter"],
        ["reply", "shouter", "greeter"],
      ]);
      expect(JSON.stringify(await store.wholeHistory(thread.scope, thread.id, 100))).not.toContain(WORD);
      expect(JSON.stringify(sentTo("greeter"))).not.toContain(WORD);
    });
  });

  it.each(["greeter", "shouter", "stranger", "agent", "member", "operator", "platform"])(
    "law 5 a contact with the id `%s` reads its own messages and the replies to it, and nothing of those with that name",
    async (name) => {
      const on = await chain(UPDATES, { ...CHAIN, greeter: [...(CHAIN["greeter"] ?? []), "Yes, sir.", "Bye."] });
      const thread = await on.open("greeter", name);
      await on.say(thread, { content: CONTENT });
      await on.say(thread, {
        ...{ kind: "instruction", trust: "operator" },
        content: [{ type: "text", text: untrusted("The code of the safe is 4711.") }],
      });
      await on.runtime.post(allow({ ...OPERATOR, role: "platform" }, "post", "run"), thread, [
        {
          kind: ownKind("warning"),
          ...{ trust: "platform", channel: "test", at: on.time.at },
          content: [{ type: "text", text: untrusted("The conversation ends soon.") }],
        },
      ]);
      await collect(on.runtime.follow(OPERATOR, thread));
      const whole = await on.runtime.slots(OPERATOR, thread.id);
      expect(whole.map(({ kind, role }) => [kind, role])).toEqual([
        ["message", "contact"],
        ["peer", "agent"],
        ["reply", "agent"],
        ["instruction", "operator"],
        ["reply", "agent"],
        ["warning", "platform"],
        ["reply", "agent"],
      ]);
      const contact = allow({ ...OPERATOR, role: "contact", contact: thread.scope.contact }, "view");
      const seen = await on.runtime.slots(contact, thread.id);
      expect(seen.map(({ kind, text }) => [kind, text])).toEqual([
        ["message", "Greet Ada."],
        ["reply", "Done."],
        ["reply", "Yes, sir."],
        ["reply", "Bye."],
      ]);
      const [called] = await on.asked("shouter", name);
      expect(await on.runtime.slots(contact, called?.id ?? thread.id)).toEqual([]);
      const lines: unknown[] = [];
      for await (const line of recordingOf(on.runtime, OPERATOR, thread)) lines.push(JSON.parse(line));
      expect(lines.filter((line) => isFrom(line, "contact"))).toMatchObject([{ text: "Greet Ada." }]);
    },
  );

  /** Runs what is due, one turn at a time, each in a separate program over the same record. */
  async function inManyPrograms(store: Store, scripts: Scripts, yaml = UPDATES) {
    const left = Object.fromEntries(Object.entries(scripts).map(([name, all]) => [name, [...all]]));
    const first = await chain(yaml, left, { store, holder: "program-0" });
    const thread = await first.open();
    await first.post(thread, { content: CONTENT });
    const sent: Request[] = [];
    const seen: (readonly string[])[] = [];
    for (let n = 1; n < 20; n++) {
      const on = await chain(yaml, left, { store, holder: `program-${n}` });
      const due = (
        await Promise.all(
          ["greeter", "shouter", "stranger"].map((name) => on.runtime.dueRuns(OPERATOR, agentName(name))),
        )
      ).flat();
      const next = (await store.pending(thread.scope, thread.id)).length > 0 ? thread : due[0];
      if (next === undefined) break;
      await collect(on.runtime.runDue(OPERATOR, next));
      left[next.scope.agent]?.shift();
      if (next.scope.agent === "greeter") sent.push(...on.sentTo("greeter"));
      seen.push((await store.untaken(thread.scope, thread.id)).map(({ kind, status }) => `${kind} ${status}`));
    }
    return { thread, sent, seen };
  }

  it("law 7: 004.6 what is told waits in the record, whatever program goes on", async () => {
    const store = await opened();
    // A turn that ran in another program continues with its own script.
    const { sent, seen } = await inManyPrograms(store, {
      greeter: [asks("shouter", ADA), "Done."],
      shouter: [{ parts: [tells(), ...asks("stranger", { text: "Quiet?" }).parts] }, "HELLO ADA"],
      stranger: ["Quiet."],
    });
    // After each turn: no update yet; sent and held; the stranger has answered; the shouter has answered; all is read.
    expect(seen).toEqual([[], ["peer held"], ["peer held"], ["peer pending", "answer pending"], []]);
    expect(JSON.stringify(sent.at(-1))).toContain("HELLO ADA");
    expect(framesOf(sent.at(-1)).filter(({ text }) => text === WORD)).toHaveLength(1);
  });

  describe("004.6 what is told where nobody waits for the answer any more", () => {
    const SCRIPTS: Scripts = {
      greeter: [asks("shouter", ADA), "Without it.", "Noted."],
      shouter: [{ parts: [tells(), ...asks("stranger", { text: "Quiet?" }).parts] }, "HELLO ADA"],
      stranger: ["Quiet."],
    };

    /** The greeter has asked, and the shouter has not begun. */
    async function asked() {
      const on = await chain(UPDATES.replace("updates: true", "seconds: 1, updates: true"), SCRIPTS);
      const thread = await on.open();
      await on.post(thread, { content: CONTENT });
      await collect(on.runtime.runDue(OPERATOR, thread));
      const [called] = await on.asked("shouter");
      if (called === undefined) throw new Error("nobody was asked");
      const left = async () =>
        (await on.store.untaken(thread.scope, thread.id)).map(({ kind, status }) => [kind, status]);
      return { ...on, thread, called, left };
    }

    it("004.6 begins a turn of its own where the call was answered without it", async () => {
      const { thread, called, left, time, store, runtime, sentTo } = await asked();
      const now = (await store.nextOverdue(thread.scope)) ?? 0;
      expect(await store.answerOverdue(thread.scope, { now, at: time.at })).toEqual([thread.id]);
      await collect(runtime.runDue(OPERATOR, thread));
      await collect(runtime.runDue(OPERATOR, called));
      expect(await left()).toEqual([["peer", "pending"]]);
      await collect(runtime.run(OPERATOR, thread));
      expect(framesOf(sentTo("greeter")[2])).toContainEqual(expect.objectContaining({ kind: "peer", text: WORD }));
    });

    it("S3 003.61 the late answer and what was told stand once, and with their sender, for everyone who reads the conversation", async () => {
      const { thread, called, time, store, runtime } = await asked();
      const now = (await store.nextOverdue(thread.scope)) ?? 0;
      await store.answerOverdue(thread.scope, { now, at: time.at });
      await collect(runtime.runDue(OPERATOR, thread));
      await collect(runtime.runDue(OPERATOR, called));
      const [stranger] = await store.threads({ ...thread.scope, agent: agentName("stranger") }, 1, { channel: "peer" });
      if (stranger !== undefined) await collect(runtime.runDue(OPERATOR, stranger));
      await collect(runtime.runDue(OPERATOR, called));
      await collect(runtime.run(OPERATOR, thread));
      const slots = await runtime.slots(OPERATOR, thread.id);
      expect(slots.filter(({ kind }) => kind !== "reply").map(({ kind, from, to }) => [kind, from, to])).toEqual([
        ["message", "ann", "greeter"],
        ["peer", "shouter", "greeter"],
        ["answer", "shouter", "greeter"],
      ]);
      const ann = allow({ ...OPERATOR, role: "contact", contact: thread.scope.contact }, "view");
      expect(JSON.stringify(await runtime.slots(ann, thread.id))).not.toMatch(/HELLO ADA|bell is broken/);
      const entries = await store.wholeHistory(thread.scope, thread.id, 100);
      expect(
        entries.filter(({ from }) => from === "shouter").map(({ kind, text, failed }) => [kind, failed ?? text]),
      ).toEqual([
        ["answer", true],
        ["answer", "HELLO ADA"],
        ["peer", WORD],
      ]);
      for await (const finding of store.verify(OPERATOR.org)) expect(finding.type).not.toBe("problem");
    });

    it("004.6 waits for the next message where the call was cancelled", async () => {
      const { thread, called, left, store, runtime } = await asked();
      await store.cancelCalls(thread.scope, thread.id);
      await collect(runtime.runDue(OPERATOR, called));
      expect(await left()).toEqual([["peer", "along"]]);
    });
  });
});
