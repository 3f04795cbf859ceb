import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadProject } from "../../src/app/entry/agents.ts";
import { blueprintFolder, blueprintNames } from "../../src/app/entry/projects.ts";
import type { App } from "../../src/app.ts";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import { scripted } from "../../src/models/index.ts";
import { MEMORY_KINDS, type Memory, type MemoryId, type Scope, toolName, untrusted } from "../../src/protocol/index.ts";
import type { Thread } from "../../src/store/index.ts";
import { home, messageText, say, strata, thread } from "./home.ts";

type Call = { readonly call: string; readonly input: object };

/** The companion as it is shipped, and ann's thread with it. */
async function stand(): Promise<{ readonly app: App; readonly ann: Thread }> {
  const app = await strata(home());
  return { app, ann: await thread(app) };
}

/** One turn in which the model makes these calls, one after the other; gives what each was answered. */
async function calling(app: App, to: Thread, ...calls: readonly Call[]): Promise<readonly string[]> {
  const { sent } = await say(app, to, "Go on", [...calls.map((call) => ({ parts: [call] }) as never), "Done."]);
  return calls.map((_, n) => {
    const answer = sent[n + 1]?.messages.at(-1);
    return answer === undefined ? "" : messageText(answer);
  });
}

const save = (content: string, more: object = {}): Call => ({ call: "memory_save", input: { content, ...more } });
const forget = (id: MemoryId): Call => ({ call: "memory_forget", input: { id } });

const kept = (app: App, scope: Scope): Promise<readonly Memory[]> =>
  app.runtime.use(MEMORY_API).memories(app.operator, scope, 50, { superseded: true });
const only = async (app: App, scope: Scope): Promise<Memory> => {
  const [memory, ...more] = await kept(app, scope);
  if (memory === undefined || more.length > 0) throw new Error(`there are ${more.length + 1} memories`);
  return memory;
};
const remember = async (app: App, scope: Scope, text: string): Promise<Memory> =>
  (await app.runtime.use(MEMORY_API).remember(app.operator, scope, { content: untrusted(text), tags: [] })).memory;

