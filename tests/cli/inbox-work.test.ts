import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allParts } from "../../src/app/entry/features.ts";
import { type App, openApp, recordFile } from "../../src/app.ts";
import { DELIVERY_API } from "../../src/features/deliveries/index.ts";
import { INBOX_API } from "../../src/features/inbox/index.ts";
import { agentName, contactId, eventId, issueId, REPLY_TOOL, untrusted } from "../../src/protocol/index.ts";
import { openSqlite } from "../../src/store/index.ts";
import { messagesServer } from "../errors/messages-server.ts";
import { child, place, serving, strata, until } from "./strata.ts";

const CLERK = agentName("clerk");

/** A folder with a clerk of that kind, and an app over it. */
async function office(clerk: string, { model = "model: rehearsal", env = {} } = {}) {
  const cwd = place();
  const yaml = `organization: home
${model}
agents:
  clerk:
    description: It answers what waits.
    history: log
${clerk}
    layers:
      - {id: rules, rank: 1, text: Be kind.}
`;
  writeFileSync(join(cwd, "strata.yaml"), yaml);
  expect(await strata(["lock"], { cwd, env })).toMatchObject({ code: 0 });
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env });
  const start = () => serving(["start", "--port", "0"], { cwd, env });
  const startProcess = () => child(["start", "--port", "0"], { cwd, env });
  return { cwd, app, start, startProcess };
}

/** A message of each that came so many milliseconds ago. */
async function mail({ runtime, operator, data }: App, contacts: readonly string[], ago = 0): Promise<void> {
  const store = await openSqlite(recordFile(data), { parts: await allParts() });
  for (const name of contacts) {
    const whose = { agent: CLERK, contact: contactId(name), channel: "test", key: "main" };
    const { scope, id: thread } = await runtime.open(operator, whose);
    const at = Date.now() - ago;
    const id = eventId(issueId("event", at, randomBytes(10)));
    const content = [{ type: "text", text: untrusted(`I am ${name}.`) }] as const;
    await store.receive(scope, thread, [{ id, kind: "message", trust: "contact", channel: "test", content, at }]);
  }
  await store.close();
}

/** Waits until nothing waits for the clerk. */
async function answered({ runtime, operator }: App, otherwise: () => object): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if ((await runtime.use(INBOX_API).inbox(operator, CLERK, 9)).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(JSON.stringify(otherwise()));
}

const stopped = async ({ stop }: ReturnType<typeof serving>): Promise<void> =>
  expect(await stop()).toMatchObject({ code: 0 });

