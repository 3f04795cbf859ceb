import type { Project } from "../../agents/index.ts";
import { senderAddress } from "../../guard/index.ts";
import { asStrataError, type Clock, StrataError } from "../../protocol/index.ts";
import type { Timer } from "../../turn/sources/index.ts";
import type { Life } from "./config.ts";

/** An account on an EVM chain. Its server: an address, or the variable of the environment that holds it. */
export type ChainAccount = NonNullable<Life["account"]>;

/** An account's balance when it was read: wei, and milliseconds since 1970. */
export interface Balance {
  readonly wei: bigint;
  readonly at: number;
}

/** Why an account could not be read: milliseconds since 1970, and the reason. */
interface Trouble {
  readonly at: number;
  readonly because: string;
}

/** The native balances of accounts, as far as they are known. */
export interface Accounts {
  /**
   * The balance, read again if the known one is older than the account allows. Waits at most this many milliseconds: a later answer is used
   * next time. Never throws: if it cannot be read, gives the last known balance, or nothing.
   */
  balance(account: ChainAccount, milliseconds: number): Promise<Balance | undefined>;
  /**
   * Waits up to this long for the account's first balance, once: later callers do not wait. A program that has just begun knows none, and a
   * server may take longer than a source may.
   */
  first(account: ChainAccount, milliseconds: number): Promise<void>;
  /** When and why the last try failed or is late, without the server's address; nothing if it succeeded. */
  trouble(account: ChainAccount): Trouble | undefined;
  /** Whatever is being read is given up. */
  close(): void;
}

export interface AccountParts {
  /** The address of the server; undefined if its variable is not set. */
  readonly urlOf: (rpc: ChainAccount["rpc"]) => string | undefined;
  readonly clock: Pick<Clock, "recorded">;
  /** Real time by default. */
  readonly timer?: Timer;
  readonly read?: (url: string, address: string, signal: AbortSignal) => Promise<bigint>;
}

/** For so long a server that failed is not asked again, at most; in milliseconds. */
const REST = 30_000;

interface AccountState {
  last?: Balance;
  reading?: Promise<void> | undefined;
  /** When it was asked last. */
  asked?: number;
  failed?: Trouble | undefined;
  /** Whether a caller has already waited for the first balance, until it came or the time was up. */
  awaited?: true;
}

