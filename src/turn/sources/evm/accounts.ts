import type { ChainAccount } from "../../../protocol/index.ts";
import type { Timer } from "../context.ts";
import { readBalance } from "./read-balance.ts";

/** What an account held when it was read: wei, and milliseconds since 1970. */
export interface Balance {
  readonly wei: bigint;
  readonly at: number;
}

/** Why an account could not be read: milliseconds since 1970, and the reason. */
export interface Trouble {
  readonly at: number;
  readonly because: string;
}

/** The native balances of accounts, as far as they are known. */
export interface Accounts {
  /**
   * The balance, read anew where what is known is older than the account allows. Nobody waits longer than so many milliseconds:
   * what comes later is there the next time. Never throws: where it cannot be read, it gives the last that was, or nothing.
   */
  balance(account: ChainAccount, milliseconds: number): Promise<Balance | undefined>;
  /**
   * Waits so long for the first balance of the account, once: whoever asks when that is over waits for nothing. A program that
   * has just begun knows none, and a server may take longer than a source may.
   */
  first(account: ChainAccount, milliseconds: number): Promise<void>;
  /** When and why the last try failed or is late, without the server's address; nothing where it did not. */
  trouble(account: ChainAccount): Trouble | undefined;
  /** Whatever is being read is given up. */
  close(): void;
}

export interface AccountParts {
  /** The address of the server; nothing where its variable is not set. */
  readonly urlOf: (rpc: ChainAccount["rpc"]) => string | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Real time by default. */
  readonly timer?: Timer;
  readonly read?: (url: string, address: string, signal: AbortSignal) => Promise<bigint>;
}

/** For so long a server that failed is not asked again, at most; in milliseconds. */
const REST = 30_000;

interface Known {
  last?: Balance;
  reading?: Promise<void> | undefined;
  /** When it was asked last. */
  asked?: number;
  failed?: Trouble | undefined;
  /** Whether somebody has waited for its first balance until there was one or the time was up. */
  awaited?: true;
}

/** Reads balances, keeps them, and asks each server once for all who wait. */
export function openAccounts({ urlOf, clock, timer = realTimer, read = readBalance }: AccountParts): Accounts {
  const known = new Map<string, Known>();
  const closing = new AbortController();
  const knownOf = (account: ChainAccount): Known => {
    const key = JSON.stringify([account.rpc, account.address.toLowerCase()]);
    const one = known.get(key) ?? {};
    known.set(key, one);
    return one;
  };
  const readOnce = async (one: Known, { rpc, address }: ChainAccount): Promise<void> => {
    try {
      const url = urlOf(rpc);
      if (url === undefined) throw new Error("the variable with its server's address is not set");
      one.last = { wei: await read(url, address, closing.signal), at: clock() };
      one.failed = undefined;
    } catch (thrown) {
      one.failed = { at: clock(), because: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  };
  const balance = async (account: ChainAccount, milliseconds: number): Promise<Balance | undefined> => {
    const one = knownOf(account);
    const now = clock();
    const age = account.cached * 1_000;
    if (one.last !== undefined && now - one.last.at < age) return one.last;
    if (one.failed !== undefined && now - one.failed.at < Math.min(age, REST)) return one.last;
    if (one.reading === undefined) one.asked = now;
    // What fails at once has ended before it stands here: only a step later it is no reading any more.
    one.reading ??= readOnce(one, account).finally(() => {
      one.reading = undefined;
    });
    if (milliseconds > 0) await within(milliseconds, one.reading, timer);
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
      const { failed, reading, asked = clock() } = knownOf(account);
      return reading === undefined ? failed : { at: asked, because: "its server has not answered yet" };
    },
    close: () => closing.abort(),
  };
}

async function within(milliseconds: number, done: Promise<void>, timer: Timer): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = timer(milliseconds, late.resolve);
  await Promise.race([done, late.promise]);
  cancel();
}

const realTimer: Timer = (milliseconds, fire) => {
  const timeout = setTimeout(fire, milliseconds);
  return () => clearTimeout(timeout);
};
