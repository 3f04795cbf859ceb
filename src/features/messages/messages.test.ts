import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { project, strata } from "../../../tests/cli/strata.ts";
import { openApp } from "../../app.ts";
import { at, eventsOf, httpFixture, to } from "../../doors/http/index.contract.ts";
import {
  type Actor,
  actorId,
  agentName,
  allow,
  contactId,
  orgId,
  type Role,
  type ThreadId,
  untrusted,
} from "../../protocol/index.ts";
import { OPERATOR, testRuntime } from "../../turn/index.contract.ts";
import { DELIVERY_API } from "../deliveries/index.ts";
import { mcpTool } from "../index.ts";
import { SETTING_API } from "../settings/index.ts";
import { MESSAGE_API } from "./api.ts";
import { FEATURE, type Recipient } from "./index.ts";

const ORG = orgId("home");
const ANN = { agent: agentName("companion"), contact: contactId("ann") };

const acting = (role: Role, more: Partial<Actor> = {}): Actor => ({
  org: ORG,
  id: actorId("key:test"),
  role,
  ...more,
});

const SEND = "POST /v1/agents/companion/messages";

/** A server whose token is that of an actor. */
const servedTo = (actor: Actor, script: Parameters<typeof httpFixture>[0]) =>
  httpFixture(script, { actorOf: () => actor });

describe("who sends a message", () => {
  const SAID = [{ parts: [{ reasoning: "My layers say so." }, { text: "Hi." }] }];
  const ROLES = [
    [
      "an operator",
      acting("operator"),
      ["received", "turn-start", "compiled", "reasoning-delta", "text-delta", "done", "answer"],
    ],
    ["a member", acting("member"), ["received", "turn-start", "text-delta", "done", "answer"]],
    ["a contact", acting("contact", ANN), ["received", "turn-start", "text-delta", "done", "answer"]],
  ] as const;

  it.each(ROLES)("%s hears what may be known of the turn, as a stream and as a value", async (_, actor, types) => {
    const { ask, json } = await servedTo(actor, [...SAID, ...SAID]);
    const body = { contact: "ann", text: "Hello" };
    const stream = await ask(SEND, { body, headers: { accept: "text/event-stream" } });
    const events = eventsOf(await stream.text());
    expect(events.map(({ type }) => type)).toEqual(types);
    const value = await json(SEND, { body });
    expect(value).toMatchObject({
      status: 200,
      body: { state: "done", done: { text: "Hi." }, event: { status: "consumed" } },
    });
    const inside = JSON.stringify([events, value]);
    if (actor.role === "operator") expect(inside).toContain("ledger");
    else expect(inside).not.toMatch(/ledger|My layers|budget/);
    if (actor.role === "contact") expect(inside).not.toMatch(/scripted|totals|usage/);
  });

  it("a contact reaches neither another contact's conversation nor how the agent runs, and stores nothing there", async () => {
    const actor = acting("contact", ANN);
    const { json, runtime, operator } = await servedTo(actor, ["Hi."]);
    const bob = await runtime.open(operator, { ...ANN, contact: contactId("bob"), channel: "http", key: "main" });
    for (const [body, status] of [
      [{ thread: bob.id, text: "Hello" }, 404],
      [{ contact: "bob", text: "Hello" }, 403],
      [{ contact: "ann", text: "Hello", mode: "minimal" }, 403],
      [{ contact: "ann", text: "Hello", parameters: { temperature: 2 } }, 403],
      [{ contact: "ann", text: "Hello", tools: [] }, 403],
      [{ contact: "ann", text: "Hello", trust: "operator" }, 403],
      [{ contact: "ann", text: "Hello", kind: "instruction" }, 403],
    ] as const)
      expect(await json(SEND, { body }), JSON.stringify(body)).toMatchObject({ status });
    expect(await runtime.pending(operator, bob)).toEqual([]);
    expect(await runtime.threads(operator, { org: ORG, ...ANN }, 10)).toEqual([]);
  });

  it("an auditor and another agent send nothing", async () => {
    for (const role of ["auditor", "agent"] as const) {
      const { json } = await servedTo(acting(role), ["Hi."]);
      expect(await json(SEND, { body: { contact: "ann", text: "Hello" } })).toMatchObject({ status: 403 });
    }
  });

  it("a contact learns of a failed turn that it failed, and not why", async () => {
    const { json, ask } = await servedTo(acting("contact", ANN), [
      new Error("no route to 10.0.0.7"),
      new Error("10.0.0.7"),
    ]);
    const body = { contact: "ann", text: "Hello" };
    const failed = await json(SEND, { body });
    expect(failed).toMatchObject({ status: 502, body: { error: { code: "model_failed", retry: true } } });
    const stream = eventsOf(await (await ask(SEND, { body, headers: { accept: "text/event-stream" } })).text());
    expect(stream.map(({ type }) => type)).toEqual(["received", "turn-start", "failed"]);
    expect(JSON.stringify([failed, stream])).not.toContain("10.0.0.7");
  });
});

