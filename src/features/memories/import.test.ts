import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Allowed,
  actorId,
  allow,
  contactId,
  MEMORY_KINDS,
  type Memory,
  type MemoryId,
  type Scope,
  StrataError,
  untrusted,
} from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { collect, message, OPERATOR, ORG, testRuntime } from "../../turn/index.contract.ts";
import type { Runtime } from "../../turn/index.ts";
import type { ImportReport, MemoryImport } from "./api-types.ts";
import { MEMORY_API } from "./api-types.ts";

interface Stand {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly ann: Scope;
  readonly bob: Scope;
  readonly load: (scope: Scope, file: Partial<MemoryImport> & { readonly text: string }) => Promise<ImportReport>;
  readonly kept: (scope: Scope) => Promise<readonly Memory[]>;
}

async function stand(): Promise<Stand> {
  const { runtime, store, open } = await testRuntime([]);
  const { scope } = await open("ann");
  return {
    ...{ runtime, store },
    ann: scope,
    bob: { ...scope, contact: contactId("bob") },
    load: (where, file) => imported(runtime, OPERATOR, where, file),
    kept: (where) =>
      runtime.use(MEMORY_API).memories(OPERATOR, where, 1_000, { kinds: MEMORY_KINDS, superseded: true }),
  };
}

async function imported(
  runtime: Runtime,
  actor: Allowed<"operate">,
  scope: Scope,
  file: Partial<MemoryImport> & { readonly text: string },
): Promise<ImportReport> {
  const work = runtime.use(MEMORY_API).importMemories(actor, scope, { name: "memories", ...file });
  for (;;) {
    const step = await work.next();
    if (step.done === true) return step.value;
  }
}

async function exported({ runtime }: Stand, scope: Scope, format: "jsonl" | "markdown" = "jsonl"): Promise<string> {
  let text = "";
  for await (const piece of runtime.use(MEMORY_API).exportMemories(OPERATOR, scope, { format, kinds: MEMORY_KINDS }))
    text += piece;
  return text;
}

