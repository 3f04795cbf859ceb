import { sql } from "kysely";
import {
  type ContactScope,
  type Digest,
  isBatch,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import type { TranscriptPlace } from "../digests.ts";
import type { Claim, TurnOutcome } from "../records.ts";
import { toTranscriptMessage } from "../rows.ts";
import { fixed, ONE, owner, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { KnownEpoch, KnownEpochs } from "../threads/known-epochs.ts";
import { findThread } from "../threads/threads.ts";
import type { Tx } from "../tx.ts";
import type { TranscriptEnd } from "./epochs.ts";
import { sentWith } from "./turns.ts";

/** A turn that runs has none of it. */
export const NOT_ENDED = {
  ended_at: null,
  stop: null,
  code: null,
  words: null,
  model: null,
  wire: null,
  mode: null,
  totals: null,
  steps: null,
  epoch: null,
  length: null,
  own: null,
  link: null,
} as const;

/**
 * The thread, if the claim is still its newest and the claim's turn runs.
 * @throws StrataError `lease_lost`, also where one of several senders was erased; `thread_not_found` where the only one was
 */
export async function fenced(tx: Tx, claim: Claim): Promise<Held> {
  const { scope, id } = claim.thread;
  const { turn, fence, holder } = claim;
  const held = await tx.first(heldThread({ ...owner(scope), id, turn, fence, holder }));
  if (held) return heldOf(held, turn);
  // Its contact has another name since.
  if (typeof (await findThread(tx, { ...scope, contact: null }, id))?.erased_link === "number")
    throw erasedMeanwhile(claim);
  const says = `another worker took thread ${id} over while turn ${claim.turn} ran; nothing of this attempt was stored`;
  throw new StrataError("lease_lost", `${says}: read the thread again; the other worker's turn is valid`, {
    thread: id,
  });
}

function erasedMeanwhile({ turn, thread: { scope, id } }: Claim): StrataError {
  if (isBatch(scope)) {
    const says = `one of the senders of turn ${turn} was erased while it ran; nothing of it was stored, and the others wait for the next turn`;
    return new StrataError("lease_lost", says, { turn, thread: id });
  }
  const says = `${scope.contact} was erased while turn ${turn} ran; nothing of it was stored, and thread ${id} is closed`;
  return new StrataError("thread_not_found", `${says}: open a new one to talk with this contact`, { turn, thread: id });
}

interface HeldRow {
  readonly id: ThreadId;
  readonly turn: TurnId;
  readonly fence: number;
  readonly holder: string;
}

/** The thread, and the turn that runs on it as its claim has written it; the thread's last slot and its contact's key, if there are any. */
interface Held {
  readonly thread: Row<"thread">;
  readonly turn: Row<"turn">;
  readonly lastSlot: number | null;
  readonly key: Uint8Array | null;
}

const heldThread = fixed((at: ContactScope & HeldRow) =>
  query
    .selectFrom("thread")
    .innerJoin("turn", (join) =>
      join
        .onRef("turn.org", "=", "thread.org")
        .onRef("turn.agent", "=", "thread.agent")
        .onRef("turn.contact", "=", "thread.contact"),
    )
    .selectAll("thread")
    .select([
      "turn.thread as turn_thread",
      "turn.seq as turn_seq",
      "turn.attempt as turn_attempt",
      "turn.version as turn_version",
      "turn.started_at as turn_started",
      "turn.run as turn_run",
      "turn.upto as turn_upto",
      "turn.retracted as turn_retracted",
    ])
    .select((eb) => [
      eb
        .selectFrom("slot")
        .select("slot.position")
        .whereRef("slot.org", "=", "thread.org")
        .whereRef("slot.agent", "=", "thread.agent")
        .whereRef("slot.contact", "=", "thread.contact")
        .whereRef("slot.thread", "=", "thread.id")
        .orderBy("slot.position", "desc")
        .limit(ONE)
        .as("last_slot"),
      eb
        .selectFrom("contact_key")
        .select("contact_key.key")
        .whereRef("contact_key.org", "=", "thread.org")
        .whereRef("contact_key.agent", "=", "thread.agent")
        .whereRef("contact_key.contact", "=", "thread.contact")
        .as("contact_key"),
    ])
    .where("thread.org", "=", at.org)
    .where("thread.agent", "=", at.agent)
    .where("thread.contact", "=", at.contact)
    .where("thread.id", "=", at.id)
    .where("thread.fence", "=", at.fence)
    .where("thread.holder", "=", at.holder)
    .where("turn.id", "=", at.turn)
    .where("turn.status", "=", sql.lit("running")),
);

type HeldColumns = Row<"thread"> & {
  readonly turn_thread: ThreadId;
  readonly turn_seq: number;
  readonly turn_attempt: number;
  readonly turn_version: Digest;
  readonly turn_started: number;
  readonly turn_run: TurnId;
  readonly turn_upto: number | null;
  readonly turn_retracted: number | null;
  readonly last_slot: number | null;
  readonly contact_key: Uint8Array | null;
};

function heldOf(row: HeldColumns, id: TurnId): Held {
  const { turn_thread, turn_seq, turn_attempt, turn_version, turn_started, turn_run, turn_upto, turn_retracted } = row;
  const turn: Row<"turn"> = {
    ...owner(row),
    id,
    thread: turn_thread,
    seq: turn_seq,
    status: "running",
    attempt: turn_attempt,
    version: turn_version,
    started_at: turn_started,
    run: turn_run,
    upto: turn_upto,
    retracted: turn_retracted,
    ...NOT_ENDED,
  };
  return { thread: row, turn, lastSlot: row.last_slot, key: row.contact_key };
}

/** What is known of threads, and who is to be informed once it is committed. */
export interface Keeping {
  readonly known: KnownEpochs;
  readonly after: (note: () => void) => void;
}

/** A turn after its commit: `stays`, the epoch that it continued, as it was before. */
interface SettledTurn {
  readonly claim: Claim;
  readonly outcome: TurnOutcome;
  readonly turn: Row<"turn">;
  readonly stays: KnownEpoch | undefined;
  readonly messages: readonly TranscriptPlace[];
  readonly end: TranscriptEnd | undefined;
}

/** Notes what the next turn on the thread would read. Its place among the thread's turns is how many have ended by now. */
export function noteTurn(known: KnownEpochs, { claim, outcome, turn, stays, messages, end }: SettledTurn): void {
  const { scope, id } = claim.thread;
  const past = known.past(scope, id, turn.seq - 1);
  if (past !== undefined) {
    const sent = past.sent && sentWith(past.sent, turn, outcome.requests);
    const isClosed = past.isClosed && claim.open.length === 0 && turn.status !== "waiting";
    known.putPast(scope, id, { turns: turn.seq, sent, isClosed });
  }
  if (stays === undefined || end === undefined) return;
  const texts = outcome.messages.map(({ message }) => JSON.stringify(message));
  const added = messages.map((place, i) => toTranscriptMessage(place, texts[i] ?? ""));
  const { row, epoch } = stays;
  const transcript = [...epoch.transcript, ...added];
  const characters = texts.reduce((sum, text) => sum + text.length, stays.characters);
  known.put(scope, id, { row, epoch: { ...epoch, transcript }, end, characters });
}
