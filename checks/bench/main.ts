// Behind `npm run bench`: `compile`, `wire`, `turns`, `memory`, `crowd`, `cage`, `defer`, `results`, `sovereign` and `learning`, tables or JSON on stdout, progress on stderr. `--quick` only shows that it runs.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { callersFolder } from "../../bootstrap/caller.mjs";
import { ROOT } from "../files.ts";
import { SIZES, type Size } from "./conversations.ts";

const USAGE = [
  "npm run bench -- compile [--json] [--quick]",
  "npm run bench -- wire [--threads FILE…] [--as LAYOUTS] [--model PROVIDER:NAME] [--gap SECONDS|recorded] [--out FILE.svg|.html] [--json] [--quick]",
  "npm run bench -- turns [--json] [--quick]",
  `npm run bench -- memory [--data DIR] [--size ${SIZES.join("|")}] [--json] [--quick]`,
  "npm run bench -- memory --vectors [--data DIR]",
  "npm run bench -- memory --sample N [--seed N] [--data DIR]",
  "npm run bench -- crowd [--seconds N] [--thinks SECONDS] [--characters N]… [--root DIR] [--json] [--quick]",
  "npm run bench -- cage [--json] [--quick]",
  "npm run bench -- evidence [--data DIR | --talks KIND] [--keep N]… [--most N] [--out FILE] [--json] [--quick]",
  "npm run bench -- defer [--json] [--quick]",
  "npm run bench -- results [--json] [--quick]",
  "npm run bench -- sovereign [--root DIR] [--json] [--quick]",
  "npm run bench -- learning [--rules FILE] [--seeds N] [--turns N] [--arm NAME]… [--json] [--quick]",
].join("\n");

const LEARNING_HELP = `${USAGE.split("\n").at(-1)}

  --rules FILE  rules, talks and poisoners of your own (YAML); left out, those of a bicycle shop
  --seeds N     runs of each arm, 10 unless told
  --turns N     messages of each run, 200 unless told
  --arm NAME    on, off, shuffled or newest; may stand several times; left out, all four
  --json        the report as JSON
  --quick       one seed, 40 turns (of the arms shuffled and newest, 10) and every twentieth poisoning campaign

docs/bench.md shows the format of the file and what is measured.`;

/**
 * Benches that have nothing to choose, or only another checkout: their report, and what people read of it. Each is loaded when it is asked for: its peers take long, and the
 * one of turns counts what goes through the drivers.
 */
const SMALL = new Map<
  string | undefined,
  (quick: boolean, root: { readonly root?: string }) => Promise<[object, string]>
>([
  [
    "compile",
    async (quick) => {
      const { compileBench, compileText } = await import("./compile.ts");
      const report = await compileBench(quick, tell);
      return [report, compileText(report)];
    },
  ],
  [
    "turns",
    async (quick) => {
      const { turnsBench, turnsText } = await import("./turns.ts");
      const report = await turnsBench(quick, tell);
      return [report, turnsText(report)];
    },
  ],
  [
    "defer",
    async (quick) => {
      const { deferBench, deferText } = await import("./defer.ts");
      const report = await deferBench(quick, tell);
      return [report, deferText(report)];
    },
  ],
  [
    "results",
    async (quick) => {
      const { resultsBench, resultsText } = await import("./results.ts");
      const report = await resultsBench(quick, tell);
      return [report, resultsText(report)];
    },
  ],
  [
    "sovereign",
    async (quick, root) => {
      const { sovereignBench, sovereignText } = await import("./sovereign.ts");
      const report = await sovereignBench({ ...root, quick }, tell);
      return [report, sovereignText(report)];
    },
  ],
  [
    "cage",
    async (quick) => {
      const { cageBench, cageText } = await import("./cage.ts");
      const report = await cageBench(quick, tell);
      return [report, cageText(report)];
    },
  ],
]);

/** What was given on the command line. */
const given = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      threads: { type: "string", multiple: true, default: [] },
      data: { type: "string" },
      talks: { type: "string" },
      size: { type: "string", multiple: true, default: [] },
      vectors: { type: "boolean", default: false },
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      thinks: { type: "string", default: "4" },
      seconds: { type: "string", default: "20" },
      characters: { type: "string", multiple: true, default: ["0", "100000", "999000"] },
      root: { type: "string" },
      as: { type: "string" },
      model: { type: "string" },
      gap: { type: "string" },
      out: { type: "string" },
      rules: { type: "string" },
      seeds: { type: "string", default: "10" },
      turns: { type: "string", default: "200" },
      arm: { type: "string", multiple: true, default: [] },
      keep: { type: "string", multiple: true, default: [] },
      most: { type: "string", default: "10" },
    },
  });

