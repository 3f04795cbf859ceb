import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { DELIVERY_API } from "../../src/features/deliveries/index.ts";
import { type App, openApp, type Serving, serve, startWork, type Timers } from "../../src/index.ts";
import { agentName, contactId, type SignedEvent, untrusted } from "../../src/protocol/index.ts";
import type { Change } from "../../src/store/index.ts";
import { home } from "./home.ts";

const CLERK = agentName("clerk");

/** An app with a clerk that only answers. */
async function office(): Promise<App> {
  const layers = [{ id: "rules", rank: 1, text: "Be kind." }] as const;
  const agents = { clerk: { description: "It answers what waits.", layers: [...layers] } };
  const config = { organization: "home", model: "rehearsal", agents };
  const app = await openApp({ folder: home(), config });
  onTestFinished(() => app.close());
  return app;
}

/** Time that stands still where nothing is due, so that whatever is done was woken. */
const standing = (ahead = 0): Timers => ({ clock: { real: () => Date.now() + ahead }, after: () => () => undefined });

async function served(app: App, timers = standing()): Promise<Serving> {
  const serving = await serve(app, 0, { timers });
  onTestFinished(() => serving.close());
  return serving;
}

const asking = ({ url, tokenFile }: Serving) => {
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  };
  return async (path: string, body: object): Promise<Response> =>
    fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
};

const said = (text: string): SignedEvent => ({
  kind: "message",
  trust: "contact",
  channel: "test",
  content: [{ type: "text", text: untrusted(text) }],
  at: Date.now(),
});

async function thread({ runtime, operator }: App, contact: string) {
  return runtime.open(operator, { agent: CLERK, contact: contactId(contact), channel: "test", key: "main" });
}

async function replies({ runtime, operator }: App, wanted: number): Promise<readonly string[]> {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    const found = await runtime.use(DELIVERY_API).outbox(operator, CLERK, { limit: 9 });
    if (found.length >= wanted) return found.map(({ contact }) => contact).sort();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return [];
}

it("a program's listeners are told what has changed, and of which agent, thread and turn", async () => {
  const app = await office();
  const { runtime, operator } = app;
  const changes: Change[] = [];
  const forget = app.onChange((change) => changes.push(change));
  const ann = await thread(app, "ann");
  const [event] = await runtime.post(operator, ann, [said("Hello?")]);
  for await (const _ of runtime.run(operator, ann));
  const [turn] = await runtime.turns(operator, ann.id);
  const opening = { agent: CLERK, contact: contactId("bob"), channel: "test", key: "main" };
  const bob = await runtime.openAndPost(operator, opening, [said("Anybody?")]);
  await app.reload();
  expect(changes).toEqual([
    { kind: "message", scope: ann.scope, thread: ann.id, ids: [event?.id] },
    { kind: "turn", scope: ann.scope, thread: ann.id, ids: [turn?.id] },
    { kind: "message", scope: bob.thread.scope, thread: bob.thread.id, ids: bob.events.map(({ id }) => id) },
    { kind: "projects", ids: [CLERK] },
  ]);
  forget();
  await runtime.post(operator, ann, [said("Still there?")]);
  expect(changes).toHaveLength(4);
});

describe("serve", () => {
  it("answers at once what is queued over HTTP and put into the inbox of an agent that only answers", async () => {
    const app = await office();
    const post = asking(await served(app));
    const { id } = await thread(app, "ann");
    expect((await post("/v1/agents/clerk/messages", { thread: id, text: "Hello?", follow: "queue" })).status).toBe(202);
    expect(await replies(app, 1)).toEqual(["ann"]);
    expect((await post("/v1/agents/clerk/inbox", { text: "Anybody?", contact: "bob" })).ok).toBe(true);
    expect(await replies(app, 2)).toEqual(["ann", "bob"]);
  });

  it("leaves a message for a while to whoever posted it, and answers it then", async () => {
    const app = await office();
    const { runtime, operator } = app;
    const serving = await served(app);
    await runtime.post(operator, await thread(app, "ann"), [said("Hello?")]);
    // Another message wakes it, and only that one is answered.
    await runtime.post(operator, await thread(app, "bob"), [said("Hello?")], { handed: true });
    expect(await replies(app, 1)).toEqual(["bob"]);
    await serving.close();
    const later = await startWork(app, { timers: standing(60_000) });
    expect(await replies(app, 2)).toEqual(["ann", "bob"]);
    await later.close();
  });

  it("leaves alone what a person has stopped, until something new is said", async () => {
    const app = await office();
    const { runtime, operator } = app;
    const ann = await thread(app, "ann");
    await runtime.post(operator, ann, [said("Go on for ever.")]);
    const stop = new AbortController();
    for await (const { type } of runtime.run(operator, ann, { signal: stop.signal }))
      if (type === "turn-start") stop.abort();
    const work = await startWork(app, { timers: standing(60_000) });
    await runtime.post(operator, await thread(app, "bob"), [said("Hello?")]);
    expect(await replies(app, 1)).toEqual(["bob"]);
    await runtime.post(operator, ann, [said("Be brief.")]);
    expect(await replies(app, 2)).toEqual(["ann", "bob"]);
    await work.close();
  });
});
