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
import { type MessageMark, type PrefixManifest, rolled } from "../digests.ts";
import { toEntries, toManifest, toSystemText, toTools, toTranscriptMessage, type WithText } from "../rows.ts";
import { fixed, insert, ONE, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
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
  db.run(insert("epoch", row));
  appendMessages(db, at, { epoch: n, position: 0, rolling: null }, keepMessages(db, at, epoch.transcript));
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

/** Keeps the texts of messages and gives what a transcript needs of them. */
export function keepMessages(db: Connection, at: Settling, messages: readonly TranscriptMessage[]): MessageMark[] {
  return messages.map(({ message, trust, tokens, turn: came_with }) => {
    const piece = keepOwn(db, at.scope, at.key, JSON.stringify(message));
    return { piece, trust, tokens, came_with };
  });
}

/** The end of a transcript: where the next message goes, and the digest of all before it. */
export interface TranscriptEnd {
  readonly epoch: number;
  readonly position: number;
  readonly rolling: Digest | null;
}

/** Puts messages at the end of a transcript and gives its new end. */
export function appendMessages(
  db: Connection,
  at: Settling,
  end: TranscriptEnd,
  messages: readonly MessageMark[],
): TranscriptEnd {
  let { position, rolling } = end;
  for (const mark of messages) {
    rolling = rolled(rolling, mark);
    db.run(insert("message", { ...owner(at.scope), thread: at.thread, epoch: end.epoch, position, ...mark, rolling }));
    position++;
  }
  return { epoch: end.epoch, position, rolling };
}

/** Where the transcript of an epoch ends. */
export function transcriptEnd(db: Connection, scope: ContactScope, thread: ThreadId, epoch: number): TranscriptEnd {
  const row = db.first(lastMessage({ ...owner(scope), thread, epoch }));
  return row ? { epoch, position: row.position + 1, rolling: row.rolling } : { epoch, position: 0, rolling: null };
}

const lastMessage = fixed((at: InThread & { readonly epoch: number }) =>
  query
    .selectFrom("message")
    .select(["position", "rolling"])
    .where((eb) => eb.and({ ...owner(at), thread: at.thread, epoch: at.epoch }))
    .orderBy("position", "desc")
    .limit(ONE),
);

/** The rolling digest of an epoch's first `count` messages. @throws StrataError `record_broken` when there are fewer */
export function rollingAt(db: Connection, scope: ContactScope, thread: ThreadId, at: EpochPoint): Digest | null {
  if (at.count === 0) return null;
  const row = db.first(messageAt({ ...owner(scope), thread, epoch: at.epoch, position: at.count - 1 }));
  if (row) return row.rolling;
  const says = `epoch ${at.epoch} of thread ${thread} does not have the ${at.count} messages that were sent of it`;
  throw new StrataError("record_broken", `${says}: run \`strata verify\` where the data is, and restore a backup`, {
    thread,
    ...at,
  });
}

const messageAt = fixed((at: InThread & { readonly epoch: number; readonly position: number }) =>
  query
    .selectFrom("message")
    .select("rolling")
    .where((eb) => eb.and({ ...owner(at), thread: at.thread, epoch: at.epoch, position: at.position })),
);

/** A point of an epoch's transcript. */
export interface EpochPoint {
  readonly epoch: number;
  readonly count: number;
}

/** A scope and a thread of it. */
type InThread = ContactScope & { readonly thread: ThreadId };

/** The row of the thread's newest epoch. */
export function lastEpoch(db: Connection, scope: ContactScope, thread: ThreadId): Row<"epoch"> | undefined {
  return db.first(newestEpoch({ ...owner(scope), thread }));
}

const newestEpoch = fixed((at: InThread) =>
  query
    .selectFrom("epoch")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .orderBy("n", "desc")
    .limit(ONE),
);

/** The row of one epoch. */
export function findEpoch(db: Connection, scope: ContactScope, thread: ThreadId, n: number): Row<"epoch"> | undefined {
  return db.first(epochAt({ ...owner(scope), thread, n }));
}

const epochAt = fixed((at: InThread & { readonly n: number }) =>
  query
    .selectFrom("epoch")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), thread: at.thread, n: at.n })),
);

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
  return db.all(firstMessages({ ...owner(scope), thread, ...upTo }));
}

const firstMessages = fixed((at: InThread & EpochPoint) =>
  query
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
    .where("message.org", "=", at.org)
    .where("message.agent", "=", at.agent)
    .where("message.contact", "=", at.contact)
    .where("message.thread", "=", at.thread)
    .where("message.epoch", "=", at.epoch)
    .where("message.position", "<", at.count)
    .orderBy("message.position"),
);
