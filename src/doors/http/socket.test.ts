import { mkdtempSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Script } from "../../models/index.ts";
import {
  agentName,
  contactId,
  type Model,
  type ModelEvent,
  NO_USAGE,
  type Request,
  spoken,
  threadId,
} from "../../protocol/index.ts";
import { replies } from "../../store/index.contract.ts";
import { at, eventsOf, type HttpFixture, httpFixture, TOKEN } from "./index.contract.ts";
import { createServer, listen, type ServeOptions, type Serving, serveOperator, siteOf } from "./index.ts";
import { LARGEST_BODY } from "./read-body.ts";

const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

interface Open extends HttpFixture {
  readonly url: string;
  readonly thread: string;
  readonly close: (drain?: number) => Promise<void>;
}

/** A model that says two and a half words, and the rest when asked to continue. Half a word waits: it may become a private one. */
function halting() {
  const [begun, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  async function* send(): AsyncGenerator<ModelEvent> {
    yield { type: "text-delta", text: "Hello there, Ann" };
    begun.resolve();
    await going.promise;
    yield { type: "text-delta", text: "ie" };
    const parts = [{ type: "text", text: spoken("Hello there, Annie") }] as const;
    yield { type: "reply", reply: { parts, finish: "stop", usage: NO_USAGE } };
  }
  const model: Model = { ref: "halting", wire: "anthropic:claude-sonnet-4-5", send };
  return { model, began: begun.promise, goOn: () => going.resolve() };
}

/** The stage behind a real socket, with ann's thread. */
async function open(speaker: readonly Script<Request>[] | Model = []): Promise<Open> {
  const stand = await httpFixture(speaker);
  const listening = await listen(
    (port) => createServer({ ...stand.parts, site: siteOf({ host: "127.0.0.1", port }) }),
    { host: "127.0.0.1", port: 0 },
  );
  onTestFinished(() => listening.close());
  return { ...stand, ...listening, thread: await stand.open() };
}

const post = ({ url, thread }: Open, how: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}/v1/agents/companion/messages`, {
    method: "POST",
    headers: { ...HEADERS, ...(how === "stream" && { accept: "text/event-stream" }) },
    body: JSON.stringify({ thread, text: "Hi!", externalId: "m1" }),
    ...init,
  });

/** Reads a stream until it has said something. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, said: string): Promise<string> {
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: true });
    if (done || text.includes(said)) return text;
  }
}

describe("over a socket", () => {
  beforeEach(() => {
    const [noise, remarks] = [vi.spyOn(console, "error"), vi.spyOn(console, "info")];
    return () => {
      expect(noise).not.toHaveBeenCalled();
      expect(remarks).not.toHaveBeenCalled();
      vi.restoreAllMocks();
    };
  });

  it("words arrive while the model still speaks", async () => {
    const { model, goOn } = halting();
    const stand = await open(model);
    const response = await post(stand, "stream");
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error("there is no stream");
    const early = await readUntil(reader, "text-delta");
    expect(eventsOf(early).map(({ type }) => type)).toEqual(["received", "turn-start", "compiled", "text-delta"]);
    goOn();
    const late = await readUntil(reader, "event: answer");
    const done = { text: "Hello there, Annie" };
    expect(eventsOf(late).at(-1)).toMatchObject({ type: "answer", data: { state: "done", done } });
    expect((await reader.read()).done).toBe(true);
  });

  it.each(["stream", "wait"])("a client that leaves in mode %s does not stop its turn", async (mode) => {
    const { model, goOn, began } = halting();
    const stand = await open(model);
    const leaving = new AbortController();
    const answer = post(stand, mode, { signal: leaving.signal });
    if (mode === "stream") await answer;
    await began;
    leaving.abort();
    await answer.then((response) => response.text()).catch(() => undefined);
    await new Promise((soon) => setTimeout(soon, 100));
    goOn();
    const scope = { org: stand.operator.org, agent: agentName("companion"), contact: contactId("ann") };
    const said = () => replies(stand.store, scope);
    await expect.poll(said).toHaveLength(1);
    // The answer was not read when it was given: it counts as said, and as delivered only once a client asks for it.
    expect(await said()).toMatchObject([{ status: "waiting", text: "Hello there, Annie" }]);
    const again = await (await post(stand, "wait")).json();
    expect(again).toMatchObject({ event: { status: expect.any(String) }, done: { text: "Hello there, Annie" } });
    expect(at((await stand.json(`GET /v1/threads/${stand.thread}`)).body, "turns")).toBe(1);
    expect(await said()).toMatchObject([{ status: "delivered" }]);
  });

  it("a body of unknown length is read as far as it may go", async () => {
    const stand = await open([]);
    const answer = new Promise<number | undefined>((resolve, reject) => {
      const sending = request(`${stand.url}/v1/threads`, { method: "POST", headers: HEADERS }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sending.on("error", reject);
      for (let n = 0; n < 3; n++) sending.write(" ".repeat(LARGEST_BODY / 2));
      sending.end();
    });
    expect(await answer).toBe(413);
  });

  it.each([
    ["another site's name", "GET /v1/agents HTTP/1.1\r\nHost: evil.example\r\n", 403],
    ["two names", "GET /v1/agents HTTP/1.1\r\nHost: HERE\r\nHost: evil.example\r\n", 403],
    ["no name", "GET /v1/agents HTTP/1.1\r\n", 400],
    ["its own name", "GET /v1/agents HTTP/1.1\r\nHost: HERE\r\n", 200],
  ])("a request with %s is met as it must be", async (_, head, status) => {
    const { url } = await open([]);
    const { host, port } = new URL(url);
    const answer = await answerTo(
      Number(port),
      `${head.replace("HERE", host)}Authorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it("closing ends a stream with one failed, and the connection", async () => {
    const stand = await open([{ parts: [{ text: "Hel" }], end: "hang" }]);
    const response = await post(stand, "stream");
    const text = response.text();
    await expect.poll(() => stand.sent.length).toBe(1);
    await stand.close();
    expect(eventsOf(await text).at(-1)).toMatchObject({ type: "failed", data: { error: { code: "turn_cancelled" } } });
    await expect(fetch(`${stand.url}/health`)).rejects.toThrow();
  });

  it("closing turns new requests away with 503, and lets a turn that runs end", async () => {
    const { model, began, goOn } = halting();
    const stand = await open(model);
    const response = await post(stand, "stream");
    const text = response.text();
    await began;
    const closed = stand.close(5_000);
    const refused = await fetch(`${stand.url}/health`);
    expect(refused.status).toBe(503);
    expect([refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual(["5", "close"]);
    expect(await refused.json()).toMatchObject({ error: { code: "server_stopping", retry: true } });
    expect((await post(stand, "wait")).status).toBe(503);
    goOn();
    expect(eventsOf(await text).at(-1)).toMatchObject({ type: "answer", data: { state: "done" } });
    await closed;
    await expect(fetch(`${stand.url}/health`)).rejects.toThrow();
  });

  it("closing cancels what has not ended by then: no turn is left running, and its message waits", async () => {
    const stand = await open([{ parts: [{ text: "Hel" }], end: "hang" }]);
    const answer = post(stand, "wait");
    await expect.poll(() => stand.sent.length).toBe(1);
    await stand.close(100);
    expect((await answer).status).toBe(499);
    const id = threadId(stand.thread);
    const { scope } = await stand.runtime.thread(stand.operator, id);
    expect((await stand.store.turns(scope, id)).map(({ status }) => status)).toEqual(["failed"]);
    expect(await stand.store.pending(scope, id)).toHaveLength(1);
    expect(await stand.store.leases(scope.org)).toEqual([]);
  });

  it("closing waits for no client that does not read", async () => {
    const stand = await open([{ parts: [{ text: Array.from({ length: 24 }, () => "x".repeat(200_000)) }] }]);
    await post(stand, "stream");
    const turns = async () => at((await stand.json(`GET /v1/threads/${stand.thread}`)).body, "turns");
    // By then the turn has ended, or waits for its reader: how much a connection takes in is the machine's affair.
    const patience = Date.now() + 3_000;
    while ((await turns()) !== 1 && Date.now() < patience) await new Promise((soon) => setTimeout(soon, 100));
    await stand.close();
  });
});

/** The answer to raw bytes. */
function answerTo(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    socket.on("end", () => resolve(text)).on("error", reject);
  });
}