describe("a message", () => {
  it("opens its conversation, and continues it the next time", async () => {
    const { json, sent } = await httpFixture(["One.", "Two."]);
    const body = { contact: "ann", key: "shop", text: "Hello" };
    const [one, two] = [await json(SEND, { body }), await json(SEND, { body })];
    expect(at(two.body, "event", "thread")).toBe(at(one.body, "event", "thread"));
    expect(JSON.stringify(sent[1])).toContain("One.");
  });

  it("is answered with the parameters that come with it, and the next one with the agent's own", async () => {
    const { json, sent } = await httpFixture(["One.", "Two."]);
    const body = { contact: "ann", text: "Hello" };
    await json(SEND, { body: { ...body, parameters: { temperature: 0.5, maxTokens: 50 } } });
    await json(SEND, { body });
    expect(sent[0]?.parameters).toEqual({ maxTokens: 50, temperature: 0.5 });
    expect(sent[1]?.parameters).not.toHaveProperty("temperature");
    expect(sent[1]?.parameters.maxTokens).toBeGreaterThan(50);
  });

  it("lets only the tools be called that come with it; the prompt's prefix stays what it was", async () => {
    const save = {
      parts: [{ call: "memory_save", input: { content: "Ann has a cat." } }],
      end: { finish: "calls" as const },
    };
    const { json, sent } = await httpFixture([save, "One.", save, "Two."]);
    const body = { contact: "ann", text: "Hello" };
    await json(SEND, { body: { ...body, tools: ["memory_search"] } });
    expect(JSON.stringify(sent[1]?.messages)).toContain("memory_save may not be called for this message");
    await json(SEND, { body });
    expect(JSON.stringify(sent[3]?.messages.slice(-1))).not.toContain("may not be called");
    expect(sent[3]?.prefix).toEqual(sent[0]?.prefix);
    const found = await json("GET /v1/memories/search?agent=companion&contact=ann&query=cat&kind=fact");
    expect(JSON.stringify(found.body)).toContain("Ann has a cat.");
  });

  it("holds a payload, whose texts are found again", async () => {
    const { json } = await httpFixture(["Noted."]);
    const content = [{ type: "payload", payloadType: "Order", payload: { title: "Night trains", copies: 2 } }];
    const answer = await json(SEND, { body: { contact: "ann", content } });
    expect(answer).toMatchObject({ status: 200, body: { event: { content } } });
    const found = await json("GET /v1/memories/search?agent=companion&contact=ann&query=night+trains");
    expect(JSON.stringify(found.body)).toContain('"content":"Night trains"');
  });

  it.each([
    [{ contact: "ann" }, "either a `text` or `content`"],
    [{ contact: "ann", text: "x", content: [] }, "give one of them"],
    [{ text: "x" }, "give the `contact` who writes, or the `thread`"],
    [
      { contact: "ann", content: [{ type: "image", mediaType: "image/png", data: "aGk=" }] },
      "a part of type `image` yet",
    ],
    [
      { contact: "ann", content: [{ type: "file", mediaType: "text/plain", data: "aGk=" }] },
      "a part of type `file` yet",
    ],
    [{ contact: "ann", text: "x", tools: [{ name: "a", description: "b", input: {} }] }, "not supported yet"],
    [{ contact: "ann", text: "x", tools: ["memory_safe"] }, "did you mean `memory_save`?"],
    [{ contact: "ann", text: "x", parameters: { temperature: 1, topP: 1 } }, "either `temperature` or `topP`"],
    [{ contact: "ann", text: "x", parameters: { temperature: 1 }, follow: "queue" }, "`parameters` is about the turn"],
    [{ contact: "ann", text: "x", channel: "replay" }, "holds"],
  ])("refuses %j before anything is stored", async (body, message) => {
    const { json, runtime, operator } = await httpFixture(["Hi."]);
    expect(await json(SEND, { body })).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_input", message: expect.stringContaining(message) } },
    });
    expect(await runtime.threads(operator, { org: ORG, ...ANN }, 10)).toEqual([]);
  });

  it("sets what is set with it once and together with it: neither where one of them is refused, nor again where it is sent again", async () => {
    const companion = (await httpFixture()).runtime
      .agents(allow(acting("operator"), "operate"))
      .find(({ name }) => name === "companion");
    if (companion === undefined) throw new Error("there is no companion");
    const settings = { tone: { choices: ["dry", "warm"], settableBy: "contacts" } } as const;
    const chooser = { ...companion, name: agentName("chooser"), settings };
    const { json } = await httpFixture(["One."], {}, [chooser]);
    const send = (more: object) =>
      json("POST /v1/agents/chooser/messages", {
        body: { contact: "ann", text: "Hello", externalId: "m-1", settings: { tone: "dry" }, ...more },
      });
    for (const more of [{ settings: { tone: "wet" } }, { settings: { mood: "dry" } }, { text: "x".repeat(100_001) }])
      expect(await send(more)).toMatchObject({ status: 400 });
    expect(at((await json("GET /v1/threads?agent=chooser")).body, "threads")).toEqual([]);
    const thread = at((await send({})).body, "event", "thread");
    const tone = async () => at((await json(`GET /v1/threads/${thread}/settings`)).body, "settings", 0, "value");
    expect(await tone()).toBe("dry");
    await json(`POST /v1/threads/${thread}/settings/tone`, { body: { value: "warm" } });
    expect(await send({})).toMatchObject({ status: 200, body: { done: { text: "One." } } });
    expect(await tone()).toBe("warm");
  });

  it("to a thread or a conversation of an opened project sets what is set with it", async () => {
    const folder = project((yaml) =>
      yaml.replace(
        "    recall: auto\n",
        "    recall: auto\n    settings: { tone: { choices: [dry, warm], default: dry } }\n",
      ),
    );
    const app = await openApp({ folder, data: join(folder, ".strata"), env: {} });
    onTestFinished(() => app.close());
    const content = [{ type: "text", text: untrusted("Hello") }] as const;
    const send = async (to: Recipient, tone: string) => {
      const message = { to, content, kind: "message", follow: "queue", settings: { tone } } as const;
      for await (const event of app.runtime.use(MESSAGE_API).sendMessage(app.operator, message))
        if (event.type === "received") return event.event.thread;
      return expect.unreachable("the message is stored first");
    };
    const tone = async (thread: ThreadId) =>
      (await app.runtime.use(SETTING_API).settings(app.operator, thread))[0]?.value;
    const thread = await send({ ...ANN, channel: "program", key: "main" }, "warm");
    expect(await tone(thread)).toBe("warm");
    await send({ agent: ANN.agent, thread }, "dry");
    expect(await tone(thread)).toBe("dry");
  });

  it("names an agent that is not the thread's", async () => {
    const stand = await httpFixture(["Hi."]);
    const thread = await stand.open();
    expect(await stand.json(...to(thread, { text: "x" }, { agent: "other" }))).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("is a thread of companion, not of other") } },
    });
  });

  it("after its seconds is answered with 202, its turn goes on, and sent again it gets the reply, which waited", async () => {
    const model = Promise.withResolvers<void>();
    const { json, runtime, operator, parts } = await httpFixture(["Late."]);
    const slow = await parts.modelOf(runtime.agent(operator, ANN.agent));
    const send = slow.send.bind(slow);
    Reflect.set(slow, "send", async function* (...given: Parameters<typeof send>) {
      await model.promise;
      return yield* send(...given);
    });
    const body = { contact: "ann", text: "Hello", externalId: "m-1", seconds: 1 };
    expect(await json(SEND, { body })).toMatchObject({
      status: 202,
      body: { state: "running", event: { status: "pending" } },
    });
    model.resolve();
    const again = await json(SEND, { body: { ...body, seconds: 60 } });
    expect(again).toMatchObject({ status: 200, body: { state: "done", done: { text: "Late." } } });
    const outbox = await json("GET /v1/agents/companion/outbox");
    expect(at(outbox.body, "messages")).toMatchObject([{ text: "Late.", status: "delivered" }]);
  });

  it("whose server ends between the commit and the answer gets it from the next server, which asks no model", async () => {
    const one = await testRuntime(["Committed."]);
    const first = await httpFixture([], { runtime: one.runtime, actorOf: () => OPERATOR });
    const path = "POST /v1/agents/helper/messages";
    const body = { contact: "ann", text: "Hello", externalId: "m-1" };
    const queued = await first.json(path, { body: { ...body, follow: "queue" } });
    const [thread] = await one.store.threads({ org: ORG, agent: one.agent.name, contact: ANN.contact }, 2);
    if (thread === undefined) throw new Error("the message has a thread");
    // The turn is committed, but its end is not read.
    for await (const { type } of one.runtime.run(OPERATOR, thread)) if (type === "done") break;
    const outbox = async () => one.runtime.use(DELIVERY_API).outbox(OPERATOR, one.agent.name, { limit: 9 });
    expect(await outbox()).toMatchObject([{ text: "Committed.", status: "waiting" }]);
    const next = await testRuntime([], {
      store: one.store,
      parts: { holder: "next", alive: () => false },
    });
    const second = await httpFixture([], { runtime: next.runtime, actorOf: () => OPERATOR });
    for (const _ of [1, 2])
      expect(await second.json(path, { body })).toMatchObject({
        status: 200,
        body: {
          state: "done",
          event: { id: at(queued.body, "event", "id"), status: "consumed" },
          done: { text: "Committed." },
        },
      });
    expect(next.sent).toEqual([]);
    expect(await outbox()).toMatchObject([{ text: "Committed.", status: "delivered" }]);
    expect(await next.runtime.turns(OPERATOR, thread.id)).toHaveLength(1);
  });

  it("left in the queue and sent again after it was answered says what came of it", async () => {
    const { json } = await httpFixture(["Here."]);
    const body = { contact: "ann", text: "Hello", externalId: "m-1", follow: "queue" };
    const queued = await json(SEND, { body });
    expect(queued).toMatchObject({ status: 202, body: { state: "queued" } });
    await json(`POST /v1/threads/${at(queued.body, "event", "thread")}/run`);
    expect(await json(SEND, { body })).toMatchObject({ status: 200, body: { state: "done", done: { text: "Here." } } });
  });
});

