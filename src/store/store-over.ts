import { type ContactScope, StrataError, type ThreadId } from "../protocol/index.ts";
import { acts, noteAct } from "./agent/acts.ts";
import { decideText, editText, moveText } from "./agent/edit-texts.ts";
import { inbox, inboxCount, unanswered } from "./agent/mail.ts";
import { proposalCounts, proposals } from "./agent/proposals.ts";
import { keptAgents, renameAgent } from "./agent/rename-agent.ts";
import { activeTexts, textMoves, textPointers, textVersions } from "./agent/texts.ts";
import type { AgentStore } from "./agent-store.ts";
import { allWrites } from "./core-writes.ts";
import { memories, memoriesBeside, memory, memoryStats, memoryTopics, savedMemories } from "./memory/memories.ts";
import { forgetMemory, saveMemories, saveMemory } from "./memory/save-memory.ts";
import { openScopeReads } from "./memory/scope-reads.ts";
import { searchMemories } from "./memory/search-memories.ts";
import {
  dropVectors,
  hasUnusedVectors,
  saveVectors,
  servingModels,
  vectorStates,
  waitingTexts,
} from "./memory/vectors.ts";
import type { MemoryStore, VectorStore } from "./memory-store.ts";
import { refuseMoved, UNNOTICED } from "./moved.ts";
import { head } from "./record/chain.ts";
import { contactRows } from "./record/contact-rows.ts";
import {
  calledFrom,
  eraseContact,
  finishErasure,
  isLogToClear,
  noteLogCleared,
  unfinishedErasures,
} from "./record/erase.ts";
import { rebuild } from "./record/rebuild.ts";
import { agents, organizations, spent, usage } from "./record/reports.ts";
import { findEvent, retractEvent } from "./record/retract.ts";
import { verify } from "./record/verify.ts";
import type { Claim, ClaimRequest, TurnOutcome } from "./records.ts";
import { plain } from "./statement.ts";
import type { Store } from "./store.ts";
import { answerOverdue, nextOverdue } from "./threads/answers.ts";
import { openBatch, waitingThreads } from "./threads/batches.ts";
import { isDue, openAndReceive, pending, receive, untaken } from "./threads/events.ts";
import { currentEpoch } from "./threads/fork.ts";
import { type KnownEpochs, openKnownEpochs } from "./threads/known-epochs.ts";
import { calledThreads, callLeftOpen, callsAtEnd, cancelCalls, dueRuns } from "./threads/open-calls.ts";
import {
  agentVersion,
  lastVersions,
  liveThreads,
  moveThread,
  openThread,
  saveAgentVersion,
  slots,
  thread,
  threadNamed,
  threads,
  warnedThreads,
} from "./threads/threads.ts";
import { wholeHistory } from "./threads/whole-history.ts";
import { claim, receiveAndClaim, withdraw } from "./turns/claims.ts";
import { beginCall, endCall, recordedCall } from "./turns/journal.ts";
import { askStop, leases, renew, stopAsked } from "./turns/leases.ts";
import { settle } from "./turns/settle.ts";
import { lastAnswer, sent, starts, turn, turns } from "./turns/turns.ts";
import type { Binding, Database, StorePart, Tx } from "./tx.ts";

/** How the contract's functions of a database are made: each runs in one transaction, and what the driver throws becomes a sentence. */
interface OwnBinding extends Binding {
  /** Its result may come before it is on the disk. */
  readonly writingAhead: Binding["writing"];
  readonly write: Database["write"];
  /** For what needs more than one transaction, or none. */
  readonly apart: <Given extends readonly unknown[], R>(
    work: (...given: Given) => Promise<R>,
  ) => (...given: Given) => Promise<R>;
}

/** When this program last found a database unmoved, by its name: on PostgreSQL, one has a store for each reach. */
const looked = new Map<string, number>();

