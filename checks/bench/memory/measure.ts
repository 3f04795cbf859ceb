import type { Question } from "../conversations.ts";
import { figure, table } from "../table.ts";
import { quantile, sweep } from "../timing.ts";
import type { MemoryEngine, OpenEngine } from "./engine.ts";
import { type Answered, type Quality, quality } from "./metrics.ts";
import type { Setting } from "./settings.ts";

/** How one engine did with one size of memory. */
export interface MemoryRow extends Quality {
  readonly data: string;
  readonly size: string;
  readonly engine: string;
  /** `all`, or one category of questions. */
  readonly category: string;
  /** Share of the questions that were asked: a slow engine is not asked them all. */
  readonly share: number;
  /** Milliseconds a search. */
  readonly p50: number;
  readonly p95: number;
  /** Memories taken in a second, and bytes that one takes on disk; none for an engine without a file. */
  readonly writes: number;
  readonly bytes?: number;
}

export type Tell = (what: string) => void;

interface Job {
  readonly data: string;
  readonly size: string;
  /** Milliseconds for the questions of one setting. */
  readonly patience: number;
  readonly tell: Tell;
}

/** One answer with its category and how long it took. */
interface Timed extends Answered {
  readonly category: string;
  readonly milliseconds: number;
}

/** What was taken in, and how long that took. */
interface Load {
  readonly memories: number;
  readonly milliseconds: number;
  readonly bytes: number | undefined;
}

/** Each engine in each of the settings, one after the other, so that nobody pays for another's memory. */
export async function measure(
  settings: readonly (() => Setting)[],
  engines: readonly MemoryEngine[],
  job: Job,
): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = [];
  for (const engine of engines) {
    const answers: Timed[] = [];
    const loads: Load[] = [];
    let questions = 0;
    for (const make of settings) {
      const setting = make();
      sweep();
      job.tell(`${job.data}, ${job.size}: ${engine.name} takes in ${memoriesIn(setting)} memories`);
      const { open, load } = await opened(engine, setting, job.tell);
      loads.push(load);
      questions += setting.asked.reduce((sum, { questions: asked }) => sum + asked.length, 0);
      answers.push(...(await answered(open, setting, job.patience)));
      await open.close();
    }
    rows.push(...rowsOf(engine, { answers, loads, questions }, job));
  }
  return rows;
}

const memoriesIn = ({ scopes }: Setting): number => [...scopes.values()].reduce((sum, { length }) => sum + length, 0);

/** Milliseconds between two signs of life. */
const EVERY = 10_000;

async function opened(engine: MemoryEngine, setting: Setting, tell: Tell): Promise<{ open: OpenEngine; load: Load }> {
  const memories = memoriesIn(setting);
  const start = performance.now();
  let next = start + EVERY;
  const open = await engine.open(setting.scopes, (done) => {
    const now = performance.now();
    if (now < next) return;
    next = now + EVERY;
    tell(`  ${done} of ${memories}, ${Math.round((1_000 * done) / (now - start))} a second`);
  });
  return { open, load: { memories, milliseconds: performance.now() - start, bytes: open.bytes } };
}

/** The questions in an order that mixes them, until the time is up. */
async function answered(engine: OpenEngine, { asked }: Setting, patience: number): Promise<readonly Timed[]> {
  const all = asked.flatMap(({ name, questions }) => questions.map((question) => ({ name, question })));
  const mixed = all.map((one, i) => ({ one, place: (i * 0.618_033_988_75) % 1 })).sort((a, b) => a.place - b.place);
  // The first search opens files and compiles queries.
  const [warm] = all;
  if (warm) await engine.find(warm.name, warm.question, 20);
  const answers: Timed[] = [];
  const end = performance.now() + patience;
  for (const { one } of mixed) {
    if (performance.now() > end) break;
    answers.push(await timed(engine, one.name, one.question));
  }
  return answers;
}

async function timed(engine: OpenEngine, scope: string, question: Question): Promise<Timed> {
  const { relevant, category } = question;
  const start = performance.now();
  const found = await engine.find(scope, question, 20);
  return { found, relevant, category, milliseconds: performance.now() - start };
}

function rowsOf(
  { name: engine }: MemoryEngine,
  done: { readonly answers: readonly Timed[]; readonly loads: readonly Load[]; readonly questions: number },
  { data, size }: Job,
): readonly MemoryRow[] {
  const sum = (of: (load: Load) => number): number => done.loads.reduce((total, load) => total + of(load), 0);
  const bytes = done.loads.every((load) => load.bytes !== undefined) && sum((load) => load.bytes ?? 0);
  const about = {
    data,
    size,
    engine,
    share: done.answers.length / done.questions,
    writes: sum(({ memories }) => memories) / (sum(({ milliseconds }) => milliseconds) / 1_000),
    ...(bytes === false ? {} : { bytes: bytes / sum(({ memories }) => memories) }),
  };
  const categories = [...new Set(done.answers.map(({ category }) => category))].sort();
  const row = (category: string, answers: readonly Timed[]): MemoryRow => {
    const times = answers.map(({ milliseconds }) => milliseconds);
    return { ...about, category, ...quality(answers), p50: quantile(times, 0.5), p95: quantile(times, 0.95) };
  };
  const ofEach = categories.map((one) =>
    row(
      one,
      done.answers.filter(({ category }) => category === one),
    ),
  );
  return [row("all", done.answers), ...(categories.length > 1 ? ofEach : [])];
}

/** A table for each data and size, then recall by category. */
export function memoryText(rows: readonly MemoryRow[]): string {
  const settings = [...new Set(rows.map(({ data, size }) => `${data}, ${size}`))];
  return settings
    .flatMap((title) => {
      const own = rows.filter(({ data, size }) => `${data}, ${size}` === title);
      return [title, whole(own.filter(({ category }) => category === "all")), byCategory(own)];
    })
    .filter((part) => part !== "")
    .join("\n\n");
}

const HEAD = ["engine", "asked", "R@5", "R@10", "R@20", "MRR", "nDCG@10", "p50 ms", "p95 ms", "writes/s", "bytes"];

const share = (value: number): string => value.toFixed(3);

function whole(rows: readonly MemoryRow[]): string {
  const cells = rows.map((row) => [
    row.engine,
    String(row.questions),
    ...[row.recall5, row.recall10, row.recall20, row.mrr, row.ndcg10].map(share),
    figure(row.p50),
    figure(row.p95),
    String(Math.round(row.writes)),
    row.bytes === undefined ? "–" : String(Math.round(row.bytes)),
  ]);
  return table(HEAD, cells);
}

function byCategory(rows: readonly MemoryRow[]): string {
  const categories = [...new Set(rows.map(({ category }) => category))].filter((one) => one !== "all");
  if (categories.length === 0) return "";
  const engines = [...new Set(rows.map(({ engine }) => engine))];
  const recall = (engine: string, category: string): string => {
    const row = rows.find((one) => one.engine === engine && one.category === category);
    return row === undefined ? "–" : share(row.recall10);
  };
  const head = ["R@10 by category", ...categories.map((one) => `${one} (${questionsOf(rows, one)})`)];
  return table(
    head,
    engines.map((engine) => [engine, ...categories.map((one) => recall(engine, one))]),
  );
}

const questionsOf = (rows: readonly MemoryRow[], category: string): number =>
  Math.max(...rows.filter((row) => row.category === category).map(({ questions }) => questions));