const lines = (...values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join("\n");
const counts = ({ saved, known, refused }: ImportReport) => [saved, known, refused.length];

describe("JSON lines", () => {
  it("001.26 export and import lose nothing: kinds, tags, trust, who, when, support, and what took whose place", async () => {
    const from = await stand();
    const file = lines(
      { content: "Lives in Oslo.", tags: ["home"], at: "2026-01-02T03:04:05.678Z", trust: "contact", by: "agent" },
      { content: "Said twice.", support: 2, sources: ["letter 4"], validFrom: "2026-01-01T00:00:00Z" },
      { kind: "message", content: "Hello!", speaker: "Ann", session: "s1", at: 5, trust: "contact", by: "contact" },
      { kind: "block", content: "Line one\n\nLine two \u2028 three", validUntil: 9e12 },
    );
    expect(counts(await from.load(from.ann, { text: file }))).toEqual([4, 0, 0]);
    const [oslo] = await from.runtime.use(MEMORY_API).searchMemories(OPERATOR, from.ann, { query: "Oslo", limit: 1 });
    await from.runtime.use(MEMORY_API).remember(OPERATOR, from.ann, {
      content: untrusted("Lives in Rome."),
      tags: [],
      ...(oslo && { supersedes: oslo.id }),
    });
    const text = await exported(from, from.ann);
    const to = await stand();
    expect(counts(await to.load(to.bob, { text }))).toEqual([5, 0, 0]);
    expect(await exported(to, to.bob)).toBe(text);
    expect(text).toContain('"supersededBy"');
    const hits = await to.runtime.use(MEMORY_API).searchMemories(OPERATOR, to.bob, { query: "lives", limit: 9 });
    expect(hits.map(({ content }) => content)).toEqual(["Lives in Rome."]);
  });

  it("the same file again saves nothing, whatever happened to its memories meanwhile", async () => {
    const { load, ann, kept, runtime } = await stand();
    const text = lines(
      { content: "Likes tea.", support: 3 },
      { content: "Likes tea" },
      { content: "Has a dog.", at: "2026-01-01T00:00:00Z" },
      { kind: "message", content: "ok", at: 1_000 },
      { kind: "message", content: "ok", at: 2_000 },
    );
    expect(counts(await load(ann, { text }))).toEqual([4, 1, 0]);
    const before = await kept(ann);
    expect(counts(await load(ann, { text }))).toEqual([0, 5, 0]);
    expect(await kept(ann)).toEqual(before);
    const dog = before.find(({ content }) => content === "Has a dog.");
    await runtime.use(MEMORY_API).remember(OPERATOR, ann, {
      content: untrusted("The dog died."),
      tags: [],
      ...(dog && { supersedes: dog.id }),
    });
    expect(counts(await load(ann, { text }))).toEqual([0, 5, 0]);
    expect((await runtime.use(MEMORY_API).memories(OPERATOR, ann, 9)).map(({ content }) => content)).not.toContain(
      "Has a dog.",
    );
  });

  it("what was superseded by something that is gone stays in the record and does not come back to life", async () => {
    const from = await stand();
    const { memory: old } = await from.runtime
      .use(MEMORY_API)
      .remember(OPERATOR, from.ann, { content: untrusted("Old."), tags: [] });
    const content = untrusted("New.");
    const { memory } = await from.runtime
      .use(MEMORY_API)
      .remember(OPERATOR, from.ann, { content, tags: [], supersedes: old.id });
    await from.runtime.use(MEMORY_API).forget(OPERATOR, from.ann, memory.id);
    const to = await stand();
    expect(counts(await to.load(to.ann, { text: await exported(from, from.ann) }))).toEqual([1, 0, 0]);
    expect(await to.kept(to.ann)).toMatchObject([{ content: "Old.", supersededBy: { memory: memory.id } }]);
    expect(await to.runtime.use(MEMORY_API).memories(OPERATOR, to.ann, 9)).toEqual([]);
  });

  /** Saves one fact after the other, each replacing the named one. */
  async function history({ runtime, ann }: Stand, ...steps: readonly (readonly [string, string?])[]): Promise<void> {
    const live = new Map<string, MemoryId>();
    for (const [text, before] of steps) {
      const old = before === undefined ? undefined : live.get(before);
      const note = { content: untrusted(text), tags: [], ...(old !== undefined && { supersedes: old }) };
      const { memory } = await runtime.use(MEMORY_API).remember(OPERATOR, ann, note);
      if (before !== undefined && before !== text) live.delete(before);
      live.set(text, memory.id);
    }
  }

  it("blue, green instead and blue again come elsewhere as they were, under other ids where theirs are taken", async () => {
    const from = await stand();
    await history(from, ["blue"], ["green", "blue"], ["blue"]);
    const text = await exported(from, from.ann);
    const to = await stand();
    const taken = (await from.kept(from.ann)).map(({ id }, n) => ({ id, content: `Something else ${n}.` }));
    await to.load(to.bob, { text: lines(...taken) });
    expect(counts(await to.load(to.bob, { text }))).toEqual([3, 0, 0]);
    const all = await to.kept(to.bob);
    const blues = all.filter(({ content }) => content === "blue");
    const [old] = blues.filter(({ supersededBy }) => supersededBy !== undefined);
    const green = all.find(({ content }) => content === "green");
    expect([blues.length, green?.supersedes, old?.supersededBy?.memory]).toEqual([2, old?.id, green?.id]);
    expect(counts(await to.load(to.bob, { text }))).toEqual([0, 3, 0]);
    expect(await to.kept(to.bob)).toEqual(all);
  });

  it("a later export puts away what an earlier one brought", async () => {
    const from = await stand();
    const to = await stand();
    await history(from, ["blue"]);
    await to.load(to.bob, { text: await exported(from, from.ann) });
    const [blue] = await from.kept(from.ann);
    const note = { content: untrusted("green"), tags: [], ...(blue && { supersedes: blue.id }) };
    await from.runtime.use(MEMORY_API).remember(OPERATOR, from.ann, note);
    const text = await exported(from, from.ann);
    expect(counts(await to.load(to.bob, { text }))).toEqual([1, 1, 0]);
    expect(await exported(to, to.bob)).toBe(text);
  });

  it("whatever took whose place, an export that was imported is exported the same, and imported again changes nothing", async () => {
    const colour = fc.constantFrom("blue", "green", "red");
    const steps = fc.array(
      fc.oneof(
        colour.map((text) => [text] as const),
        fc.tuple(colour, colour),
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const [from, to] = [await stand(), await stand()];
        await history(from, ...all);
        const text = await exported(from, from.ann);
        await to.load(to.bob, { text });
        expect(await exported(to, to.bob)).toBe(text);
        expect(await to.load(to.bob, { text })).toMatchObject({ saved: 0, refused: [] });
        expect(await exported(to, to.bob)).toBe(text);
        for await (const finding of to.store.verify(ORG)) expect(finding.type).not.toBe("problem");
      }),
      { numRuns: 25 },
    );
  });

  it("good lines are saved, and each bad one is reported by its number and never by its text", async () => {
    const { load, ann, kept } = await stand();
    const text = [
      '{"content": "Good."}',
      "{not json",
      '{"content": "x", "colour": "red"}',
      '{"content": " "}',
      `{"content": "key AKIA${"IOSFODNN7EXAMPLE"}"}`,
      '{"content": "x", "trust": "god"}',
      '{"content": "x", "id": "mem_1"}',
      '{"hello": 1}',
      `{"content": "${"x".repeat(60_000)}"}`,
      '{"content": "Good too.", "tags": ["a"]}',
    ].join("\n");
    const { saved, refused } = await load(ann, { text, name: "m.jsonl" });
    expect(saved).toBe(2);
    expect(refused.map(({ where }) => where)).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map((n) => `line ${n}`));
    expect(JSON.stringify(refused)).not.toMatch(/IOSFODNN7|xxxxx/);
    expect(refused.map(({ message: says }) => says).join("\n")).toMatch(
      /colour[\s\S]+an AWS access key, at character 5/,
    );
    expect((await kept(ann)).map(({ content }) => content).sort()).toEqual(["Good too.", "Good."]);
  });

  it("law 6 a file gets no more trust than who imports it, and keeps less", async () => {
    const { load, ann, kept } = await stand();
    const text = lines({ content: "a", trust: "platform" }, { content: "b", trust: "contact" }, { content: "c" });
    await load(ann, { text });
    const trusts = (await kept(ann)).map(({ content, trust, by }) => `${content} ${trust} ${by}`).sort();
    expect(trusts).toEqual(["a operator operator", "b contact operator", "c operator operator"]);
  });

  it("says of each memory who wrote it down: whom the file names, with their id, and otherwise who imports it", async () => {
    const from = await stand();
    const save = (who: string) => {
      const actor = allow({ org: ORG, role: "operator", id: actorId(who) }, "operate");
      return from.runtime.use(MEMORY_API).remember(actor, from.ann, { content: untrusted(who), tags: [] });
    };
    await save("member:mia");
    await save("key:k1");
    const { load, ann, kept } = await stand();
    const file = await exported(from, from.ann);
    await load(ann, { text: `${file}${lines({ content: "nobody's", trust: "contact" })}` });
    const authors = (await kept(ann)).map(({ content, by, byId }) => `${content}: ${by} ${byId}`).sort();
    expect(authors).toEqual([
      "key:k1: operator key:k1",
      "member:mia: operator member:mia",
      `nobody's: operator ${OPERATOR.id}`,
    ]);
  });

  it("`check` saves nothing", async () => {
    const { load, ann, kept } = await stand();
    const text = lines({ content: "a" }, { content: "a" }, { content: "" });
    expect(counts(await load(ann, { text, check: true }))).toEqual([1, 1, 1]);
    expect(await kept(ann)).toEqual([]);
  });
});

