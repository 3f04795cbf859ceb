import type { ModelRef } from "./agent.ts";
import type { MemoryId, TurnId } from "./ids.ts";
import type { Digest } from "./json.ts";
import type { Mode } from "./layer.ts";
import type { EpochReason, LedgerEntry } from "./ledger.ts";
import { type Message, withoutReasoning } from "./message.ts";
import type { Prefix } from "./request.ts";
import type { Trust } from "./trust.ts";

/** A message of a transcript, with what the compiler needs to know about it. */
export interface TranscriptMessage {
  readonly message: Message;
  /** The lowest trust of what it was made from. */
  readonly trust: Trust;
  readonly tokens: number;
  /** The turn that it came with; missing for the platform's own marks. */
  readonly turn: TurnId | null;
}

/** A stretch of a thread whose prefix is frozen and whose transcript only grows. */
export interface Epoch {
  /** The run whose calls are open at the end of the transcript: a cut keeps all its messages. Known while a turn runs, and never stored. */
  readonly openRun?: TurnId;
  /** 1 for the thread's first. */
  readonly n: number;
  readonly reason: EpochReason;
  /** Messages of the thread that this epoch no longer shows. */
  readonly cut: number;
  readonly prefix: Prefix;
  /** The ledger's lines of the prefix, frozen with it. */
  readonly prefixEntries: readonly LedgerEntry[];
  readonly mode: Mode;
  readonly transcript: readonly TranscriptMessage[];
  /** Only when read from the record: the agent's version and the wire of the turn that opened it. */
  readonly openedFor?: { readonly version: Digest; readonly wire: ModelRef | null };
  /** Only when read from the record: something that it showed was retracted since. It is left out here, and the next request begins a new epoch. */
  readonly retracted?: true;
}

/** The memories that are frozen, in frames, at the start of the epoch's transcript. */
export function frozenIn(epoch: Pick<Epoch, "prefixEntries"> | undefined): readonly MemoryId[] {
  return epoch?.prefixEntries.flatMap(({ items }) => items?.memories ?? []) ?? [];
}

/** An epoch's messages as they are sent: without any reasoning, once the provider has rejected the model's reasoning. */
export function sentIn({ reason }: Pick<Epoch, "reason">, messages: readonly Message[]): readonly Message[] {
  return reason === "refused" ? messages.map(withoutReasoning) : messages;
}
