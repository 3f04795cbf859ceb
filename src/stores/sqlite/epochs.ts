import {
  type ContactScope,
  canonicalJson,
  type Digest,
  digestOf,
  type Epoch,
  type OrgId,
  type Prefix,
  StrataError,
  type ThreadId,
  type TranscriptMessage,
} from "../../protocol/index.ts";
import { type PrefixManifest, rolled } from "../digests.ts";
import { toEntries, toManifest, toSystemText, toTools, toTranscriptMessage, type WithText } from "../rows.ts";
import type { Row } from "../tables.ts";
import { type Connection, query } from "./connection.ts";
import { keepOwn, keepShared, present, sharedText } from "./pieces.ts";
import { owner } from "./scope.ts";
import type { Settling } from "./settling.ts";

/** Keeps an epoch that the turn opened, with the transcript it starts from. */
export function openEpoch(db: Connection, at: Settling, epoch: Epoch): void {
  const { n, reason, cut, mode } = epoch;
  const last = lastEpoch(db, at.scope, at.thread)?.n ?? 0;
  if (n !== last + 1) {
    const says = `thread ${at.thread} has ${last} epochs, so the next is ${last + 1} and not ${n}: claim the thread again`;
    throw new StrataError("invalid_input", says, { thread: at.thread, epoch: n });
  }
  const row: Row<"epoch"> = {
    ...owner(at.scope),
    thread: at.thread,
    n,
    reason,
    cut,
    mode,
    prefix: keepPrefix(db, at.scope.org, epoch.prefix),
    entries: keepShared(db, at.scope.org, JSON.stringify(epoch.prefixEntries)),
    turn: at.turn,
    start: epoch.transcript.length,
  };
  db.run(query.insertInto("epoch").values(row));
  appendMessages(db, at, n, epoch.transcript);
}

/** A prefix is kept as given, for it is replayed byte for byte; every conversation that has the same one shares it. */
function keepPrefix(db: Connection, org: OrgId, prefix: Prefix): Digest {
  const manifest: PrefixManifest = {
    tools: keepShared(db, org, JSON.stringify(prefix.tools)),
    schemas: digestOf(canonicalJson(prefix.tools)),
    system: prefix.system.map(({ scope, text, layers }) => ({ scope, text: keepShared(db, org, text), layers })),
  };
  return keepShared(db, org, JSON.stringify(manifest));
}

/** Puts messages at the end of an epoch's transcript. */
export function appendMessages(
  db: Connection,
  at: Settling,
  epoch: number,
  messages: readonly TranscriptMessage[],
): void {
  let { position, rolling } = transcriptEnd(db, at.scope, at.thread, epoch);
  for (const { message, trust, tokens, turn } of messages) {
    const piece = keepOwn(db, at.scope, at.key, JSON.stringify(message));
    const mark = { piece, trust, tokens, came_with: turn };
    rolling = rolled(rolling, mark);
    const row = { ...owner(at.scope), thread: at.thread, epoch, position, ...mark, rolling };
    db.run(query.insertInto("message").values(row));
    position++;
  }
}

/** Where the next message of an epoch goes, and the digest of all before it. */
export function transcriptEnd(db: Connection, scope: ContactScope, thread: ThreadId, epoch: number): TranscriptEnd {
  const wanted = { ...owner(scope), thread, epoch };
  const last = query
    .selectFrom("message")
    .select(["position", "rolling"])
    .where((eb) => eb.and(wanted))
    .orderBy("position", "desc")
    .limit(1);
  const row = db.first(last);
  return row ? { position: row.position + 1, rolling: row.rolling } : { position: 0, rolling: null };
}

/** The end of a transcript. */
export interface TranscriptEnd {
  readonly position: number;
  readonly rolling: Digest | null;
}

/** The rolling digest of an epoch's first `count` messages. @throws StrataError `record_broken` when there are fewer */
export function rollingAt(db: Connection, scope: ContactScope, thread: ThreadId, at: EpochPoint): Digest | null {
  if (at.count === 0) return null;
  const wanted = { ...owner(scope), thread, epoch: at.epoch, position: at.count - 1 };
  const row = db.first(
    query
      .selectFrom("message")
      .select("rolling")
      .where((eb) => eb.and(wanted)),
  );
  if (row) return row.rolling;
  const says = `the transcript of epoch ${at.epoch} of thread ${thread} has no ${at.count} messages`;
  throw new StrataError("record_broken", `${says}: run 'strata verify' and restore a backup`, { thread, ...at });
}

/** A point of an epoch's transcript. */
export interface EpochPoint {
  readonly epoch: number;
  readonly count: number;
}

export function lastEpoch(db: Connection, scope: ContactScope, thread: ThreadId): Row<"epoch"> | undefined {
  const wanted = { ...owner(scope), thread };
  const newest = query
    .selectFrom("epoch")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .orderBy("n", "desc")
    .limit(1);
  return db.first(newest);
}

export function findEpoch(db: Connection, scope: ContactScope, thread: ThreadId, n: number): Row<"epoch"> | undefined {
  const wanted = { ...owner(scope), thread, n };
  return db.first(
    query
      .selectFrom("epoch")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

/** The newest epoch with all of its transcript. */
export function currentEpoch(db: Connection, scope: ContactScope, thread: ThreadId): Epoch | undefined {
  const row = lastEpoch(db, scope, thread);
  if (!row) return undefined;
  const all = { epoch: row.n, count: Number.MAX_SAFE_INTEGER };
  return toEpoch(db, row, messagesOf(db, scope, thread, all));
}

/** A row as an epoch with these messages as its transcript. */
export function toEpoch(db: Connection, row: Row<"epoch">, messages: readonly WithText<Row<"message">>[]): Epoch {
  const { n, reason, cut, mode } = row;
  return {
    n,
    reason,
    cut,
    prefix: readPrefix(db, row.org, row.prefix),
    prefixEntries: toEntries(sharedText(db, row.org, row.entries)),
    mode,
    transcript: messages.map((message) =>
      toTranscriptMessage(message, present(message.text, `message ${message.position} of epoch ${n}`)),
    ),
  };
}

function readPrefix(db: Connection, org: OrgId, digest: Digest): Prefix {
  const manifest = toManifest(sharedText(db, org, digest));
  return {
    tools: toTools(sharedText(db, org, manifest.tools)),
    system: manifest.system.map(({ scope, text, layers }) => ({
      scope,
      text: toSystemText(sharedText(db, org, text)),
      layers,
    })),
  };
}

/** An epoch's first `count` messages, in order, with their texts. */
export function messagesOf(
  db: Connection,
  scope: ContactScope,
  thread: ThreadId,
  upTo: EpochPoint,
): readonly WithText<Row<"message">>[] {
  const ordered = query
    .selectFrom("message")
    .innerJoin("piece", (join) =>
      join
        .onRef("piece.org", "=", "message.org")
        .onRef("piece.agent", "=", "message.agent")
        .onRef("piece.contact", "=", "message.contact")
        .onRef("piece.digest", "=", "message.piece"),
    )
    .selectAll("message")
    .select("piece.text")
    .where("message.org", "=", scope.org)
    .where("message.agent", "=", scope.agent)
    .where("message.contact", "=", scope.contact)
    .where("message.thread", "=", thread)
    .where("message.epoch", "=", upTo.epoch)
    .where("message.position", "<", upTo.count)
    .orderBy("message.position");
  return db.all(ordered);
}