/** No write reaches a database that was copied elsewhere since it was opened. */
const whileHere = (database: Database): Database => ({
  ...database,
  write: (work, how) =>
    database.write(async (tx) => {
      const now = performance.now();
      if (now - (looked.get(database.name) ?? Number.NEGATIVE_INFINITY) > UNNOTICED) {
        await refuseMoved(tx, database.name);
        looked.set(database.name, now);
      }
      return work(tx);
    }, how),
});

/** What this program keeps of what it has read, so that it need not read it again: one for all stores of a database. */
export interface KnownBefore {
  readonly epochs: KnownEpochs;
  readonly reads: ReturnType<typeof openScopeReads>;
}

export const openKnownBefore = (): KnownBefore => ({ epochs: openKnownEpochs(), reads: openScopeReads() });

/** The store over a database: only here do transactions begin. */
export function storeOver(opened: Database, { epochs, reads } = openKnownBefore()): Store {
  const database = withLastFailure(whileHere(opened));
  const binding = bindingOf(database);
  return {
    ...turnStore(binding, epochs),
    ...memoryStore(database, binding, reads),
    ...agentStore(binding),
    ...recordStore(database, binding, epochs),
    writes: allWrites(database.parts),
    part: (of) => {
      checkOpened(database, of);
      return of.functions(binding);
    },
    onDisk: () => database.onDisk(),
    trouble: binding.apart(database.trouble),
    close: binding.apart(database.close),
  };
}

function checkOpened({ parts }: Database, of: StorePart): void {
  if (parts.includes(of)) return;
  throw new StrataError(
    "unexpected",
    `the store was opened without what ${of.name} keeps in it: name it among the parts`,
  );
}

function bindingOf({ read, write, failure }: Database): OwnBinding {
  const apart: OwnBinding["apart"] =
    (work) =>
    async (...given) => {
      try {
        return await work(...given);
      } catch (thrown) {
        throw failure(thrown);
      }
    };
  return {
    reading: (work) => apart((...given) => read((tx) => work(tx, ...given))),
    writing: (work) => apart((...given) => write((tx) => work(tx, ...given))),
    writingAhead: (work) => apart((...given) => write((tx) => work(tx, ...given), { ahead: true })),
    write,
    apart,
  };
}

function turnStore(binding: OwnBinding, epochs: KnownEpochs) {
  const { reading, writing } = binding;
  const [readCalls, readSent] = [reading(callsAtEnd), reading(sent)];
  // Noted once the commit is there, and of a commit that was tried again only once.
  const settleNoting = writing(async (tx: Tx, claim: Claim, outcome: TurnOutcome) => {
    const notes: (() => void)[] = [];
    const settled = await settle(tx, claim, outcome, { known: epochs, after: (note) => void notes.push(note) });
    return { settled, notes };
  });
  return {
    saveAgentVersion: writing(saveAgentVersion),
    agentVersion: reading(agentVersion),
    lastVersions: reading(lastVersions),
    keptAgents: reading(keptAgents),
    renameAgent: writing(renameAgent),
    openThread: writing(openThread),
    moveThread: writing(moveThread),
    thread: reading(thread),
    threads: reading(threads),
    threadNamed: reading(threadNamed),
    knownThread: epochs.thread,
    liveThreads: reading(liveThreads),
    warnedThreads: reading(warnedThreads),
    slots: reading(slots),
    wholeHistory: reading(wholeHistory),
    receive: writing(receive),
    openAndReceive: writing(openAndReceive),
    withdraw: writing(withdraw),
    pending: reading(pending),
    isDue: reading(isDue),
    untaken: reading((tx: Tx, scope: ContactScope, id: ThreadId) =>
      untaken(tx, scope, id, { most: Number.MAX_SAFE_INTEGER }),
    ),
    openCalls: async (scope: ContactScope, id: ThreadId, turns?: number) => {
      const past = epochs.past(scope, id, turns);
      if (past?.isClosed) return [];
      const calls = await readCalls(scope, id);
      if (turns !== undefined) epochs.putPast(scope, id, { sent: past?.sent, turns, isClosed: calls.length === 0 });
      return calls;
    },
    callLeftOpen: reading(callLeftOpen),
    calledThreads: reading(calledThreads),
    dueRuns: reading(dueRuns),
    cancelCalls: writing(cancelCalls),
    answerOverdue: writing(answerOverdue),
    nextOverdue: reading(nextOverdue),
    ...claimStore(binding, epochs),
    contactRows: reading(contactRows),
    calledFrom: reading(calledFrom),
    settle: async (claim: Claim, outcome: TurnOutcome) => {
      const { settled, notes } = await settleNoting(claim, outcome);
      for (const note of notes) note();
      return settled;
    },
    beginCall: writing(beginCall),
    recordedCall: reading(recordedCall),
    endCall: writing(endCall),
    turn: reading(turn),
    turns: reading(turns),
    sent: async (scope: ContactScope, id: ThreadId, turns?: number) => {
      const past = epochs.past(scope, id, turns);
      const found = past?.sent ?? (await readSent(scope, id));
      if (turns !== undefined) epochs.putPast(scope, id, { isClosed: past?.isClosed ?? false, turns, sent: found });
      return found.map(({ seq: _, ...request }) => request);
    },
    lastAnswer: reading(lastAnswer),
    starts: reading(starts),
    rebuild: reading(rebuild),
    epoch: reading((tx: Tx, scope: ContactScope, id: ThreadId) => currentEpoch(tx, scope, id, epochs)),
  };
}

