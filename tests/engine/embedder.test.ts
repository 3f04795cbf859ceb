import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { allParts } from "../../src/app/entry/features.ts";
import { type App, type AppOptions, type EmbedProgress, openApp, recordFile } from "../../src/app.ts";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import { agentName, allow, contactId, type Scope, type TurnEvent, untrusted } from "../../src/protocol/index.ts";
import { openSqlite } from "../../src/store/index.ts";
import { type Asked, embeddingServer } from "./embedding-server.ts";
import { say } from "./home.ts";

const SHOP = agentName("shop");
const [ANN, BOB] = [contactId("ann"), contactId("bob")];

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-embedder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The shop, which recalls on each message, with this embedder. */
async function shop(folder: string, embedder: string, url = "http://127.0.0.1:1/v1", source = 5_000): Promise<App> {
  const config: NonNullable<AppOptions["config"]> = {
    organization: "home",
    embedder,
    providers: { local: { kind: "openai-compatible", url } },
    agents: {
      shop: {
        description: "It sells.",
        layers: [
          { id: "rules", rank: 1, text: "Sell.", mutability: "versioned" },
          { id: "recall", rank: 60, source: "recall" },
        ],
        tools: ["memory_save", "memory_search"],
        recall: "search",
        budgets: { source },
      },
    },
  };
  const app = await openApp({ folder, data: join(folder, "data"), env: {}, config });
  onTestFinished(() => app.close());
  return app;
}

const scopeOf = ({ operator }: App, contact: Scope["contact"] = ANN): Scope => ({
  org: operator.org,
  agent: SHOP,
  contact,
});

async function remember(app: App, ...texts: readonly string[]): Promise<void> {
  for (const text of texts)
    await app.runtime.use(MEMORY_API).remember(app.operator, scopeOf(app), { content: untrusted(text), tags: [] });
}

const search = async (app: App, query: string, contact: Scope["contact"] = ANN) =>
  (await app.runtime.use(MEMORY_API).searchMemories(app.operator, scopeOf(app, contact), { query, limit: 9 })).map(
    (hit) => hit.content,
  );

/** All that is missing, made now; what came of the last step. */
async function embed(app: App) {
  const steps: EmbedProgress[] = [];
  for await (const step of app.runtime.use(MEMORY_API).embedMemories(app.operator, SHOP)) steps.push(step);
  return steps.at(-1);
}

const report = (app: App) => app.runtime.use(MEMORY_API).vectorReport(app.operator, SHOP);
const texts = (asked: readonly Asked[]): readonly string[] => asked.flatMap(({ input }) => input);
const threadOf = (app: App, contact = ANN) =>
  app.runtime.open(app.operator, { agent: SHOP, contact, channel: "test", key: "main" });

const THREE = ["The bicycle is green.", "Rex is a dog.", "Earl Grey is her tea."];

