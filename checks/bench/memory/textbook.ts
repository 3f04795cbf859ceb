import { stemmer } from "stemmer";
import type { Question, Remembered } from "../conversations.ts";
import type { MemoryEngine } from "./engine.ts";
import { STOP } from "./stop-words.ts";

/** As a textbook has it, set for long texts. */
const SATURATION = 1.6;
const LENGTH_PENALTY = 0.9;
/** Characters of a passage. */
const PASSAGE = 800;

type Scores = (terms: ReadonlySet<string>) => readonly number[];

function bm25(documents: readonly (readonly string[])[]): Scores {
  const having = new Map<string, number>();
  const counts = documents.map((terms) => {
    const own = new Map<string, number>();
    for (const term of terms) own.set(term, (own.get(term) ?? 0) + 1);
    for (const term of own.keys()) having.set(term, (having.get(term) ?? 0) + 1);
    return own;
  });
  const usual = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  const rarity = (term: string): number => {
    const frequency = having.get(term) ?? 0;
    return Math.log(1 + (documents.length - frequency + 0.5) / (frequency + 0.5));
  };
  return (terms) => {
    const weights = [...terms].filter((term) => having.has(term)).map((term) => [term, rarity(term)] as const);
    return counts.map((own, at) => {
      const length = (documents[at]?.length ?? 0) / usual;
      const norm = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * length);
      return weights.reduce((sum, [term, weight]) => {
        const count = own.get(term) ?? 0;
        return sum + (weight * count * (SATURATION + 1)) / (count + norm);
      }, 0);
    });
  };
}

const termsOf = (text: string): readonly string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])
    .filter((word) => !STOP.has(word))
    .map((word) => stemmer(word));

/** Cut at a line's end, else between words. */
function passagesOf(text: string): readonly string[] {
  const passages: string[] = [];
  for (let from = 0; from < text.length; ) {
    const window = text.slice(from, from + PASSAGE);
    const line = window.lastIndexOf("\n");
    const at = line > PASSAGE / 2 ? line : window.lastIndexOf(" ");
    const length = from + PASSAGE >= text.length || at < PASSAGE / 2 ? window.length : at;
    passages.push(text.slice(from, from + length));
    from += length;
  }
  return passages.length > 0 ? passages : [""];
}

function textbook(name: string, scored: (memories: readonly Remembered[]) => (question: Asked) => readonly number[]) {
  const engine: MemoryEngine = {
    name,
    open: async (scopes) => {
      const indexes = new Map([...scopes].map(([scope, memories]) => [scope, { memories, score: scored(memories) }]));
      return {
        find: async (scope, question, limit) => {
          const { memories = [], score = () => [] } = indexes.get(scope) ?? {};
          const scores = score(question);
          const order = memories.map(({ id }, at) => ({ id, at, score: scores[at] ?? 0 }));
          const best = order.filter((one) => one.score > 0).sort((a, b) => b.score - a.score || b.at - a.at);
          return best.slice(0, limit).map(({ id }) => id);
        },
        close: async () => {},
      };
    },
  };
  return engine;
}

type Asked = Pick<Question, "text" | "asker">;

/** What forty lines do, and so the least that more lines must beat. */
export const TEXTBOOK: readonly MemoryEngine[] = [
  textbook("textbook bm25", (memories) => {
    const score = bm25(memories.map(({ text }) => termsOf(text)));
    return ({ text }) => score(new Set(termsOf(text)));
  }),
  textbook("textbook bm25, passages, asker ×2", (memories) => {
    const whole = bm25(memories.map(({ text }) => termsOf(text)));
    const parts = memories.flatMap(({ text }, memory) => passagesOf(text).map((part) => ({ memory, part })));
    const ofPart = bm25(parts.map(({ part }) => termsOf(part)));
    return ({ text, asker }) => {
      const terms = new Set(termsOf(text));
      const best = memories.map(() => 0);
      for (const [at, score] of ofPart(terms).entries()) {
        const { memory = 0 } = parts[at] ?? {};
        best[memory] = Math.max(best[memory] ?? 0, score);
      }
      const own = (at: number): number => (asker !== undefined && memories[at]?.speaker === asker ? 2 : 1);
      return whole(terms).map((score, at) => own(at) * (score + (best[at] ?? 0)));
    };
  }),
];
