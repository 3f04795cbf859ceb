import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { constants, createBrotliCompress, createGzip, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { agentName, contactId, orgId, type ToolContext, threadId, toolName, turnId } from "../../protocol/index.ts";
import { toolset } from "../../turn/tools/index.ts";
import { OPEN_WEB, type Reach } from "./address.ts";
import type { FetchRules } from "./config.ts";
import { fetchProblems, fetchTools } from "./index.ts";

/**
 * A small internet: 127.0.0.1 and ::1 represent the inside, which must never receive anything; 127.0.0.2 represents the public web. Both
 * use one port, so that only the address distinguishes them.
 */
const OPEN = "127.0.0.2";
const INSIDE = ["127.0.0.1", "::1"];

const heard = { inside: 0, open: [] as IncomingMessage[] };
const servers: Server[] = [];
let port = 0;

/** The public web's answers, by path. */
const pages = new Map<string, RequestListener>();

async function listen(host: string, at: number, answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  if (host !== OPEN) server.on("connection", () => heard.inside++);
  servers.push(server);
  await new Promise<void>((done, fail) => server.once("error", fail).listen(at, host, done));
  return portOf(server);
}

const isAddress = (value: unknown): value is AddressInfo => typeof value === "object" && value !== null;

function portOf(server: Server): number {
  const address = server.address();
  return isAddress(address) ? address.port : 0;
}

/** Names of the small internet, each with what it resolves to from look-up to look-up. */
const names = new Map<string, () => readonly string[]>();
const dns = createSocket("udp4");

/**
 * Asks the name server of this program, which may hang for a second on a busy machine. A shared resolver would learn from quick answers to
 * wait no longer than that, whatever its `timeout`.
 */
async function lookedUp(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns.address().port}`]);
  return resolver.resolve4(host);
}

/** A name server with A records alone, none of them for longer than the moment. */
dns.on("message", (query, from) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  const question = query.subarray(12, at + 5);
  const wantsA = query.readUInt16BE(at + 1) === 1;
  const addresses = wantsA ? (names.get(labels.join("."))?.() ?? []) : [];
  const head = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, addresses.length, 0, 0, 0, 0]);
  query.copy(head, 0, 0, 2);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
  );
  dns.send(Buffer.concat([head, question, ...records]), from.port, from.address);
});

/** As in the product, except one address that represents the public web. */
const REACH: Reach = {
  resolve: lookedUp,
  refuse: (address) => (address === OPEN ? undefined : OPEN_WEB.refuse(address)),
};

beforeAll(async () => {
  await new Promise<void>((done) => dns.bind(0, "127.0.0.1", done));
  for (const host of INSIDE) port = await listen(host, port, (_, response) => response.end("inside"));
  await listen(OPEN, port, (request, response) => {
    heard.open.push(request);
    const page = pages.get(request.url ?? "");
    if (page === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    else page(request, response);
  });
});

afterAll(async () => {
  dns.close();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

beforeEach(() => {
  heard.inside = 0;
  heard.open = [];
  pages.clear();
  names.clear();
  names.set("open.test", () => [OPEN]);
  pages.set("/", (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("Hello."));
});

const context = (signal = new AbortController().signal): ToolContext => ({
  scope: { org: orgId("shop"), agent: agentName("clerk"), contact: contactId("ann") },
  thread: threadId("thr_01k4x7m2q9v8t6w3y5z0abcdef"),
  turn: turnId("trn_01k4x7m2q9v8t6w3y5z0abcdef"),
  call: "c1",
  events: [],
  at: 0,
  taint: "contact",
  state: "executing actions",
  signal,
  progress: () => undefined,
  secret: () => "",
});

interface Given {
  readonly rules?: FetchRules;
  readonly reach?: Partial<Reach>;
  readonly tool?: string;
  readonly signal?: AbortSignal;
  /** Skips the check of the address alone, and goes straight to sending. */
  readonly unchecked?: true;
}

/** What a model that makes this call reads. */
async function call(
  input: Record<string, string>,
  { rules, reach, tool = "http_fetch", signal, unchecked }: Given = {},
) {
  const tools = toolset(
    fetchTools({
      rulesOf: () => ({ seconds: 20, ...(rules ?? { allow: [`*:${port}`] }) }),
      reach: { ...REACH, ...reach },
    }),
  );
  const found = tools.get(toolName(tool));
  const problem = unchecked ? undefined : found?.check(input);
  if (found === undefined || problem !== undefined) return { text: problem ?? "no such tool", failed: true };
  return found.run(input, context(signal));
}

const page =
  (body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);

/** This machine, in every notation that some reader takes. */
const LITERALS = [
  ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7F.0x0.0x0.0x1", "0177.0.0.1"],
  ...["017700000001", "0177.0.0.01", "127.0.0.1.", "0x7f.0.0.1", "127.0x0.1", "127.00.00.01", "0", "0.0.0.0", "0x0"],
  ...["%31%32%37.0.0.1", "127。0。0。1", "127．0．0．1", "１２７.0.0.1", "①②⑦.0.0.1", "0x7f%2e1", "127.255.255.254"],
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]"],
  ...["[::127.0.0.1]", "[::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]"],
  ...["[2002:7f00:1::]", "[2002:7f00:0001::1]", "[2001:0:7f00:1::]", "[::ffff:0:127.0.0.1]", "[fe80::1]"],
  ...[
    "[fe80::1%25lo]",
    "[fe80::1%lo]",
    "[::1%25lo]",
    "[fec0::1]",
    "[fd00::1]",
    "[fc00::1]",
    "[ff02::1]",
    "[fd00:ec2::254]",
  ],
  ...[
    "10.0.0.1",
    "10.1",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "192.168.257",
    "0xa9fea9fe",
    "169.254.169.254",
  ],
  ...[
    "2852039166",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "100.64.0.1",
    "100.100.100.200",
  ],
  ...[
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
  ],
  ...[
    "255.255.255.255",
    "[2001:db8::1]",
    "[100::1]",
    "[4000::1]",
    "[20::1]",
    "[3:ff::1]",
    "[5f00::1]",
    "[::ffff:10.0.0.1]",
    "[3fff::1]",
  ],
] as const;

describe("001.2 no request of an agent reaches what is inside", () => {
  it.each(LITERALS)("not at http://%s, neither at the first look nor at the last", async (host) => {
    for (const last of [{}, { unchecked: true }] as const) {
      const { text, failed } = await call({ url: `http://${host}:${port}/` }, last);
      expect(failed).toBe(true);
      expect(text).toMatch(/^Nothing was sent: /);
    }
    expect(heard.inside).toBe(0);
  });

  it("and without the wall most of these would: the suite sees what it must see", async () => {
    const own = LITERALS.filter((host) => URL.canParse(`http://${host}/`)).slice(0, 26);
    for (const host of own) await call({ url: `http://${host}:${port}/` }, { reach: { refuse: () => undefined } });
    expect(heard.inside).toBeGreaterThan(20);
  });

  it.each([
    ["a name that is inside", ["127.0.0.1"]],
    ["a name with one address inside", [OPEN, "127.0.0.1"]],
    ["a name in a private network", ["10.0.0.1"]],
    ["a name of the machine's keys", ["169.254.169.254"]],
  ])("not by %s", async (_, addresses) => {
    names.set("trap.test", () => addresses);
    const { text } = await call({ url: `http://trap.test:${port}/` });
    expect(text).toMatch(/^Nothing was sent: trap\.test is [\d.]+, which .*Only the public web can be reached\.$/);
    expect(heard.inside + heard.open.length).toBe(0);
  });

  it("not by a name that says something else at each look-up", async () => {
    for (let first = 0; first < 4; first++) {
      let asked = first;
      names.set("rebind.test", () => [asked++ % 2 === 0 ? OPEN : "127.0.0.1"]);
      for (let i = 0; i < 10; i++) await call({ url: `http://rebind.test:${port}/` });
    }
    expect(heard.inside).toBe(0);
    expect(heard.open.length).toBe(20);
  });

  it("not where the connection ends elsewhere than it was made for: the other end is looked at before a byte is sent", async () => {
    // Of an address of no machine, the system makes its own.
    const refuse = (address: string) => (address === "0.0.0.0" ? undefined : REACH.refuse(address));
    let bytes = 0;
    const watch = (): void => void bytes++;
    servers[0]?.on("request", watch);
    const { text } = await call({ url: `http://0.0.0.0:${port}/` }, { reach: { refuse } });
    servers[0]?.off("request", watch);
    expect(text).toMatch(/^Nothing was sent: .*127\.0\.0\.1.* is this machine itself/);
    expect([heard.inside, bytes]).toEqual([1, 0]);
  });

  it.each([301, 302, 303, 307, 308])("not by a redirect with status %i, nor by the last of several", async (status) => {
    const targets = LITERALS.filter((host) => URL.canParse(`http://${host}/`)).map((host) => `http://${host}:${port}/`);
    for (const target of [...targets, `//127.0.0.1:${port}/`, "file:///etc/passwd", "gopher://127.0.0.1/", "http://"]) {
      pages.set("/go", (_, response) =>
        response.writeHead(status, { location: Buffer.from(target).toString("latin1") }).end(),
      );
      pages.set("/far", (_, response) => response.writeHead(status, { location: "/go" }).end());
      for (const path of status === 302 ? ["/go", "/far"] : ["/go"])
        expect(await call({ url: `http://open.test:${port}${path}` }), target).toMatchObject({ failed: true });
    }
    expect(heard.inside).toBe(0);
  });

  it("not with a name and a password, by another protocol, or at what is no address", async () => {
    const urls = [`http://a:b@open.test:${port}/`, `http://open.test:${port}@127.0.0.1:${port}/`, "ftp://open.test/"];
    for (const url of [
      ...urls,
      "file:///etc/passwd",
      "data:text/plain,x",
      "open.test",
      "http://",
      "unix:/run/x.sock",
    ]) {
      const { text, failed } = await call({ url });
      expect([failed, text], url).toEqual([true, expect.stringMatching(/^Nothing was sent: /)]);
    }
    expect(heard.inside + heard.open.length).toBe(0);
  });

  it("not by a proxy that the environment names", async () => {
    const proxy = `http://127.0.0.1:${port}`;
    const before = { ...process.env };
    Object.assign(process.env, { HTTP_PROXY: proxy, http_proxy: proxy, NODE_USE_ENV_PROXY: "1" });
    try {
      expect(await call({ url: `http://open.test:${port}/` })).toMatchObject({ failed: false });
    } finally {
      process.env = before;
    }
    expect(heard.inside).toBe(0);
  });
});

