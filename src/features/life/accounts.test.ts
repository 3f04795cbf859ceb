import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type AccountParts, type Accounts, type ChainAccount, openAccounts, readBalance } from "./accounts.ts";
import { localChain } from "./local-chain.contract.ts";

const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const ETHER = 10n ** 18n;
const LONG = 60_000;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const accountAt = (url: string, cached = 300): ChainAccount => ({ address: WALLET, rpc: { url }, cached });

/** Accounts under a clock from outside. */
function opened(parts: Partial<AccountParts> = {}): { readonly accounts: Accounts; readonly time: { at: number } } {
  const time = { at: Date.UTC(2026, 10, 21) };
  const urlOf: AccountParts["urlOf"] = (rpc) => ("url" in rpc ? rpc.url : undefined);
  return { accounts: openAccounts({ urlOf, clock: { recorded: () => time.at }, ...parts }), time };
}

async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

describe("an account on an EVM chain", () => {
  it("000.20 shows what a real chain says it holds, after a transfer the new balance, and asks once while it is cached", async () => {
    const chain = await localChain();
    ends.push(chain.stop);
    const { accounts, time } = opened();
    const account = accountAt(chain.url);
    expect(await accounts.balance(account, LONG)).toEqual({ wei: 0n, at: time.at });

    await chain.send(WALLET, 3n * ETHER + 1n);
    const read = time.at;
    time.at += 299_999;
    expect(await accounts.balance(account, LONG)).toEqual({ wei: 0n, at: read });
    expect(chain.asked).toEqual(["eth_getBalance"]);

    time.at += 1;
    expect(await accounts.balance(account, LONG)).toEqual({ wei: 3n * ETHER + 1n, at: time.at });
    expect(chain.asked).toHaveLength(2);

    const rich = await accounts.balance({ ...account, address: chain.rich }, LONG);
    expect(rich?.wei).toBeLessThan(997n * ETHER);
    expect(rich?.wei).toBeGreaterThan(996n * ETHER);
  });

  it("whose server has gone shows the last that was read with its age, says why, and recovers", async () => {
    const chain = await localChain();
    const { accounts, time } = opened();
    const account = accountAt(chain.url, 1);
    const first = await accounts.balance(account, LONG);
    await chain.stop();
    time.at += 5_000;
    expect(await accounts.balance(account, LONG)).toEqual(first);
    expect(accounts.trouble(account)).toEqual({ because: "its server did not answer (ECONNREFUSED)", at: time.at });
    // This one was never read.
    expect(await accounts.balance({ ...account, address: chain.rich }, LONG)).toBeUndefined();
    expect(accounts.trouble(account)?.because).not.toContain(chain.url);
  });

  it("that is late keeps nobody waiting, and what it says then is there the next time", async () => {
    const answer = Promise.withResolvers<bigint>();
    let asked = 0;
    const read = (): Promise<bigint> => {
      asked++;
      return answer.promise;
    };
    const atOnce = (_: number, fire: () => void): (() => void) => {
      fire();
      return () => undefined;
    };
    const { accounts, time } = opened({ read, timer: atOnce });
    const account = accountAt("http://example.org");
    expect(await accounts.balance(account, 150)).toBeUndefined();
    expect(accounts.trouble(account)).toEqual({ because: "its server has not answered yet", at: time.at });
    // Other callers meanwhile wait for the same answer.
    expect(await accounts.balance(account, 150)).toBeUndefined();
    answer.resolve(7n);
    await answer.promise;
    await new Promise(setImmediate);
    expect(await accounts.balance(account, 150)).toEqual({ wei: 7n, at: time.at });
    expect(asked).toBe(1);
  });

  it("that failed rests before it is asked again, for as long as a balance is kept and 30 seconds at most", async () => {
    let asked = 0;
    const read = async (): Promise<bigint> => {
      asked++;
      throw new Error("no");
    };
    const { accounts, time } = opened({ read });
    const [long, short] = [accountAt("http://a.example", 300), accountAt("http://b.example", 10)];
    const askedAfter = async (account: ChainAccount, milliseconds: number): Promise<number> => {
      time.at += milliseconds;
      await accounts.balance(account, LONG);
      return asked;
    };
    expect([await askedAfter(long, 0), await askedAfter(long, 29_999), await askedAfter(long, 1)]).toEqual([1, 1, 2]);
    expect([await askedAfter(short, 0), await askedAfter(short, 9_999), await askedAfter(short, 1)]).toEqual([3, 3, 4]);
  });

  it("whose variable is not set says so, and is read once it is", async () => {
    const servers: string[] = [];
    const { accounts, time } = opened({ urlOf: () => servers[0], read: async () => 7n });
    const account: ChainAccount = { address: WALLET, rpc: { variable: "RPC" }, cached: 300 };
    expect(await accounts.balance(account, LONG)).toBeUndefined();
    expect(accounts.trouble(account)?.because).toBe("the variable with its server's address is not set");
    servers.push("http://example.org");
    time.at += LONG;
    expect(await accounts.balance(account, LONG)).toEqual({ wei: 7n, at: time.at });
    expect(accounts.trouble(account)).toBeUndefined();
  });

  it.each([
    ["no number", { result: "a lot" }],
    ["more than 256 bits", { result: `0x${"f".repeat(65)}` }],
    ["nothing", {}],
    ["a refusal", { error: { code: -32_000, message: "no such method" } }],
  ])("is not shown where its server answers with %s", async (_, answer) => {
    const url = await answering((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...answer }));
    });
    await expect(readBalance(url, WALLET)).rejects.toThrow(/its server/);
  });

  it("is not read from an answer of a megabyte", async () => {
    const url = await answering((_request, response) => {
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1", more: "x".repeat(1_000_000) }));
    });
    await expect(readBalance(url, WALLET)).rejects.toThrow("its server did not answer (more than 65536 bytes)");
  });

  it("whose server refuses says its status and nothing of its address", async () => {
    const url = await answering((_request, response) => response.writeHead(401).end('{"error": "secret"}'));
    await expect(readBalance(`${url}/v3/secret`, WALLET)).rejects.toThrow(/^its server did not answer \(HTTP 401\)$/);
    await expect(readBalance("secret", WALLET)).rejects.toThrow(
      /^its server did not answer \(ERR_INVALID_URL|TypeError\)$/,
    );
  });

  it("is read from a server that asks for a name and a password", async () => {
    const logins: (string | undefined)[] = [];
    const url = await answering((request, response) => {
      logins.push(request.headers.authorization);
      response.end('{"jsonrpc": "2.0", "id": 1, "result": "0x7"}');
    });
    expect(await readBalance(url.replace("//", "//ada:p%40ss@"), WALLET)).toBe(7n);
    expect(await readBalance(url, WALLET)).toBe(7n);
    expect(logins).toEqual([`Basic ${Buffer.from("ada:p@ss").toString("base64")}`, undefined]);
  });

  it("is not awaited any longer when the program closes", async () => {
    const url = await answering(() => {});
    const closing = new AbortController();
    const read = readBalance(url, WALLET, closing.signal);
    closing.abort();
    await expect(read).rejects.toThrow("its server did not answer (AbortError)");
  });
});
