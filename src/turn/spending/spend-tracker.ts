import type { Agent } from "../../protocol/index.ts";

/** What turns of this program have spent and no commit holds yet, and what requests under way may come to; by agent. */
export interface SpendTracker {
  /** Counts what a turn has spent until it is closed. */
  open(agent: Agent, spent: () => number): TrackedSpend;
  /** Dollars of all turns that are open. */
  spent(agent: Agent): number;
  /** Sets dollars aside for a request; called again, gives them back. */
  reserve(agent: Agent, dollars: number): () => void;
  /** Dollars that are set aside. */
  reserved(agent: Agent): number;
  /** Resolves when a request under way has ended; rejects with the signal's reason. */
  ended(agent: Agent, signal: AbortSignal): Promise<void>;
}

/** The money of one turn. Closed when the record holds it. */
export interface TrackedSpend {
  close(): void;
}

interface Account {
  readonly turns: Set<() => number>;
  readonly requests: Set<{ readonly dollars: number }>;
  /** Resolved and replaced at the end of each request. */
  next: PromiseWithResolvers<void>;
}

/** Nothing is spent yet. */
export function openSpendTracker(): SpendTracker {
  const accounts = new Map<string, Account>();
  const accountOf = ({ org, name }: Agent): Account => {
    const key = JSON.stringify([org, name]);
    const account = accounts.get(key) ?? { turns: new Set(), requests: new Set(), next: Promise.withResolvers() };
    accounts.set(key, account);
    return account;
  };
  return {
    open: (agent, spent) => {
      const { turns } = accountOf(agent);
      const turn = (): number => spent();
      turns.add(turn);
      return { close: () => void turns.delete(turn) };
    },
    spent: (agent) => [...accountOf(agent).turns].reduce((sum, spent) => sum + spent(), 0),
    reserve: (agent, dollars) => {
      const account = accountOf(agent);
      const request = { dollars };
      account.requests.add(request);
      return () => {
        account.requests.delete(request);
        account.next.resolve();
        account.next = Promise.withResolvers();
      };
    },
    reserved: (agent) => [...accountOf(agent).requests].reduce((sum, { dollars }) => sum + dollars, 0),
    ended: (agent, signal) => before(signal, accountOf(agent).next.promise),
  };
}

async function before(signal: AbortSignal, end: Promise<void>): Promise<void> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([end, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
