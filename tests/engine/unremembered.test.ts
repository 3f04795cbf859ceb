import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { type App, openApp, recordFile } from "../../src/app.ts";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import { MEMORY_KINDS, type Scope } from "../../src/protocol/index.ts";
import { embeddingServer } from "./embedding-server.ts";
import { home, say, searching, strata, thread } from "./home.ts";

// Put together here, so that no scanner takes this file for a leak.
const KEY = `sk-ant-api03-${"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}`;
const CARD = ["4111", "1111", "1111", "1111"].join(" ");
const SECRET = `My card is ${CARD}, my key is ${KEY}.`;

const search = async (app: App, { scope }: { readonly scope: Scope }, query: string) =>
  (await app.runtime.use(MEMORY_API).searchMemories(app.operator, scope, { query, limit: 20 })).map(
    ({ content }) => content,
  );
const kept = async (app: App, { scope }: { readonly scope: Scope }) =>
  (await app.runtime.use(MEMORY_API).memories(app.operator, scope, 100, { kinds: MEMORY_KINDS })).map(
    ({ content }) => content,
  );

const findings = async (app: App): Promise<readonly string[]> => {
  const all: string[] = [];
  for await (const finding of app.verify(app.operator.org)) if (finding.type === "problem") all.push(finding.type);
  return all;
};

describe("a secret that was said", () => {
  it("stays in its thread and becomes no memory, in whatever signs it is written, nor does a reply that repeats it", async () => {
    const app = await strata(searching());
    const first = await thread(app);
    const wide = CARD.replace(/\d/g, (digit) => String.fromCodePoint((digit.codePointAt(0) ?? 0) + 0xfee0));
    await say(app, first, SECRET, [`I noted ${KEY}.`]);
    await say(app, first, `My card is ${wide}.`, ["I see."]);
    await say(app, first, `My key is ${KEY.slice(0, 9)}\u200b${KEY.slice(9)}.`, ["I see."]);
    await say(app, first, "My bicycle is green.", ["A fine colour."]);
    expect((await kept(app, first)).toSorted()).toEqual(["A fine colour.", "I see.", "I see.", "My bicycle is green."]);
    expect(await search(app, first, "card key")).toEqual([]);
    const other = await thread(app, "ann", "other");
    const { sent } = await say(app, other, "What is my card and my key?", ["I do not know."]);
    expect(JSON.stringify(sent)).not.toMatch(/4111|sk-ant|４１１１/);
    const slots = await app.runtime.slots(app.operator, first.id);
    expect(JSON.stringify(slots)).toContain(CARD);
    expect(await findings(app)).toEqual([]);
  });

  it("is taken out of the memories of a file of an earlier version, and does not come back", async () => {
    const folder = home();
    const before = await strata(folder);
    const first = await thread(before);
    await say(before, first, SECRET, ["I see."]);
    await say(before, first, "My bicycle is green.", ["A fine colour."]);
    await before.close();
    const left = ["A fine colour.", "I see.", "My bicycle is green."];
    // As it was when every message was remembered, and as before any was.
    const remembered = `update memory_index set version = 1; insert into memory (scope, id, kind, trust, at, turn, slot, support)
      select scope, 'mem_' || substr(event.id, 5), 'message', 'contact', event.at, memory.turn, 0, 1
      from memory join event on event.turn = memory.turn where memory.slot = 1`;
    const unknown = "pragma foreign_keys = off; delete from memory_index; delete from memory";
    for (const made of [remembered, unknown]) {
      const db = new BetterSqlite3(recordFile(join(folder, ".strata")));
      db.exec(made);
      const secrets = db.prepare("select count(*) from memory where slot = 0").pluck().get();
      expect(secrets).toBe(made === remembered ? 1 : 0);
      db.close();
      const app = await strata(folder);
      expect((await kept(app, first)).toSorted()).toEqual(left);
      expect(await search(app, first, "card key")).toEqual([]);
      expect(await search(app, first, "green bicycle")).toContain("My bicycle is green.");
      expect(await findings(app)).toEqual([]);
      await app.close();
    }
  });

  it("goes to no embedder: not as a message, and not as what is searched for", async () => {
    const server = await embeddingServer();
    const folder = home();
    const app = await openApp({
      folder,
      data: join(folder, "data"),
      env: {},
      config: {
        organization: "home",
        embedder: "local:small",
        providers: { local: { kind: "openai-compatible", url: server.url } },
        agents: {
          companion: {
            description: "It listens.",
            layers: [
              { id: "rules", rank: 1, text: "Listen.", mutability: "versioned" },
              { id: "recall", rank: 60, source: "recall" },
            ],
            recall: "search",
            tools: ["memory_search"],
          },
        },
      },
    });
    const first = await thread(app);
    await say(app, first, "I ride my bicycle to the harbour.", ["Nice."]);
    for await (const _ of app.runtime.use(MEMORY_API).embedMemories(app.operator, first.scope.agent));
    await say(app, first, SECRET, [
      { parts: [{ call: "memory_search", input: { query: `bicycle ${KEY}` } }] },
      "I see.",
    ]);
    expect(await search(app, first, `bicycle ${KEY}`)).toContain("I ride my bicycle to the harbour.");
    expect(await search(app, first, "pedals")).toContain("I ride my bicycle to the harbour.");
    await app.close();
    expect(JSON.stringify(server.asked)).toContain("pedals");
    expect(JSON.stringify(server.asked)).not.toMatch(/4111|sk-ant/);
  });
});

