import { canonicalJson, type Digest, digestOf } from "../../protocol/index.ts";
import type { PrefixManifest } from "../digests.ts";
import { toManifest } from "../rows.ts";
import type { Row } from "../tables.ts";
import { type Connection, query } from "./connection.ts";
import { findEpoch, rollingAt } from "./epochs.ts";
import { eventsOfTurn } from "./events.ts";
import { broken, sharedText } from "./pieces.ts";
import { ownMessages, promptOf, requestRows } from "./requests.ts";
import { owner } from "./scope.ts";

/** One request in a link: what was sent, under which rules, and what came back. */
export interface RequestLink {
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

/** What a turn's link says: digests and platform ids only, so that an erasure never has to touch it. */
export interface TurnLink {
  readonly turn: string;
  readonly thread: string;
  readonly status: string;
  readonly at: number;
  readonly requests: readonly RequestLink[];
  /** The digest of all else that the turn left behind. */
  readonly record: Digest;
}

/**
 * The body of a turn's link, read from the rows. The commit writes the rows, reads them back with this and links them;
 * `verify` reads them again and must get the same bytes. So nothing is linked that was not stored.
 */
export function turnLink(db: Connection, turn: Row<"turn">): string {
  const own = ownMessages(db, turn, turn.id);
  const requests = requestRows(db, turn, turn.id);
  const pieces = own.map(({ piece }) => piece);
  const link: TurnLink = {
    turn: turn.id,
    thread: turn.thread,
    status: turn.status,
    at: turn.ended_at ?? 0,
    requests: requests.map((row) => requestLink(db, row, pieces)),
    record: digestOf(
      canonicalJson({ ...rest(db, turn), messages: own.map(messageFacts), requests: requests.map(facts) }),
    ),
  };
  return canonicalJson(link);
}

function requestLink(db: Connection, row: Row<"request">, own: readonly Digest[]): RequestLink {
  const epoch = findEpoch(db, row, row.thread, row.epoch);
  if (!epoch) throw broken(`epoch ${row.epoch} of thread ${row.thread} is not in the record`, row.tail);
  const manifest: PrefixManifest = toManifest(sharedText(db, row.org, epoch.prefix));
  const { n, parameters, marks, ledger, reply: response } = row;
  const { schemas, tools } = manifest;
  return {
    n,
    prompt: promptOf(db, row, { prefix: epoch.prefix, own }),
    schemas,
    tools,
    parameters,
    marks,
    ledger,
    response,
  };
}

/** Columns of a request that are no digests. */
function facts(row: Row<"request">): unknown {
  const { n, epoch, base, own, taint, finish, input, cache_read, cache_write, output, dollars, at, milliseconds } = row;
  return { n, epoch, base, own, taint, finish, input, cache_read, cache_write, output, dollars, at, milliseconds };
}

function messageFacts({ piece, trust, tokens, came_with }: Row<"turn_message">): unknown {
  return { piece, trust, tokens, came_with };
}

/** Everything else that the turn left behind, without the contact and without any text. */
function rest(db: Connection, turn: Row<"turn">): Record<string, unknown> {
  const { seq, attempt, version, started_at, stop, code, words, model, wire, mode, totals, epoch, length } = turn;
  const count = length ?? 0;
  return {
    turn: { seq, attempt, version, started_at, stop, code, words, model, wire, mode, totals, epoch, length },
    transcript: epoch === null ? null : rollingAt(db, turn, turn.thread, { epoch, count }),
    events: eventsOfTurn(db, turn, turn.id).map(({ id, seq, kind, trust, channel, piece, at }) => {
      return { id, seq, kind, trust, channel, piece, at };
    }),
    epochs: epochsOpened(db, turn),
    slots: slotsAdded(db, turn),
    outbox: messagesOut(db, turn),
  };
}

function epochsOpened(db: Connection, turn: Row<"turn">): readonly unknown[] {
  const wanted = { ...owner(turn), turn: turn.id };
  const columns = ["n", "reason", "cut", "mode", "prefix", "entries", "start"] as const;
  const opened = db.all(
    query
      .selectFrom("epoch")
      .select(columns)
      .where((eb) => eb.and(wanted))
      .orderBy("n"),
  );
  return opened.map((row) => {
    return { ...row, transcript: rollingAt(db, turn, turn.thread, { epoch: row.n, count: row.start }) };
  });
}

function slotsAdded(db: Connection, turn: Row<"turn">): readonly unknown[] {
  const wanted = { ...owner(turn), turn: turn.id };
  const columns = ["position", "kind", "speaker", "piece", "at"] as const;
  return db.all(
    query
      .selectFrom("slot")
      .select(columns)
      .where((eb) => eb.and(wanted))
      .orderBy("position"),
  );
}

function messagesOut(db: Connection, turn: Row<"turn">): readonly unknown[] {
  const wanted = { ...owner(turn), turn: turn.id };
  const columns = ["id", "channel", "piece", "at"] as const;
  return db.all(
    query
      .selectFrom("outbox")
      .select(columns)
      .where((eb) => eb.and(wanted))
      .orderBy("id"),
  );
}
