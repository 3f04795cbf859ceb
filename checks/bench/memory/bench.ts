import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type Conversation, conversationsIn, DATA, dataFolders, type Size, withoutAsker } from "../conversations.ts";
import { fts5 } from "./fts5.ts";
import { type MemoryRow, measure, memoryText, type Tell } from "./measure.ts";
import { NOISE, noiseIn } from "./noise.ts";
import { bringPeers, PEERS } from "./peers.ts";
import { measureRecall, type RecallRow, recallText, sampleRecall } from "./recall.ts";
import { alone, amongNoise, amongScopes } from "./settings.ts";
import { strata, withVectors } from "./strata.ts";
import { TEXTBOOK } from "./textbook.ts";

export interface MemoryReport {
  readonly bench: "memory";
  /** What memories are hidden among. */
  readonly noise: string;
  readonly rows: readonly MemoryRow[];
  /** How often recall sends something, where there are questions that nothing answers. */
  readonly recall: readonly RecallRow[];
}

interface Wishes {
  /** A folder with the data, or with folders of it. */
  readonly folder?: string;
  readonly sizes: readonly Size[];
  readonly quick: boolean;
  /** Strata alone, without vectors and with weak ones. */
  readonly vectors?: boolean;
}

/** Longer, and an engine answers only a part of the questions; which share is told. */
const PATIENCE = 60_000;

/** @throws Error that says where data is expected */
export async function memoryBench(
  { folder = DATA, sizes, quick, vectors = false }: Wishes,
  tell: Tell,
): Promise<MemoryReport> {
  const folders = dataFolders(folder);
  if (folders.length === 0)
    throw new Error(`there is no memories.jsonl in ${folder} or below it; name a folder that has one with --data`);
  const peers = !quick && !vectors && bringPeers(tell) ? PEERS : [];
  const noises = [folder, join(folder, ".."), DATA].find((place) => existsSync(join(place, NOISE))) ?? folder;
  const rows: MemoryRow[] = [];
  const recall: RecallRow[] = [];
  for (const each of quick ? folders.slice(0, 1) : folders) {
    const conversations = quick ? conversationsIn(each).slice(0, 1).map(shortened) : conversationsIn(each);
    const job = { data: basename(each), patience: PATIENCE, tell };
    const [first] = conversations;
    if (first === undefined) continue;
    const engines = vectors ? [strata, ...withVectors()] : [strata, fts5, ...TEXTBOOK, ...peers];
    if (sizes.includes("own"))
      rows.push(...(await measure([() => alone(conversations)], engines, { ...job, size: "own size" })));
    if (vectors) continue;
    if (sizes.includes("own") && conversations.some(isToldWhoAsks)) {
      const unknown = { ...job, size: "own size, nobody says who asks" };
      rows.push(
        ...(await measure([() => alone(conversations.map(withoutAsker))], [strata, fts5, ...TEXTBOOK], unknown)),
      );
    }
    if (sizes.includes("own") && conversations.some(({ adversarial }) => adversarial.length > 0))
      recall.push(...(await measureRecall(conversations, { data: job.data, noise: noiseIn(noises), tell })));
    // A few facts that were saved one by one are no talk that could be hidden among other talk.
    if (conversations.length === 1 && !quick) continue;
    if (sizes.includes("100k")) {
      const hidden = conversations.map((one) => () => amongNoise(one, 100_000, noiseIn(noises)));
      rows.push(...(await measure(hidden, [strata, fts5], { ...job, size: "100,000 in one scope" })));
      const one = { ...job, size: `100,000 in one scope, ${first.name}` };
      rows.push(...(await measure(hidden.slice(0, 1), peers, one)));
    }
    if (sizes.includes("1m-scopes")) {
      const made = () => amongScopes(conversations, { scopes: 2_000, size: 1_000_000 }, noiseIn(noises));
      rows.push(...(await measure([made], [strata, fts5], { ...job, size: "1,000,000 in 2,000 scopes" })));
    }
    if (sizes.includes("1m")) {
      const made = () => amongNoise(first, 1_000_000, noiseIn(noises));
      rows.push(...(await measure([made], [strata, fts5], { ...job, size: `1,000,000 in one scope, ${first.name}` })));
    }
  }
  return { bench: "memory", noise: noiseIn(noises).from, rows, recall };
}

/** Recalls of talks of each kind, chosen at random, to be read. @throws Error that says where data is expected */
export async function memorySample(
  { folder = DATA }: Pick<Wishes, "folder">,
  wishes: { readonly size: number; readonly seed: number; readonly tell: Tell },
): Promise<string> {
  const talks = dataFolders(folder)
    .map(conversationsIn)
    .filter((conversations) => conversations.length > 1);
  if (talks.length === 0)
    throw new Error(`there are no talks in ${folder} or below it; name a folder that has some with --data`);
  return await sampleRecall(talks, wishes);
}

const isToldWhoAsks = ({ questions }: Conversation): boolean => questions.some(({ asker }) => asker !== undefined);

const shortened = (conversation: Conversation): Conversation => ({
  ...conversation,
  questions: conversation.questions.slice(0, 10),
  adversarial: conversation.adversarial.slice(0, 10),
});

/** All tables of a report. */
export function reportText({ rows, recall }: MemoryReport): string {
  return [memoryText(rows), recallText(recall)].filter((part) => part !== "").join("\n\n");
}