describe("strata ask and strata message send", () => {
  it("print the reply, continue the chat, and tell programs the value; what is queued waits", async () => {
    const cwd = project();
    const ask = (...argv: readonly string[]) => strata([...argv, "--as", "ann"], { cwd });
    expect(await ask("ask", "My cat is called Miso.")).toMatchObject({ code: 0, out: expect.stringMatching(/\S/) });
    const sent = await ask("message", "send", "What is my cat called?", "--json");
    expect(JSON.parse(sent.out)).toMatchObject({ state: "done", event: { channel: "chat" }, done: { type: "done" } });
    const queued = await ask("message", "send", "And my dog?", "--follow", "queue", "--id", "m-1");
    expect(queued).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^evt_\w+ waits for companion on thr_\w+\.\n$/),
    });
    const listed = await strata(["thread", "list", "--json"], { cwd });
    expect(JSON.parse(listed.out)).toMatchObject([{ channel: "chat", key: "chat", turns: 2 }]);
    expect(await ask("ask", " ")).toMatchObject({ code: 2, err: expect.stringContaining("`<text>` must be a text") });
  });
});

it("the command takes each field that a message has over HTTP, and a thread in place of a conversation", async () => {
  const settings = "    settings: { mood: { choices: [calm, brisk], default: calm } }\n";
  const cwd = project((yaml) => yaml.replace("  companion:\n", `  companion:\n${settings}`));
  const ask = (...argv: readonly string[]) => strata(["ask", ...argv, "--json"], { cwd });
  const first = await ask("Hi.", "--as", "ann", "--settings", '{"mood": "brisk"}');
  const { thread } = JSON.parse(first.out).event;
  const parts = [
    { type: "text", text: "What now?" },
    { type: "payload", payloadType: "Order", payload: { bread: 2 } },
  ];
  const sent = await ask(
    ...["--thread", thread, "--mode", "minimal", "--tool", "memory_search", "--parameters", '{"maxTokens": 99}'],
    ...parts.flatMap((part) => ["--content", JSON.stringify(part)]),
  );
  expect(JSON.parse(sent.out)).toMatchObject({ state: "done", event: { thread, content: parts } });
  const { turn } = JSON.parse(sent.out).done;
  const shown = await strata(["turn", "show", turn, "--wire"], { cwd });
  expect(shown.out).toMatch(/"max\w*":\s*99\b/i);
  expect(shown.out).toContain("memory_search");
  const set = await strata(["setting", "list", thread, "--json"], { cwd });
  expect(JSON.parse(set.out)).toMatchObject([{ name: "mood", value: "brisk" }]);
  const refused = async (...argv: readonly string[]) => (await ask(...argv)).err;
  expect(await refused("Hi", "--thread", thread, "--as", "ann")).toContain("`thread` already names the conversation");
  expect(await refused("Hi", "--tool", "memory_safe")).toContain("memory_search");
  expect(await refused("Hi", "--parameters", "{maxTokens")).toContain("`--parameters` must be of type object");
  expect(await refused("Hi", "companion", "--content", JSON.stringify(parts[0]))).toContain(
    "either a `text` or `content`",
  );
});

it("is a tool for programs that speak MCP", () => {
  const [send] = FEATURE.operations;
  expect(send && mcpTool(send)).toMatchObject({
    name: "message_send",
    inputSchema: { required: ["agent"], properties: { follow: { enum: ["queue", "turn", "run"] } } },
  });
});
