import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type App, openApp } from "../../src/app.ts";
import { contactId, type Request, untrusted } from "../../src/protocol/index.ts";
import { COMPANION, home, messagesText, said, say, strata, systemText, tailText, thread } from "./home.ts";

it("003.57 003.60 law 1 a running thread is answered as its version was declared: what is sent, how long a reply may be, its live layers", async () => {
  const folder = home();
  const before = await strata(folder);
  const [first] = (await say(before, await thread(before, "ann", "old"), "Hello.", ["Hi."])).sent;
  await before.close();

  const file = join(folder, "strata.yaml");
  const text = readFileSync(file, "utf8")
    .replace("    recall: auto\n", "    recall: auto\n    budgets: { reply: 333 }\n")
    .replace(/\n {6}- id: clock\n[\s\S]*?(?=\n {6}- id:|\n {4}\w|\n\w|$)/, "\n");
  writeFileSync(file, text);
  const after = await strata(folder);
  const [old] = (await say(after, await thread(after, "ann", "old"), "And now?", ["Now."])).sent;
  const [fresh] = (await say(after, await thread(after, "ann", "new"), "Hello.", ["Hi."])).sent;

  if (first === undefined || old === undefined || fresh === undefined) throw new Error("a turn sent no request");
  expect(systemText(old)).toBe(systemText(first));
  expect(old.parameters).toEqual(first.parameters);
  expect(old.tail.map(({ layer }) => layer)).toEqual(first.tail.map(({ layer }) => layer));
  expect(tailText(old)).toContain("UTC");
  // The new declaration holds for threads that begin now.
  expect(fresh.parameters.maxTokens).toBe(333);
  expect(fresh.tail.map(({ layer }) => String(layer))).not.toContain("clock");
});

/** The companion with another model, and with a layer and a tool more where `layers` says so. */
function declare(folder: string, model: string, layers = false): void {
  const file = join(folder, "strata.yaml");
  const [text = ""] = readFileSync(file, "utf8").split("\n# end\n");
  const changed = layers
    ? text
        .replace(
          "    layers:\n",
          "    layers:\n      - { id: shop, rank: 27, mutability: versioned, text: Sell bread. }\n",
        )
        .replace("[list,", "[memory_stats, list,")
    : text;
  const providers = ["openai", "anthropic"].map((name) => `  ${name}:\n    key: \${KEY}\n`).join("");
  writeFileSync(file, `${changed}\n# end\nmodel: ${model}\nproviders:\n${providers}`);
}

const opened = async (folder: string) => {
  const app = await openApp({ folder, data: join(folder, ".strata"), env: { KEY: "none" } });
  onTestFinished(() => app.close());
  return app;
};

const composed = (app: App) => {
  const conversation = { agent: COMPANION, contact: contactId("ann"), channel: "test", key: "main" };
  return app.runtime.compose(app.operator, conversation, untrusted("And now?"));
};

it("a thread is pinned to its layers and tools and not to its model: the declared one answers, and another shape of requests begins an epoch", async () => {
  const folder = home();
  const before = await strata(folder);
  await say(before, await thread(before), "My cat is called Miso.");
  const first = await composed(before);
  await before.close();

  declare(folder, "anthropic:claude-sonnet-5-5");
  const same = await opened(folder);
  const going = await composed(same);
  expect(going).toMatchObject({ model: "anthropic:claude-sonnet-5-5", ledger: { epoch: { n: 1, opened: false } } });
  await same.close();

  declare(folder, "openai:gpt-5-mini", true);
  const app = await opened(folder);
  const other = await composed(app);
  expect(other).toMatchObject({ model: "openai:gpt-5-mini", wire: "openai:gpt-5-mini" });
  expect(other.ledger.epoch).toMatchObject({ n: 2, reason: "model", opened: true });
  expect(other.request.prefix).toEqual(first.request.prefix);
  expect(messagesText(other.request)).toContain("My cat is called Miso.");
  expect(messagesText(other.request)).not.toContain("Sell bread.");
  // Once a turn was answered in the new epoch, that is the one that continues.
  const { events } = await say(app, await thread(app), "What is my cat called?", ["Miso."], "openai:gpt-5-mini");
  expect(events).toContainEqual(expect.objectContaining({ type: "done" }));
  expect((await composed(app)).ledger.epoch).toMatchObject({ n: 2, opened: false });
});

it("a thread that is migrated continues with the layers and tools that are declared now, in an epoch of its own", async () => {
  const folder = home();
  const before = await strata(folder);
  const held = await thread(before);
  await say(before, held, "My cat is called Miso.");
  await before.close();

  declare(folder, "rehearsal", true);
  const app = await opened(folder);
  const old = await composed(app);
  const { thread: moved, from, changes } = await app.runtime.migrate(app.operator, held.id);
  expect(from).toBe(held.version);
  expect(moved.version).toBe(app.runtime.agent(app.operator, COMPANION).version);
  expect(changes).toEqual(["layer shop is new", "tool memory_stats is new"]);
  const { sent } = await say(app, moved, "And now?", ["Now."]);
  expect(sent[0] && messagesText(sent[0])).toContain("My cat is called Miso.");
  const toolsOf = ({ prefix }: Request) => prefix.tools.map(({ name }) => String(name));
  expect(toolsOf(old.request)).not.toContain("memory_stats");
  expect(sent[0] && toolsOf(sent[0])).toContain("memory_stats");
  expect((await app.runtime.turns(app.operator, moved.id)).at(-1)?.requests[0]?.ledger.epoch).toMatchObject({
    n: 2,
    reason: "migrated",
    opened: true,
  });
  expect(await app.runtime.changes(app.operator, moved.id)).toEqual([]);
  for await (const finding of app.verify(app.operator.org)) expect(finding.type).not.toBe("problem");
});

it("a thread on which a turn runs is not migrated", async () => {
  const folder = home();
  const app = await opened(folder);
  const held = await thread(app);
  declare(folder, "rehearsal", true);
  await app.runtime.post(app.operator, held, [said("Hello")]);
  const turn = app.runtime.run(app.operator, held);
  await turn.next();
  await app.reload();
  await expect(app.runtime.migrate(app.operator, held.id)).rejects.toMatchObject({ code: "thread_busy" });
  await turn.return(undefined);
  expect((await app.runtime.migrate(app.operator, held.id)).changes).toHaveLength(2);
});
