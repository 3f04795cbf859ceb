import { appendFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { child, project, strata, until } from "./strata.ts";

interface Taken {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that takes replies, and what it was sent. */
async function receiver() {
  const taken: Taken[] = [];
  const server = createServer(async (request, response) => {
    taken.push({ headers: request.headers, body: JSON.parse(await text(request)) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/replies`, taken };
}

describe("strata start", () => {
  it("sends each reply of an agent with `deliver` to its server, once, with its id and the key", async () => {
    const { url, taken } = await receiver();
    const cwd = project((yaml) =>
      yaml.replace("  companion:\n", `  companion:\n    deliver: { url: "${url}", key: receiver }\n`),
    );
    appendFileSync(join(cwd, "strata.yaml"), "\nsecrets:\n  receiver: $" + "{RECEIVER_KEY}\n");
    const env = { RECEIVER_KEY: "a-key-of-the-receiver" };
    expect((await strata(["chat", "companion", "--as", "ann"], { cwd, env, input: "Hello.\n" })).code).toBe(0);
    const server = child(["start", "--port", "0"], { cwd, env });
    await until(
      () => taken.length > 0,
      () => "nothing was delivered",
    );
    server.process.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0 });

    const [{ headers, body } = { headers: {}, body: {} }, ...more] = taken;
    expect(more).toEqual([]);
    expect(body).toMatchObject({ agent: "companion", contact: "ann", channel: "chat", id: headers["idempotency-key"] });
    expect(headers.authorization).toBe("Bearer a-key-of-the-receiver");
    const { out } = await strata(["outbox", "list", "--json"], { cwd, env });
    expect(out).toContain('"delivered"');
    expect(out).not.toContain("a-key-of-the-receiver");
  });
});
