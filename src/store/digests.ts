import {
  canonicalJson,
  chained,
  type Digest,
  digestOf,
  keyedDigest,
  type Ledger,
  type Memory,
  type NewMemory,
  type SystemBlock,
  type Trust,
  type TurnId,
} from "../protocol/index.ts";

/**
 * What the record digests, and how. Pure, and the same for every database: a record moved from one to another stays valid. Nothing here
 * holds personal text or a contact: only digests, and those of personal text are keyed.
 */

/** A message's place in a transcript, without its text. */
export interface TranscriptPlace {
  readonly piece: Digest;
  readonly trust: Trust;
  readonly tokens: number;
  readonly came_with: TurnId | null;
}

/**
 * A ledger as it is stored. Its first lines describe the prefix and are the same in each request of an epoch, so they are stored as a
 * separate text, named by `before`; of the rest, only the values are stored with the request. Ledgers of earlier versions are stored whole,
 * or have `before` in themselves.
 */
export type StoredLedger = LedgerRest | LedgerValues;

/** A ledger without its first lines, and the digest of those. */
export type LedgerRest = Ledger & { readonly before?: Digest };

/** The values of one ledger, which fill the gaps of a form that it shares with other ledgers. */
export interface LedgerValues {
  readonly form: Digest;
  readonly values: string;
}

/** A ledger's text with gaps in place of its values, and its first lines. */
export interface LedgerForm {
  readonly before: Digest;
  readonly text: string;
}

/** The digests of an epoch's prefix: the text of the shared piece that the epoch row names. */
export interface PrefixManifest {
  /** The tools as sent. */
  readonly tools: Digest;
  /** The same in canonical JSON: equal schemas are equal, however they were written. */
  readonly schemas: Digest;
  readonly system: readonly (Omit<SystemBlock, "text"> & { readonly text: Digest })[];
}

/** The digest of a transcript with one more message. It includes the trust, so that a message's trust cannot be raised afterwards. */
export function rolled(before: Digest | null, message: TranscriptPlace): Digest {
  return chained(before, canonicalJson([message.piece, message.trust, message.tokens, message.came_with]));
}

/** Everything that a request sent, in one digest. It costs only as much as the turn's own messages, however long the transcript is. */
export function promptDigest(sent: {
  readonly prefix: Digest;
  /** The rolling digest of the transcript that was sent; null for an empty one. */
  readonly transcript: Digest | null;
  readonly own: readonly Digest[];
  readonly tail: Digest;
}): Digest {
  return digestOf(canonicalJson(sent));
}

/** A memory's digest under its scope's key. It covers everything, so a changed tag or trust is noticed. */
export function memoryDigest(key: Uint8Array, memory: Memory): Digest {
  const { id, content, tags, trust, turn = null, at, ...more } = memory;
  // Newer fields are included only if they differ from the usual value, because older digests do not have them.
  const usual: Partial<Memory> = { kind: "fact", support: 1 };
  const unusual = Object.entries(more).filter(([name, value]) =>
    Object.entries(usual).every(([a, b]) => a !== name || b !== value),
  );
  return keyedDigest(key, canonicalJson({ id, content, tags, trust, turn, at, ...Object.fromEntries(unusual) }));
}

/**
 * Recognizes the same memory said again, under the scope's key: the same kind and words, of the same time and speaker. Capitals, spaces and
 * the last full stop make no difference. A message is only the same as itself, because people say "yes" more than once.
 */
export function foldedDigest(key: Uint8Array, memory: NewMemory): Uint8Array {
  const { kind = "fact", content, speaker = null, validFrom = null, validUntil = null } = memory;
  const words = content
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/[.!。！]+$/u, "");
  const said =
    kind === "message" ? [memory.at, memory.session ?? null, memory.turn ?? null, memory.sources ?? null] : [];
  const whole = keyedDigest(key, canonicalJson(["same", kind, words, speaker, validFrom, validUntil, ...said]));
  return Buffer.from(whole, "hex").subarray(0, 16);
}
