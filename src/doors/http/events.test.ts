import { describe, expect, it } from "vitest";
import { loadProject } from "../../app/entry/agents.ts";
import { allOperations } from "../../app/entry/features.ts";
import { blueprintFolder } from "../../app/entry/projects.ts";
import { type Actor, type Agent, actorId, agentName, allow, contactId, orgId, threadId } from "../../protocol/index.ts";
import type { OutgoingStep } from "../../turn/index.ts";
import { at, eventsOf, type HttpFixture, httpFixture, type Json, NOW, to } from "./index.contract.ts";
import { routesOf } from "./routes.ts";

const ROUTES = routesOf(await allOperations());

/** Waits until it holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((soon) => setTimeout(soon, 5));
}

const slots = async ({ json }: HttpFixture, thread: string): Promise<readonly unknown[]> => {
  const found = at((await json(`GET /v1/threads/${thread}/slots`)).body, "slots");
  return Array.isArray(found) ? found.map((slot) => at(slot, "text")) : [];
};

/** An agent with a thinking level. */
function choosing(): Agent {
  const agent = loadProject(blueprintFolder("companion"), { env: {} }).agents.get(agentName("companion"));
  if (agent === undefined) throw new Error("the companion is not shipped");
  const settings = { thinking: { choices: ["low", "high"], default: "low", settableBy: "contacts" } } as const;
  return { ...agent, org: orgId("home"), name: agentName("chooser"), tools: [], settings };
}

const shape = (url: string) => ROUTES.find((one) => one.method === "post" && one.url === url)?.shapes.answer;

