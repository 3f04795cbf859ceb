import { appendFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openApp } from "../../src/app.ts";
import { agentName, contactId, untrusted } from "../../src/protocol/index.ts";
import { place, project, serving, strata, until } from "./strata.ts";

interface Taken {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that takes replies, or never answers, and what it was sent. */
async function receiver({ hangs = false } = {}) {
  const taken: Taken[] = [];
  const server = createServer(async (request, response) => {
    taken.push({ headers: request.headers, body: JSON.parse(await text(request)) });
    if (!hangs) response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/replies`, taken };
}

/** Milliseconds after which nobody is waited for who might still take a reply. */
const LONG_AGO = 10_000;

/** Some time ago Bob said something to each of the agents, whose replies nobody listened to. */
async function unread(cwd: string, agents: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env });
  const { runtime, operator } = app;
  vi.setSystemTime(Date.now() - LONG_AGO);
  for (const name of agents) {
    const whose = { agent: agentName(name), contact: contactId("bob"), channel: "mail", key: "main" };
    const thread = await runtime.open(operator, whose);
    const content = [{ type: "text", text: untrusted("Hello.") }] as const;
    const event = { kind: "message", trust: "contact", channel: "mail", content, at: Date.now() } as const;
    await runtime.post(operator, thread, [event]);
    for await (const { type } of runtime.run(operator, thread, { replyTo: "outbox" })) expect(type).not.toBe("failed");
  }
  vi.useRealTimers();
  await app.close();
}

describe("strata start", () => {
  it("25.11 takes no secret in the address: an agent with one does not start", async () => {
    const cwd = project((yaml) =>
      yaml.replace(
        "  companion:\n",
        `  companion:\n    deliver: { url: "https://ann:hunter2-garden@example.org/in" }\n`,
      ),
    );
    await expect(openApp({ folder: cwd, data: join(cwd, ".strata"), env: {} })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(/deliver.*url.* what looks like a password.*name a secret under `secrets`/s),
    });
  });

  it("sends each reply that nobody has listened to, of an agent with `deliver`, once, with its id and the key", async () => {
    const { url, taken } = await receiver();
    const cwd = project((yaml) =>
      yaml.replace("  companion:\n", `  companion:\n    deliver: { url: "${url}", key: receiver }\n`),
    );
    appendFileSync(join(cwd, "strata.yaml"), "\nsecrets:\n  receiver: $" + "{RECEIVER_KEY}\n");
    const env = { RECEIVER_KEY: "a-key-of-the-receiver" };
    expect((await strata(["chat", "companion", "--as", "ann"], { cwd, env, input: "Hello.\n" })).code).toBe(0);
    await unread(cwd, ["companion"], env);
    const server = serving(["start", "--port", "0"], { cwd, env });
    const listed = async (): Promise<string> => (await strata(["outbox", "list", "--json"], { cwd, env })).out;
    await expect.poll(listed, { interval: 25 }).not.toContain('"waiting"');
    expect(await server.stop()).toMatchObject({ code: 0 });

    const [{ headers, body } = { headers: {}, body: {} }, ...more] = taken;
    expect(more).toEqual([]);
    expect(body).toMatchObject({ agent: "companion", contact: "bob", channel: "mail", id: headers["idempotency-key"] });
    expect(headers.authorization).toBe("Bearer a-key-of-the-receiver");
    expect(await listed()).not.toContain("a-key-of-the-receiver");
  }, 30_000);

  it("sends the replies of one agent while another's are not taken", async () => {
    const [mute, open] = [await receiver({ hangs: true }), await receiver()];
    const cwd = place();
    const agent = (name: string, url: string): string =>
      `  ${name}:\n    description: It sends.\n    deliver: { url: "${url}" }\n    layers:\n      - {id: rules, rank: 1, text: Be kind.}\n`;
    const agents = agent("first", mute.url) + agent("second", open.url);
    writeFileSync(join(cwd, "strata.yaml"), `organization: home\nmodel: rehearsal\nagents:\n${agents}`);
    expect(await strata(["lock"], { cwd })).toMatchObject({ code: 0 });
    await unread(cwd, ["first", "second"]);
    const server = serving(["start", "--port", "0"], { cwd });
    await until(
      () => open.taken.length > 0 && mute.taken.length > 0,
      () => JSON.stringify(server.sofar()),
    );
    expect(await server.stop()).toMatchObject({ code: 0 });
    expect([mute.taken.length, open.taken.length]).toEqual([1, 1]);
  }, 30_000);
});
