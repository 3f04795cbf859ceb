import {
  billedUsage,
  type ContactScope,
  type Digest,
  digestOf,
  type Ledger,
  type Reply,
  StrataError,
  type TurnId,
} from "../../protocol/index.ts";
import {
  type LedgerForm,
  type LedgerRest,
  type LedgerValues,
  promptDigest,
  type StoredLedger,
  type TranscriptPlace,
} from "../digests.ts";
import { toEntries, toLedger, toLedgerForm, toStoredLedger } from "../ledgers.ts";
import { keepAllShared, keepText, ownText, sharedText, sharedTexts, textOf } from "../record/pieces.ts";
import type { RequestRecord } from "../records.ts";
import { toRequest, type WithText } from "../rows.ts";
import { fixed, insert, insertAll, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { messagesOf, rollingAt, type Settling, type TranscriptEnd } from "./epochs.ts";

/** Keeps what a turn added that failed: its requests are rebuilt from it. Of one that ended well it is in the transcript. */
export async function keepOwnMessages(tx: Tx, at: Settling, messages: readonly TranscriptPlace[]): Promise<void> {
  const rows = messages.map((mark, position) => ({ ...owner(at.scope), turn: at.turn, position, ...mark }));
  await insertAll(tx, "turn_message", rows);
}

/** Keeps a request: what repeats by reference, so that one more costs the same in a long conversation as in a short one. */
export async function keepRequest(tx: Tx, at: Settling, request: RequestRecord, has: Has): Promise<Row<"request">> {
  if (request.own > has.own || !(await hasBase(tx, at, request, has))) throw tooMany(at, request, has.own);
  const row: Row<"request"> = {
    ...owner(at.scope),
    thread: at.thread,
    turn: at.turn,
    ...numbers(request),
    tail: await keepText(tx, at, JSON.stringify(request.tail)),
    ...(await keepShape(tx, at, request)),
    ...(await replyColumns(tx, at, request.reply)),
    ...predicted(request),
  };
  await tx.run(insert("request", row));
  return row;
}

/** The request data without an owner: cache breakpoints, answer parameters, and what happened to each piece. */
async function keepShape(
  tx: Tx,
  at: Settling,
  request: RequestRecord,
): Promise<Pick<Row<"request">, "marks" | "parameters" | "ledger">> {
  const { ledger, ...repeated } = ledgerTexts(request.ledger);
  const [breakpoints, parameters] = [JSON.stringify(request.breakpoints), JSON.stringify(request.parameters)];
  await keepAllShared(tx, at.scope.org, [breakpoints, parameters, ...Object.values(repeated), ledger]);
  return { marks: digestOf(breakpoints), parameters: digestOf(parameters), ledger: digestOf(ledger) };
}

/** What differs from one request to the next where all else of a ledger is the same: its numbers, and ids. */
const VALUES = /(?<![A-Za-z0-9_])(?:\d+|[a-z]{3}_[0-9a-z]{26})(?![A-Za-z0-9_])/g;

/** Stands where a value was: JSON has no such sign. */
const GAP = "\u0001";

function ledgerTexts(ledger: Ledger): { readonly before: string; readonly form: string; readonly ledger: string } {
  const first = ledger.entries.findIndex(({ place }) => place !== "tools" && place !== "system");
  const count = first === -1 ? ledger.entries.length : first;
  const before = JSON.stringify(ledger.entries.slice(0, count));
  const text = JSON.stringify({ ...ledger, entries: ledger.entries.slice(count) });
  const form = JSON.stringify({ before: digestOf(before), text: text.replace(VALUES, GAP) } satisfies LedgerForm);
  const stored: StoredLedger = { form: digestOf(form), values: (text.match(VALUES) ?? []).join(",") };
  return { before, form, ledger: JSON.stringify(stored) };
}

/** What a request can have sent: this many messages of its turn, and the newest transcript as it ends before them. */
interface Has {
  readonly own: number;
  readonly end: TranscriptEnd | undefined;
}

async function hasBase(tx: Tx, at: Settling, { epoch, base }: RequestRecord, { end }: Has): Promise<boolean> {
  if (epoch === end?.epoch) return base <= end.position;
  try {
    await rollingAt(tx, at.scope, at.thread, { epoch, count: base });
    return true;
  } catch {
    return false;
  }
}

function tooMany(at: Settling, { n, epoch, own, base }: RequestRecord, has: number): StrataError {
  const message = `request ${n} of turn ${at.turn} says that it sent ${base} messages of epoch ${epoch} and ${own} of its turn`;
  const there = `the epoch has fewer or the turn has ${has}: hand all of them to the commit`;
  return new StrataError("invalid_input", `${message}, but ${there}`, { turn: at.turn, n });
}

type Numbers = Pick<Row<"request">, "n" | "epoch" | "base" | "own" | "taint" | "dollars" | "at" | "milliseconds">;

function numbers({ n, epoch, base, own, taint, dollars, at, milliseconds }: RequestRecord): Numbers {
  return { n, epoch, base, own, taint, dollars, at, milliseconds };
}

type ReplyColumns = Pick<
  Row<"request">,
  "reply" | "finish" | "input" | "cache_read" | "cache_write" | "cache_write_long" | "output"
>;

/** The answer, with its usage repeated in columns: costs are counted after an erasure too. */
async function replyColumns(tx: Tx, at: Settling, reply: Reply | null): Promise<ReplyColumns> {
  const none = { input: 0, cache_read: 0, cache_write: 0, cache_write_long: null, output: 0 };
  if (!reply) return { reply: null, finish: null, ...none };
  const { input, cacheRead: cache_read, cacheWrite: cache_write, cacheWriteLong = null, output } = billedUsage(reply);
  const piece = await keepText(tx, at, JSON.stringify(reply));
  return {
    reply: piece,
    finish: reply.finish,
    input,
    cache_read,
    cache_write,
    cache_write_long: cacheWriteLong,
    output,
  };
}

type PredictionColumns = Pick<
  Row<"request">,
  "predicted_read" | "predicted_write" | "predicted_write_long" | "predicted_input"
>;

function predicted({ prediction }: RequestRecord): PredictionColumns {
  return {
    predicted_read: prediction?.read ?? null,
    predicted_write: prediction?.write ?? null,
    predicted_write_long: prediction?.writeLong ?? null,
    predicted_input: prediction?.input ?? null,
  };
}

/** A scope and a turn of it. */
type InTurn = ContactScope & { readonly turn: TurnId };

/** A turn's requests in order. */
export async function requestRows(tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly Row<"request">[]> {
  return tx.all(requestsOfTurn({ ...owner(scope), turn }));
}

const requestsOfTurn = fixed((at: InTurn) =>
  query
    .selectFrom("request")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), turn: at.turn }))
    .orderBy("n"),
);