function claimStore({ reading, writing, writingAhead, apart, write }: OwnBinding, known: KnownEpochs) {
  return {
    // A lost claim leaves its messages waiting, as before it. What the turn shows meanwhile is not in the record yet anyway.
    claim: writingAhead((tx: Tx, scope: ContactScope, id: ThreadId, request: ClaimRequest) =>
      claim(tx, scope, id, { ...request, known }),
    ),
    receiveAndClaim: apart(async (...[scope, id, events, request, also]: Parameters<Store["receiveAndClaim"]>) => {
      let onDisk = Promise.resolve();
      const ahead = (kept: Promise<void>): void => {
        onDisk = kept;
      };
      const both = await write((tx) => receiveAndClaim(tx, scope, id, events, { ...request, known }, also), { ahead });
      return { ...both, onDisk };
    }),
    askStop: writing(askStop),
    stopAsked: reading(stopAsked),
    leases: reading(leases),
    renew: writing(renew),
  };
}

function memoryStore(
  { read, write, failure }: Database,
  { reading, writing, apart }: OwnBinding,
  reads: KnownBefore["reads"],
): MemoryStore & VectorStore {
  return {
    saveMemory: writing(saveMemory),
    memories: reading(memories),
    memoriesBeside: reading(memoriesBeside),
    memoryTopics: reading(memoryTopics),
    memory: reading(memory),
    forgetMemory: writing(forgetMemory),
    savedMemories: reading(savedMemories),
    memoryStats: reading(memoryStats),
    servingModels: reading(servingModels),
    vectorStates: reading(vectorStates),
    waitingTexts: reading(waitingTexts),
    saveVectors: writing(saveVectors),
    saveMemories: apart(async (scope, all) => (all.length === 0 ? [] : write((tx) => saveMemories(tx, scope, all)))),
    dropVectors: apart(async (scope, model) => {
      if (await read((tx) => hasUnusedVectors(tx, scope, model))) await write((tx) => dropVectors(tx, scope, model));
    }),
    searchMemories: async (scopes, wanted, foundBefore) => {
      try {
        return await searchMemories(read, scopes, { ...wanted, foundBefore, reads });
      } catch (thrown) {
        throw wanted.signal?.aborted ? thrown : failure(thrown);
      }
    },
  };
}