describe("an agent with an embedder", () => {
  it("finds what was saved by what it means, where no word is the same", async () => {
    const folder = place();
    // Nothing answers there: the texts are found by their words.
    const words = await shop(folder, "local:small");
    await remember(words, ...THREE);
    expect(await search(words, "puppy")).toEqual([]);
    await words.close();
    const server = await embeddingServer();
    const app = await shop(folder, "local:small", server.url);
    await embed(app);
    expect(await search(app, "puppy")).toContain("Rex is a dog.");
    expect((await search(app, "Who barks?"))[0]).toBe("Rex is a dog.");
    const hits = await app.runtime.use(MEMORY_API).explainMemories(app.operator, scopeOf(app), {
      query: "a thirsty bicycle",
      limit: 3,
    });
    expect(hits[0]).toMatchObject({ content: THREE[0], features: { turn: expect.any(Number) } });
    expect(hits[1]).toMatchObject({ content: THREE[2], features: { vector: expect.any(Number) } });
  });

  it.each(["local:noise", "rehearsal"])("finds no less by %s than by words alone", async (embedder) => {
    const server = await embeddingServer();
    const rooms = ["kitchen", "cellar", "attic", "garage", "garden", "hall", "study", "porch", "yard", "barn"];
    const things = ["lamp", "clock", "ladder", "mirror", "carpet", "bucket"];
    const all = rooms.flatMap((room) => things.map((thing) => `The ${thing} stands in the ${room}.`));
    const app = await shop(place(), embedder, server.url);
    await remember(app, ...all);
    const found = async () => {
      const lists = things.map((thing) => search(app, `Where is the ${thing}?`));
      return (await Promise.all(lists)).map((hits, n) => hits.filter((hit) => hit.includes(things[n] ?? "?")).length);
    };
    const byWords = await found();
    expect(byWords).toEqual(things.map(() => 9));
    await embed(app);
    expect(await found()).toEqual(byWords);
  });

  it("makes vectors after the turn, also of what was said, and recalls by them in another conversation", async () => {
    const [server, folder] = [await embeddingServer(), place()];
    const app = await shop(folder, "local:small", server.url);
    await say(app, await threadOf(app), "My puppy is called Rex.", ["Nice."]);
    // The end of a program lets it come to an end.
    await app.close();
    expect(texts(server.asked)).toContain("My puppy is called Rex.");
    const again = await shop(folder, "local:small", server.url);
    expect(await report(again)).toEqual({
      embedder: "local:small",
      vectors: 2,
      waiting: 0,
      serving: { "local:small": 1 },
    });
    const thread = await again.runtime.open(again.operator, { agent: SHOP, contact: ANN, channel: "test", key: "new" });
    const { sent } = await say(again, thread, "Which dog food shall we buy?", ["Any."]);
    expect(JSON.stringify(sent)).toContain("My puppy is called Rex.");
  });

  it("29.2 is asked for nothing before the answer while the request shows all that could be found", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    const thread = await threadOf(app);
    const askedBefore = async (to: typeof thread, text: string): Promise<boolean> => {
      let asked = false;
      const answer = () => {
        asked = texts(server.asked).includes(text);
        return "Nice.";
      };
      await say(app, to, text, [answer]);
      return asked;
    };
    await say(app, thread, "My puppy is called Rex.", ["Nice."]);
    expect(await askedBefore(thread, "Which dog food shall we buy?")).toBe(false);
    const other = await app.runtime.open(app.operator, { agent: SHOP, contact: ANN, channel: "test", key: "new" });
    expect(await askedBefore(other, "Which food do dogs like best?")).toBe(true);
  });

  it("recalls nothing where nothing is nearer than usual", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    const thread = await threadOf(app);
    for (const text of ["My dog barks.", "I ride my bicycle.", "I brew tea."]) await say(app, thread, text, ["Nice."]);
    await embed(app);
    const other = await app.runtime.open(app.operator, { agent: SHOP, contact: ANN, channel: "test", key: "new" });
    const [far] = (await say(app, other, "Explain photosynthesis.", ["Leaves."])).sent;
    expect(JSON.stringify(far)).not.toMatch(/dog|bicycle|brew/);
    const [close] = (await say(app, other, "What shall a thirsty person do?", ["Drink."])).sent;
    expect(JSON.stringify(close?.tail)).toContain("I brew tea.");
    expect(JSON.stringify(close)).not.toMatch(/dog|bicycle/);
  });

  it("asks for each query once, with its weights, and sends nothing of the prompt", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    await remember(app, ...THREE);
    await embed(app);
    server.asked.length = 0;
    for (let n = 0; n < 3; n++) await search(app, "puppy");
    expect(server.asked).toEqual([{ model: "small", input: ["puppy"], encoding_format: "float" }]);
  });

  it("finds for each contact what is the contact's and the agent's own (law 5)", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    const { runtime, operator } = app;
    for (const contact of [ANN, BOB, null]) {
      const content = untrusted(`${contact ?? "our own"} dog`);
      await runtime.use(MEMORY_API).remember(operator, scopeOf(app, contact), { content, tags: [] });
    }
    await embed(app);
    expect((await search(app, "puppy")).toSorted()).toEqual(["ann dog", "our own dog"]);
    expect(await search(app, "puppy", null)).toEqual(["our own dog"]);
    const bob = allow({ ...operator, contact: BOB }, "operate");
    await expect(runtime.use(MEMORY_API).embedMemories(bob, SHOP).next()).rejects.toMatchObject({
      code: "not_allowed",
    });
  });

  it("forgets the vectors of an erased contact", async () => {
    const [server, folder] = [await embeddingServer(), place()];
    const app = await shop(folder, "local:small", server.url);
    await threadOf(app);
    await remember(app, ...THREE);
    await embed(app);
    await app.close();
    const store = await openSqlite(recordFile(join(folder, "data")), { parts: await allParts() });
    await store.eraseContact({ ...scopeOf(app), contact: ANN }, app.operator, Date.now());
    expect(await store.vectorStates(scopeOf(app), "local:small")).toEqual([]);
    await store.close();
    // 1 0 0 0 in floats: the direction of what was said of the bicycle.
    expect(
      readFileSync(recordFile(join(folder, "data"))).includes(Buffer.from(Float32Array.of(1, 0, 0, 0).buffer)),
    ).toBe(false);
  });
});