describe("an agent's memory", () => {
  it("002.4 says from which turn and events a memory comes, and whose word it is", async () => {
    const { app, ann } = await stand();
    await calling(app, ann, save("Ann likes tea"));
    const [turn] = await app.runtime.turns(app.operator, ann.id);
    const memory = await only(app, ann.scope);
    expect(memory).toMatchObject({
      trust: "contact",
      turn: turn?.id,
      sources: turn?.events.map(({ id }) => id),
      support: 1,
    });
    expect(memory.by ?? "agent").toBe("agent");
  });

  it("forgets what it saved, in the turn's commit; a person's memory stays", async () => {
    const { app, ann } = await stand();
    await calling(app, ann, save("Ann likes tea"));
    const own = await only(app, ann.scope);
    const persons = await remember(app, ann.scope, "Ann is a member");
    const [first, second] = await calling(app, ann, forget(persons.id), forget(own.id));
    expect(first).toContain("Not forgotten: ");
    expect(first).toContain("saved by the operator");
    expect(second).toContain("will be forgotten when this turn ends");
    expect((await kept(app, ann.scope)).map(({ id }) => id)).toEqual([persons.id]);
  });

  it("supersedes what it saved; the old one stays in the record and is no longer found", async () => {
    const { app, ann } = await stand();
    await calling(app, ann, save("Ann lives in Oslo"));
    const old = await only(app, ann.scope);
    const [answer] = await calling(app, ann, save("Ann lives in Rome", { supersedes: old.id }));
    expect(answer).toContain(`It replaces ${old.id}`);
    const all = await kept(app, ann.scope);
    const now = all.find(({ id }) => id !== old.id);
    expect(all.find(({ id }) => id === old.id)).toMatchObject({ supersededBy: { memory: now?.id } });
    const found = await app.runtime.use(MEMORY_API).searchMemories(app.operator, ann.scope, {
      query: "Oslo",
      limit: 5,
      kinds: ["fact"],
    });
    expect(found).toEqual([]);
  });

  it("law 7 a turn that forgets and supersedes the same memory still commits, and loses nothing", async () => {
    const { app, ann } = await stand();
    await calling(app, ann, save("Ann lives in Oslo"));
    const { id } = await only(app, ann.scope);
    await calling(
      app,
      ann,
      forget(id),
      save("Ann lives in Rome", { supersedes: id }),
      save("Ann moved", { supersedes: id }),
    );
    expect((await kept(app, ann.scope)).map(({ content }) => content).sort()).toEqual([
      "Ann lives in Rome",
      "Ann moved",
    ]);
  });

  it("law 6 what a person has saved in the meantime is not taken away by a turn that looked before", async () => {
    const { app, ann } = await stand();
    await calling(app, ann, save("Ann likes tea"), save("Ann has a cat"));
    const all = await kept(app, ann.scope);
    const idOf = (word: string): MemoryId => all.find(({ content }) => content.includes(word))?.id ?? ("" as never);
    const [tea, cat] = [idOf("tea"), idOf("cat")];
    await app.runtime.post(app.operator, ann, [
      {
        kind: "message",
        trust: "contact",
        channel: "test",
        content: [{ type: "text", text: untrusted("Forget") }],
        at: 5,
      },
    ]);
    const calls = [forget(tea), save("Ann has a dog", { supersedes: cat })];
    const script = [...calls.map((call) => ({ parts: [call] }) as never), "Done."];
    for await (const event of app.runtime.run(app.operator, ann, { model: scripted(script).model })) {
      // The tool has looked, the commit has not come yet.
      if (event.type !== "tool-end") continue;
      expect(event.failed).toBe(false);
      await remember(app, ann.scope, event.tool === "memory_forget" ? "Ann likes tea" : "Ann has a cat");
    }
    const after = await kept(app, ann.scope);
    expect(after.map(({ content, supersededBy }) => [content, supersededBy]).sort()).toEqual([
      ["Ann has a cat", undefined],
      ["Ann has a dog", undefined],
      ["Ann likes tea", undefined],
    ]);
  });

  it("law 5 what is for all contacts is found in each one's turn, and no turn writes there", async () => {
    const { app, ann } = await stand();
    const own = { ...ann.scope, contact: null };
    const { id } = await remember(app, own, "The shop closes at six");
    const [found, forgotten, saved] = await calling(
      app,
      ann,
      { call: "memory_search", input: { query: "When does the shop close?" } },
      forget(id),
      save("The shop closes at nine", { supersedes: id }),
    );
    expect(found).toContain(`- ${id} · `);
    expect(found).toContain(" · operator · for all contacts");
    expect(forgotten).toContain("Not forgotten: there is no memory");
    expect(saved).toContain("Not saved: there is no memory");
    await calling(app, ann, save("The shop closes at nine"));
    expect((await kept(app, own)).map(({ content }) => content)).toEqual(["The shop closes at six"]);
    const bob = await thread(app, "bob");
    const [bobs] = await calling(app, bob, { call: "memory_search", input: { query: "shop closes nine" } });
    expect(bobs).toContain("six");
    expect(bobs).not.toContain("nine ");
    expect(bobs).not.toContain("closes at nine");
  });

  it("a secret is refused in the turn", async () => {
    const { app, ann } = await stand();
    const [answer] = await calling(app, ann, save(`The key is AKIA${"IOSFODNN7EXAMPLE"}`));
    expect(answer).toContain("Not saved: the text contains what looks like an AWS access key, at character 12");
    expect(await kept(app, ann.scope)).toEqual([]);
  });

  it("25.10a every shipped agent that saves memories can forget them", () => {
    const pairs = { memory_save: "memory_forget", remember: "forget" };
    for (const name of blueprintNames())
      for (const { tools } of loadProject(blueprintFolder(name), { env: {} }).agents.values())
        for (const [saves, forgets] of Object.entries(pairs))
          expect([name, tools.includes(toolName(forgets))]).toEqual([name, tools.includes(toolName(saves))]);
  });
});

it("law 5 any export, imported anywhere, stays with the contact it was imported for", async () => {
  const { app, ann } = await stand();
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }), { minLength: 1, maxLength: 5 });
  const contacts = ["bob", "carl", "dora"];
  let n = 0;
  await fc.assert(
    fc.asyncProperty(texts, fc.constantFrom(...contacts), async (contents, contact) => {
      const mark = `round${n++}`;
      const text = contents.map((content) => JSON.stringify({ content: `${mark} ${content}` })).join("\n");
      const scope = { ...ann.scope, contact: (await thread(app, contact)).scope.contact };
      const work = app.runtime.use(MEMORY_API).importMemories(app.operator, scope, { name: "f.jsonl", text });
      for await (const { done, total } of work) expect(done).toBeLessThanOrEqual(total);
      for (const other of ["ann", ...contacts]) {
        const whose = { ...ann.scope, contact: (await thread(app, other)).scope.contact };
        const found = await app.runtime.use(MEMORY_API).searchMemories(app.operator, whose, {
          query: mark,
          limit: 9,
          kinds: MEMORY_KINDS,
        });
        expect(found.length > 0).toBe(other === contact);
      }
    }),
    { numRuns: 15 },
  );
});
