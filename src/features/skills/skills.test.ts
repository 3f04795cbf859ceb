import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { digestOf, type Layer, layerId } from "../../protocol/index.ts";
import { endOf, OPERATOR, sampleAgent, testRuntime } from "../../turn/index.contract.ts";
import { DISK, type ProjectDisk } from "../index.ts";
import { TEXT_API } from "../texts/index.ts";

const LAYER: Layer = {
  ...{ id: layerId("skills"), rank: 40, mutability: "versioned", scope: "agent", trust: "operator" },
  ...{ source: { kind: "skills" }, minimum: 0, required: false },
  modes: { full: "whole", compact: "whole", minimal: "absent" },
};

it("001.19 while skills' folders hang, 20 turns begin with what was read before, with one read and equal prefixes", async () => {
  const root = mkdtempSync(join(tmpdir(), "strata-skills-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (message: string): void => {
    mkdirSync(join(root, "skills/one"), { recursive: true });
    writeFileSync(join(root, "skills/one/SKILL.md"), `---\nname: one\ndescription: ${message}\n---\n${message}\n`);
  };
  write("First.");
  const gate = Promise.withResolvers<void>();
  const clock = { at: 0, hangs: false, reads: 0 };
  const disk: ProjectDisk = {
    folderOf: () => root,
    reader: {
      ...DISK,
      list: async (folder) => {
        clock.reads += 1;
        if (clock.hangs) await gate.promise;
        return DISK.list(folder);
      },
    },
    clock: { real: () => clock.at },
    // The moment that a refresh is waited for is over at once.
    timer: (_, fire) => {
      fire();
      return () => undefined;
    },
  };
  const folders = { read: ["skills"], shown: 40, characters: 20_000, ttl: 30, check: "warn" } as const;
  const agent = sampleAgent({ layers: [LAYER], tools: [], recall: "none", skillFolders: folders });
  const on = await testRuntime(
    Array.from({ length: 240 }, () => "Yes."),
    { agent, parts: { disk } },
  );
  const prompted = async (contact: string) => {
    const thread = await on.open(contact);
    const end = endOf(await on.say(thread, "hello"));
    if (end.type === "failed") throw end.error;
    const [turn] = await on.runtime.turns(OPERATOR, thread.id);
    const prefix = JSON.stringify(on.sent.at(-1)?.prefix);
    return { prefix, digest: digestOf(prefix), use: turn?.requests[0]?.ledger.caches?.[0]?.use };
  };
  await on.runtime.use(TEXT_API).skills(OPERATOR, agent.name);
  const first = await prompted("first");
  expect(first.prefix).toContain("- one: First.");
  write("Second.");
  Object.assign(clock, { at: 31_000, hangs: true, reads: 0 });
  const contacts = Array.from({ length: 20 }, (_, n) => `contact-${n}`);
  const turns = [];
  for (const contact of contacts) turns.push(await prompted(contact));
  expect(new Set(turns.map(({ digest }) => digest))).toEqual(new Set([first.digest]));
  expect(new Set(turns.map(({ use }) => use))).toEqual(new Set(["stale"]));
  expect(clock.reads).toBe(1);
  gate.resolve();
  let later = 0;
  const refreshed = expect.poll(() => prompted(`later-${later++}`), { interval: 100 });
  await refreshed.toMatchObject({ prefix: expect.stringContaining("- one: Second."), use: "hit" });
  expect(clock.reads).toBe(1);
});

it.each<[string, Partial<ProjectDisk["reader"]>, RegExp]>([
  ["hang", { list: () => new Promise(() => undefined) }, /its source failed: .* nothing within 300 ms/],
  ["throw", { list: () => Promise.reject(new Error("the disk is gone")) }, /the disk is gone/],
  [
    "are a megabyte each",
    {
      list: async () => ["one", "two"],
      read: async (path) => {
        const name = path.includes("one") ? "one" : "two";
        const text = `---\nname: ${name}\ndescription: Does it.\n---\n${"word ".repeat(200_000)}`;
        return { real: path, text, size: text.length };
      },
      real: async (path) => path,
    },
    /one truncated: 199\d\d of \d+ characters are read/,
  ],
])(
  "001.29 folders of skills that %s leave the turn alive, within its deadline, and are named",
  async (_, reader, message) => {
    const root = mkdtempSync(join(tmpdir(), "strata-skills-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const disk: ProjectDisk = {
      folderOf: () => root,
      reader: { ...DISK, ...reader },
      clock: { real: () => 0 },
      timer: (milliseconds, fire) => {
        const timeout = setTimeout(fire, milliseconds);
        return () => clearTimeout(timeout);
      },
    };
    const folders = { read: ["skills"], shown: 40, characters: 20_000, ttl: 30, check: "warn" } as const;
    const agent = sampleAgent({ layers: [LAYER], tools: [], recall: "none", skillFolders: folders });
    const on = await testRuntime(["Yes."], { agent, parts: { disk } });
    const thread = await on.open();
    const began = performance.now();
    expect(endOf(await on.say(thread, "hello")).type).toBe("done");
    expect(performance.now() - began).toBeLessThan(5_000);
    const [turn] = await on.runtime.turns(OPERATOR, thread.id);
    const entry = turn?.requests[0]?.ledger.entries.find(({ section }) => section === "skills");
    const parts = (entry?.parts ?? []).map(({ name, fate, because }) => `${name} ${fate}: ${because}`);
    expect([...parts, entry !== undefined && "because" in entry ? entry.because : ""].join("\n")).toMatch(message);
  },
);