describe("law 12: a reply that repeats memories", () => {
  const BICYCLE = "My grandmother's bicycle is green and stands in the shed by the harbour.";
  const QUESTION = "Where does my grandmother's green bicycle stand?";

  it.each([
    ["recalled", searching],
    ["frozen", home],
  ])("which were %s becomes none, through many conversations: what was said first is found first", async (_, make) => {
    const app = await strata(make());
    const first = await thread(app);
    await say(app, first, BICYCLE);
    await say(app, first, "Remember that my bicycle was bought in Oslo in the spring of 1984");
    for (let n = 1; n <= 4; n++) {
      const next = await thread(app, "ann", `talk ${n}`);
      expect((await say(app, next, QUESTION)).text).toContain("I remember from");
      await say(app, next, "And when was my bicycle bought?");
    }
    const hits = await search(app, first, "grandmother's green bicycle shed harbour");
    expect(hits[0]).toBe(BICYCLE);
    expect(hits.filter((hit) => hit.includes("I remember from"))).toEqual([]);
    const all = await kept(app, first);
    expect(all.filter((one) => one.includes("I remember from"))).toEqual([]);
    expect(all).toContain(QUESTION);
    const slots = await app.runtime.slots(app.operator, first.id);
    expect(slots.filter(({ kind }) => kind === "reply")).toHaveLength(2);
  });

  it("is told from one that says something of its own", async () => {
    const app = await strata(searching());
    await say(app, await thread(app), BICYCLE, ["I see."]);
    const next = await thread(app, "ann", "next");
    const own = "In the shed: the harbour master has its key, so ask him before noon.";
    await say(app, next, QUESTION, [own]);
    const repeated = `You told me: "my grandmother's  bicycle\nis GREEN and stands in the shed".`;
    await say(app, await thread(app, "ann", "third"), QUESTION, [repeated]);
    expect((await kept(app, next)).toSorted()).toEqual([BICYCLE, QUESTION, QUESTION, "I see.", own].toSorted());
  });

  it.each(["memory_search", "recall"])("which %s has found becomes none", async (tool) => {
    const folder = searching();
    const file = join(folder, "strata.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("memory_search, read", `${tool}, read`));
    const app = await strata(folder);
    const first = await thread(app);
    const own = "In the shed: the harbour master has its key, so ask him before noon.";
    await say(app, first, "Good evening", [own]);
    const found = [
      { parts: [{ call: tool, input: { query: "harbour master key" } }] },
      "You wrote that the harbour master has its key, so ask him before noon.",
    ];
    const { text } = await say(app, await thread(app, "ann", "next"), "Good morning", found);
    expect(text).toContain("harbour master");
    expect((await kept(app, first)).toSorted()).toEqual(["Good evening", "Good morning", own].toSorted());
  });
});
