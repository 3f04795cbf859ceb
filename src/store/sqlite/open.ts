import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { MEMORY_LIMITS, type MemoryLimits } from "../memory/memory-limits.ts";
import type { Store } from "../store.ts";
import { agentStore, type Bind } from "./agent/agent-store.ts";
import { approval, approvals, decideApproval, finishApproval } from "./approvals.ts";
import { backup } from "./backup.ts";
import { head } from "./chain.ts";
import { askStop, claim, leases, renew, stopAsked, withdraw } from "./claims.ts";
import { type Connection, connect } from "./connection.ts";
import { clearLog, eraseContact, finishErasure, unfinishedErasures } from "./erase.ts";
import { pending, receive } from "./events.ts";
import { failure } from "./failure.ts";
import { currentEpoch } from "./fork.ts";
import { beginCall, endCall } from "./journal.ts";
import { memories, memory, memoryRevision, memoryStats } from "./memory/memories.ts";
import { memoryTopics } from "./memory/memory-topics.ts";
import { type KeptOut, refreshIndex } from "./memory/reindex.ts";
import { forgetMemory, saveMemories, saveMemory } from "./memory/save-memory.ts";
import { searchMemories } from "./memory/search-memories.ts";
import { dropVectors, saveVectors, servingModels, vectorStates, waitingTexts } from "./memory/vectors.ts";
import { migrate } from "./migrate.ts";
import { rebuild } from "./rebuild.ts";
import { agents, deliver, organizations, outbox, spent, usage } from "./reports.ts";
import { sent, starts } from "./sent.ts";
import { settle } from "./settle.ts";
import { agentVersion, moveThread, openThread, saveAgentVersion, slots, thread, threads } from "./threads.ts";
import { turn, turns } from "./turns.ts";
import { verify } from "./verify.ts";

/** What whoever opens it may want otherwise. */
export interface SqliteOptions {
  /** Which messages of a file of an earlier version are not to be remembered. Left out, all are. */
  readonly keptOut?: KeptOut;
  /** Chance: that many random bytes. Left out, the machine's. */
  readonly random?: (bytes: number) => Uint8Array;
  /** How long to wait for another program's lock before `store_busy`, in milliseconds. Left out, five seconds. */
  readonly patience?: number;
  /** False: vectors are compared in JavaScript, also where sqlite-vec is there. */
  readonly vectors?: boolean;
  /** How much a scope may remember. Left out, as much as is sensible. */
  readonly limits?: Partial<MemoryLimits>;
}

/** What SQLite calls a database that is never on disk. */
const IN_MEMORY = ":memory:";

/**
 * Opens the one file that holds everything, makes it and its folder where they are missing, and brings it up to today's
 * schema. `:memory:` is a store for one test.
 * @throws StrataError `store_busy`, `store_newer`, `store_failed`
 */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Store> {
  try {
    const fresh = file !== IN_MEMORY && !existsSync(file);
    // What is in there is personal: nobody else on this machine reads it.
    if (fresh) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const { random = randomBytes, patience = 5_000, vectors = true, limits } = options;
    const db = connect(file, { random, patience, vectors, ...(limits && { limits: { ...MEMORY_LIMITS, ...limits } }) });
    if (fresh) chmodSync(file, 0o600);
    return ready(db, options.keptOut);
  } catch (thrown) {
    throw failure(thrown, file);
  }
}

function ready(db: Connection, keptOut?: KeptOut): Store {
  try {
    migrate(db);
    refreshIndex(db, keptOut);
    clearLog(db);
    return store(db);
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** Each function of the contract runs to its end at once and only then gives its promise: one function, one transaction. */
function store(db: Connection): Store {
  const bound =
    <Given extends readonly unknown[], R>(work: (db: Connection, ...given: Given) => R) =>
    async (...given: Given): Promise<R> => {
      try {
        return work(db, ...given);
      } catch (thrown) {
        throw failure(thrown, db.file);
      }
    };
  return {
    saveAgentVersion: bound(saveAgentVersion),
    agentVersion: bound(agentVersion),
    ...threadStore(bound),
    receive: bound(receive),
    withdraw: bound(withdraw),
    pending: bound(pending),
    epoch: bound((db, ...given: Parameters<Store["epoch"]>) => db.read(() => currentEpoch(db, ...given))),
    claim: bound(claim),
    askStop: bound(askStop),
    stopAsked: bound(stopAsked),
    leases: bound(leases),
    renew: bound(renew),
    settle: bound(settle),
    beginCall: bound(beginCall),
    endCall: bound(endCall),
    turn: bound(turn),
    turns: bound(turns),
    sent: bound(sent),
    starts: bound(starts),
    rebuild: bound(rebuild),
    saveMemory: bound(saveMemory),
    saveMemories: bound(saveMemories),
    searchMemories: async (...given) => {
      try {
        return await searchMemories(db, ...given);
      } catch (thrown) {
        const [, { signal }] = given;
        throw signal?.aborted ? thrown : failure(thrown, db.file);
      }
    },
    memories: bound(memories),
    memoryTopics: bound(memoryTopics),
    memory: bound(memory),
    forgetMemory: bound(forgetMemory),
    memoryRevision: bound(memoryRevision),
    memoryStats: bound(memoryStats),
    servingModels: bound(servingModels),
    vectorStates: bound(vectorStates),
    waitingTexts: bound(waitingTexts),
    saveVectors: bound(saveVectors),
    dropVectors: bound(dropVectors),
    ...agentStore(bound),
    approvals: bound(approvals),
    approval: bound(approval),
    decideApproval: bound(decideApproval),
    finishApproval: bound(finishApproval),
    outbox: bound(outbox),
    deliver: bound(deliver),
    usage: bound(usage),
    spent: bound(spent),
    eraseContact: bound(eraseContact),
    unfinishedErasures: bound(unfinishedErasures),
    finishErasure: bound(finishErasure),
    organizations: bound(organizations),
    agents: bound(agents),
    head: bound(head),
    verify: (...given) => told(verify(db, ...given), db.file),
    backup: async (...given) => {
      try {
        await backup(db, ...given);
      } catch (thrown) {
        throw failure(thrown, db.file);
      }
    },
    trouble: bound((db) => db.lost()),
    close: bound((db) => db.close()),
  };
}

const threadStore = (bound: Bind): Pick<Store, "openThread" | "moveThread" | "thread" | "threads" | "slots"> => ({
  openThread: bound(openThread),
  moveThread: bound(moveThread),
  thread: bound(thread),
  threads: bound(threads),
  slots: bound(slots),
});

async function* told<T>(found: AsyncIterable<T>, file: string): AsyncGenerator<T> {
  try {
    yield* found;
  } catch (thrown) {
    throw failure(thrown, file);
  }
}
