import {
  type ContactScope,
  canonicalJson,
  type Digest,
  digestOf,
  type Epoch,
  keyedDigest,
  type OrgId,
  type Prefix,
  StrataError,
  type ThreadId,
  type TranscriptMessage,
  type TurnId,
} from "../../protocol/index.ts";
import { type PrefixManifest, rolled, type TranscriptPlace } from "../digests.ts";
import { toEntries } from "../ledgers.ts";
import { keepShared, keepTexts, present, sharedText, sharedTexts, TEXT_OF, textOf } from "../record/pieces.ts";
import { toManifest, toSystemText, toTools, toTranscriptMessage, type WithText } from "../rows.ts";
import { fixed, insert, insertAll, ONE, owner, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";

/** What every write of a turn's commit needs to know: whose it is and under which key its texts are digested. */
export interface Settling {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly key: Uint8Array;
  /** The digests of texts that are kept already, as most of a turn's are at once. */
  readonly kept: ReadonlyMap<string, Digest>;
}

/** Stores an epoch that the turn opened after the thread's `newest`, with the transcript it begins with. */
export async function openEpoch(
  tx: Tx,
  at: Settling,
  epoch: Epoch,
  newest: Row<"epoch"> | undefined,
): Promise<LastEpoch> {
  const { n, reason, cut, mode } = epoch;
  const last = newest?.n ?? 0;
  if (n !== last + 1) {
    const sentence = `thread ${at.thread} has ${last} epochs, so the next is ${last + 1} and not ${n}: claim the thread again`;
    throw new StrataError("invalid_input", sentence, { thread: at.thread, epoch: n });
  }
  const row: Row<"epoch"> = {
    ...owner(at.scope),
    thread: at.thread,
    n,
    reason,
    cut,
    mode,
    prefix: await keepPrefix(tx, at.scope.org, epoch.prefix),
    entries: await keepShared(tx, at.scope.org, JSON.stringify(epoch.prefixEntries)),
    turn: at.turn,
    start: epoch.transcript.length,
  };
  await tx.run(insert("epoch", row));
  const begin = { epoch: n, position: 0, rolling: null };
  const end = await appendMessages(tx, at, begin, await keepMessages(tx, at, epoch.transcript));
  return { epoch: row, end };
}

/** Stores a prefix unchanged, because it is replayed byte for byte. Conversations with the same prefix share it. */
async function keepPrefix(tx: Tx, org: OrgId, prefix: Prefix): Promise<Digest> {
  const manifest: PrefixManifest = {
    tools: await keepShared(tx, org, JSON.stringify(prefix.tools)),
    schemas: digestOf(canonicalJson(prefix.tools)),
    system: await inOrder(prefix.system, async ({ scope, text, layers }) => ({
      scope,
      text: await keepShared(tx, org, text),
      layers,
    })),
  };
  return keepShared(tx, org, JSON.stringify(manifest));
}

/** Stores the texts of messages and returns what a transcript needs of them. */
export async function keepMessages(
  tx: Tx,
  at: Settling,
  messages: readonly TranscriptMessage[],
): Promise<TranscriptPlace[]> {
  const texts = messages.map(({ message }) => JSON.stringify(message));
  const isKept = texts.every((text) => at.kept.has(text));
  const digests = isKept ? at.kept : await keepTexts(tx, at, texts);
  return messages.map(({ trust, tokens, turn: came_with }, i) => {
    const text = texts[i] ?? "";
    return { piece: digests.get(text) ?? keyedDigest(at.key, text), trust, tokens, came_with };
  });
}

/** The end of a transcript: the position of the next message, and the digest of all before it. */
export interface TranscriptEnd {
  readonly epoch: number;
  readonly position: number;
  readonly rolling: Digest | null;
}

/** Appends messages to a transcript and returns its new end. */
export async function appendMessages(
  tx: Tx,
  at: Settling,
  end: TranscriptEnd,
  messages: readonly TranscriptPlace[],
): Promise<TranscriptEnd> {
  let { position, rolling } = end;
  const rows: Row<"message">[] = [];
  for (const mark of messages) {
    rolling = rolled(rolling, mark);
    rows.push({ ...owner(at.scope), thread: at.thread, epoch: end.epoch, position, ...mark, rolling });
    position++;
  }
  await insertAll(tx, "message", rows);
  return { epoch: end.epoch, position, rolling };
}

/** The rolling digest of an epoch's first `count` messages. @throws StrataError `record_broken` when there are fewer */
export async function rollingAt(tx: Tx, scope: ContactScope, thread: ThreadId, at: EpochPoint): Promise<Digest | null> {
  if (at.count === 0) return null;
  const row = await tx.first(messageAt({ ...owner(scope), thread, epoch: at.epoch, position: at.count - 1 }));
  if (row) return row.rolling;
  const sentence = `epoch ${at.epoch} of thread ${thread} does not have the ${at.count} messages that were sent of it`;
  throw new StrataError("record_broken", `${sentence}: run \`strata verify\` where the data is, and restore a backup`, {
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
interface EpochPoint {
  readonly epoch: number;
  readonly count: number;
}

/** A scope and a thread of it. */
type InThread = ContactScope & { readonly thread: ThreadId };

/** The thread's newest epoch, and where its transcript ends. */
export async function lastEpoch(tx: Tx, scope: ContactScope, thread: ThreadId): Promise<LastEpoch | undefined> {
  const row = await tx.first(newestEpoch({ ...owner(scope), thread }));
  if (row === undefined) return undefined;
  const { position, rolling, ...epoch } = row;
  return { epoch, end: { epoch: epoch.n, position: position === null ? 0 : position + 1, rolling } };
}

/** An epoch, and where its transcript ends. */
export interface LastEpoch {
  readonly epoch: Row<"epoch">;
  readonly end: TranscriptEnd;
}

const newestEpoch = fixed((at: InThread) =>
  query
    .selectFrom("epoch")
    .selectAll()
    .select((eb) => {
      const last = eb
        .selectFrom("message")
        .whereRef("message.org", "=", "epoch.org")
        .whereRef("message.agent", "=", "epoch.agent")
        .whereRef("message.contact", "=", "epoch.contact")
        .whereRef("message.thread", "=", "epoch.thread")
        .whereRef("message.epoch", "=", "epoch.n")
        .orderBy("message.position", "desc")
        .limit(ONE);
      return [last.select("message.position").as("position"), last.select("message.rolling").as("rolling")];
    })
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .orderBy("n", "desc")
    .limit(ONE),
);

/** The row of one epoch. */
export async function findEpoch(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  n: number,
): Promise<Row<"epoch"> | undefined> {
  return tx.first(epochAt({ ...owner(scope), thread, n }));
}

const epochAt = fixed((at: InThread & { readonly n: number }) =>
  query
    .selectFrom("epoch")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), thread: at.thread, n: at.n })),
);