function agentStore({ reading, writing }: OwnBinding): AgentStore & Pick<Store, "openBatch" | "waitingThreads"> {
  return {
    openBatch: writing(openBatch),
    waitingThreads: reading(waitingThreads),
    activeTexts: reading(activeTexts),
    textPointers: reading(textPointers),
    textVersions: reading(textVersions),
    proposals: reading(proposals),
    proposalCounts: reading(proposalCounts),
    textMoves: reading(textMoves),
    editText: writing(editText),
    decideText: writing(decideText),
    moveText: writing(moveText),
    inbox: reading(inbox),
    inboxCount: reading(inboxCount),
    unanswered: reading(unanswered),
    noteAct: writing(noteAct),
    acts: reading(acts),
  };
}

function recordStore(database: Database, { reading, apart }: OwnBinding, epochs: KnownEpochs) {
  return {
    usage: reading(usage),
    spent: reading(spent),
    unfinishedErasures: reading(unfinishedErasures),
    shadow: apart(async (scope: ContactScope, before?: number) => {
      const { openShadow } = await import("./sqlite/shadow.ts");
      return openShadow(database, { scope, ...(before !== undefined && { before }) }, storeOver);
    }),
    organizations: reading(organizations),
    agents: reading(agents),
    head: reading(head),
    eraseContact: apart(async (...given: Parameters<Store["eraseContact"]>) => {
      const erased = await database.write((tx) => eraseContact(tx, ...given));
      epochs.forget(given[0]);
      if (erased) await database.flush();
      return erased;
    }),
    event: reading(findEvent),
    retractEvent: apart(async (...given: Parameters<Store["retractEvent"]>) => {
      const retracted = await database.write((tx) => retractEvent(tx, ...given));
      epochs.forget(given[0]);
      if (retracted) await database.flush();
      return retracted;
    }),
    finishErasure: apart(async (scope: ContactScope) => {
      await database.write((tx) => finishErasure(tx, scope));
      await clearLog(database);
    }),
    verify: (...given: Parameters<Store["verify"]>) => withFailures(verify(database, ...given), database),
    backup: apart(database.backup),
  };
}

/** What says of the disk or the server that nothing can be kept, by SQLite's codes and PostgreSQL's. */
const NOTHING_KEPT =
  /^(?:SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PERM)|(?:08|53|57P|58)[0-9A-Z]{3}|25006$)/;

/** A database that tells a failed commit as its trouble, until one has written something again. */
function withLastFailure(database: Database): Database {
  let failed: string | undefined;
  const write: Database["write"] = async (work, how) => {
    let isKept = true;
    const counted: typeof work = async (tx) => {
      const before = await countChanges(tx);
      const done = await work(tx);
      // On a full disk, what changes nothing can still be committed.
      isKept = before === undefined || before !== (await countChanges(tx));
      return done;
    };
    try {
      const done = await database.write(failed === undefined ? work : counted, how);
      if (isKept) failed = undefined;
      return done;
    } catch (thrown) {
      const { code, message, details } = database.failure(thrown);
      if (code === "store_failed" && NOTHING_KEPT.test(String(details.code))) failed = message;
      throw thrown;
    }
  };
  return { ...database, write, trouble: async () => (await database.trouble()) ?? failed };
}

async function countChanges(tx: Tx): Promise<number | undefined> {
  if (tx.dialect !== "sqlite") return undefined;
  return (await tx.column(plain<number>("select total_changes()")))[0];
}

/**
 * Takes what was erased out of the database's log, which may hold old pages until it is emptied. Where another program reads just
 * now, that waits for the next erasure or the next start.
 */
export async function clearLog({ read, write, flush }: Database): Promise<void> {
  if ((await read(isLogToClear)) && (await flush())) await write(noteLogCleared);
}

async function* withFailures<T>(found: AsyncIterable<T>, { failure }: Database): AsyncGenerator<T> {
  try {
    yield* found;
  } catch (thrown) {
    throw failure(thrown);
  }
}
