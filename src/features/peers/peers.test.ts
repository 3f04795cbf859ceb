import { describe, expect, it } from "vitest";
import { allToolFamilies } from "../../app/entry/features.ts";
import { agentName, type Request, readFrames, toolName, untrusted } from "../../protocol/index.ts";
import { collect, endOf, OPERATOR } from "../../turn/index.contract.ts";
import type { TurnSteps } from "../../turn/index.ts";
import { toolset } from "../../turn/tools/index.ts";
import { asks, GREETER, loadYaml, organism } from "./index.contract.ts";
import { payloadIn, peerAnswer } from "./index.ts";

const text = (words: string) => [{ type: "text", text: untrusted(words) }] as const;
const result = (request: Request | undefined) => JSON.stringify(request?.messages.at(-1));
const framesOf = (request: Request | undefined) =>
  (request?.messages ?? []).flatMap(({ role, parts }) =>
    role === "user" ? parts.flatMap((part) => (part.type === "text" ? readFrames(part.text) : [])) : [],
  );
const ADA = { name: "Ada", volume: 9 };

describe("an agent with peers", () => {
  it("003.37 003.38 003.39 asks a peer over a declared edge: the chain goes on there, and comes back with its answer", async () => {
    const { open, say, sentTo, asked, runtime } = await organism(GREETER, {
      greeter: [asks("shouter", ADA), "She said: HELLO ADA"],
      shouter: ["HELLO ADA"],
    });
    const thread = await open();
    expect(endOf(await say(thread, { content: text("Greet Ada.") }))).toMatchObject({ text: "She said: HELLO ADA" });
    expect(result(sentTo("greeter")[1])).toContain("HELLO ADA");
    const [called] = await asked("shouter");
    expect(called).toMatchObject({
      parties: { initiator: "greeter", target: "shouter" },
      caller: { thread: thread.id },
    });
    // Nothing is still open, and nothing waits.
    expect((await runtime.turns(OPERATOR, thread.id)).map(({ status }) => status).sort()).toEqual(["done", "waiting"]);
  });

  it("003.17 003.14 has its peers, their schemas, an example and what an answer means in a system block of its own", async () => {
    const { open, say, sentTo } = await organism(GREETER, { greeter: ["Hello."] });
    await say(await open(), { content: text("Hello.") });
    const [system] = [sentTo("greeter")[0]?.prefix.system ?? []];
    expect(system.map(({ layers }) => layers.map(({ layer }) => layer))).toEqual([["core"], ["peers"]]);
    const block = system[1]?.text ?? "";
    expect(block).toContain("## shouter: `ask_shouter`\nSays it loudly.");
    expect(block).toContain('"maximum":11');
    expect(block).toContain('For example: {"name":"…","volume":1}');
    expect(block).toContain("finish all sub-tasks before you reply");
    expect(sentTo("greeter")[0]?.prefix.tools).toMatchObject([
      { name: "ask_shouter", input: { properties: { name: { maxLength: 40 } } } },
    ]);
  });

  it("003.11 003.51 has another version, and other words to lock, where a peer takes something else", () => {
    const greeterOf = (yaml: string) => loadYaml(yaml).agents.get(agentName("greeter"));
    const [before, after] = [greeterOf(GREETER), greeterOf(GREETER.replace("maximum: 11", "maximum: 12"))];
    expect(after?.version).not.toBe(before?.version);
    const peersOf = (agent: typeof before) => agent?.layers.find(({ id }) => id === "peers");
    expect(peersOf(before)).toMatchObject({ mutability: "immutable", source: { text: expect.stringContaining("11") } });
    expect(peersOf(after)).not.toEqual(peersOf(before));
  });

  it("003.56 what is asked is a frame of the kind peer, with the lowest trust of all that led to it", async () => {
    const of = async (trust: "contact" | "operator", kind: "message" | "instruction") => {
      const { open, say, sentTo } = await organism(GREETER, {
        greeter: [asks("shouter", ADA), "Done."],
        shouter: ["HELLO"],
      });
      await say(await open(), { content: text("Greet Ada."), trust, kind });
      return framesOf(sentTo("shouter")[0]).filter((frame) => frame.kind === "peer");
    };
    const payload = '{"payload":{"name":"Ada","volume":9},"payload_type":"Greeting"}';
    expect(await of("contact", "message")).toMatchObject([{ kind: "peer", trust: "contact", text: payload }]);
    expect(await of("operator", "instruction")).toMatchObject([{ kind: "peer", trust: "agent", text: payload }]);
  });

  it("003.36 a payload that does not match is told with the finding, tried once more, and then no more", async () => {
    const bad = (name: string) => asks("shouter", { name, loud: true });
    const { open, say, sentTo, asked } = await organism(GREETER, {
      greeter: [bad("a"), bad("b"), bad("c"), "I give up."],
    });
    await say(await open(), { content: text("Greet Ada.") });
    expect(result(sentTo("greeter")[1])).toMatch(/shouter does not accept this payload\. .*loud.* once more/);
    expect(result(sentTo("greeter")[2])).toContain("Do not try again");
    expect(result(sentTo("greeter")[3])).toContain("did not accept two payloads");
    expect(await asked("shouter")).toEqual([]);
  });

  it("S4 003.50 asks nobody that is not declared: a missing or an empty list is nobody", async () => {
    const { open, say, sentTo, asked } = await organism(GREETER.replace("entry: [greeter]", "entry: [stranger]"), {
      stranger: [asks("shouter", ADA), "Nobody, then."],
    });
    await say(await open("stranger"), { content: text("Greet Ada.") });
    expect(sentTo("stranger")[0]?.prefix.tools).toEqual([]);
    expect(result(sentTo("stranger")[1])).toContain("no tool is named ask_shouter".replace("no tool is named ", ""));
    expect(await asked("shouter")).toEqual([]);
  });

  it("003.23 S1 two conversations over one edge have threads of their own, and neither sees the other", async () => {
    const { open, say, sentTo, asked } = await organism(GREETER, {
      greeter: [asks("shouter", { name: "CANARY-A" }), "Done.", asks("shouter", { name: "CANARY-B" }), "Done."],
      shouter: ["HELLO A", "HELLO B"],
    });
    await say(await open("greeter", "ann", "one"), { content: text("Greet A.") });
    await say(await open("greeter", "ann", "two"), { content: text("Greet B.") });
    expect(new Set((await asked("shouter")).map(({ id }) => id)).size).toBe(2);
    expect(JSON.stringify(sentTo("shouter")[1])).toContain("CANARY-B");
    expect(JSON.stringify(sentTo("shouter")[1])).not.toContain("CANARY-A");
  });

  it("003.5 S2 nobody joins a chain by naming its thread", async () => {
    const { open, say, asked, runtime, post } = await organism(GREETER, {
      greeter: [asks("shouter", ADA), "Done."],
      shouter: ["HELLO"],
    });
    await say(await open(), { content: text("Greet Ada.") });
    const [called] = await asked("shouter");
    if (called === undefined) throw new Error("nobody was asked");
    await expect(post(called, { content: text("Me, too.") })).rejects.toThrow("what agents ask each other");
    await expect(collect(runtime.run(OPERATOR, called))).rejects.toThrow("what agents ask each other");
  });

  it("S3 what is asked stands once on the callee's thread and once in its request", async () => {
    const { open, say, asked, sentTo, runtime } = await organism(GREETER, {
      greeter: [asks("shouter", { name: "CANARY" }), "Done."],
      shouter: ["HELLO"],
    });
    await say(await open(), { content: text("Greet somebody.") });
    const [called] = await asked("shouter");
    const slots = await runtime.slots(OPERATOR, called?.id ?? (await open()).id);
    expect(slots.filter((slot) => slot.text.includes("CANARY"))).toHaveLength(1);
    expect(JSON.stringify(sentTo("shouter")[0]?.messages).split("CANARY")).toHaveLength(2);
  });

  it("003.35 only the entries of a project are reached from outside, whoever asks; missing means nobody", async () => {
    const { open, post } = await organism(GREETER, {});
    await expect(open("shouter")).rejects.toMatchObject({
      code: "not_an_entry",
      message: expect.stringContaining("`entry`"),
    });
    await expect(open("stranger")).rejects.toMatchObject({ code: "not_an_entry" });
    await post(await open("greeter"), { content: text("Hello.") });
    const closed = await organism(GREETER.replace("entry: [greeter]\n", ""), {});
    await expect(closed.open("greeter")).rejects.toMatchObject({ code: "not_an_entry" });
  });

  it("003.62 a payload from outside has the type that its listener takes, and matches it", async () => {
    const { open, post } = await organism(GREETER.replace("entry: [greeter]", "entry: [shouter]"), {});
    const thread = await open("shouter");
    const send = (payloadType: string, payload: object) =>
      post(thread, { content: [{ type: "payload", payloadType, payload: JSON.parse(JSON.stringify(payload)) }] });
    await expect(send("Order", ADA)).rejects.toThrow("shouter accepts payloads of the type Greeting");
    await expect(send("Greeting", { volume: 12 })).rejects.toThrow("shouter does not accept this payload");
    await send("Greeting", ADA);
  });

  it("has only the tools that the edge leaves it, when it is asked", async () => {
    const tools = "    tools: [memory_save, memory_search]\n";
    const yaml = GREETER.replace("peers: [shouter]", "peers: [{name: shouter, tools: [memory_search]}]").replace(
      "    description: Says it loudly.\n",
      `    description: Says it loudly.\n${tools}`,
    );
    expect(loadYaml(yaml).agents.get(agentName("greeter"))?.peers).toMatchObject([{ tools: ["memory_search"] }]);
    expect(() => loadYaml(yaml.replace("tools: [memory_search]}", "tools: [fetch]}"))).toThrow(
      "`shouter` itself has no `fetch` among its `tools`; ",
    );
  });

  it.each([
    ["[]", []],
    ["[ask_stranger]", ["ask_stranger"]],
  ])("asks only those of its own peers that the edge leaves it: %s", async (listed, offered) => {
    const yaml = GREETER.replace("peers: [shouter]", `peers: [{name: shouter, tools: ${listed}}]`).replace(
      "    description: Says it loudly.\n",
      "    description: Says it loudly.\n    peers: [stranger]\n",
    );
    const { open, say, sentTo } = await organism(yaml, {
      greeter: [asks("shouter", ADA), "Done."],
      shouter: [asks("stranger", { text: "Hm?" }), "HELLO"],
      stranger: ["Hm."],
    });
    await say(await open(), { content: text("Greet Ada.") });
    const { tools = [], system = [] } = sentTo("shouter")[0]?.prefix ?? {};
    expect(tools.map(({ name }) => name)).toEqual(offered);
    expect(JSON.stringify(system).includes("stranger")).toBe(offered.length > 0);
    expect(sentTo("stranger")).toHaveLength(offered.length);
  });

  it("names what is wrong with its peers: unknown, twice, a name that no tool can have", () => {
    const wrong = (peers: string) => () => loadYaml(GREETER.replace("peers: [shouter]", `peers: ${peers}`));
    expect(wrong("[shoutr]")).toThrow("the file declares no agent `shoutr`; did you mean `shouter`?");
    expect(wrong("[shouter, shouter]")).toThrow("is listed twice");
    expect(() => loadYaml(GREETER.replace("entry: [greeter]", "entry: [greter]"))).toThrow(
      "the file declares no agent `greter`; did you mean `greeter`?",
    );
    expect(() => loadYaml(GREETER.replace("type: integer", "type: whole"))).toThrow("JSON Schema");
  });

  it("S4 003.50 a tool that asks somebody who is no peer does not exist, whoever declares it", async () => {
    const greeter = loadYaml(GREETER).agents.get(agentName("greeter"));
    const tools = toolset([], await allToolFamilies());
    expect(tools.schemas([toolName("ask_shouter")], greeter)).toMatchObject([{ input: { required: ["name"] } }]);
    expect(() => tools.schemas([toolName("ask_stranger")], greeter)).toThrow("stranger is not a peer of the agent");
  });

  it("003.25 reads nothing of what went wrong with a peer but that it could not answer", async () => {
    const { open, say, sentTo } = await organism(GREETER, {
      greeter: [asks("shouter", ADA), "Without it, then."],
      shouter: [1, 2, 3].map(() => new Error("CANARY in the detail")),
    });
    await say(await open(), { content: text("Greet Ada.") });
    expect(result(sentTo("greeter")[1])).toMatch(/shouter could not answer \(turn trn_/);
    expect(JSON.stringify(sentTo("greeter"))).not.toContain("CANARY");
  });

  it("003.8 003.9 003.54 a slot has nothing but its payload, the type, the real sender and receiver, its place and its time", async () => {
    const { open, say, asked, runtime } = await organism(GREETER, {
      greeter: [asks("shouter", ADA), "Done."],
      shouter: ["HELLO"],
    });
    await say(await open(), { content: text("Greet Ada.") });
    const [called] = await asked("shouter");
    const slots = await runtime.slots(OPERATOR, called?.id ?? (await open()).id);
    expect(slots).toMatchObject([
      { index: 0, from: "greeter", to: "shouter", payload: ADA, payloadType: "Greeting", at: expect.any(Number) },
      { index: 1, from: "shouter", to: "greeter", text: "HELLO" },
    ]);
    expect(slots[0]?.thread).toBe(called?.id);
    expect(JSON.stringify(slots)).not.toMatch(/friendly|prompt|layer|schema/i);
  });

  it("answers with its `output`, as a payload of that type, to whoever asked", async () => {
    const output = "    output: {title: Shout, type: object, properties: {said: {type: string}}, required: [said]}\n";
    const yaml = GREETER.replace("    description: Says it loudly.\n", `    description: Says it loudly.\n${output}`);
    const { open, say, sentTo } = await organism(yaml, {
      greeter: [asks("shouter", ADA), "Done."],
      shouter: ["Not JSON.", '{"said": "HELLO"}'],
    });
    await say(await open(), { content: text("Greet Ada.") });
    // One more try, with the finding.
    expect(sentTo("shouter")).toHaveLength(2);
    expect(result(sentTo("greeter")[1])).toContain(
      '{\\"payload\\":{\\"said\\":\\"HELLO\\"},\\"payload_type\\":\\"Shout\\"}',
    );
    expect(sentTo("greeter")[0]?.prefix.system[1]?.text).toContain("It answers with `Shout`");
  });

  it("003.49 may be answered by a step without a model, which asks a peer, hears its answer and responds", async () => {
    const heard: unknown[] = [];
    const step: TurnSteps = {
      answer: {
        by: "slice",
        effect: "none",
        alone: ({ name }) => name === "greeter",
        answer: async ({ setup }, { events }) => {
          if (setup.agent.name !== "greeter") return undefined;
          const [event] = events;
          if (event === undefined) throw new Error("nothing was said");
          heard.push(payloadIn(event));
          const isAnswer = event.kind === "answer";
          return peerAnswer(setup.agent, isAnswer ? { payload: { heard: "it" } } : { payload: ADA, to: "shouter" });
        },
      },
    };
    const { open, say, sentTo } = await organism(GREETER, { shouter: ["HELLO ADA"] }, { steps: [step] });
    const end = endOf(await say(await open(), { content: text("Greet Ada.") }));
    expect(end).toMatchObject({ type: "done", text: '{"heard":"it"}' });
    expect(heard).toEqual([
      { type: "Text", payload: { text: "Greet Ada." } },
      { type: "Text", payload: { text: "HELLO ADA" } },
    ]);
    expect(sentTo("greeter")).toEqual([]);
    const greeter = loadYaml(GREETER).agents.get(agentName("greeter"));
    if (greeter === undefined) throw new Error("there is no greeter");
    await expect(peerAnswer(greeter, { payload: ADA, to: "stranger" })).rejects.toThrow("greeter may ask `shouter`");
    await expect(peerAnswer(greeter, { payload: { volume: 1 }, to: "shouter" })).rejects.toThrow(
      "shouter does not accept this payload",
    );
  });
});