describe("strata start", () => {
  it("runs turns over the messages of several senders until nothing waits", async () => {
    const { app, start } = await office("    inbox: batch");
    const { runtime, operator } = app;
    await mail(app, ["ann", "bob", "cid", "dee", "eve", "fay"]);
    const server = start();
    await answered(app, server.sofar);
    await stopped(server);
    const threads = await runtime.threads(operator, { org: operator.org, agent: CLERK, contact: null }, 20);
    expect(threads.filter(({ channel }) => channel === "inbox")).toHaveLength(1);
    for await (const found of app.verify(operator.org)) expect(found.type).not.toBe("problem");
    await app.close();
  }, 40_000);

  it("has an agent that lives by itself answer what waited for credits, once it is paid for", async () => {
    const { cwd, app, start } = await office("    life: {credits: {}}");
    const { runtime, operator } = app;
    await mail(app, ["ann"], 60_000);
    const server = start();
    await until(
      () => server.sofar().err.includes("clerk sleeps, because it has no credits"),
      () => JSON.stringify(server.sofar()),
    );
    expect(await runtime.use(INBOX_API).inbox(operator, CLERK, 9)).toHaveLength(1);
    expect((await strata(["credits", "add", "10"], { cwd })).code).toBe(0);
    await answered(app, server.sofar);
    await stopped(server);
    // Nobody has listened: it waits for whoever fetches it.
    expect(await runtime.use(DELIVERY_API).outbox(operator, CLERK, { limit: 9 })).toMatchObject([
      { contact: "ann", status: "waiting" },
    ]);
    expect(server.sofar().err).not.toContain("were not handled");
    await app.close();
  }, 40_000);

  it("has an agent that only answers answer what nobody has answered, each sender for himself", async () => {
    const { app, start } = await office("    # It lives by nobody's credits.");
    const { runtime, operator } = app;
    await mail(app, ["ann", "bob"], 60_000);
    const server = start();
    await answered(app, server.sofar);
    await stopped(server);
    const said = await runtime.use(DELIVERY_API).outbox(operator, CLERK, { limit: 9 });
    expect(said.map(({ contact, status }) => [contact, status]).sort()).toEqual([
      ["ann", "waiting"],
      ["bob", "waiting"],
    ]);
    await app.close();
  }, 40_000);

  it("law 7: killed in the middle of a turn of several senders, loses and doubles nothing when it is started again", async () => {
    const reply = (sender: string) =>
      ({ type: "tool_use", id: `for-${sender}`, name: REPLY_TOOL, input: { sender, text: `Dear ${sender}` } }) as const;
    const contents: Parameters<typeof messagesServer>[0][number][] = [reply("ann")];
    const { url, received } = await messagesServer(contents);
    const model = `model: anthropic:claude-sonnet-4-5\nproviders: {anthropic: {key: "\${TEST_KEY}", url: "${url}"}}`;
    const { app, start, startProcess } = await office("    inbox: batch", {
      model,
      env: { TEST_KEY: "not-a-real-key" },
    });
    const { runtime, operator } = app;
    await mail(app, ["ann", "bob"]);
    const first = startProcess();
    // Ann is answered in memory, and the model is asked for more.
    await until(
      () => received.length > 1,
      () => JSON.stringify(first.sofar()),
    );
    first.process.kill("SIGKILL");
    await first.ended;
    expect(await runtime.use(INBOX_API).inbox(operator, CLERK, 9)).toHaveLength(2);
    expect(await runtime.use(DELIVERY_API).outbox(operator, CLERK, { limit: 9 })).toEqual([]);

    for (const content of [reply("ann"), reply("bob"), { type: "text", text: "Both are answered." } as const])
      contents[Math.max(received.length, contents.length)] = content;
    const second = start();
    await answered(app, second.sofar);
    await stopped(second);
    const said = await runtime.use(DELIVERY_API).outbox(operator, CLERK, { limit: 9 });
    expect(said.map(({ contact, text }) => [contact, text]).sort()).toEqual([
      ["ann", "Dear ann"],
      ["bob", "Dear bob"],
    ]);
    const threads = await runtime.threads(operator, { org: operator.org, agent: CLERK, contact: null }, 9);
    const [batch, ...more] = threads.filter(({ channel }) => channel === "inbox");
    expect(more).toEqual([]);
    const turns = batch === undefined ? [] : await runtime.turns(operator, batch.id);
    expect(turns).toMatchObject([{ status: "done", attempt: 2 }]);
    for await (const found of app.verify(operator.org)) expect(found.type).not.toBe("problem");
    await app.close();
  }, 40_000);
});