describe("an embedder that fails", () => {
  it.each([
    ["is down", 503],
    ["refuses the key", 401],
  ])("and %s leaves the words, with a note", async (_how, status) => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    await remember(app, ...THREE);
    await embed(app);
    server.state.manner = status;
    expect(await search(app, "green bicycle")).toEqual(["The bicycle is green."]);
    expect((await report(app)).trouble).toMatch(
      /^memories are found by their words alone: local returned no vectors for small/,
    );
    const { events, sent } = await say(app, await threadOf(app), "Where is the green bicycle?", ["There."]);
    expect(notes(events)).toEqual([expect.stringContaining("memories are found by their words alone")]);
    expect(JSON.stringify(sent)).toContain("The bicycle is green.");
    server.state.manner = "answers";
    await search(app, "puppy");
    expect(await report(app)).not.toHaveProperty("trouble");
  });

  it("and is silent is waited for no longer than a part of what sources may take", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url, 2_000);
    await remember(app, ...THREE);
    await embed(app);
    server.state.manner = "silent";
    const { events, sent } = await say(app, await threadOf(app), "Where is the green bicycle?", ["There."]);
    expect(notes(events)).toEqual([
      expect.stringContaining("local:small returned no vector within 1200 ms; raise `budgets.source`"),
    ]);
    expect(JSON.stringify(sent)).toContain("The bicycle is green.");
  });

  it("and cannot be opened at all leaves the words", async () => {
    const app = await shop(place(), "nobody:model");
    await remember(app, ...THREE);
    expect(await search(app, "green bicycle")).toEqual(["The bicycle is green."]);
    await expect(embed(app)).rejects.toMatchObject({ code: "model_unknown" });
  });

  it("for one text makes the vectors of the others", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    server.state.refused = /poison/;
    await remember(app, ...THREE, "poison", "A pet.");
    await embed(app);
    expect(await report(app)).toMatchObject({ vectors: 4, waiting: 0 });
    expect(await search(app, "puppy")).toContain("A pet.");
  });

  it("in the middle continues where it was, and tells at the end what is missing", async () => {
    const server = await embeddingServer();
    const app = await shop(place(), "local:small", server.url);
    server.state.manner = 401;
    await remember(app, ...THREE);
    await expect(embed(app)).rejects.toMatchObject({ code: "key_refused" });
    expect(await report(app)).toMatchObject({ vectors: 0, waiting: 3 });
    server.state.manner = "answers";
    await embed(app);
    expect(await report(app)).toMatchObject({ vectors: 3, waiting: 0 });
  });
});

describe("another embedder", () => {
  it("takes over when its vectors are complete; until then the old ones serve, asked in their own model", async () => {
    const [server, folder] = [await embeddingServer(), place()];
    const before = await shop(folder, "local:small", server.url);
    await remember(before, ...THREE);
    await embed(before);
    await before.close();
    const app = await shop(folder, "local:large", server.url);
    server.asked.length = 0;
    expect((await search(app, "puppy"))[0]).toBe("Rex is a dog.");
    expect(server.asked.map(({ model }) => model)).toEqual(["small"]);
    expect(await report(app)).toMatchObject({ waiting: 3, serving: { "local:small": 1 } });
    await embed(app);
    expect(await report(app)).toEqual({
      embedder: "local:large",
      vectors: 3,
      waiting: 0,
      serving: { "local:large": 1 },
    });
    server.asked.length = 0;
    expect((await search(app, "puppy"))[0]).toBe("Rex is a dog.");
    expect(server.asked.map(({ model }) => model)).toEqual(["large"]);
  });

  it("is taken from one to the other way of comparing without a change", async () => {
    const [server, folder] = [await embeddingServer(), place()];
    const app = await shop(folder, "local:small", server.url);
    await remember(app, ...THREE);
    await embed(app);
    await app.close();
    const store = await openSqlite(recordFile(join(folder, "data")), { vectors: false, parts: await allParts() });
    const vectors = [{ model: "local:small", values: Float32Array.of(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0) }];
    const hits = await store.searchMemories([scopeOf(app)], { texts: [{ text: "…", weight: 1 }], limit: 1, vectors });
    expect(hits.map(({ content }) => content)).toEqual(["Rex is a dog."]);
    await store.close();
  });
});

describe("the stand-in without a key", () => {
  it("finds words that are built of the same pieces", async () => {
    const folder = place();
    const words = await shop(folder, "local:none");
    await remember(words, "Der Geburtstagskuchen ist aus Marzipan.", "Der Bus nach Bonn fährt um acht.");
    expect(await search(words, "Kuchen zum Geburtstag")).toEqual([]);
    await words.close();
    const app = await shop(folder, "rehearsal");
    await embed(app);
    expect((await search(app, "Kuchen zum Geburtstag"))[0]).toBe("Der Geburtstagskuchen ist aus Marzipan.");
  });
});

const notes = (events: readonly TurnEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "note" ? [event.message] : []));
