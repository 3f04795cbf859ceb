import { expect, it } from "vitest";
import { z } from "zod";
import { allParts, allToolFamilies } from "../../app/entry/features.ts";
import type { ScriptedReply } from "../../models/index.ts";
import {
  type Agent,
  contactId,
  type EventId,
  type PayloadPart,
  type Request,
  toolName,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import { EVERYTHING, onEachDatabase } from "../../store/index.contract.ts";
import type { Store, Thread } from "../../store/index.ts";
import { collect, endOf, message, OPERATOR, ORG, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { defineTool, toolset } from "../../turn/tools/index.ts";
import { cardOf } from "../../wire/index.ts";
import { APPROVAL_API } from "../approvals/index.ts";
import { keyOf } from "../blocks/blocks.ts";
import { BLOCK_API } from "../blocks/index.ts";
import { blockTools } from "../blocks/tools.ts";
import { DELIVERY_API } from "../deliveries/index.ts";
import { handlerOf } from "../handlers/index.contract.ts";
import { INBOX_API } from "../inbox/api.ts";
import { replyTool } from "../inbox/index.ts";
import { MEMORY_API, memoryTools } from "../memories/index.ts";
import { asks, GREETER, organism } from "../peers/index.contract.ts";
import { TEXT_API } from "../texts/index.ts";
import { RETRACTION_API } from "./index.ts";

const SECRET = "My lodger is called Quillworth, and he snores.";

type Options = NonNullable<Parameters<typeof testRuntime>[1]>;

/** A runtime over a store, in which events are posted and taken back. */
async function stand(store: Store, script: Parameters<typeof testRuntime>[0], given: Omit<Options, "store"> = {}) {
  const on = await testRuntime(script, { store, ...given });
  return { ...on, ...retracting(on) };
}

function retracting({
  runtime,
  store,
  time,
  sent,
}: Pick<Awaited<ReturnType<typeof testRuntime>>, "runtime" | "store" | "time" | "sent">) {
  const post = async (thread: Thread, text: string, payload?: PayloadPart): Promise<EventId> => {
    time.at += 60_000;
    const said = message(text, time.at);
    const [event] = await runtime.post(OPERATOR, thread, [payload ? { ...said, content: [payload] } : said]);
    if (event === undefined) throw new Error("nothing was posted");
    return event.id;
  };
  return {
    post,
    /** Posts it, runs a turn, and gives the event. */
    says: async (thread: Thread, text: string): Promise<EventId> => {
      const id = await post(thread, text);
      await collect(runtime.run(OPERATOR, thread));
      return id;
    },
    retract: (id: EventId) => runtime.use(RETRACTION_API).retract(OPERATOR, id, "a mistake"),
    slots: async (thread: Thread) => (await runtime.slots(OPERATOR, thread.id)).map(({ text }) => String(text)),
    last: () => JSON.stringify(sent.at(-1)),
    /** Where a word appears in the database, and what `verify` finds. */
    left: async (word: string) => {
      const stored = (await store.part(EVERYTHING).everything(ORG)).split("\n");
      const problems = (await collect(store.verify(ORG))).filter(({ type }) => type === "problem");
      return [...stored.filter((line) => line.includes(word)), ...problems];
    },
  };
}

const wordsOf = (request: Request): string => JSON.stringify([request.messages, request.tail]);

onEachDatabase("what a retraction reaches", [...(await allParts()), EVERYTHING], (open) => {
  it.each(["retracted", "erased"])(
    "28.9 a batch: the other senders' replies that repeat what is %s go, and their messages stay",
    async (how) => {
      const answer = (request: Request): ScriptedReply | string =>
        request.messages.length > 1
          ? "All is answered."
          : wordsOf(request).includes("Quillworth")
            ? {
                parts: [
                  { call: "reply_to_sender", id: "a", input: { sender: "ann", text: "I note it." } },
                  { call: "reply_to_sender", id: "b", input: { sender: "bob", text: `Ann says: ${SECRET}` } },
                  { call: "reply_to_sender", id: "c", input: { sender: "cid", text: "At nine." } },
                ],
              }
            : "You alone, hello.";
      const store = await open();
      const agent = sampleAgent({ history: "log", inbox: "batch", tools: [toolName("reply_to_sender")] });
      const parts = { tools: toolset([replyTool()]), cardOf: () => cardOf("anthropic:claude-sonnet-4-5") };
      const on = await stand(store, [answer, answer, answer, answer], { agent, parts });
      const [ann, bob, cid] = [await on.open("ann"), await on.open("bob"), await on.open("cid")];
      const id = await on.post(ann, SECRET);
      await on.post(bob, "What is new?");
      await on.post(cid, "When do you open?");
      expect(endOf(await collect(on.runtime.use(INBOX_API).runInbox(OPERATOR, agent.name, {})))).toMatchObject({
        type: "done",
      });
      expect(await on.slots(bob)).toEqual(["What is new?", `Ann says: ${SECRET}`]);
      if (how === "erased") await on.runtime.erase(OPERATOR, { contact: contactId("ann"), agent: agent.name });
      else await on.retract(id);
      if (how === "retracted") expect(await on.slots(ann)).toEqual([]);
      expect(await on.slots(bob)).toEqual(["What is new?"]);
      expect(await on.slots(cid)).toEqual(["When do you open?", "At nine."]);
      expect(await on.left("Quillworth")).toEqual([]);
      await on.says(bob, "Tell me again.");
      expect(on.last()).not.toContain("Quillworth");
    },
  );

  it("28.9 an agent that was called: what it was asked, said and saved goes, and so does the answer", async () => {
    const saves = { parts: [{ call: "memory_save", id: "m", input: { content: "The greeted one is Quillworth." } }] };
    const store = await open();
    const on = await organism(
      GREETER.replace("  stranger:", "    tools: [memory_save]\n    recall: tools\n  stranger:"),
      {
        greeter: [asks("shouter", { name: "Quillworth" }, "c1"), "I said hello to Quillworth.", "Aye."],
        shouter: [saves, "HELLO, QUILLWORTH!", "AYE."],
      },
      { store, parts: { tools: toolset(memoryTools(store), await allToolFamilies()) } },
    );
    const with_ = retracting(on);
    const thread = await on.open();
    const id = await with_.post(thread, "Please greet my lodger Quillworth.");
    await collect(on.runtime.follow(OPERATOR, thread));
    expect(on.sentTo("shouter")).toHaveLength(2);
    await with_.retract(id);
    expect(await with_.slots(thread)).toEqual([]);
    expect(await with_.left("Quillworth")).toEqual([]);
    expect(await with_.left("QUILLWORTH")).toEqual([]);
    await with_.post(thread, "Hello?");
    await collect(on.runtime.follow(OPERATOR, thread));
    expect(JSON.stringify(on.sentTo("greeter").at(-1))).not.toMatch(/quillworth/i);
  });

  it("28.9 what an agent that was called gave on of it: the caller's reply that repeats it goes", async () => {
    const on = await organism(
      GREETER.replace("entry: [greeter]", "entry: [greeter, shouter]").replace("maxLength: 40", "maxLength: 60"),
      {
        greeter: [asks("shouter", { name: "Ann" }), `I hear that ${SECRET}`, "Aye."],
        shouter: ["NOTED.", `HELLO! ${SECRET}`],
      },
      { store: await open() },
    );
    const with_ = retracting(on);
    const direct = await on.open("shouter");
    const id = await with_.post(direct, "", { type: "payload", payloadType: "Greeting", payload: { name: SECRET } });
    await collect(on.runtime.follow(OPERATOR, direct));
    const thread = await on.open();
    await with_.post(thread, "What does the shouter know?");
    await collect(on.runtime.follow(OPERATOR, thread));
    expect((await with_.slots(thread)).at(-1)).toBe(`I hear that ${SECRET}`);
    await with_.retract(id);
    expect(await with_.slots(thread)).toEqual(["What does the shouter know?"]);
    expect(await with_.left("Quillworth")).toEqual([]);
    await with_.post(thread, "And now?");
    await collect(on.runtime.follow(OPERATOR, thread));
    expect(JSON.stringify(on.sentTo("greeter").at(-1))).not.toContain("Quillworth");
  });

  it("28.9 a run that waits for a person: its call can no longer be approved, and the run does not go on", async () => {
    const acted: string[] = [];
    const look = defineTool({
      name: "look",
      description: "Refunds.",
      input: z.object({ at: z.string() }),
      effect: "external",
      trust: "operator",
      needsApproval: () => true,
      run: ({ at }) => {
        acted.push(at);
        return `refunded ${at}`;
      },
    });
    const ask = { parts: [{ call: "look", id: "c", input: { at: "Quillworth" } }] };
    const on = await stand(await open(), [ask, "A person decides about Quillworth.", "Aye.", "Aye."], {
      agent: sampleAgent({ tools: [toolName("look")] }),
      parts: { tools: toolset([look]) },
    });
    const thread = await on.open();
    const id = await on.says(thread, "Refund my lodger Quillworth.");
    const approvals = on.runtime.use(APPROVAL_API);
    const [asked] = await approvals.newestApprovals(OPERATOR, { status: "waiting", limit: 9 } as never);
    await on.retract(id);
    const late = approvals.decide(OPERATOR, asked?.id as never, { verdict: "approved" });
    await expect(late).rejects.toMatchObject({ code: "approval_decided" });
    expect(acted).toEqual([]);
    await on.says(thread, "Hello?");
    expect(on.last()).not.toContain("Quillworth");
    expect(await on.left("Quillworth")).toEqual([]);
  });

  it("28.9 a run that a person let go on: the answer and what followed from it go with the event that it began with", async () => {
    const look = defineTool({
      name: "look",
      description: "Refunds.",
      input: z.object({ at: z.string() }),
      effect: "external",
      trust: "operator",
      needsApproval: () => true,
      run: ({ at }) => `refunded ${at}`,
    });
    const ask = { parts: [{ call: "look", id: "c", input: { at: "Quillworth" } }] };
    const on = await stand(await open(), [ask, "A person decides.", "Quillworth has the money.", "Aye."], {
      agent: sampleAgent({ tools: [toolName("look")] }),
      parts: { tools: toolset([look]) },
    });
    const thread = await on.open();
    const id = await on.says(thread, "Refund my lodger Quillworth.");
    const approvals = on.runtime.use(APPROVAL_API);
    const [asked] = await approvals.newestApprovals(OPERATOR, { status: "waiting", limit: 9 } as never);
    await approvals.decide(OPERATOR, asked?.id as never, { verdict: "approved" });
    await collect(on.runtime.run(OPERATOR, thread));
    expect((await on.slots(thread)).at(-1)).toBe("Quillworth has the money.");
    const done = await on.retract(id);
    expect(done.left).toContainEqual({ what: "call", name: "look", turn: done.turns[0] });
    expect(await on.slots(thread)).toEqual([]);
    expect(await on.left("Quillworth")).toEqual([]);
    await on.says(thread, "Hello?");
    expect(on.last()).not.toContain("Quillworth");
  });

  it("28.9 a cut, and the block of words that it left: the next request is that of a conversation that never had it", async () => {
    const { layers, budgets } = sampleAgent();
    const long = { kind: "text", text: trusted("Be kind. ".repeat(600)) } as const;
    const agent = sampleAgent({
      layers: layers.map((layer) => (layer.id === "identity" ? { ...layer, source: long } : layer)),
      tools: [],
      recall: "none",
      budgets: { ...budgets, total: 4_400, reply: 200 },
    });
    const sea = "The sea was calm and the wind came from the west, as it had for days. ".repeat(4);
    const talk = async (days: number | undefined, without?: number) => {
      const on = await stand(
        await open(),
        Array.from({ length: 60 }, () => "Aye."),
        { agent },
      );
      const thread = await on.open();
      let id: EventId | undefined;
      let cuts = 0;
      let day = 0;
      while (days === undefined ? cuts === 0 : day < days) {
        day++;
        if (day === without) {
          on.time.at += 60_000;
          continue;
        }
        const event = await on.post(thread, day === 3 ? `Day 3. ${SECRET} ${sea}` : `Day ${day}. ${sea}`);
        cuts += (await collect(on.runtime.run(OPERATOR, thread))).filter(({ type }) => type === "cut").length;
        if (day === 3) id = event;
      }
      return { ...on, thread, id, days: day };
    };
    const on = await talk(undefined);
    await on.retract(on.id as EventId);
    expect(await on.left("Quillworth")).toEqual([]);
    const twin = await talk(on.days, 3);
    for (const one of [on, twin]) {
      one.time.at += 120_000;
      await one.says(one.thread, "What did I say?");
    }
    const [is, would] = [on.sent.at(-1), twin.sent.at(-1)];
    expect(JSON.stringify(is)).not.toContain("Quillworth");
    expect(is && wordsOf(is).match(/Day \d+/g)).toEqual(would && wordsOf(would).match(/Day \d+/g));
  });

  it("28.9 memory blocks: a proposal goes, an approved block goes back, and who has read it forgets it", async () => {
    const store = await open();
    const tools = toolset(blockTools(store));
    const AREA = { label: "BusinessFacts", name: "lodger" } as const;
    const change = (op: string, text: string) => ({
      parts: [{ call: "update_my_memory", id: "u", input: { changes: [{ op, ...AREA, text }] } }],
    });
    const read = { parts: [{ call: "read_my_memory", id: "r", input: {} }] };
    const agent = sampleAgent({ tools: ["read_my_memory", "update_my_memory"].map(toolName), instructions: "members" });
    const script = [change("add", "The lodger of Ann is Quillworth."), "Kept.", read, "There is a lodger.", "Aye."];
    const on = await stand(store, script, { agent, parts: { tools } });
    const blocks = on.runtime.use(BLOCK_API);
    const id = await on.says(await on.open("ann"), SECRET);
    await blocks.decide(OPERATOR, agent.name, AREA, { n: 1, verdict: "approved", reason: untrusted("fine") });
    const max = await on.open("max");
    await on.says(max, "Who lives there?");
    expect(on.last()).toContain("Quillworth");
    await on.retract(id);
    expect(await blocks.blocks(OPERATOR, agent.name)).toEqual([]);
    expect(await on.left("Quillworth")).toEqual([]);
    await on.says(max, "And now?");
    expect(on.last()).not.toContain("Quillworth");
    expect(await on.slots(max)).toContain("Who lives there?");
    const versions = await on.runtime.use(TEXT_API).textVersions(OPERATOR, agent.name, keyOf(AREA));
    expect(JSON.stringify(versions)).not.toContain("Quillworth");
  });

  it("28.9 handlers: the log, what they asked a model and the replies that are used again go", async () => {
    const code = `export default async (payload, meta, { complete, history, log }) => {
      log("heard", payload.text);
      const { text } = await complete({ message: "Answer " + payload.text });
      return { payload: text + " (" + history.length + ")" };
    };`;
    const agent = sampleAgent({ handler: handlerOf(code), responseCache: { seconds: 3_600 } } as Partial<Agent>);
    const on = await stand(await open(), ["Quillworth, of course.", "Aye.", "Aye."], { agent });
    const thread = await on.open();
    const id = await on.says(thread, SECRET);
    expect(await on.slots(thread)).toEqual([SECRET, "Quillworth, of course. (0)"]);
    await on.retract(id);
    expect(await on.left("Quillworth")).toEqual([]);
    await on.says(thread, "Hello?");
    expect(await on.slots(thread)).toEqual(["Hello?", "Aye. (0)"]);
  });

  it("28.9 a memory that it made an agent forget is known again, with its words and its count", async () => {
    const save = { parts: [{ call: "memory_save", id: "s", input: { content: "Ann drinks tea." } }] };
    let memory = "";
    const forget = (): ScriptedReply => ({ parts: [{ call: "memory_forget", id: "f", input: { id: memory } }] });
    const on = await stand(await open(), [save, "Kept.", save, "Kept.", forget, "Gone.", "Aye."] as never, {
      agent: sampleAgent({ tools: ["memory_save", "memory_forget"].map(toolName) }),
    });
    const thread = await on.open();
    const facts = async () =>
      (await on.runtime.use(MEMORY_API).memories(OPERATOR, thread.scope, 9, { kinds: ["fact"] })).map(
        ({ content, support }) => [String(content), support],
      );
    await on.says(thread, "I drink tea.");
    await on.says(thread, "I do drink tea.");
    memory = (await on.runtime.use(MEMORY_API).memories(OPERATOR, thread.scope, 9, { kinds: ["fact"] }))[0]?.id ?? "";
    const id = await on.says(thread, "Forget what I drink.");
    expect(await facts()).toEqual([]);
    await on.retract(id);
    expect(await facts()).toEqual([["Ann drinks tea.", 2]]);
    expect(await on.left("Forget what I drink")).toEqual([]);
  });

  it("28.9 names what it does not undo: replies that somebody has, and calls of tools that act outside", async () => {
    const ring = defineTool({
      name: "ring",
      description: "Rings.",
      input: z.object({}),
      effect: "external",
      trust: "contact",
      run: () => "rang",
    });
    const parts = { tools: toolset([ring]) };
    const rings = { parts: [{ call: "ring", id: "r", input: {} }] };
    const on = await stand(await open(), [rings, "Quillworth, I see.", "Quillworth again."], {
      agent: sampleAgent({ tools: [toolName("ring")] }),
      parts,
    });
    const thread = await on.open();
    const id = await on.post(thread, SECRET);
    await collect(on.runtime.run(OPERATOR, thread, { replyTo: "outbox" }));
    const mail = on.runtime.use(DELIVERY_API);
    const [reply] = await mail.outbox(OPERATOR, on.agent.name, { limit: 9 });
    await mail.delivered(OPERATOR, on.agent.name, reply?.id as never);
    const done = await on.retract(id);
    const [turn] = done.turns;
    expect(done.left).toEqual([
      { what: "call", name: "ring", turn },
      { what: "reply", name: reply?.id, turn },
    ]);
  });
});
