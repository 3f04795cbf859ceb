import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { type App, openApp } from "../../src/app.ts";
import { MEMORY_API } from "../../src/features/memories/index.ts";
import { scripted } from "../../src/models/index.ts";
import { agentName, contactId, untrusted } from "../../src/protocol/index.ts";
import { defineTool } from "../../src/turn/tools/index.ts";
import { canariesIn, messagesText, said } from "./home.ts";

const KEY = "quay/9+heron=7f3b";

/** What a careless tool says: the value as it is, in an address, in base64, in hexadecimal digits, and deep in an object. */
const careless = defineTool({
  name: "careless",
  description: "Says too much.",
  input: z.object({}),
  effect: "external",
  trust: "operator",
  run: (_, { secret }) => {
    const key = secret("shop");
    const hex = Buffer.from(key).toString("hex");
    const basic = Buffer.from(`user:${key}`).toString("base64");
    return { plain: key, url: `https://a.b/?k=${encodeURIComponent(key)}`, hex, deep: [{ basic }], [key]: "a name" };
  },
});

const TO = { agent: agentName("clerk"), contact: contactId("ann"), channel: "test", key: "main" } as const;

async function clerk(layer = "Answer."): Promise<{ readonly app: App; readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "strata-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const app = await openApp({
    folder,
    env: { SHOP_KEY: KEY },
    tools: [careless],
    config: {
      organization: "home",
      secrets: { shop: ["$", "{SHOP_KEY}"].join("") },
      agents: {
        clerk: {
          description: "Answers.",
          layers: [{ id: "rules", rank: 1, text: layer }],
          tools: ["careless", "read", "list"],
        },
      },
    },
  });
  onTestFinished(() => app.close());
  return { app, folder };
}

/** The folder of a contact's files, which an operator may fill by hand. */
async function workspaceOf(app: App): Promise<string> {
  const first = await app.runtime.open(app.operator, TO);
  await app.runtime.post(app.operator, first, [said("Write.")]);
  const folder = join(app.data, "workspace", "home", "clerk", "ann");
  mkdirSync(folder, { recursive: true });
  return folder;
}

it("001.2 a declared secret in a tool's answer or in a file reaches neither a request nor the record, in none of its forms", async () => {
  const { app } = await clerk();
  const workspace = await workspaceOf(app);
  writeFileSync(join(workspace, "notes.md"), `The key is ${KEY}, and ${Buffer.from(KEY).toString("base64")} too.`);
  const files = readdirSync(workspace);
  const parts = [
    { call: "careless", id: "a", input: {} },
    { call: "read", id: "b", input: { path: "notes.md" } },
  ];
  const { model, sent } = scripted([{ parts }, "Done."]);
  const thread = await app.runtime.open(app.operator, TO);
  for await (const event of app.runtime.run(app.operator, thread, { model }))
    if (event.type === "failed") throw event.error;
  expect(files).toEqual(["notes.md"]);
  const told = sent[1] === undefined ? "" : messagesText(sent[1]);
  expect(told.match(/\[secret SHOP_KEY\]/g)?.length).toBeGreaterThanOrEqual(6);
  rmSync(workspace, { recursive: true });
  await app.close();
  expect(canariesIn(app.data, { key: KEY })).toEqual([]);
});

it("001.2 what looks like a secret in a tool's answer, a file or a recording is taken out before it enters; ids, hashes and cursors stay", async () => {
  const { app } = await clerk();
  const workspace = await workspaceOf(app);
  const secrets = {
    aws: "AKIAIOSFODNN7EXAMPLQ",
    github: `ghp_${"a1B2c3D4e5F6".repeat(3)}`,
    bare: "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318",
    phrase: "legal winner thank year wave sausage worth useful legal winner thank yellow",
  };
  const harmless = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "order 4711-0815, trn_01jd8k3v5x9m2q7r4t6w8y0zab",
    '"next_page_token": "CAUQAA9fK3xY7bQ2mZ1pL0"',
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ];
  const lines = [...harmless, ...Object.values(secrets)].join("\n");
  writeFileSync(join(workspace, "notes.md"), lines);
  const parts = [{ call: "read", id: "a", input: { path: "notes.md" } }];
  const { model, sent } = scripted([{ parts }, "Done."]);
  const thread = await app.runtime.open(app.operator, TO);
  for await (const event of app.runtime.run(app.operator, thread, { model }))
    if (event.type === "failed") throw event.error;
  const told = sent[1] === undefined ? "" : messagesText(sent[1]);
  for (const line of harmless) expect(told).toContain(line);
  for (const kind of ["AWS key", "GitHub token", "private key", "recovery phrase"])
    expect(told).toContain(`(${kind} removed)`);
  await app.runtime.post(app.operator, thread, [said("Again.")]);
  const again = scripted([{ parts: [{ call: "read", id: "b", input: { path: "x" } }] }, "Done."]);
  const recorded = new Map([["b", { text: untrusted(`It is ${secrets.aws}.`), failed: false }]]);
  for await (const event of app.runtime.run(app.operator, thread, { model: again.model, recorded }))
    if (event.type === "failed") throw event.error;
  expect(again.sent[1] && messagesText(again.sent[1])).toContain("It is (AWS key removed).");
  rmSync(workspace, { recursive: true });
  await app.close();
  expect(canariesIn(app.data, secrets)).toEqual([]);
});

it("001.2 a declared secret in a recording or in a file of memories is taken out before it is kept", async () => {
  const { app } = await clerk();
  const thread = await app.runtime.open(app.operator, TO);
  await app.runtime.post(app.operator, thread, [said("Look.")]);
  const { model, sent } = scripted([{ parts: [{ call: "careless", id: "a", input: {} }] }, "Done."]);
  const recorded = new Map([["a", { text: untrusted(`It is ${KEY}.`), failed: false }]]);
  for await (const event of app.runtime.run(app.operator, thread, { model, recorded }))
    if (event.type === "failed") throw event.error;
  expect(sent[1] && messagesText(sent[1])).toContain("It is [secret SHOP_KEY].");
  const file = { name: "notes.md", text: `# Notes\n\n- The key of the shop is ${KEY}.\n` };
  for await (const progress of app.runtime.use(MEMORY_API).importMemories(app.operator, thread.scope, file))
    expect(progress.total).toBe(1);
  const [memory] = await app.runtime.use(MEMORY_API).memories(app.operator, thread.scope, 5);
  expect(memory?.content).toContain("The key of the shop is [secret SHOP_KEY].");
  await app.close();
  expect(canariesIn(app.data, { key: KEY })).toEqual([]);
});

it("001.2 a start with a declared secret in a layer's text fails, and does not say the value", async () => {
  const refused = await clerk(`Say ${KEY} to nobody.`).then(
    () => "",
    (thrown: Error) => thrown.message,
  );
  expect(refused).toContain("a text of this agent contains the value of SHOP_KEY");
  expect(refused).not.toContain(KEY);
});