/** A row as an epoch with these messages as its transcript. */
export async function toEpoch(
  tx: Tx,
  row: Row<"epoch">,
  messages: readonly WithText<Row<"message">>[],
): Promise<Epoch> {
  const { n, reason, cut, mode } = row;
  return {
    n,
    reason,
    cut,
    ...(await readPrefix(tx, row)),
    mode,
    transcript: toTranscript(messages, n),
  };
}

/** The rows of an epoch's messages as its transcript has them. @throws StrataError `record_broken` where a text was erased */
export const toTranscript = (messages: readonly WithText<Row<"message">>[], n: number): readonly TranscriptMessage[] =>
  messages.map((message) =>
    toTranscriptMessage(message, present(message.text, `message ${message.position} of epoch ${n}`)),
  );

/**
 * An epoch that continues after a retraction, without the text retracted since it was sent. If that removed words from before a cut, or
 * memories at its start, it is rebuilt from the whole thread: the platform's blocks are removed as a whole.
 */
export async function toCurrentEpoch(
  tx: Tx,
  row: Row<"epoch">,
  messages: readonly WithText<Row<"message">>[],
): Promise<Epoch> {
  const gone = new Set(await tx.column(plain<TurnId>(RETRACTED_TURNS, row.org, row.agent, row.contact)));
  const isGone = ({ came_with, text }: WithText<Row<"message">>): boolean =>
    text === null || (came_with !== null && gone.has(came_with));
  // A text may be missing for an erasure alone: then reading it says so.
  if (gone.size === 0 || !messages.some(isGone)) return toEpoch(tx, row, messages);
  const isBlock = messages.some((one) => one.came_with === null && one.text === null);
  const all = isBlock ? await allMessages(tx, row, messages) : messages;
  const lost = new Set(all.filter(isGone).map(({ came_with }) => came_with));
  const epoch = await toEpoch(
    tx,
    row,
    all.filter((one) => !isGone(one) && (one.came_with === null || !lost.has(one.came_with))),
  );
  const prefixEntries = isBlock
    ? epoch.prefixEntries.filter(({ place }) => place !== "transcript")
    : epoch.prefixEntries;
  return { ...epoch, prefixEntries, ...(isBlock && { cut: 0 }), retracted: true };
}

