import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import {
  type Agent,
  type CountTokens,
  joinParts,
  type Layer,
  type LayerContent,
  layerId,
  trusted,
} from "../protocol/index.ts";
import { type Compilation, compile } from "./index.ts";
import {
  agentOf,
  bytes3,
  clock,
  contentsOf,
  event,
  immutable,
  inputOf,
  item,
  layer,
  recall,
  recount,
  request,
  says,
} from "./samples.contract.ts";

/** A real tokenizer, as the models room uses one. */
const o200k: CountTokens = (text) => countTokens(text, { disallowedSpecial: new Set() });

/** Words of several scripts: an alphabet, one without blanks, one from right to left, marks that join, signs of several code points. */
const SCRIPTS = [
  "Run the tests before you push, and name the file and the line. ",
  "提交之前先运行测试，并写明文件和行号。",
  "شغّل الاختبارات قبل الدفع واذكر الملف والسطر. ",
  "पुश करने से पहले परीक्षण चलाएँ और पंक्ति बताएँ। ",
  "Запустите тесты до отправки. ",
  "👩‍👩‍👧‍👦 🇪🇺 ✅ 🏳️‍🌈 ",
];
const script = fc.nat({ max: SCRIPTS.length - 1 });
const written = (which: number, tokens: number): string => {
  const words = SCRIPTS[which] ?? "";
  return words.repeat(Math.ceil(tokens / bytes3(words)));
};

/** The layers of the workbench, by what they hold: how large against the others, and in which scripts. */
const part = fc.record({ weight: fc.integer({ min: 1, max: 100 }), script });
const bench = fc.record({
  files: fc.array(part, { minLength: 1, maxLength: 6 }),
  skills: fc.array(part, { minLength: 1, maxLength: 20 }),
  memories: fc.array(part, { minLength: 1, maxLength: 12 }),
  texts: fc.tuple(part, part, part),
  /** Of all that they would say, this much fits. */
  percent: fc.integer({ min: 25, max: 95 }),
});
type Bench = typeof bench extends fc.Arbitrary<infer T> ? T : never;

const sum = (parts: readonly { readonly weight: number }[]): number =>
  parts.reduce((all, { weight }) => all + weight, 0);

/** A turn of the workbench whose layers together want more than `limit`. */
function workbench({ files, skills, memories, texts, percent }: Bench, limit: number) {
  const wanted = (limit * 100) / percent;
  // Memories are a few lines each, whatever else there is.
  const each = wanted / (sum(files) + sum(skills) + sum(texts) + sum(memories) / 4);
  const text = ({ weight, script: which }: Bench["files"][number]): string => written(which, weight * each);
  const parts = (all: Bench["files"]): LayerContent => {
    const named = all.map((one, n) => ({ name: `part-${n}`, text: trusted(text(one)) }));
    return { kind: "text", text: joinParts(named), parts: named };
  };
  const soft = (id: string, rank: number, budget: number): Layer => ({
    ...layer(id, { rank, budget }),
    ...(id === "bootstrap" || id === "skills" ? { source: { kind: id === "skills" ? "skills" : "files" } } : {}),
  });
  const [instructions, guides, business] = texts;
  const layers = [
    immutable("core", { rank: 0 }),
    immutable("safety", { rank: 5 }),
    ...[soft("instructions", 10, 1_000), soft("bootstrap", 15, 4_000), soft("guides", 18, 2_000)],
    ...[soft("business", 20, 1_000), soft("skills", 40, 4_000)],
    { ...recall({ rank: 50, budget: 2_000 }), id: layerId("memory") },
    { ...clock({ rank: 60, budget: 200 }), id: layerId("temporal") },
    { ...clock({ rank: 80, budget: 200 }), id: layerId("runtime") },
  ];
  const contents = contentsOf({
    ...{ instructions: says(text(instructions)), guides: says(text(guides)), business: says(text(business)) },
    ...{ bootstrap: parts(files), skills: parts(skills) },
    memory: {
      kind: "items",
      items: memories.map((one) => item(written(one.script, Math.min(400, (one.weight * each) / 4)))),
    },
    ...{ temporal: says("It is Saturday."), runtime: says("agent workbench · linux") },
  });
  return { agent: agentOf(...layers), contents };
}

