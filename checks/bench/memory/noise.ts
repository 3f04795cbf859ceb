import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Dialogues that answer nothing, as many lines as are wanted: real ones first, then made of their words. */
export interface Noise {
  readonly from: string;
  /** The next so many lines. */
  take(lines: number): readonly string[];
}

/** What the file of them is called. */
export const NOISE = "noise_dialogues.jsonl.gz";

export function noiseIn(folder: string): Noise {
  const file = join(folder, NOISE);
  const real = existsSync(file) ? dialogues(file) : [];
  const from =
    real.length > 0 ? `${real.length} real lines, then generated ones` : `GENERATED lines (${NOISE} is not there)`;
  const more = generator(real.length > 0 ? real : SEED);
  let next = 0;
  return {
    from,
    take: (lines) => Array.from({ length: lines }, () => real[next++] ?? more()),
  };
}

const dialogues = (file: string): readonly string[] =>
  gunzipSync(readFileSync(file))
    .toString("utf8")
    .trim()
    .split("\n")
    .flatMap((line): readonly string[] => JSON.parse(line));

const SEED = [
  "We talked about the garden yesterday and my sister wants to come along next week.",
  "Did you see the game on Sunday? I think the new coach knows what he is doing.",
  "I read that the old station will be a library, with a café on the upper floor.",
];

/** Sentences by the chances of one word after another, the same ones in every run. */
function generator(lines: readonly string[]): () => string {
  const after = new Map<string, string[]>();
  const starts: string[] = [];
  for (const line of lines.slice(0, 40_000)) {
    const words = line.split(" ");
    starts.push(words[0] ?? "");
    for (const [i, word] of words.entries()) {
      const known = after.get(word);
      const following = words[i + 1] ?? "";
      if (known === undefined) after.set(word, [following]);
      else if (known.length < 200) known.push(following);
    }
  }
  const chance = dice(20_260_301);
  const one = (of: readonly string[]): string => of[Math.floor(chance() * of.length)] ?? "";
  return () => {
    const words = [one(starts)];
    while (words.length < 40) {
      const next = one(after.get(words.at(-1) ?? "") ?? []);
      if (next === "") break;
      words.push(next);
    }
    return words.join(" ");
  };
}

/** Numbers from 0 to 1, the same in every run (Mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