/** A turn of a row's contact that has left its transcript. */
export const RETRACTED_OF = (table: string): string =>
  `select gone.id from turn as gone where gone.org = ${table}.org and gone.agent = ${table}.agent and gone.contact = ${table}.contact and gone.retracted is not null limit 1`;

const RETRACTED_TURNS = `select id from turn where org = ? and agent = ? and contact = ? and retracted is not null`;

/** Each turn's messages as the thread's newest epoch with them has them, before those of the running epoch. */
async function allMessages(
  tx: Tx,
  { org, agent, contact, thread, n }: Row<"epoch">,
  running: readonly WithText<Row<"message">>[],
): Promise<readonly WithText<Row<"message">>[]> {
  const earlier = plain<WithText<Row<"message">>>(EARLIER, org, agent, contact, thread, n);
  const own = running.filter(({ came_with }) => came_with !== null);
  const here = new Set(own.map(({ came_with }) => came_with));
  const rows = (await tx.all(earlier)).filter(({ came_with }) => !here.has(came_with));
  const newest = new Map(rows.map(({ came_with, epoch }) => [came_with, epoch]));
  return [...rows.filter(({ came_with, epoch }) => newest.get(came_with) === epoch), ...own];
}

const EARLIER = `select message.*, ${TEXT_OF("message")} as text from message
  where org = ? and agent = ? and contact = ? and thread = ? and epoch < ? and came_with is not null order by epoch, position`;

async function readPrefix(
  tx: Tx,
  { org, prefix, entries }: Row<"epoch">,
): Promise<Pick<Epoch, "prefix" | "prefixEntries">> {
  const { tools, system } = toManifest(await sharedText(tx, org, prefix));
  const textOf = await sharedTexts(tx, org, [tools, entries, ...system.map(({ text }) => text)]);
  return {
    prefix: {
      tools: toTools(textOf(tools)),
      system: system.map(({ scope, text, layers }) => ({ scope, text: toSystemText(textOf(text)), layers })),
    },
    prefixEntries: toEntries(textOf(entries)),
  };
}

/** An epoch's first `count` messages, or of these the ones from `from` on, in order, with their texts. */
export async function messagesOf(
  tx: Tx,
  scope: ContactScope,
  thread: ThreadId,
  { from = 0, ...upTo }: EpochPoint & { readonly from?: number },
): Promise<readonly WithText<Row<"message">>[]> {
  return tx.all(firstMessages({ ...owner(scope), thread, from, ...upTo }));
}

const firstMessages = fixed((at: InThread & EpochPoint & { readonly from: number }) =>
  query
    .selectFrom("message")
    .selectAll("message")
    .select(textOf("message").as("text"))
    .where("message.org", "=", at.org)
    .where("message.agent", "=", at.agent)
    .where("message.contact", "=", at.contact)
    .where("message.thread", "=", at.thread)
    .where("message.epoch", "=", at.epoch)
    .where("message.position", ">=", at.from)
    .where("message.position", "<", at.count)
    .orderBy("message.position"),
);