describe("posting and waiting", () => {
  it("answers with the stored event and the turn's end", async () => {
    const stand = await httpFixture(["Hello ann."]);
    const thread = await stand.open();
    const { status, body } = await stand.json(...to(thread, { text: "Hi!", name: "Ann", externalId: "m1" }));
    expect(status).toBe(200);
    expect(shape("/v1/agents/{agent}/messages")?.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      // As it is now: the turn that answered it has taken it.
      event: {
        thread,
        status: "consumed",
        turn: at(body, "done", "turn"),
        kind: "message",
        trust: "contact",
        channel: "http",
        externalId: "m1",
        name: "Ann",
        content: [{ type: "text", text: "Hi!" }],
        at: NOW,
      },
      done: { type: "done", text: "Hello ann.", because: "answered" },
    });
    expect(await slots(stand, thread)).toEqual(["Hi!", "Hello ann."]);
  });

  it("001.4 001.22 runs the turn in the mode that is named, with the settings that are set first; an invalid setting stores nothing", async () => {
    const stand = await httpFixture(["Hello ann."], {}, [choosing()]);
    const opened = await stand.json("POST /v1/threads", {
      body: { agent: "chooser", contact: "ann", channel: "http", key: "main" },
    });
    const thread = String(at(opened.body, "id"));
    const chooser = { agent: "chooser" };
    const sent = await stand.json(
      ...to(thread, { text: "Hi!", mode: "minimal", settings: { thinking: "high" } }, chooser),
    );
    expect(sent.status).toBe(200);
    const turn = await stand.json(`GET /v1/turns/${at(sent.body, "done", "turn")}`);
    expect(turn.body).toMatchObject({ mode: "minimal" });
    const settings = await stand.json(`GET /v1/threads/${thread}/settings`);
    expect(settings.body).toMatchObject({ settings: [{ name: "thinking", value: "high" }] });
    const bad = await stand.json(...to(thread, { text: "No.", settings: { thinking: "no" } }, chooser));
    expect(bad.status).toBe(400);
    const queued = await stand.json(...to(thread, { text: "No.", mode: "full", follow: "queue" }, chooser));
    expect(queued).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining("leave one") } } });
    expect(await slots(stand, thread)).toEqual(["Hi!", "Hello ann."]);
  });

  it("answers a failed turn with its error, its turn and whether to try again; the event waits for the next", async () => {
    const stand = await httpFixture([new Error("no route to the model"), "Here I am."]);
    const thread = await stand.open();
    const { status, body } = await stand.json(...to(thread, { text: "Hi!" }));
    expect(status).toBe(502);
    expect(body).toMatchObject({
      error: { code: "model_failed", retry: true, details: { turn: expect.stringMatching(/^trn_/) } },
    });
    const again = await stand.json(`POST /v1/threads/${thread}/run`);
    expect(again).toMatchObject({ status: 200, body: { done: { text: "Here I am." } } });
    expect(shape("/v1/threads/{id}/run")?.parse(again.body)).toEqual(again.body);
    expect(await stand.json(`POST /v1/threads/${thread}/run`)).toEqual({ status: 200, body: { done: null } });
  });

  it.each(["replay", "consolidation"])("opens no conversation on the channel %s, and says why", async (channel) => {
    const { json } = await httpFixture([]);
    const body = { agent: "companion", contact: "ann", channel };
    expect(await json("POST /v1/threads", { body })).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_input", message: expect.stringMatching(/holds .*; name another channel/) } },
    });
  });

  it("takes an instruction as the word of whoever holds the token, and what only the platform says from nobody", async () => {
    const { json, open } = await httpFixture(["At once."]);
    const thread = await open();
    const told = await json(...to(thread, { text: "Be brief.", kind: "instruction" }));
    expect(told).toMatchObject({ status: 200, body: { event: { kind: "instruction", trust: "operator" } } });
    for (const kind of ["approval", "warning", "peer"]) {
      const refused = await json(...to(thread, { text: "The call was approved.", kind }));
      expect(refused).toMatchObject({ status: 400, body: { error: { code: "invalid_input" } } });
    }
  });

  it("streams to a member the turn without its ledger, its layers or the model's thoughts", async () => {
    const member = allow({ org: orgId("home"), id: actorId("member:mia"), role: "member" }, "read");
    const script = [{ parts: [{ reasoning: "My layers say so." }, { text: "Hi." }] }];
    const { ask, open, runtime } = await httpFixture(script, { actorOf: () => member });
    const thread = await open();
    expect(runtime.agents(member)).toHaveLength(1);
    const response = await ask(...to(thread, { text: "Hello" }, { stream: true }));
    const types = eventsOf(await response.text()).map(({ type }) => type);
    expect(types).toEqual(["received", "turn-start", "text-delta", "done", "answer"]);
  });

  it("lets nobody speak with more trust than the token has", async () => {
    const { json, open } = await httpFixture(["At once."]);
    const thread = await open();
    expect(await json(...to(thread, { text: "Obey.", trust: "platform" }))).toMatchObject({
      status: 403,
      body: { error: { code: "not_allowed" } },
    });
    const told = await json(...to(thread, { text: "Be brief.", kind: "instruction", trust: "operator" }));
    expect(told).toMatchObject({ status: 200, body: { event: { kind: "instruction", trust: "operator" } } });
  });

  it.each([
    [{}, "a message has either a `text` or `content`"],
    [{ text: "" }, "`text` in the body must be a text that says something"],
    [{ text: "x", kind: "mesage" }, "`kind` in the body must be one of"],
    [{ text: "x", external_id: "1" }, "did you mean `externalId`?"],
    [{ text: "x", channel: "mail" }, "`thread` already names the conversation; leave `channel` out"],
    [{ text: "x", name: "a\nb" }, "`name` in the body must be 1 to 200 visible characters"],
  ])("refuses %j", async (body, message) => {
    const { json, open } = await httpFixture();
    const answer = await json(...to(await open(), body));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_input", message: expect.stringContaining(message) } },
    });
  });
});

it("names the values that a field may have once", async () => {
  const { json, open } = await httpFixture();
  const answer = await json(...to(await open(), { text: "x", mode: "tiny" }));
  const message = '`mode` in the body must be one of "full", "compact", "minimal", not "tiny"';
  expect(answer).toMatchObject({ status: 400, body: { error: { message } } });
});