async function main(): Promise<void> {
  const { positionals, values } = given();
  const [bench, ...files] = positionals;
  const { json, quick, threads } = values;
  const root = values.root === undefined ? {} : { root: resolve(standing, values.root) };
  if (values.help) return console.log(bench === "learning" ? LEARNING_HELP : USAGE);
  const show = (report: object, text: string) => console.log(json ? JSON.stringify(report) : text);
  const small = files.length === 0 && threads.length === 0 ? SMALL.get(bench) : undefined;
  if (small !== undefined) show(...(await small(quick, root)));
  else if (bench === "wire" && (files.length === 0 || threads.length > 0)) {
    const { as, model, gap } = values;
    const { wireBench, wireText } = await import("./wire.ts");
    const dumps = [...threads, ...files].map((file) => resolve(standing, file));
    const out = values.out === undefined ? undefined : resolve(standing, values.out);
    const report = await wireBench({ quick, dumps, as, model, gap, out }, tell);
    show(report, wireText(report));
  } else if (bench === "memory" && files.length === 0 && values.sample !== undefined) {
    const wishes = { size: Number(values.sample), seed: Number(values.seed), tell };
    const folder = values.data === undefined ? {} : { folder: resolve(standing, values.data) };
    const { memorySample } = await import("./memory/bench.ts");
    console.log(await memorySample(folder, wishes));
  } else if (bench === "memory" && files.length === 0) {
    const folder = values.data === undefined ? {} : { folder: resolve(standing, values.data) };
    const { memoryBench, reportText } = await import("./memory/bench.ts");
    const report = await memoryBench({ ...folder, ...wishesOf(values), quick }, tell);
    show(report, reportText(report));
  } else if (bench === "crowd" && files.length === 0) {
    const sizes = quick ? [0] : values.characters.map(Number);
    const { crowdBench, crowdText } = await import("./crowd.ts");
    const thinks = Number(values.thinks);
    const rows = await crowdBench({ ...root, seconds: quick ? 1 : Number(values.seconds), sizes, thinks }, tell);
    show(rows, crowdText(rows, thinks));
  } else if (bench === "evidence" && files.length === 0) {
    const { evidenceBench, evidenceText } = await import("./evidence.ts");
    const data = values.data === undefined ? {} : { data: resolve(standing, values.data) };
    const talks = values.talks === undefined ? {} : { talks: values.talks };
    const out = values.out === undefined ? {} : { out: resolve(standing, values.out) };
    const wish = { settings: ["default", ...values.keep], most: quick ? 1 : Number(values.most), quick };
    const report = await evidenceBench({ ...data, ...talks, ...out, ...wish }, tell);
    show(report, evidenceText(report));
  } else if (bench === "learning" && files.length === 0) {
    const { learningBench, learningText } = await import("./learning/bench.ts");
    const { armsOf } = await import("./learning/run.ts");
    const rules = values.rules === undefined ? {} : { rules: resolve(standing, values.rules) };
    const wish = {
      ...rules,
      seeds: numberOf("seeds", values.seeds),
      turns: numberOf("turns", values.turns),
      arms: armsOf(values.arm),
      quick,
    };
    const report = await learningBench(wish, tell);
    show(report, learningText(report));
  } else {
    throw new Error(`there is no such bench; there are\n${USAGE}`);
  }
}

/** Vectors are measured where each conversation is alone. */
const wishesOf = ({ size, vectors, quick }: { size: string[]; vectors: boolean; quick: boolean }) => ({
  sizes: sizesOf(vectors && size.length === 0 ? ["own"] : size, quick),
  vectors,
});

/** @throws Error for what is no whole number from 1 up */
function numberOf(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Error(`--${option} takes a whole number from 1 up, not ${JSON.stringify(text)}`);
}

function sizesOf(asked: readonly string[], quick: boolean): readonly Size[] {
  const unknown = asked.find((one) => !SIZES.some((size) => size === one));
  if (unknown !== undefined)
    throw new Error(`"${unknown}" is no size of the memory bench; there are ${SIZES.join(", ")}`);
  if (asked.length > 0) return SIZES.filter((size) => asked.includes(size));
  return quick ? ["own"] : SIZES;
}

/** npm runs us at the root; a file is named from where the user stands. */
const standing = callersFolder(ROOT, process.env, process.cwd());

const tell = (what: string): void => {
  process.stderr.write(`${what}\n`);
};

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