/** A row as a request without its bytes. */
export async function readRequest(tx: Tx, row: Row<"request">): Promise<Omit<RequestRecord, "tail">> {
  const textOf = await sharedTexts(tx, row.org, [row.marks, row.parameters]);
  return toRequest(row, {
    breakpoints: textOf(row.marks),
    parameters: textOf(row.parameters),
    ledger: await ledgerOf(tx, row),
    reply: row.reply === null ? null : await ownText(tx, row, row.reply),
  });
}

/** A request's ledger. @throws StrataError `record_broken` when a text of it is not there or not what its digest says */
export async function ledgerOf(tx: Tx, row: Row<"request">): Promise<Ledger> {
  const stored = toStoredLedger(await sharedText(tx, row.org, row.ledger));
  const { before, ...ledger } = "form" in stored ? await filledIn(tx, row, stored) : stored;
  if (before === undefined) return ledger;
  return { ...ledger, entries: [...toEntries(await sharedText(tx, row.org, before)), ...ledger.entries] };
}

async function filledIn(tx: Tx, { org }: Row<"request">, { form, values }: LedgerValues): Promise<LedgerRest> {
  const { before, text } = toLedgerForm(await sharedText(tx, org, form));
  const each = values.split(",").values();
  return { ...toLedger(text.replaceAll(GAP, () => each.next().value ?? "")), before };
}

/** A message that a turn added, with its place among them. */
export type OwnMessage = WithText<TranscriptPlace & Pick<Row<"turn_message">, "position">> & {
  /** Its position in the transcript: the digest of everything up to it. */
  readonly rolling?: Digest;
};

/**
 * A turn's own messages, in order, with their texts: those at the end of its transcript, if their number is recorded. A turn that failed
 * has separate rows for them, as all turns had before.
 */
export async function ownMessages(tx: Tx, turn: Row<"turn">): Promise<readonly OwnMessage[]> {
  const { own, epoch, length } = turn;
  if (own === null || epoch === null || length === null)
    return (await tx.all(messagesOfTurn({ ...owner(turn), turn: turn.id }))).sort((a, b) => a.position - b.position);
  const rows = await messagesOf(tx, turn, turn.thread, { epoch, count: length, from: length - own });
  return rows.map((row, position) => ({ ...row, position }));
}

/** Separate rows of messages beside the transcript's: a turn that records its number of messages has none. */
export const strayMessages = async (tx: Tx, turn: Row<"turn">): Promise<number> =>
  turn.own === null ? 0 : (await tx.all(messagesOfTurn({ ...owner(turn), turn: turn.id }))).length;

const messagesOfTurn = fixed((at: InTurn) =>
  query
    .selectFrom("turn_message")
    .selectAll("turn_message")
    .select(textOf("turn_message").as("text"))
    .where("turn_message.org", "=", at.org)
    .where("turn_message.agent", "=", at.agent)
    .where("turn_message.contact", "=", at.contact)
    .where("turn_message.turn", "=", at.turn),
);

/** The digest of all that a request sent, from digests in the record. */
export async function promptOf(tx: Tx, row: Row<"request">, sent: PromptParts): Promise<Digest> {
  const { epoch, base: count } = row;
  const isEnd = sent.end?.epoch === epoch && sent.end.position === count;
  const transcript = isEnd ? sent.end.rolling : await rollingAt(tx, row, row.thread, { epoch, count });
  return promptDigest({ prefix: sent.prefix, transcript, own: sent.own.slice(0, row.own), tail: row.tail });
}

/** The prefix of the request's epoch and the turn's own messages, by digest. */
interface PromptParts {
  readonly prefix: Digest;
  readonly own: readonly Digest[];
  /** An end of the transcript that is known already. */
  readonly end?: TranscriptEnd | undefined;
}