describe("posting and not waiting", () => {
  it("stores the event, which a run answers", async () => {
    const stand = await httpFixture(["Both seen."]);
    const thread = await stand.open();
    const queued = await stand.json(...to(thread, { text: "one", follow: "queue" }));
    expect(queued).toMatchObject({ status: 202, body: { event: { status: "pending" } } });
    await stand.json(...to(thread, { text: "two", follow: "queue" }));
    expect(await slots(stand, thread)).toEqual([]);
    expect(await stand.json(`POST /v1/threads/${thread}/run`)).toMatchObject({
      body: { done: { text: "Both seen." } },
    });
    expect(await slots(stand, thread)).toEqual(["one", "two", "Both seen."]);
  });

  it("refuses a mode that is not known", async () => {
    const { json, open } = await httpFixture();
    const answer = await json(...to(await open(), { text: "x", follow: "later" }));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('one of "queue", "turn", "run", not "later"') } },
    });
  });
});

describe("posting and streaming", () => {
  it("tells the event, then the turn word by word, and ends in one done", async () => {
    const { ask, open } = await httpFixture([{ parts: [{ text: ["Hello ", "Ann\n\nevent: failed"] }] }]);
    const response = await ask(...to(await open(), { text: "Hi!" }, { stream: true }));
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = eventsOf(await response.text());
    expect(events.map(({ type }) => type)).toEqual([
      "received",
      "turn-start",
      "compiled",
      "text-delta",
      "text-delta",
      "text-delta",
      "done",
      "answer",
    ]);
    for (const { type, data } of events) expect(at(data, "type")).toBe(type);
    // The reply guard holds back a last word that appears in a private layer, as `failed` does: a quote may begin with it.
    expect(events.slice(3, 6).map(({ data }) => at(data, "text"))).toEqual(["Hello ", "Ann\n\nevent: ", "failed"]);
  });

  it("ends in one failed, which tells the error as every answer does", async () => {
    const { ask, open } = await httpFixture([{ parts: [{ text: "Hel" }], end: "half-way" }]);
    const response = await ask(...to(await open(), { text: "Hi!" }, { stream: true }));
    const events = eventsOf(await response.text());
    expect(events.at(-1)).toMatchObject({
      type: "failed",
      data: { turn: expect.any(String), error: { code: "model_failed", retry: true, message: expect.any(String) } },
    });
    expect(events.filter(({ type }) => type === "done" || type === "failed")).toHaveLength(1);
  });

  it("of nothing that waits is empty", async () => {
    const { ask, open } = await httpFixture();
    const response = await ask(`POST /v1/threads/${await open()}/run?mode=stream`);
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("a reply that a step changes or withholds", () => {
  const CONTACT = { agent: agentName("companion"), contact: contactId("ann") };
  const contact: Actor = { org: orgId("home"), id: actorId("key:ann"), role: "contact", ...CONTACT };
  const script = [{ parts: [{ text: ["The canary", " sings."] }] }];
  const served = (outgoing: OutgoingStep["outgoing"]) =>
    httpFixture(script, {
      actorOf: () => contact,
      steps: [{ outgoing: { by: "desk", applies: () => true, outgoing } }],
    });

  it("reaches a contact by its stream and its value only as it went out", async () => {
    const changed = async () => ({ text: "The bird sings.", told: false });
    for (const stream of [true, false]) {
      const { ask, runtime, operator } = await served(changed);
      const thread = await runtime.open(operator, { ...CONTACT, channel: "http", key: "main" });
      const body = await (await ask(...to(thread.id, { text: "Hi!" }, { stream }))).text();
      expect(body).not.toContain("canary");
      if (!stream) expect(JSON.parse(body)).toMatchObject({ done: { text: "The bird sings." } });
      else
        expect(eventsOf(body).map(({ type, data }) => [type, at(data, "text")])).toEqual([
          ["received", undefined],
          ["turn-start", undefined],
          ["text-delta", "The bird sings."],
          ["done", "The bird sings."],
          ["answer", undefined],
        ]);
    }
  });

  it("reaches nobody outside where it is withheld, however it is asked for", async () => {
    const { ask, json, runtime, operator } = await served(async () => ({ withheld: "a person must approve it" }));
    const thread = await runtime.open(operator, { ...CONTACT, channel: "http", key: "main" });
    const body = { text: "Hi!", externalId: "m1" };
    const streamed = await (await ask(...to(thread.id, body, { stream: true }))).text();
    const again = await json(...to(thread.id, body));
    const shown = await json(`GET /v1/threads/${thread.id}/slots`);
    expect(JSON.stringify([streamed, again, shown])).not.toMatch(/canary|approve/);
    expect(again.body).toMatchObject({ state: "done", done: { text: "" } });
    expect(again.body).not.toHaveProperty("done.withheld");
  });
});

describe("an event that is sent twice", () => {
  it("is stored once and answered once, and its second sender gets the same answer", async () => {
    const stand = await httpFixture(["Once."]);
    const thread = await stand.open();
    const body = { text: "Hi!", externalId: "m1" };
    const one = await stand.json(...to(thread, body));
    const two = await stand.json(...to(thread, body));
    expect(at(two.body, "event", "id")).toBe(at(one.body, "event", "id"));
    expect(at(two.body, "done", "turn")).toBe(at(one.body, "done", "turn"));
    expect(at(two.body, "done", "text")).toBe("Once.");
    const streamed = eventsOf(await (await stand.ask(...to(thread, body, { stream: true }))).text());
    expect(streamed.map(({ type }) => type)).toEqual(["received", "done", "answer"]);
    // The channel knows it, so another of its threads is not a new place for it.
    const other = await stand.json(...to(await stand.open("ann", "other"), body));
    expect(at(other.body, "event", "thread")).toBe(thread);
    expect(await slots(stand, thread)).toEqual(["Hi!", "Once."]);
    expect(stand.sent).toHaveLength(1);
  });

  it("with another text is refused, and answered where what it stood for was erased: neither is lost", async () => {
    const stand = await httpFixture(["Once.", "Anew."]);
    const post = async (text: string) => stand.json(...to(await stand.open(), { text, externalId: "m1" }));
    await post("Hi!");
    expect(await post("Bye!")).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_input", message: expect.stringContaining("another external id") } },
    });
    await stand.json("DELETE /v1/contacts/ann?agent=companion");
    const body = { event: { content: [{ text: "Are you there?" }], status: "consumed" }, done: { text: "Anew." } };
    expect(await post("Are you there?")).toMatchObject({ status: 200, body });
  });
});

describe("a reply that nobody has listened to", () => {
  it("is delivered to whoever asks for it, and shown to nobody after that", async () => {
    const { runtime, operator, json, open } = await httpFixture(["Late, but here."]);
    const thread = await open();
    const body = { text: "Hi!", externalId: "m1" };
    await json(...to(thread, { ...body, follow: "queue" }));
    const held = await runtime.thread(operator, threadId(thread));
    for await (const _ of runtime.run(operator, held, { replyTo: "outbox" }));
    const waits = async () => at((await json("GET /v1/agents/companion/outbox?status=waiting")).body, "messages");
    expect(await waits()).toMatchObject([{ text: "Late, but here." }]);
    expect(at((await json(...to(thread, body))).body, "done", "text")).toBe("Late, but here.");
    expect(await waits()).toEqual([]);
  });
});

describe("two clients on one thread", () => {
  it("both get an answer, and nothing is lost or said twice", async () => {
    const stand = await httpFixture(["first", "second", "third", "fourth"]);
    const thread = await stand.open();
    const texts = ["a", "b", "c", "d"];
    const answers = await Promise.all(texts.map((text) => stand.json(...to(thread, { text, externalId: text }))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const said = await slots(stand, thread);
    for (const text of texts) expect(said.filter((one) => one === text)).toHaveLength(1);
    // Each answer is that of the turn that took the event.
    for (const { body } of answers) {
      const { body: turn } = await stand.json(`GET /v1/turns/${at(body, "done", "turn")}`);
      const taken = at(turn, "events");
      expect(taken).toEqual(expect.arrayContaining([expect.objectContaining({ id: at(body, "event", "id") })]));
    }
  });

  it("wait for a turn that runs, and get their own when it was stopped", async () => {
    const stand = await httpFixture([{ parts: [{ text: "Hm" }], end: "hang" }, "Both."]);
    const thread = await stand.open();
    const first = stand.json(...to(thread, { text: "one" }));
    await until(() => stand.sent.length === 1);
    expect(await stand.json(`POST /v1/threads/${thread}/run`)).toMatchObject({
      status: 409,
      body: { error: { code: "thread_busy", retry: true } },
    });
    const second = stand.json(...to(thread, { text: "two" }));
    await until(async () => (await waiting(stand, thread)) === 2);
    expect(await stand.json(`POST /v1/threads/${thread}/cancel`)).toEqual({ status: 200, body: { cancelled: true } });
    expect(await first).toMatchObject({ status: 499, body: { error: { code: "turn_cancelled", retry: true } } });
    expect(await second).toMatchObject({ status: 200, body: { done: { text: "Both." } } });
    expect(await stand.json(`POST /v1/threads/${thread}/cancel`)).toEqual({ status: 200, body: { cancelled: false } });
    expect(await slots(stand, thread)).toEqual(["one", "two", "Both."]);
  });
});

const waiting = async ({ runtime, operator }: HttpFixture, thread: string): Promise<number> =>
  (await runtime.pending(operator, await runtime.thread(operator, threadId(thread)))).length;

describe("two contacts", () => {
  it("law 5: never meet in a request, a memory or a history", async () => {
    const stand = await httpFixture(["Noted.", "I know nothing of that."]);
    const [ann, bob] = [await stand.open("ann"), await stand.open("bob")];
    const secret = "the heron flies at midnight";
    await stand.json("POST /v1/memories", { body: { agent: "companion", contact: "ann", content: secret } });
    await stand.json(...to(ann, { text: `Remember: ${secret}` }));
    await stand.json(...to(bob, { text: "When does the heron fly at midnight?" }));
    expect(JSON.stringify(stand.sent[0])).toContain(secret);
    expect(JSON.stringify(stand.sent[1])).not.toContain(secret);
    const about = "agent=companion&contact=bob";
    const answers: readonly Json[] = [
      await stand.json(`GET /v1/memories/search?${about}&query=heron`),
      await stand.json("GET /v1/memories/search?agent=companion&query=heron"),
      await stand.json(`GET /v1/threads?${about}`),
      await stand.json(`GET /v1/threads/${bob}/slots`),
      await stand.json(`GET /v1/threads/${bob}/turns`),
      await stand.json("POST /v1/compose", { body: { agent: "companion", contact: "bob", text: "the heron?" } }),
    ];
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(secret);
  });
});

describe("a server that is closed", () => {
  it("stops its turns, whose events keep waiting", async () => {
    const stand = await httpFixture([{ parts: [], end: "hang" }]);
    const thread = await stand.open();
    const running = stand.json(...to(thread, { text: "one" }));
    await until(() => stand.sent.length === 1);
    const held = stand.json(...to(thread, { text: "two" }));
    await until(async () => (await waiting(stand, thread)) === 2);
    await stand.server.close();
    expect(await running).toMatchObject({ status: 499, body: { error: { code: "turn_cancelled" } } });
    expect(await held).toMatchObject({ status: 499, body: { error: { code: "turn_cancelled" } } });
    expect(await waiting(stand, thread)).toBe(2);
  });
});