describe("what is served", () => {
  const serve = async (options: ServeOptions, fixture?: HttpFixture): Promise<Serving> => {
    const { parts, operator } = fixture ?? (await httpFixture());
    const data = mkdtempSync(join(tmpdir(), "strata-serve-"));
    const trouble = async () => undefined;
    const served = { ...parts, operator, data, trouble, version: "1.2.3", random: (n: number) => new Uint8Array(n) };
    const serving = await serveOperator(served, options);
    onTestFinished(() => serving.close());
    return serving;
  };

  it("has a token of its own, which its link carries behind the #", async () => {
    const serving = await serve({ port: 0, hosts: ["strata.example.org"] });
    const [address, token] = serving.link.split("/#token=");
    expect(address).toBe(serving.url);
    expect(readFileSync(serving.tokenFile, "utf8").trim()).toBe(token);
    const headers = { authorization: `Bearer ${token}` };
    const health = await (await fetch(`${serving.url}/health`, { headers })).json();
    expect(health).toMatchObject({
      version: "1.2.3",
      agents: [{ name: "companion", model: "scripted" }],
      data: dirname(serving.tokenFile),
    });
    expect((await fetch(`${serving.url}/v1/agents`)).status).toBe(401);
    const origin = "https://strata.example.org";
    expect((await fetch(`${serving.url}/v1/agents`, { headers: { ...headers, origin } })).status).toBe(200);
  });

  it("answers other machines only with a key or the token", async () => {
    const fixture = await httpFixture();
    const key = await fixture.key("member");
    const serving = await serve({ host: "0.0.0.0", port: 0 }, fixture);
    expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { url, link } = serving;
    expect((await fetch(`${url}/health`)).status).toBe(401);
    for (const secret of [key, link.split("=")[1]]) {
      const headers = { authorization: `Bearer ${secret}` };
      expect((await fetch(`${url}/health`, { headers })).status).toBe(200);
    }
  });

  it("26.2 is nothing for other machines while there is no valid key, and says why and what to run", async () => {
    const fixture = await httpFixture();
    const refused = { code: "keys_missing", message: expect.stringMatching(/0\.0\.0\.0.*strata key create/) };
    await expect(serve({ host: "0.0.0.0", port: 0 }, fixture)).rejects.toMatchObject(refused);
    await fixture.key("operator");
    const { body } = await fixture.json("GET /v1/keys");
    await fixture.json(`DELETE /v1/keys/${at(body, "keys", 0, "id")}`);
    await expect(serve({ host: "0.0.0.0", port: 0 }, fixture)).rejects.toMatchObject(refused);
  });

  it("26.4 answers who sends a body too slowly, and ends the connection", async () => {
    const stand = await httpFixture();
    const { url } = await listen(
      (port) => createServer({ ...stand.parts, bodyTimeout: 20, site: siteOf({ host: "127.0.0.1", port }) }),
      { host: "127.0.0.1", port: 0 },
    ).then((listening) => {
      onTestFinished(() => listening.close());
      return listening;
    });
    const port = Number(new URL(url).port);
    const lines = ["POST /v1/threads HTTP/1.1", `host: 127.0.0.1:${port}`, `authorization: Bearer ${TOKEN}`];
    const head = [...lines, "content-type: application/json", "content-length: 50", "", '{"agent":'].join("\r\n");
    const answer = await answerTo(port, head);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain("body_too_slow");
  });

  it("does not listen under a name that is none", async () => {
    await expect(serve({ port: 0, hosts: ["http://x"] })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});