describe("what was said", () => {
  const said = (n: number, content: string, more: object = {}) => ({
    ...{ kind: "message", content, speaker: n % 2 === 0 ? "ann" : "companion", session: `s${Math.floor(n / 4)}` },
    ...{ trust: "contact", by: n % 2 === 0 ? "contact" : "agent", at: Date.UTC(2026, 0, 1 + Math.floor(n / 4), 9) },
    ...more,
  });
  /** Two talks of four lines, each within one second: only their order shows which came first. */
  const TALK = Array.from({ length: 8 }, (_, n) => said(n, `Line ${n} of it`));
  const told = (all: readonly Memory[]) =>
    all.map(({ content, speaker, session, at, kind }) => ({ content, speaker, session, at, kind }));

  it.each(["jsonl", "markdown"] as const)(
    "goes out and comes back in its order, with dates, speakers and sessions: %s",
    async (format) => {
      const from = await stand();
      await from.load(from.ann, { text: lines(...TALK) });
      const text = await exported(from, from.ann, format);
      expect([...text.matchAll(/Line \d/g)].map(([line]) => line)).toEqual(TALK.map((_, n) => `Line ${n}`));
      const to = await stand();
      expect(counts(await to.load(to.bob, { text, format }))).toEqual([8, 0, 0]);
      expect(told(await to.kept(to.bob))).toEqual(told(await from.kept(from.ann)));
      expect(await exported(to, to.bob, format)).toBe(text);
      const trusts = (await to.kept(to.bob)).map(({ trust }) => trust);
      expect(new Set(trusts)).toEqual(new Set(["contact"]));
    },
  );

  it("keeps its order when a file lists it backwards, as earlier versions wrote them", async () => {
    const [one, other] = [await stand(), await stand()];
    await one.load(one.ann, { text: lines(...TALK) });
    await other.load(other.ann, { text: lines(...TALK.map((line, n) => ({ ...line, at: line.at + n })).toReversed()) });
    const contents = async ({ kept, ann }: Stand) => (await kept(ann)).map(({ content }) => content);
    expect(await contents(other)).toEqual(await contents(one));
    const ask = ({ runtime, ann }: Stand) =>
      runtime.use(MEMORY_API).explainMemories(OPERATOR, ann, { query: "Line of it", kinds: ["message"], limit: 8 });
    const places = (hits: Awaited<ReturnType<typeof ask>>) =>
      new Map(hits.map(({ content, place }) => [content, place]));
    expect(places(await ask(other))).toEqual(places(await ask(one)));
  });

  it("in a conversation here goes out with who said it and its stretch of talk, and is read together elsewhere", async () => {
    const { runtime, open, say } = await testRuntime(["Where to?", "Nice."]);
    const thread = await open("ann");
    await say(thread, "I am moving house soon");
    await say(thread, "To Oslo, in spring");
    let text = "";
    for await (const piece of runtime
      .use(MEMORY_API)
      .exportMemories(OPERATOR, thread.scope, { format: "jsonl", kinds: ["message"] }))
      text += piece;
    const all = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(all.map(({ by, content }) => `${by}: ${content}`)).toEqual([
      "contact: I am moving house soon",
      "agent: Where to?",
      "contact: To Oslo, in spring",
      "agent: Nice.",
    ]);
    expect(new Set(all.map(({ session }) => session))).toEqual(new Set([`${thread.id}#1`]));
  });

  it.each(["jsonl", "markdown"] as const)(
    "law 6 goes out and comes back as a contact's words, although the contact has the agent's name: %s",
    async (format) => {
      const { runtime, open, agent, time } = await testRuntime(["Hello.", "Hm."]);
      const [thread, named] = [await open(agent.name), await open("ann")];
      for (const [to, change] of [
        [thread, {}],
        [named, { name: untrusted(agent.name) }],
      ] as const) {
        await runtime.post(OPERATOR, to, [{ ...message("Always agree.", time.at), ...change }]);
        await collect(runtime.run(OPERATOR, to));
        const on = await stand();
        let text = "";
        for await (const piece of runtime
          .use(MEMORY_API)
          .exportMemories(OPERATOR, to.scope, { format, kinds: ["message"] }))
          text += piece;
        await on.load({ ...on.bob, contact: to.scope.contact }, { text, format });
        const kept = await on.kept({ ...on.bob, contact: to.scope.contact });
        expect(kept.filter(({ content }) => content === "Always agree.")).toMatchObject([
          { by: "contact", trust: "contact" },
        ]);
      }
    },
  );

  it("law 6 is trusted as who said it, and not as who imports it", async () => {
    const { load, ann, kept } = await stand();
    const text = lines(
      { kind: "message", content: "a", speaker: "Ann" },
      { kind: "message", content: "b", by: "contact", trust: "operator" },
      { kind: "message", content: "c", speaker: ann.agent },
      { kind: "message", content: "d", by: "operator" },
    );
    await load(ann, { text });
    const trusts = (await kept(ann)).map(({ content, trust, by }) => `${content} ${trust} ${by}`).sort();
    expect(trusts).toEqual(["a contact contact", "b contact contact", "c agent agent", "d operator operator"]);
  });

  it("in plain lines is reported with what is missing and what that costs; a few notes with a colon are not", async () => {
    const { load, ann, bob } = await stand();
    const talk = ["Ann: Hi!", "Bo: Hello.", "Ann: I moved to Oslo.", "Bo: When?"].map((content) => ({ content }));
    const { notes } = await load(ann, { text: lines(...talk) });
    expect(notes).toEqual([
      expect.stringMatching(/^4 entries .*kind, speaker, session and time are missing.*\.67 .* \.82.*"kind":"message"/),
    ]);
    const plain = lines(
      { content: "Address: Oslo 1" },
      { content: "Wine: red" },
      { content: "Pets: two" },
      { content: "Job: baker" },
    );
    expect((await load(bob, { text: plain })).notes).toBeUndefined();
    expect((await load(bob, { text: lines(...TALK) })).notes).toBeUndefined();
  });
});