describe("a turn of several senders", () => {
  const answering = async () => {
    const call = { type: "tool_use", id: "1", name: REPLY_TOOL, input: { sender: "ann", text: "Dear ann" } } as const;
    const { url } = await messagesServer([call, { type: "text", text: "That was all." }]);
    const model = `model: anthropic:claude-sonnet-4-5\nproviders: {anthropic: {key: "\${TEST_KEY}", url: "${url}"}}`;
    const env = { TEST_KEY: "not-a-real-key" };
    const { cwd, app, start } = await office("    inbox: batch\n    life: {}", { model, env });
    await mail(app, ["ann", "bob", "cid"]);
    await app.close();
    return { run: (...command: string[]) => strata(command, { cwd, env }), start, app };
  };
  const idOf = (text: string, prefix: string): string => new RegExp(`${prefix}_\\w+`).exec(text)?.[0] ?? "";

  it("tells whom it left without a reply, and each sender's part leads to it and back", async () => {
    const { run } = await answering();
    const { err } = await run("inbox", "run");
    expect(err).toContain("2 of 3 senders got no reply; what they wrote counts as handled");
    const threads = (await run("explain")).out.split("\n");
    const threadOf = (words: RegExp): string => idOf(threads.find((line) => words.test(line)) ?? "", "thr");
    const handling = idOf((await run("explain", threadOf(/ inbox /u))).out, "trn");
    const whole = (await run("explain", handling)).out;
    expect(whole).toContain("received (3, of 3 senders)");
    for (const name of ["ann", "bob", "cid"]) expect(whole).toContain(`I am ${name}.`);
    expect(whole).toMatch(/^ann · trn_\w+ · answered$/mu);
    expect(whole).toMatch(/^bob · trn_\w+ · unanswered$/mu);
    expect(whole).toContain("said to none of the senders\nThat was all.");
    const bobs = (await run("explain", threadOf(/ bob /u))).out;
    expect(bobs).toContain("in a batch");
    const part = (await run("explain", idOf(bobs, "trn"))).out;
    expect(part).toContain(`handled with messages of other senders: \`strata explain ${handling}\``);
    expect(part).toMatch(/\nreply\nunanswered\n$/u);
  }, 40_000);

  it("tells of it under strata start", async () => {
    const { start } = await answering();
    const server = start();
    await until(
      () => /2 of 3 senders got no reply; .*: `strata explain trn_\w+` shows more/u.test(server.sofar().err),
      () => JSON.stringify(server.sofar()),
    );
    await stopped(server);
  }, 40_000);
});

describe("a turn that ends without a word", () => {
  const silence = async () => {
    const { url } = await messagesServer([
      { type: "text", text: " " },
      { type: "text", text: "" },
      { type: "text", text: "Here." },
    ]);
    const model = `model: anthropic:claude-sonnet-4-5\nproviders: {anthropic: {key: "\${TEST_KEY}", url: "${url}"}}`;
    const { cwd, app, start } = await office("    life: {}", { model, env: { TEST_KEY: "not-a-real-key" } });
    await app.close();
    const env = { TEST_KEY: "not-a-real-key" };
    const run = (...argv: string[]) => strata(argv, { cwd, env, input: "Are you there?\n" });
    return { cwd, start, run };
  };

  it("says `unanswered` in chat, explain, doctor, attention and over HTTP, and where it is served", async () => {
    const { cwd, run, start } = await silence();
    const chatted = await run("chat", "clerk");
    expect(chatted.err).toContain("unanswered: the agent said nothing; the message counts as handled");
    const thread = /thr_\w+/.exec((await run("explain")).out)?.[0] ?? "";
    const threaded = (await run("explain", thread)).out;
    expect(threaded).toContain("done: unanswered");
    const turn = /trn_\w+/.exec(threaded)?.[0] ?? "";
    expect((await run("explain", turn)).out).toMatch(/\nreply\nunanswered\n$/u);
    expect((await run("doctor")).out).toContain(`attention 1 message of a contact was left unanswered by clerk`);
    expect((await run("agent", "show", "clerk")).out).toContain(`\`strata explain ${turn}\` shows it`);

    const server = start();
    await server.message("routes");
    await until(
      () => server.sofar().err.includes("1 message of a contact was left unanswered by clerk"),
      () => JSON.stringify(server.sofar()),
    );
    const base = /http:\/\/[\d.:]+/.exec(server.sofar().out)?.[0];
    const token = readFileSync(join(cwd, ".strata/operator.token"), "utf8").trim();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ thread, text: "Hello?" });
    const posted = await fetch(`${base}/v1/agents/clerk/messages`, { method: "POST", headers, body });
    const said = JSON.stringify(await posted.json());
    expect(JSON.parse(said)).toMatchObject({ done: { text: "", because: "answered", unanswered: 1 } });
    const newest = /trn_\w+/.exec(said)?.[0];
    const attention = await (await fetch(`${base}/v1/attention`, { headers })).json();
    expect(attention).toMatchObject({ agents: [{ unanswered: [newest] }] });
    await until(
      () => server.sofar().err.includes(`(the turn ended: answered): \`strata explain ${newest}\` shows more`),
      () => JSON.stringify(server.sofar()),
    );
    await stopped(server);
  }, 40_000);
});