const systemOf = ({ ledger: { entries } }: Compilation): number =>
  entries.reduce((all, { place, tokens }) => all + (place === "system" ? tokens : 0), 0);

/** The layers that are never cut. */
const FIXED = ["core", "safety"];

interface Asked {
  readonly count: CountTokens;
  readonly budgets?: Partial<Agent["budgets"]>;
  readonly said?: string;
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0;

describe("001.13 001.16 the fill of the workbench over files, skills and memories of several scripts", () => {
  const made = (one: Bench, limit: number, { count, budgets = {}, said = "Where is it?" }: Asked) => {
    const { agent, contents } = workbench(one, limit);
    const whole = { ...agent, budgets: { ...agent.budgets, ...budgets } };
    const input = inputOf({ agent: whole, contents, limit, count, events: [event(said)] });
    // Where all fits, no layer has to decide anything.
    fc.pre(compile({ ...input, limit: 1e7 }).ledger.tokens > limit);
    const compilation = compile(input);
    expect(recount(request(compilation), count)).toBeLessThanOrEqual(limit);
    expect(compilation.ledger.tokens).toBeLessThanOrEqual(limit);
    for (const { section, fate } of compilation.ledger.entries)
      if (FIXED.includes(section) || (section === "message" && said.length < 100)) expect(fate).toBe("kept");
    return compilation;
  };

  it.each([
    [128_000, bytes3, "bytes", 40, 0.95],
    [32_000, bytes3, "bytes", 60, 0.95],
    [8_000, o200k, "a real tokenizer", 60, 0.94],
    [4_096, o200k, "a real tokenizer", 40, 0.95],
  ] as const)(
    "law 8: at %i tokens it is never over, and nearly full in the median",
    (total, count, _, numRuns, least) => {
      const limit = total - Math.min(8_192, total / 4);
      const fills: number[] = [];
      fc.assert(
        fc.property(bench, (one) => {
          fills.push(made(one, limit, { count }).ledger.tokens / limit);
        }),
        { numRuns },
      );
      expect(median(fills)).toBeGreaterThanOrEqual(least);
    },
  );

  it("law 8: `system` cuts the prefix no further than message and live layers need, and what is free is given back", () => {
    const fills: number[] = [];
    fc.assert(
      fc.property(bench, fc.integer({ min: 1, max: 16_000 }), fc.nat(28_000), (one, system, words) => {
        const compilation = made(one, 28_000, { count: bytes3, budgets: { system }, said: "word ".repeat(words) });
        const { entries, tokens } = compilation.ledger;
        fills.push(tokens / 28_000);
        const isWhole = entries.every(({ place, fate }) => place !== "message" || fate === "kept");
        const fixed = entries.reduce((all, { section, tokens }) => all + (FIXED.includes(section) ? tokens : 0), 0);
        // Beyond its budget only where the message loses nothing by it that it has a right to.
        if (!isWhole) expect(systemOf(compilation)).toBeLessThanOrEqual(Math.max(system, fixed, 14_000));
      }),
      { numRuns: 60 },
    );
    expect(median(fills)).toBeGreaterThanOrEqual(0.95);
  });

  it("law 8: `system` holds where the message takes the rest, and the prefix fills it", () => {
    const fills: number[] = [];
    fc.assert(
      fc.property(bench, fc.integer({ min: 14_000, max: 16_000 }), (one, system) => {
        const compilation = made(one, 28_000, { count: bytes3, budgets: { system }, said: "word ".repeat(9_000) });
        expect(systemOf(compilation)).toBeLessThanOrEqual(system);
        fills.push(systemOf(compilation) / system);
      }),
      { numRuns: 30 },
    );
    expect(median(fills)).toBeGreaterThanOrEqual(0.95);
  });
});
