import type { Embedder } from "../protocol/index.ts";
import { unitVector } from "./embed.ts";

const DIMENSIONS = 512;
/** Letters of a piece of a word. */
const PIECES = [3, 4, 5] as const;

/**
 * No model and no meaning: a text's vector counts the pieces of its words, by a hash of each. Texts whose words are built of
 * the same pieces lie near each other (`Geburtstagskuchen` and `Kuchen zum Geburtstag`), synonyms do not. For tests and for
 * trying the way of vectors without a key; it needs no network and is the same on every machine.
 */
export function rehearsalEmbedder(): Embedder {
  return {
    ref: "rehearsal",
    embed: async (texts, { signal }) => {
      signal.throwIfAborted();
      return { vectors: texts.map(vectorOf), tokens: 0 };
    },
  };
}

function vectorOf(text: string): Float32Array {
  const counts = new Float64Array(DIMENSIONS);
  for (const piece of piecesOf(text)) {
    const hash = hashOf(piece);
    const at = hash % DIMENSIONS;
    // The sign is chance as well: two pieces in one place are as likely to cancel out as to add up.
    counts[at] = (counts[at] ?? 0) + (hash & 0x8000_0000 ? -1 : 1);
  }
  return unitVector(counts) ?? new Float32Array(DIMENSIONS);
}

function* piecesOf(text: string): Generator<string> {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  for (const word of words) {
    const signs = [..." ", ...word, " "];
    for (const length of PIECES) {
      for (let at = 0; at + length <= signs.length; at++) yield signs.slice(at, at + length).join("");
    }
  }
}

/** FNV-1a over the code units, in 32 bits. */
function hashOf(piece: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < piece.length; i++) hash = Math.imul(hash ^ piece.charCodeAt(i), 0x0100_0193);
  return hash >>> 0;
}
