import { canonicalJson, type Digest, digestOf, type OrgId, StrataError } from "../../protocol/index.ts";
import type { PrefixManifest, TranscriptPlace } from "../digests.ts";
import { toManifest } from "../rows.ts";
import { fixed, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { batchFacts } from "../threads/batch-members.ts";
import { callsOfTurn } from "../threads/open-calls.ts";
import { findThread } from "../threads/threads.ts";
import { findEpoch, rollingAt, type TranscriptEnd } from "../turns/epochs.ts";
import { eventsOfTurn, type HandledEvent } from "../turns/handled-events.ts";
import { ownMessages, promptOf, requestRows } from "../turns/requests.ts";
import { type EndedTurn, inOrder, type OneTurn, type Tx } from "../tx.ts";
import { broken, sharedText } from "./pieces.ts";
import { nameAt } from "./renamings.ts";

/** One request in a link: what was sent, under which rules, and what came back. */
interface RequestLink {
  readonly n: number;
  readonly prompt: Digest;
  /** The tools' schemas whatever their wording, then the tools as sent. */
  readonly schemas: Digest;
  readonly tools: Digest;
  readonly parameters: Digest;
  readonly marks: Digest;
  readonly ledger: Digest;
  readonly response: Digest | null;
}

/** The body of a turn's link: digests and platform ids only, so that an erasure never has to change it. */
interface TurnLink {
  readonly turn: string;
  readonly thread: string;
  readonly status: string;
  readonly at: number;
  readonly requests: readonly RequestLink[];
  /** The digest of all else that the turn left behind. */
  readonly record: Digest;
}

/** A message of the turn's own, as far as a link is made of it. */
type LinkedMessage = TranscriptPlace & { readonly position: number; readonly rolling?: Digest };

/**
 * Rows that the turn's commit has written. The turn has no others: it writes all of them at once (law 7).
 */
export interface WrittenRows {
  /** The turn's own messages, in order. */
  readonly messages: readonly TranscriptPlace[];
  /** Where its transcript ends now; undefined for a turn that adds nothing to one. */
  readonly end: TranscriptEnd | undefined;
  readonly requests: readonly Row<"request">[];
  /** The epochs that it opened, and where the transcript of each began. */
  readonly epochs: readonly OpenedEpoch[];
  readonly slots: readonly Row<"slot">[];
}

export interface OpenedEpoch {
  readonly row: Row<"epoch">;
  readonly rolling: Digest | null;
}

/** Rows that the same transaction has read or written already, and does not change. */
export interface ReadBefore {
  readonly thread?: Row<"thread">;
  readonly written?: WrittenRows;
  readonly epoch?: Row<"epoch"> | undefined;
  readonly events?: readonly HandledEvent[] | undefined;
  /** The turn's own messages and requests, in order. */
  readonly messages?: Awaited<ReturnType<typeof ownMessages>>;
  readonly requests?: readonly Row<"request">[];
  readonly staged?: readonly Row<"staged">[] | undefined;
  /** Where the transcript ended before the turn. */
  readonly base?: TranscriptEnd | undefined;
  /** How the turn ends, in its commit. */
  readonly ending?: EndedTurn;
}

/**
 * The body of a turn's link, made of the rows. The commit gives those that it has written; `verify` reads all of them and must get the
 * same bytes. So nothing is linked that was not stored.
 */
export async function turnLink(tx: Tx, turn: Row<"turn">, read: ReadBefore = {}): Promise<string> {
  const { written } = read;
  const [own, requests, left, prefix] = await Promise.all([
    written
      ? written.messages.map((one, position): LinkedMessage => ({ ...one, position }))
      : (read.messages ?? ownMessages(tx, turn)),
    written ? written.requests.toSorted((a, b) => a.n - b.n) : (read.requests ?? requestRows(tx, turn, turn.id)),
    leftBehind(tx, turn, read),
    read.epoch && (written ? knownPrefix : prefixOf)(tx, turn.org, read.epoch),
  ]);
  const known = new Map<string, Prefix>();
  if (read.epoch && prefix) known.set(`${turn.thread} ${read.epoch.n}`, prefix);
  const messages = own.map(messageFacts);
  const link: TurnLink = {
    turn: turn.id,
    thread: turn.thread,
    status: turn.status,
    at: turn.ended_at ?? 0,
    requests: await requestLinks(tx, requests, { known, own: own.map(({ piece }) => piece), base: read.base }),
    record: digestOf(
      canonicalJson({
        ...(await otherFacts(tx, turn, left, await ownEnd(tx, turn, own, written))),
        messages,
        requests: requests.map(requestFacts),
      }),
    ),
  };
  return canonicalJson(link);
}

async function requestLinks(
  tx: Tx,
  rows: readonly Row<"request">[],
  {
    known: prefixes,
    own,
    base: end,
  }: { readonly known: Map<string, Prefix>; readonly own: readonly Digest[] } & Pick<ReadBefore, "base">,
): Promise<readonly RequestLink[]> {
  return inOrder(rows, async (row) => {
    // A request that names another thread has no epoch there.
    const epoch = `${row.thread} ${row.epoch}`;
    const known = prefixes.get(epoch) ?? (await prefixOf(tx, row.org, await epochOf(tx, row)));
    prefixes.set(epoch, known);
    const { prefix, schemas, tools } = known;
    const { n, parameters, marks, ledger, reply: response } = row;
    return {
      n,
      prompt: await promptOf(tx, row, { prefix, own, end }),
      schemas,
      tools,
      parameters,
      marks,
      ledger,
      response,
    };
  });
}

type Prefix = PrefixManifest & { readonly prefix: Digest };

async function prefixOf(tx: Tx, org: OrgId, { prefix }: Pick<Row<"epoch">, "prefix">): Promise<Prefix> {
  return { ...toManifest(await sharedText(tx, org, prefix)), prefix };
}

/** What prefixes consist of, by organization and digest: few, and each of many turns. Only commits use it: `verify` reads the tables. */
const prefixes = new Map<string, Prefix>();
const MOST_PREFIXES = 200;

async function knownPrefix(tx: Tx, org: OrgId, epoch: Pick<Row<"epoch">, "prefix">): Promise<Prefix> {
  const key = `${org} ${epoch.prefix}`;
  const known = prefixes.get(key);
  if (known !== undefined) return known;
  const read = await prefixOf(tx, org, epoch);
  if (prefixes.size >= MOST_PREFIXES) prefixes.clear();
  prefixes.set(key, read);
  return read;
}

async function epochOf(tx: Tx, row: Row<"request">): Promise<Row<"epoch">> {
  const epoch = await findEpoch(tx, row, row.thread, row.epoch);
  if (!epoch) throw broken(`epoch ${row.epoch} of thread ${row.thread} is not in the record`, row.tail);
  return epoch;
}

/** Columns of a request that are not digests. */
function requestFacts(row: Row<"request">): unknown {
  const { n, epoch, base, own, taint, finish, input, cache_read, cache_write, output, dollars, at, milliseconds } = row;
  const bill = { input, cache_read, cache_write, output, dollars, ...newerFacts(row) };
  return { n, epoch, base, own, taint, finish, ...bill, at, milliseconds };
}

/** Links of requests that were sent before these were kept do not have them. */
function newerFacts(row: Row<"request">): object {
  const { cache_write_long, predicted_read, predicted_write, predicted_write_long, predicted_input } = row;
  const newer = { cache_write_long, predicted_read, predicted_write, predicted_write_long, predicted_input };
  return Object.fromEntries(Object.entries(newer).filter(([, value]) => value !== null));
}

function messageFacts({ position, piece, trust, tokens, came_with }: LinkedMessage): unknown {
  return { position, piece, trust, tokens, came_with };
}

/** Everything else that the turn left behind. */
type LeftBehind = Awaited<ReturnType<typeof leftBehind>>;

/** Nothing of it depends on the rest: on a server, all of it is one round trip. */
async function leftBehind(tx: Tx, turn: Row<"turn">, read: ReadBefore) {
  const at = { ...owner(turn), turn: turn.id };
  const [thread, events, calls, epochs, slots, staged, ofParts] = await Promise.all([
    read.thread ?? findThread(tx, turn, turn.thread),
    read.events ?? eventsOfTurn(tx, turn, turn.id),
    callFacts(tx, turn),
    epochsOpened(tx, turn, read.written),
    read.written ? read.written.slots.map(slotFacts) : tx.all(slotsOfTurn(at)),
    batchFacts(tx, turn, read.staged),
    partFacts(tx, at, read.ending),
  ]);
  return { thread, events, calls, epochs, slots, staged, ofParts };
}

/** Everything else that the turn left behind, without the contact and without any text. */
async function otherFacts(
  tx: Tx,
  turn: Row<"turn">,
  left: LeftBehind,
  end: Digest | null,
): Promise<Record<string, unknown>> {
  const {
    seq,
    attempt,
    version,
    started_at,
    stop,
    code,
    words,
    model,
    wire,
    mode,
    totals,
    epoch,
    length,
    own,
    steps,
    run,
    upto,
  } = turn;
  return {
    thread: await threadFacts(tx, turn, left.thread),
    // Links of turns that ended before it was kept do not have it.
    turn: {
      seq,
      attempt,
      version,
      started_at,
      stop,
      code,
      words,
      model,
      wire,
      mode,
      totals,
      epoch,
      length,
      ...(own !== null && { own }),
      ...(steps !== null && { steps }),
      ...(run !== turn.id && { run }),
      ...(upto !== null && { upto }),
    },
    transcript: end,
    events: left.events.map((event) => {
      const { id, thread, seq, kind, trust, channel, piece, at, position, proof, answers } = event;
      // Links of messages that came before it was kept do not have it.
      return {
        id,
        thread,
        seq,
        kind,
        trust,
        channel,
        piece,
        at,
        position,
        ...(proof !== null && { proof }),
        ...(answers !== null && { answers }),
      };
    }),
    ...left.calls,
    epochs: left.epochs,
    slots: left.slots.sort((a, b) => a.position - b.position),
    staged: left.staged,
    ...left.ofParts,
  };
}

/** The features' parts of the link. */
async function partFacts(tx: Tx, of: OneTurn, ending?: EndedTurn): Promise<Record<string, unknown>> {
  const facts = {};
  for (const part of tx.parts) Object.assign(facts, await part.inLink?.(tx, of, ending));
  return facts;
}

/** The digest of its transcript. The last of its own messages is the last there, if there are any: all of them, as the turn says. */
async function ownEnd(
  tx: Tx,
  turn: Row<"turn">,
  messages: readonly LinkedMessage[],
  written: WrittenRows | undefined,
): Promise<Digest | null> {
  const { epoch, length, own } = turn;
  if (epoch === null) return null;
  if (written?.end !== undefined) return written.end.rolling;
  const last = own === messages.length ? messages.at(-1)?.rolling : undefined;
  return last ?? rollingAt(tx, turn, turn.thread, { epoch, count: length ?? 0 });
}

/** A thread's columns that are fixed when it opens. */
async function threadFacts(tx: Tx, turn: Row<"turn">, found: Row<"thread"> | undefined): Promise<unknown> {
  if (!found) {
    throw new StrataError(
      "record_broken",
      `thread ${turn.thread} of turn ${turn.id} is gone: run \`strata verify\` where the data is`,
    );
  }
  const { channel, created_at, forked_thread, forked_turn } = found;
  const asks = found.caller_agent;
  // A link keeps the name that the caller had when it was made.
  const agent = asks === null || turn.link === null ? asks : await nameAt(tx, turn.org, asks, turn.link);
  const caller = { thread: found.caller_thread, agent, call: found.caller_call };
  const isCalled = Object.values(caller).some((one) => one !== null);
  const { initiator, target } = found;
  const hasParties = initiator !== null || target !== null;
  return {
    ...{ channel, created_at, forked_thread, forked_turn },
    ...(isCalled && { caller }),
    ...(hasParties && { parties: { initiator, target } }),
  };
}

/** The calls that the turn left open, in their state then: later changes are not part of the turn. */
async function callFacts(tx: Tx, turn: Row<"turn">): Promise<{ readonly calls?: readonly unknown[] }> {
  const calls = turn.status === "waiting" ? await callsOfTurn(tx, turn, turn.id) : [];
  return calls.length === 0 ? {} : { calls: calls.map(({ state: _, turn: __, ...call }) => call) };
}

async function epochsOpened(tx: Tx, turn: Row<"turn">, written?: WrittenRows): Promise<readonly unknown[]> {
  if (written) {
    const opened = written.epochs.toSorted((a, b) => a.row.n - b.row.n);
    return opened.map(({ row: { n, reason, cut, mode, prefix, entries, start }, rolling }) => {
      return { n, reason, cut, mode, prefix, entries, start, transcript: rolling };
    });
  }
  const opened = (await tx.all(epochsOfTurn({ ...owner(turn), turn: turn.id }))).sort((a, b) => a.n - b.n);
  return inOrder(opened, async (row) => {
    return { ...row, transcript: await rollingAt(tx, turn, turn.thread, { epoch: row.n, count: row.start }) };
  });
}

const epochsOfTurn = fixed((at: OneTurn) =>
  query
    .selectFrom("epoch")
    .select(["n", "reason", "cut", "mode", "prefix", "entries", "start"])
    .where((eb) => eb.and({ ...owner(at), turn: at.turn })),
);

type SlotFacts = Pick<Row<"slot">, "thread" | "position" | "kind" | "speaker" | "piece" | "at">;

const slotFacts = ({ thread, position, kind, speaker, piece, at }: SlotFacts): SlotFacts => {
  return { thread, position, kind, speaker, piece, at };
};

/** Later changes by a person's act are in that act's link. */
const slotsOfTurn = fixed((at: OneTurn) =>
  query
    .selectFrom("slot")
    .select(["thread", "position", "kind", "speaker", "piece", "at"])
    .where((eb) => eb.and({ ...owner(at), turn: at.turn }))
    .where("act", "is", null),
);