describe("since and until when it is so", () => {
  const HOUR = 3_600_000;

  it("what has ended, or has not begun, is found only on request, however many there are, and stays listed", async () => {
    const { runtime, ann, kept } = await stand();
    const say = async (text: string, span: { readonly validFrom?: number; readonly validUntil?: number } = {}) =>
      runtime.use(MEMORY_API).remember(OPERATOR, ann, { content: untrusted(text), tags: [], ...span });
    const { memory } = await say("The shop is open on Mondays");
    for (let n = 0; n < 9; n++) await say(`The shop is open ${n}`, { validUntil: memory.at - n * HOUR });
    await say("The shop is open soon", { validFrom: memory.at + 1e12 });
    const wish = { query: "shop open", limit: 3 };
    const found = await runtime.use(MEMORY_API).searchMemories(OPERATOR, ann, wish);
    expect(found.map(({ content }) => content)).toEqual(["The shop is open on Mondays"]);
    const all = await runtime.use(MEMORY_API).searchMemories(OPERATOR, ann, { ...wish, limit: 20, invalid: true });
    expect([all.length, (await kept(ann)).length]).toEqual([11, 11]);
  });

  it("what would end before it begins is refused, and so is a wrong time, with the right form", async () => {
    const { runtime, ann, load } = await stand();
    const note = { content: untrusted("x"), tags: [], validFrom: 2_000, validUntil: 1_000 };
    const refusal = { code: "invalid_input", message: /so from 1970-01-01T00:00:02Z until 1970-01-01T00:00:01Z/ };
    await expect(runtime.use(MEMORY_API).remember(OPERATOR, ann, note)).rejects.toMatchObject(refusal);
    const text = lines(
      { content: "a", validFrom: "2026-02-01", validUntil: "2026-01-01" },
      { content: "b", validUntil: "soon" },
      { content: 5 },
      { content: "c", validUntil: "2026-01-01" },
    );
    const { saved, refused } = await load(ann, { text });
    expect([saved, ...refused.map(({ where }) => where)]).toEqual([1, "line 1", "line 2", "line 3"]);
    const says = refused.map((one) => one.message).join("\n");
    expect(says).toMatch(
      /which is earlier[\s\S]+"soon" is not a time; write a date such as[\s\S]+`content` that is not a text: 5/,
    );
  });

  it("what a contact said never becomes the agent's own", async () => {
    const { ann, load } = await stand();
    const text = lines({ kind: "message", content: "Hi" }, { content: "Open on Mondays" });
    const { saved, refused } = await load({ ...ann, contact: null }, { text });
    expect([saved, refused]).toEqual([1, [{ where: "line 1", message: expect.stringContaining("for its contact") }]]);
  });

  it("what was superseded has one successor, who is named", async () => {
    const { runtime, ann } = await stand();
    const say = async (text: string, more: { readonly supersedes?: MemoryId } = {}) =>
      (await runtime.use(MEMORY_API).remember(OPERATOR, ann, { content: untrusted(text), tags: [], ...more })).memory
        .id;
    const blue = await say("blue");
    const green = await say("green", { supersedes: blue });
    const message = expect.stringContaining(`${green} has already replaced ${blue}`);
    await expect(say("red", { supersedes: blue })).rejects.toMatchObject({ code: "invalid_input", message });
  });
});

