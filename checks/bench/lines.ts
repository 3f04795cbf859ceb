import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../files.ts";

/** Real threads beside the checkout; never in it. */
export const THREADS = join(ROOT, "../shared/data/threads");

/** Lines to make conversations and layers of, and where they are from. */
export interface Lines {
  readonly from: string;
  /** Line `n` of edition `edition`: no two are equal. */
  at(n: number, edition: number): string;
}

/** What two people wrote to each other for months, where the data is; else made-up lines of about the same length. */
export function realLines(): Lines {
  const folder = join(THREADS, "locomo");
  if (!existsSync(folder)) return { from: "GENERATED lines (../shared/data/threads/locomo is not there)", at: madeUp };
  const texts = readdirSync(folder)
    .sort()
    .flatMap((file) => readFileSync(join(folder, file), "utf8").trim().split("\n").map(textOf));
  const from = `${texts.length} real lines (LoCoMo), repeated with a number where more are asked for`;
  return { from, at: (n, edition) => numbered(texts[n % texts.length] ?? "", Math.floor(n / texts.length), edition) };
}

function textOf(line: string): string {
  const parsed: unknown = JSON.parse(line);
  const text = parsed !== null && typeof parsed === "object" ? Reflect.get(parsed, "text") : undefined;
  return typeof text === "string" ? text : "";
}

const numbered = (text: string, time: number, edition: number): string => `${text} (${time}.${edition})`;

const WORDS =
  "we talked about the garden yesterday and my sister wants to come along next week when her painting class is over so let me know what you think of it".split(
    " ",
  );

/** About 30 tokens: the mean of the real ones. */
function madeUp(n: number, edition: number): string {
  const words = Array.from({ length: 24 }, (_, i) => WORDS[(n * 7 + i * (1 + (n % 5))) % WORDS.length]);
  return numbered(words.join(" "), n, edition);
}

/** Structured text: what tools answer. */
export const records: Lines = {
  from: "JSON records",
  at: (n, edition) =>
    JSON.stringify({
      id: `${edition}-${n}`,
      seat: `${n % 40}C`,
      price: n * 17.5,
      tags: ["window", "no meal"],
      note: null,
    }),
};

const HOSTILE = [
  "漢字と仮名が混ざった文です。",
  "🧑‍🚀👩‍👩‍👧‍👦🏳️‍🌈",
  "for(;;){a[i++]^=~b>>>3}",
  "          \t\t   ",
  "Ωμέγα naïve Ж",
  "=====####",
];

/** What tokenizers like least: scripts without blanks, joined emoji, code, runs of blanks. */
export const hostile: Lines = {
  from: "hostile text (CJK, emoji, code, runs of blanks)",
  at: (n, edition) =>
    `${[0, 1, 2, 3].map((i) => HOSTILE[(n + i * (1 + (n % 3))) % HOSTILE.length]).join("")} ${n}.${edition}`,
};
