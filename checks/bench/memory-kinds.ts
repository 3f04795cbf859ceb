import { join } from "node:path";
import { foldName, type LexicalIndex, listIndex, type PlacedUnit, unitsOf } from "../../src/memory/index.ts";
import { MONTHS } from "../../src/memory/word-lists.ts";
import { type MemoryId, memoryId } from "../../src/protocol/index.ts";
import { type Conversation, conversationsIn, type Remembered, withoutAsker } from "./conversations.ts";
import { noiseIn } from "./memory/noise.ts";
import { amongNoise } from "./memory/settings.ts";

/** A kind of talk that the memory search is fitted to. */
export interface Kind {
  readonly name: string;
  /** What all its questions together count in the fit. */
  readonly weight: number;
  readonly conversations: readonly Conversation[];
  /** Among how much other talk; none without. */
  readonly noise?: number;
  /** Under which name the agent speaks, where that is known. */
  readonly agent?: string;
}

const AGENT = "companion";

/** All kinds beside the checkout. */
export function kindsIn(folder: string, noise: number): readonly Kind[] {
  const people = conversationsIn(join(folder, "locomo-dev"));
  const chats = conversationsIn(join(folder, "beam-dev"));
  const facts = ["en-last", "en-context", "zh-last", "zh-context"].map((name) => ({
    name,
    weight: 0.3,
    conversations: conversationsIn(join(folder, "madial", name)),
  }));
  return [
    { name: "people", weight: 1.5, conversations: people },
    { name: "people, live", weight: 0.4, conversations: people.map((one) => live(one, false)), agent: AGENT },
    { name: "I and you", weight: 0.4, conversations: people.map((one) => live(one, true)), agent: AGENT },
    { name: "long ago", weight: 0.2, conversations: people.map(byDistance) },
    { name: "assistant", weight: 1, conversations: chats },
    { name: "asker unknown", weight: 0.7, conversations: chats.map(withoutAsker) },
    ...facts,
    ...(noise === 0 ? [] : [{ name: `people of ${noise}`, weight: 0.5, conversations: people, noise }]),
  ];
}

/** The same talk as an agent has it that goes under its own name; asked by its contact, by names or by "I" and "you". */
function live(conversation: Conversation, byPronoun: boolean): Conversation {
  const [asker = "", other = ""] = [...new Set(conversation.memories.map(({ speaker }) => speaker))];
  const meant = (text: string): string =>
    [
      [asker, "my", "I"],
      [other, "your", "you"],
    ].reduce(
      (now, [name, whose = "", who = ""]) => now.replaceAll(`${name}'s`, whose).replaceAll(`${name}`, who),
      text,
    );
  return {
    ...conversation,
    memories: conversation.memories.map((one) => ({ ...one, speaker: one.speaker === other ? AGENT : one.speaker })),
    questions: conversation.questions.map((one) => ({ ...one, asker, text: byPronoun ? meant(one.text) : one.text })),
  };
}

const NAMED_TIME = new RegExp(
  String.raw`\b(?:(?:in|during) (${MONTHS.join("|")}),? (\d{4})|on (?:(\d{1,2}) (${MONTHS.join("|")})|(${MONTHS.join("|")}) (\d{1,2})),? (\d{4}))`,
  "i",
);

/** Of the questions that name a month or a day those, asked soon after it, that say how long ago it was. */
function byDistance(conversation: Conversation): Conversation {
  const questions = conversation.questions.flatMap((question, i) => {
    const [whole, month, ofYear, day, dayMonth, monthDay, otherDay, year] = NAMED_TIME.exec(question.text) ?? [];
    if (whole === undefined) return [];
    const nth = MONTHS.indexOf((month ?? dayMonth ?? monthDay ?? "").toLowerCase());
    const then = Date.UTC(Number(ofYear ?? year), nth, Number(day ?? otherDay ?? 15), 12);
    const [days, words] = (month === undefined ? BY_DAYS : BY_MONTHS)[i % 3] ?? [0, ""];
    return [{ ...question, text: question.text.replace(whole, words), at: then + days * 86_400_000 }];
  });
  return { ...conversation, questions };
}

const BY_DAYS = [
  [1, "yesterday"],
  [7, "last week"],
  [12, "twelve days ago"],
] as const;
const BY_MONTHS = [
  [30, "last month"],
  [61, "two months ago"],
  [0, "this month"],
] as const;

/** A conversation among so much other talk. */
export function inNoise(conversation: Conversation, folder: string, size: number): readonly Remembered[] {
  const { scopes } = amongNoise(conversation, size, noiseIn(folder));
  return scopes.get(conversation.name) ?? [];
}

/** The words of these, and what the data calls each memory. */
export function indexOf(memories: readonly Remembered[]): {
  readonly index: LexicalIndex;
  readonly ids: ReadonlyMap<MemoryId, string>;
} {
  const ids = new Map<MemoryId, string>();
  const units: PlacedUnit[] = [];
  for (const { id, text, session, speaker, at } of memories) {
    const memory = memoryId(`mem_${String(ids.size).padStart(26, "0")}`);
    ids.set(memory, id);
    for (const unit of unitsOf(text, [], at)) {
      units.push({ ...unit, memory, session, at, speaker: foldName(speaker), place: units.length + 1 });
    }
  }
  return { index: listIndex(units), ids };
}