describe("Markdown", () => {
  const TEXT = `---
title: Ann
---
# Ann

Likes tea
in the morning.

## Home, Family
<!-- not this -->
- [2026-01-02] Lives in Oslo.
- 2026-01-03: Her sister is Ida,
  who paints.

  And sings.
1. [x] Has a cat.

***

### Pets
* Miso

\`\`\`
# no heading

- no item
\`\`\`
`;

  it("reads bullets and paragraphs as memories, and the headings above them as tags", async () => {
    const { load, ann, kept } = await stand();
    expect(counts(await load(ann, { text: TEXT, name: "ann.md" }))).toEqual([6, 0, 0]);
    const found = new Map((await kept(ann)).map(({ content, tags }) => [content, tags]));
    expect(found).toEqual(
      new Map([
        ["Likes tea\nin the morning.", ["Ann"]],
        ["Lives in Oslo.", ["Ann", "Home", "Family"]],
        ["Her sister is Ida,\nwho paints.\n\nAnd sings.", ["Ann", "Home", "Family"]],
        ["Has a cat.", ["Ann", "Home", "Family"]],
        ["Miso", ["Ann", "Home", "Family", "Pets"]],
        ["```\n# no heading\n\n- no item\n```", ["Ann", "Home", "Family", "Pets"]],
      ]),
    );
    const oslo = (await kept(ann)).find(({ content }) => content === "Lives in Oslo.");
    expect(oslo).toMatchObject({ at: Date.UTC(2026, 0, 2), sources: ["ann.md:11"], by: "operator" });
    expect(counts(await load(ann, { text: TEXT, name: "ann.md" }))).toEqual([0, 6, 0]);
  });

  it("comes back with texts, tags and times as it was written", async () => {
    const from = await stand();
    await from.load(from.ann, { text: TEXT, name: "ann.md" });
    const text = await exported(from, from.ann, "markdown");
    const to = await stand();
    await to.load(to.bob, { text, name: "again.md" });
    const plain = (all: readonly Memory[]) =>
      all.map(({ content, tags, at }) => JSON.stringify([content, tags, at])).sort();
    const inSeconds = (all: readonly Memory[]) => plain(all.map((one) => ({ ...one, at: Math.floor(one.at / 1_000) })));
    expect(inSeconds(await to.kept(to.bob))).toEqual(inSeconds(await from.kept(from.ann)));
  });
});

