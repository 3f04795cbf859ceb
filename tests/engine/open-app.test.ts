import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { type App, type AppOptions, openApp, serve } from "../../src/app.ts";
import { scriptedModel } from "../../src/models/index.ts";
import type { TurnEvent } from "../../src/protocol/index.ts";
import { defineTool } from "../../src/turn/tools/index.ts";
import { home, said, say, strata, thread } from "./home.ts";

const WHOLE = { folder: tmpdir(), data: join(tmpdir(), "never-made"), env: {} };

it.each([
  ["folder", 5],
  ["data", ""],
  ["env", null],
])("says which option a program without types has given in another form: %s", async (name, wrong) => {
  const given: object = { ...WHOLE, [name]: wrong };
  await expect(openApp(given as AppOptions)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(`\`${name}\``),
  });
});

it.each([
  [{ modle: "rehearsal" }, 'openApp has no option "modle"; did you mean `model`?'],
  [{ tools: {} }, "openApp wants `tools`, a list of tools"],
  [{ mustDeclare: "yes" }, 'openApp wants `mustDeclare`, true or false; it is "yes"'],
  [{ judge: "a:b" }, 'openApp wants `judge`, a function that compares two replies; it is "a:b"'],
  [{ config: [] }, "openApp wants `config`, what strata.yaml would say; it is []"],
])("25.19 reads a program's options as strictly as strata.yaml: %j", async (given, message) => {
  const options: object = { ...WHOLE, ...given };
  await expect(openApp(options as AppOptions)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(message),
  });
});

it.each([
  ["claude", '"claude"'],
  [{ specificationVersion: "v2" }, "of version v2"],
  [null, "null"],
])("takes no model but a language model of the AI SDK: %j", async (model, found) => {
  const given: object = { ...WHOLE, data: join(home(), ".strata"), model };
  await expect(openApp(given as AppOptions)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(new RegExp(`language model of version v4 .*; it is ${found}; give `)),
  });
});

/** The companion of a program that brings its model and a tool. */
async function opened(replies: Parameters<typeof scriptedModel>[0], options: AppOptions = {}) {
  const model = scriptedModel(replies);
  const folder = home();
  const app = await openApp({
    folder,
    env: {},
    model: { ...model, provider: "anthropic.messages", modelId: "claude-sonnet-4-5" },
    ...options,
  });
  onTestFinished(() => app.close());
  return { app, folder, sent: model.sent };
}

const HELLO = { agent: "companion", contact: "ann", text: "Hello" };

async function all(answer: AsyncIterable<TurnEvent>): Promise<readonly TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of answer) events.push(event);
  return events;
}

const textsSent = ({ prompt }: { readonly prompt: unknown }): string => JSON.stringify(prompt);