describe("001.2 what a page may be", () => {
  it("reads a page, and sends no cookie that an earlier answer set", async () => {
    pages.set("/a", page("<p>Grüße</p>", { "set-cookie": "sid=1; Path=/" }));
    const first = await call({ url: `http://open.test:${port}/a#part` });
    await call({ url: `http://open.test:${port}/a` });
    expect(first).toMatchObject({ failed: false, text: expect.stringContaining("<p>Grüße</p>") });
    expect(first.text).toContain(`GET http://open.test:${port}/a\nstatus: 200\ncontent-type: text/html; charset=utf-8`);
    expect(heard.open.map(({ headers }) => [headers.host, headers.cookie, headers.authorization])).toEqual([
      [`open.test:${port}`, undefined, undefined],
      [`open.test:${port}`, undefined, undefined],
    ]);
  });

  it("asks by HEAD what is there, and says of an error which one", async () => {
    pages.set("/pdf", page("", { "content-type": "application/pdf", "content-length": "9000" }));
    const { text } = await call({ url: `http://open.test:${port}/pdf`, method: "HEAD" });
    expect(text).toBe(
      `HEAD http://open.test:${port}/pdf\nstatus: 200\ncontent-type: application/pdf\ncontent-length: 9000`,
    );
    const missing = await call({ url: `http://open.test:${port}/none` });
    expect(missing).toMatchObject({ failed: true, text: expect.stringContaining("status: 404") });
  });

  it.each([
    ["gzip", () => createGzip({ level: 1 })],
    ["br", () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])("reads no more of a bomb packed by %s than it may, and unpacks no more", async (encoding, packer) => {
    // Packed piece by piece: 200 megabytes at once would stop the name server and the web server of this very program.
    const million = Buffer.alloc(1_000_000, "a");
    const bomb = await buffer(Readable.from(Array.from({ length: 200 }, () => million)).pipe(packer()));
    expect(bomb.length).toBeLessThan(1_000_000);
    pages.set("/bomb", page(bomb, { "content-encoding": encoding }));
    const before = process.memoryUsage().rss;
    const { text, failed } = await call({ url: `http://open.test:${port}/bomb` });
    expect(text).toMatch(/a\n\(The answer is truncated: only its first 1000000 bytes were read\.\)$/);
    expect(failed).toBe(false);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it("gives up an answer that never ends, one that never begins and one that hardly comes", async () => {
    const rules = { seconds: 0.3, allow: [`*:${port}`] };
    pages.set("/drip", (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const drip = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(drip));
    });
    pages.set("/silent", () => undefined);
    for (const path of ["/drip", "/silent"]) {
      const { text } = await call({ url: `http://open.test:${port}${path}` }, { rules });
      expect(text).toBe("No answer came within 0.3 s.");
    }
    const never = { resolve: () => new Promise<never>(() => undefined) };
    const { text } = await call({ url: `http://open.test:${port}/` }, { rules, reach: never });
    expect(text).toBe("No answer came within 0.3 s.");
  });

  it("refuses what is no text, an unknown packing, packing within packing, and what breaks in the middle", async () => {
    pages.set("/png", page("x", { "content-type": "image/png", "content-length": "1" }));
    pages.set("/odd", page("x", { "content-encoding": "gzip, gzip" }));
    pages.set("/torn", page(gzipSync("hello".repeat(1_000)).subarray(0, 20), { "content-encoding": "gzip" }));
    pages.set("/lies", page("no gzip", { "content-encoding": "gzip" }));
    const says = async (path: string) => (await call({ url: `http://open.test:${port}${path}` })).text;
    expect(await says("/png")).toBe("The answer is image/png of 1 bytes (status 200); only text can be read.");
    expect(await says("/odd")).toBe("The answer is compressed in an unsupported way (gzip, gzip).");
    for (const path of ["/torn", "/lies"])
      expect(await says(path)).toMatch(/^open\.test gave no answer that can be read/);
  });

  it("follows so many redirects, and none to another host that the agent was not given", async () => {
    pages.set("/loop", (_, response) => response.writeHead(302, { location: "/loop" }).end());
    const loop = await call({ url: `http://open.test:${port}/loop` });
    expect(loop.text).toBe("open.test redirects too often (5 times).");
    expect(heard.open).toHaveLength(6);
    names.set("other.test", () => [OPEN]);
    pages.set("/away", (_, response) =>
      response.writeHead(302, { location: `http://other.test:${port}/?leak=1` }).end(),
    );
    const rules = { allow: [`open.test:${port}`] };
    const away = await call({ url: `http://open.test:${port}/away` }, { rules });
    expect(away.text).toBe(
      `open.test redirects to http://other.test:${port}/?leak=1; call http_fetch with that URL if it is the right one.`,
    );
    const asked = await call({ url: `http://other.test:${port}/?leak=1` }, { rules });
    expect(asked.text).toBe(
      `Nothing was sent: "http://other.test:${port}/?leak=1" leads to other.test:${port}, and this agent may reach only open.test:${port}.`,
    );
    expect(heard.open.some(({ url }) => url?.includes("leak"))).toBe(false);
  });

  it("asks the usual ports alone where no host is named", async () => {
    const { text } = await call({ url: `http://open.test:${port}/` }, { rules: {} });
    expect(text).toBe(
      `Nothing was sent: "http://open.test:${port}/" names the port ${port}; only the usual ports are allowed.`,
    );
  });

  it("posts only to hosts that the declaration names for it", async () => {
    pages.set("/hook", (request, response) => {
      let body = "";
      request.on("data", (part) => {
        body += part;
      });
      request.on("end", () => response.writeHead(200, { "content-type": "text/plain" }).end(`took ${body}`));
    });
    const post = { url: `http://open.test:${port}/hook`, body: '{"a":1}', type: "application/json" };
    const refused = await call(post, { tool: "http_post" });
    expect(refused.text).toContain("and this agent may reach no host");
    expect(heard.open).toHaveLength(0);
    const taken = await call(post, { tool: "http_post", rules: { post: [`open.test:${port}`] } });
    expect(taken).toMatchObject({ failed: false, text: expect.stringContaining('took {"a":1}') });
    expect(heard.open[0]).toMatchObject({ method: "POST" });
  });
});

it("001.2 says of hosts in a declaration which can never be reached", () => {
  const never = ["127.0.0.1", "10.0.0.1:8080", "169.254.169.254", "localhost:3000", "*.localhost", "127.1", "*:70000"];
  const fetch = {
    ...{ post: [], bytes: 1_000, seconds: 1, redirects: 0 },
    allow: [...never, "*", "8.8.8.8", "*.a.org"],
  };
  expect(fetchProblems({ fetch }).map(({ message: says }) => says)).toEqual([
    "`127.0.0.1` is this machine itself: no request of an agent goes there",
    "`10.0.0.1:8080` is in a private network: no request of an agent goes there",
    "`169.254.169.254` is in the local network, where clouds keep the keys of their machines: no request of an agent goes there",
    "`localhost:3000` is this machine itself: no request of an agent goes there",
    "`*.localhost` is this machine itself: no request of an agent goes there",
    "`127.1` is 127.0.0.1 in every address: write that",
    "`*:70000` names the port 70000, and the highest is 65535",
  ]);
  expect(fetchProblems({ fetch: { ...fetch, allow: [], post: ["localhost"] } })).toMatchObject([
    { section: "fetch.post" },
  ]);
  expect(fetchProblems({})).toEqual([]);
});