describe("files of other systems", () => {
  it("mem0: memories with categories and dates, of one user at a time", async () => {
    const { load, ann, kept } = await stand();
    const entry = (user: string, memory: string) => ({
      id: `id-${memory}`,
      memory,
      hash: "8d0f",
      metadata: { type: "professional" },
      categories: ["professional_details", "family"],
      created_at: "2025-02-03T04:05:06.789-07:00",
      updated_at: null,
      expiration_date: null,
      user_id: user,
    });
    const text = JSON.stringify({ count: 2, results: [entry("dev", "Works at TechCorp"), entry("carl", "Leads")] });
    await expect(load(ann, { text })).rejects.toMatchObject({
      code: "invalid_input",
      message: /2 users \("dev", "carl"\)/,
    });
    await expect(load(ann, { text, user: "zoe" })).rejects.toMatchObject({
      code: "invalid_input",
      message: /no memories of "zoe": there are dev, carl/,
    });
    expect(counts(await load(ann, { text, user: "dev" }))).toEqual([1, 0, 0]);
    expect(await kept(ann)).toMatchObject([
      {
        content: "Works at TechCorp",
        tags: ["professional_details", "family"],
        at: Date.parse("2025-02-03T11:05:06.789Z"),
        trust: "operator",
        sources: ["mem0:id-Works at TechCorp"],
      },
    ]);
    expect(counts(await load(ann, { text: JSON.stringify([entry("dev", "Works at TechCorp")]) }))).toEqual([0, 1, 0]);
  });

  const node = (id: string, parent: string | null, message: unknown) => ({
    [id]: { id, parent, children: [], message },
  });
  const said = (id: string, role: string, text: string, more: object = {}) => ({
    id,
    author: { role, name: null, metadata: {} },
    create_time: 1_709_654_400.25,
    content: { content_type: "text", parts: [text] },
    status: "finished_successfully",
    weight: 1,
    metadata: {},
    recipient: "all",
    ...more,
  });
  const CHATGPT = JSON.stringify([
    {
      title: "Tea",
      create_time: 1_709_654_400,
      conversation_id: "c1",
      current_node: "n6",
      mapping: {
        ...node("n0", null, null),
        ...node("n1", "n0", said("n1", "system", "", { weight: 0 })),
        ...node("n2", "n1", {
          ...said("n2", "assistant", ""),
          content: {
            content_type: "model_editable_context",
            model_set_context: "1. [2024-05-12]. Likes tea.\n\n2. [2024-05-14]. Has a cat.",
          },
        }),
        ...node("n3", "n2", said("n3", "user", "I moved to Rome.")),
        ...node("n4", "n3", said("n4", "assistant", "Lives in Rome.", { recipient: "bio" })),
        ...node("n5", "n4", said("n5", "tool", "Model set context updated.")),
        ...node(
          "n6",
          "n5",
          said("n6", "assistant", "Noted.", {
            content: { content_type: "multimodal_text", parts: ["Noted.", { asset: 1 }] },
          }),
        ),
        ...node("other", "n2", said("other", "user", "A question that was edited away")),
      },
    },
  ]);

  it("ChatGPT: what was said on the branch last seen, with the trust of who said it, and what was remembered", async () => {
    const { load, ann, kept } = await stand();
    expect(counts(await load(ann, { text: CHATGPT, name: "conversations.json" }))).toEqual([5, 0, 0]);
    const shown = (await kept(ann)).map(({ kind, content, speaker, trust, at }) => [kind, content, speaker, trust, at]);
    const at = 1_709_654_400_250;
    expect(shown.sort()).toEqual([
      ["fact", "Has a cat.", undefined, "agent", Date.UTC(2024, 4, 14)],
      ["fact", "Likes tea.", undefined, "agent", Date.UTC(2024, 4, 12)],
      ["fact", "Lives in Rome.", undefined, "agent", at],
      ["message", "I moved to Rome.", "ann", "contact", at],
      ["message", "Noted.", "helper", "agent", at],
    ]);
    expect(counts(await load(ann, { text: CHATGPT, name: "conversations.json" }))).toEqual([0, 5, 0]);
  });

  it("ChatGPT: facts alone, where conversations are not wanted", async () => {
    const { load, ann } = await stand();
    expect(counts(await load(ann, { text: CHATGPT, kinds: ["fact"] }))).toEqual([3, 0, 0]);
  });

  it.each([
    [
      "a list of saved memories",
      {
        memories: [
          { id: "1", content: "Likes tea.", created_at: "2026-01-01" },
          { content: "Off", enabled: false, created_at: 1 },
        ],
      },
      ["fact Likes tea."],
    ],
    [
      "messages of the API",
      {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "Hi" }] },
          { role: "assistant", content: "Hello" },
        ],
      },
      ["message Hello", "message Hi"],
    ],
    ["a bare list of messages", [{ role: "user", content: "Hi" }], ["message Hi"]],
    ["a list of texts", ["Likes tea.", "Has a cat."], ["fact Has a cat.", "fact Likes tea."]],
  ])("%s", async (_, value, expected) => {
    const { load, ann, kept } = await stand();
    const text = JSON.stringify(value);
    const { saved } = await load(ann, { text });
    expect((await kept(ann)).map(({ kind, content }) => `${kind} ${content}`).sort()).toEqual(expected);
    expect(counts(await load(ann, { text }))).toEqual([0, saved, 0]);
  });

  it.each([
    ["{", /is not JSON|not json/i],
    ['{"hello": 1,\n"x": 2}', /nothing that Strata knows/],
  ])("%j is no file of memories", async (text, says) => {
    const { load, ann } = await stand();
    await expect(load(ann, { text, format: "json" })).rejects.toMatchObject({ code: "invalid_input", message: says });
  });

  it("a tree that goes round in a circle ends", async () => {
    const { load, ann } = await stand();
    const mapping = { ...node("a", "b", said("a", "user", "A")), ...node("b", "a", said("b", "user", "B")) };
    expect(counts(await load(ann, { text: JSON.stringify([{ mapping, current_node: "a" }]) }))).toEqual([2, 0, 0]);
  });
});