describe("a program that brings a model and asks", () => {
  it("gets the turn as it streams, in plain texts, from its own model", async () => {
    const { app, folder, sent } = await opened([{ parts: [{ text: ["Hello, ", "Ann."] }] }]);
    const events = await all(app.ask(HELLO));
    expect(events[0]).toMatchObject({ type: "turn-start", model: "anthropic:claude-sonnet-4-5" });
    expect(events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []))).toEqual(["Hello, ", "Ann."]);
    expect(events.at(-1)).toMatchObject({ type: "done", text: "Hello, Ann." });
    expect(sent).toHaveLength(1);
    // What is known of the model by its name holds: its cache is marked.
    expect(JSON.stringify(sent[0]?.prompt)).toContain("cacheControl");
    expect(existsSync(join(folder, ".strata/strata.db"))).toBe(true);
  });

  it("gets the reply alone, and continues with what was said; each contact and conversation apart", async () => {
    const { app, sent } = await opened(["One.", "Two.", "Three.", "Four."]);
    expect(await app.ask({ ...HELLO, text: "My cat is called Miso." }).reply()).toBe("One.");
    expect(await app.ask(HELLO).reply()).toBe("Two.");
    await app.ask({ ...HELLO, contact: "bob" }).reply();
    await app.ask({ ...HELLO, conversation: "another" }).reply();
    const [, second = { prompt: "" }, bob = { prompt: "" }] = sent;
    expect(textsSent(second)).toContain("Miso");
    expect(textsSent(bob)).not.toContain("Miso");
    const { runtime, operator } = app;
    const threads = await runtime.newestThreads(operator, { limit: 9 });
    expect(threads.map(({ scope, key, turns }) => [scope.contact, key, turns]).sort()).toEqual([
      ["ann", "another", 1],
      ["ann", "main", 2],
      ["bob", "main", 1],
    ]);
  });

  it("is answered one after the other where it asks twice at once, and again once a turn was left in the middle", async () => {
    const { app } = await opened(["One.", "Two.", "Three.", "Four."]);
    const [one, two] = [app.ask(HELLO).reply(), app.ask(HELLO).reply()];
    expect(await Promise.all([one, two])).toEqual(["One.", "Two."]);
    for await (const event of app.ask(HELLO)) if (event.type === "text-delta") break;
    expect(await app.ask(HELLO).reply()).toBe("Four.");
  });

  it("hears what its turn failed of", async () => {
    const { app } = await opened([new Error("no")]);
    await expect(app.ask(HELLO).reply()).rejects.toMatchObject({ code: "model_failed" });
    await expect(app.ask({ ...HELLO, agent: "nobody" }).reply()).rejects.toMatchObject({ code: "agent_not_found" });
  });

  it.each([
    [{ contact: undefined }, "ask wants `contact`, who asks"],
    [{ text: "  " }, 'ask wants `text`, what is asked; it is "  "'],
    [{ agent: 5 }, "ask wants `agent`, the agent's name; it is 5"],
    [{ converstaion: "x" }, 'ask has no option "converstaion"; did you mean `conversation`?'],
  ])("25.19 hears what is wrong with its question: %j", async (given, message) => {
    const { app } = await opened(["Never."]);
    const question: object = { ...HELLO, ...given };
    await expect(app.ask(question as typeof HELLO).reply()).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
    expect(await app.runtime.newestThreads(app.operator, { limit: 9 })).toEqual([]);
  });

  it("25.19 stores no message without a character, whichever way it comes", async () => {
    const { app } = await opened(["Never."]);
    const ann = await thread(app);
    await expect(app.runtime.post(app.operator, ann, [said("")])).rejects.toMatchObject({ code: "invalid_input" });
    expect(await app.runtime.pending(app.operator, ann)).toEqual([]);
  });

  it("leaves no empty conversation behind where its message is refused", async () => {
    const { app } = await opened(["Never."]);
    const text = "x".repeat(100_001);
    await expect(app.ask({ ...HELLO, text }).reply()).rejects.toMatchObject({ code: "invalid_input" });
    expect(await app.runtime.newestThreads(app.operator, { limit: 9 })).toEqual([]);
  });

  it("is not answered by its model where the agent declares another", async () => {
    const config = {
      organization: "shop",
      model: "rehearsal",
      agents: { clerk: { description: "Sells.", layers: [{ id: "shop", rank: 1, text: "Sell." }] } },
    };
    const { app, sent } = await opened(["Never."], { config });
    expect(await app.ask({ ...HELLO, agent: "clerk" }).reply()).toContain("rehearsal model");
    expect(sent).toEqual([]);
  });

  it("may give its tools objects to tell, which the model reads as JSON", async () => {
    const price = defineTool({
      name: "price",
      description: "Tells a price.",
      input: z.object({ repair: z.string() }),
      effect: "none",
      trust: "operator",
      run: ({ repair }) => ({ repair, euros: 12 }),
    });
    const config = {
      organization: "shop",
      agents: { clerk: { description: "Sells.", layers: [{ id: "shop", rank: 1, text: "Sell." }], tools: ["price"] } },
    };
    const { app, sent } = await opened(
      [{ parts: [{ call: "price", input: { repair: "tyre" } }], end: { finish: "calls" } }, "12 euros."],
      { config, tools: [price] },
    );
    expect(await app.ask({ ...HELLO, agent: "clerk" }).reply()).toBe("12 euros.");
    expect(textsSent(sent[1] ?? { prompt: "" })).toContain(JSON.stringify('{"repair":"tyre","euros":12}').slice(1, -1));
  });
});

/** What `/health` says, with the token and without. */
async function served(app: App) {
  const serving = await serve(app, 0);
  onTestFinished(() => serving.close());
  const token = serving.link.split("#token=")[1] ?? "";
  return async (authorization: object = { authorization: `Bearer ${token}` }) => {
    const answer = await fetch(`${serving.url}/health`, { headers: { ...authorization } });
    return { status: answer.status, body: await answer.json() };
  };
}

it("commits nothing where its data folder was moved or deleted meanwhile, says so, and continues where it is back", async () => {
  const folder = home();
  const [data, aside] = [join(folder, ".strata"), join(folder, "aside")];
  const app = await strata(folder);
  const health = await served(app);
  const ann = await thread(app);
  await say(app, ann, "Hello.", ["Hi."]);
  expect(await health()).toMatchObject({ status: 200, body: { status: "ok" } });

  const refused = {
    code: "store_failed",
    message: expect.stringMatching(/strata\.db was moved or deleted.*put the data folder back/),
  };
  renameSync(data, aside);
  await expect(app.runtime.post(app.operator, ann, [said("Are you there?")])).rejects.toMatchObject(refused);
  expect(existsSync(data)).toBe(false);
  expect(await health()).toMatchObject({ status: 503, body: { status: "failing", because: refused.message } });
  expect(await health({})).toEqual({
    status: 503,
    body: {
      status: "failing",
      version: expect.any(String),
      next: expect.stringContaining("`because` gives the reason"),
    },
  });

  mkdirSync(data);
  await expect(app.runtime.post(app.operator, ann, [said("Are you there?")])).rejects.toMatchObject(refused);
  rmSync(data, { recursive: true });
  renameSync(aside, data);
  expect((await say(app, ann, "And now?", ["Here."])).text).toBe("Here.");
  expect(await app.runtime.turns(app.operator, ann.id)).toHaveLength(2);
  expect(await health()).toMatchObject({ status: 200, body: { status: "ok" } });

  rmSync(data, { recursive: true });
  await expect(app.runtime.post(app.operator, ann, [said("Are you there?")])).rejects.toMatchObject(refused);
  expect(await health()).toMatchObject({ status: 503 });
});