/** Reads balances, caches them, and asks each server once for all waiting callers. */
export function openAccounts({ urlOf, clock, timer = realTimer, read = readBalance }: AccountParts): Accounts {
  const known = new Map<string, AccountState>();
  const closing = new AbortController();
  const knownOf = (account: ChainAccount): AccountState => {
    const key = JSON.stringify([account.rpc, account.address.toLowerCase()]);
    const one = known.get(key) ?? {};
    known.set(key, one);
    return one;
  };
  const readOnce = async (one: AccountState, { rpc, address }: ChainAccount): Promise<void> => {
    try {
      const url = urlOf(rpc);
      if (url === undefined) throw new Error("the variable with its server's address is not set");
      one.last = { wei: await read(url, address, closing.signal), at: clock.recorded() };
      one.failed = undefined;
    } catch (thrown) {
      one.failed = { at: clock.recorded(), because: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  };
  const balance = async (account: ChainAccount, milliseconds: number): Promise<Balance | undefined> => {
    const one = knownOf(account);
    const now = clock.recorded();
    const age = account.cached * 1_000;
    if (one.last !== undefined && now - one.last.at < age) return one.last;
    if (one.failed !== undefined && now - one.failed.at < Math.min(age, REST)) return one.last;
    if (one.reading === undefined) one.asked = now;
    // A reading that fails at once ends before this assignment, so it is cleared one step later.
    one.reading ??= readOnce(one, account).finally(() => {
      one.reading = undefined;
    });
    if (milliseconds > 0) await waitAtMost(milliseconds, one.reading, timer);
    return one.last;
  };
  return {
    balance,
    first: async (account, milliseconds) => {
      const one = knownOf(account);
      if (one.awaited || one.last !== undefined) return;
      await balance(account, milliseconds);
      one.awaited = true;
    },
    trouble: (account) => {
      const { failed, reading, asked = clock.recorded() } = knownOf(account);
      return reading === undefined ? failed : { at: asked, because: "its server has not answered yet" };
    },
    close: () => closing.abort(),
  };
}

async function waitAtMost(milliseconds: number, done: Promise<void>, timer: Timer): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = timer(milliseconds, late.resolve);
  await Promise.race([done, late.promise]);
  cancel();
}

const realTimer: Timer = (milliseconds, fire) => {
  const timeout = setTimeout(fire, milliseconds);
  return () => clearTimeout(timeout);
};

/** A server that answers nothing for so long is given up, in milliseconds; a turn waits far shorter. */
const PATIENCE = 10_000;

/** An answer is a number in quotes; anything longer is invalid. Bytes. */
const LONGEST_ANSWER = 64 * 1024;

/** 0x and at most the 64 digits of 256 bits. */
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;

const HEADERS = { "content-type": "application/json", accept: "application/json" };

/**
 * The native balance of an address in wei, as the server's newest block has it.
 * @throws Error with a reason that names no address of a server: it may hold a key
 */
export async function readBalance(url: string, address: string, signal?: AbortSignal): Promise<bigint> {
  const answer = await ask(url, { method: "eth_getBalance", params: [address, "latest"] }, signal);
  if (typeof answer !== "object" || answer === null) throw new Error("its server's answer is not a balance");
  if ("error" in answer) throw new Error("its server refused to give the balance");
  const result = "result" in answer ? answer.result : undefined;
  if (typeof result !== "string" || !QUANTITY.test(result)) throw new Error("its server's answer is not a balance");
  return BigInt(result);
}

/** One call over JSON-RPC. Name and password in the address go into a header: `fetch` takes no address that holds them. */
async function ask(url: string, call: object, signal?: AbortSignal): Promise<unknown> {
  const patience = AbortSignal.timeout(PATIENCE);
  try {
    const server = new URL(url);
    const login = [server.username, server.password].map(decodeURIComponent).join(":");
    server.username = "";
    server.password = "";
    const response = await fetch(server, {
      method: "POST",
      headers:
        login === ":" ? HEADERS : { ...HEADERS, authorization: `Basic ${Buffer.from(login).toString("base64")}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...call }),
      signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
    });
    const text = await limitedText(response);
    if (!response.ok) throw new NoAnswer(`HTTP ${response.status}`);
    return JSON.parse(text);
  } catch (thrown) {
    throw new Error(`its server did not answer (${reasonOf(thrown)})`);
  }
}

/** Read as it comes, so that a server cannot fill the memory. */
async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > LONGEST_ANSWER) throw new NoAnswer(`more than ${LONGEST_ANSWER} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A reason in our own words. Other errors may contain the server's address: only their code or kind is passed on. */
class NoAnswer extends Error {}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  if (thrown instanceof NoAnswer) return thrown.message;
  const { cause } = thrown;
  return cause instanceof Error && "code" in cause ? String(cause.code) : thrown.name;
}

/**
 * Makes sure that agents' accounts have addresses: upper and lower case mixed are a checksum, and a mistyped one is found out now.
 * @throws StrataError `config_invalid` naming the file and the agent
 */
export async function checkAccounts({ file, agents }: Project): Promise<void> {
  for (const [name, { life }] of agents) {
    if (life?.account === undefined) continue;
    try {
      await senderAddress(life.account.address);
    } catch (thrown) {
      const message = `${file}: agents.${name}.life.account.address: ${asStrataError(thrown).message}`;
      throw new StrataError("config_invalid", message, { agent: name, address: life.account.address }, thrown);
    }
  }
}

/** The accounts of the agents that are declared at a time, read at their servers. */
export function accountsOf(projects: () => readonly Project[], clock: Pick<Clock, "recorded">): Accounts {
  return openAccounts({
    clock,
    urlOf: (rpc) => {
      if ("url" in rpc) return rpc.url;
      const named = projects().find(({ servers }) => servers.has(rpc.variable));
      return named?.servers.get(rpc.variable)?.reveal();
    },
  });
}