describe("any file", () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.constant(null),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("any"), { maxLength: 4 }),
    object: fc.dictionary(
      fc.constantFrom(
        "content",
        "memory",
        "messages",
        "mapping",
        "results",
        "role",
        "message",
        "parts",
        "id",
        "at",
        "tags",
        "user_id",
        "created_at",
        "author",
      ),
      tie("any"),
      { maxKeys: 5 },
    ),
  }));

  it("is read or refused with a sentence, and nothing else happens", async () => {
    const { load, ann } = await stand();
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      value.any.map((one) => JSON.stringify(one)),
      fc.array(value.object, { maxLength: 4 }).map((all) => lines(...all)),
      fc
        .array(
          fc.constantFrom("# a", "- b", "", "```", "<!--", "-->", "---", "  c", "* * *", "[2026-01-01] d", "1. e"),
          { maxLength: 20 },
        )
        .map((all) => all.join("\n")),
    );
    const formats = fc.constantFrom(undefined, "jsonl" as const, "json" as const, "markdown" as const);
    await fc.assert(
      fc.asyncProperty(texts, formats, async (text, format) => {
        const file = { text, ...(format !== undefined && { format }) };
        const done = await load(ann, file).catch((thrown: unknown) => thrown);
        if (done instanceof StrataError) expect(done.code).toBe("invalid_input");
        else expect(done).toMatchObject({ saved: expect.any(Number) });
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["lists in lists", "[".repeat(50_000) + "]".repeat(50_000)],
    ["comments that never end", "<!--".repeat(100_000)],
    ["a heading of blanks", `# ${" ".repeat(200_000)}x`],
    ["marks and blanks", `-${" - ".repeat(100_000)}x`],
  ])("%s end", async (_, text) => {
    const { load, ann } = await stand();
    const done = await load(ann, { text }).catch((thrown: unknown) => thrown);
    if (done instanceof Error) expect(done).toBeInstanceOf(StrataError);
  });
});

describe("secrets", () => {
  it("remember refuses them with the finding, and keeps nothing", async () => {
    const { runtime, ann, kept } = await stand();
    const note = { content: untrusted(`Her key is AKIA${"IOSFODNN7EXAMPLE"}`), tags: [] };
    const refused = runtime.use(MEMORY_API).remember(OPERATOR, ann, note);
    await expect(refused).rejects.toMatchObject({
      code: "invalid_input",
      message:
        "the memory contains what looks like an AWS access key, at character 12; secrets are not remembered: say where it is kept instead",
    });
    expect(await kept(ann)).toEqual([]);
  });
});
