import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ROOT } from "../../../../checks/files.ts";
import { foldName, type LexicalIndex, listIndex, type PlacedUnit, search, unitsOf } from "../../../memory/index.ts";
import { memoryId } from "../../../protocol/index.ts";
import { smallTalk } from "./small-talk.ts";

const DATA = join(ROOT, "../shared/data");
const CHATTER = 600;
/** So likely something must answer. */
const OPENS = 0.24;

const Said = z.object({
  conv: z.string(),
  session: z.number(),
  speaker: z.string(),
  content: z.string(),
  ts: z.string(),
});
const Asked = z.object({ conv: z.string(), question: z.string() });
type Said = z.infer<typeof Said>;

const lines = (file: string): readonly unknown[] =>
  readFileSync(join(DATA, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

function indexOf(said: readonly Said[]): LexicalIndex {
  const units = said.flatMap((one, i) =>
    unitsOf(one.content, [], Date.parse(one.ts)).map((unit) => ({ one, i, unit })),
  );
  return listIndex(
    units.map(
      ({ one, i, unit }, place): PlacedUnit => ({
        ...unit,
        place,
        memory: memoryId(`mem_${String(i).padStart(26, "0")}`),
        session: one.session,
        speaker: foldName(one.speaker),
        at: Date.parse(one.ts),
      }),
    ),
  );
}

/** How much the best message says about the newest one, and whether that opens the gate. */
interface Judged {
  readonly evidence: number;
  readonly opens: boolean;
}

const judgedBy = async (index: LexicalIndex, text: string, asker?: string): Promise<Judged> => {
  const hits = await search(index, { texts: [{ text, weight: 1 }], limit: 100, ...(asker !== undefined && { asker }) });
  const evidence = Math.max(0, ...hits.map((hit) => hit.evidence));
  return { evidence, opens: evidence >= OPENS };
};

/** How often a value of the first is more than one of the second. */
function areaUnder(first: readonly number[], second: readonly number[]): number {
  const won = first.flatMap((a) => second.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)));
  return won.reduce((sum: number, one) => sum + one, 0) / won.length;
}

const opened = (all: readonly Judged[]): number => all.filter(({ opens }) => opens).length / all.length;
const evidenceOf = (all: readonly Judged[]): readonly number[] => all.map(({ evidence }) => evidence);

async function measured() {
  const said = lines("locomo-dev/memories.jsonl").map((line) => Said.parse(line));
  const asked = (file: string) => lines(`locomo-dev/${file}`).map((line) => Asked.parse(line));
  const indexes = new Map(
    [...Map.groupBy(said, ({ conv }) => conv)].map(([conv, own]): [string, LexicalIndex] => [conv, indexOf(own)]),
  );
  const of = async (questions: readonly { conv: string; question: string }[]) => {
    const found = questions.map(({ conv, question }) => {
      const index = indexes.get(conv);
      return index === undefined ? { evidence: 0, opens: false } : judgedBy(index, question);
    });
    return Promise.all(found);
  };
  const dialogues = gunzipSync(readFileSync(join(DATA, "noise_dialogues.jsonl.gz")))
    .toString()
    .trim()
    .split("\n");
  const turns = dialogues.flatMap((line) => z.array(z.string()).parse(JSON.parse(line)));
  const chatter = Array.from({ length: CHATTER }, (_, i) => ({
    conv: [...indexes.keys()][i % indexes.size] ?? "",
    question: turns[(i * 59) % turns.length] ?? "",
  }));
  return {
    questions: await of(asked("queries.jsonl").filter((_, i) => i % 2 === 0)),
    swapped: await of(asked("queries_adversarial.jsonl")),
    chatter: await of(chatter.filter(({ question }) => smallTalk(question) === undefined)),
  };
}

/** The number of talks with an assistant, which are long. */
const TALKS = 5;

async function measuredLong() {
  const said = lines("beam-dev/memories.jsonl").map((line) => Said.parse(line));
  const own = [...Map.groupBy(said, ({ conv }) => conv)].slice(0, TALKS);
  const indexes = new Map(own.map(([conv, all]): [string, LexicalIndex] => [conv, indexOf(all)]));
  const of = async (file: string) => {
    const asked = lines(`beam-dev/${file}`).map((line) => Asked.parse(line));
    return Promise.all(
      asked.flatMap(({ conv, question }) => {
        const index = indexes.get(conv);
        return index === undefined ? [] : [judgedBy(index, question, "user")];
      }),
    );
  };
  return { answered: await of("queries.jsonl"), unanswered: await of("queries_adversarial.jsonl") };
}

describe("the evidence gate on real talk (needs ../shared/data)", () => {
  it.skipIf(!existsSync(join(DATA, "locomo-dev")))(
    "tells questions about what was said from talk about something else",
    async () => {
      const { questions, swapped, chatter } = await measured();
      const figures = {
        area: areaUnder(evidenceOf(questions), evidenceOf(chatter)),
        questions: opened(questions),
        swapped: opened(swapped),
        chatter: opened(chatter),
      };
      if (process.env["STRATA_FIGURES"] !== undefined) console.log(figures);
      expect(figures.area).toBeGreaterThan(0.96);
      expect(figures.questions).toBeGreaterThan(0.84);
      expect(figures.swapped).toBeLessThan(0.6);
      expect(figures.chatter).toBeLessThan(0.03);
    },
    60_000,
  );

  it.skipIf(!existsSync(join(DATA, "beam-dev")))(
    "tells what a long talk answers from what it only touches on",
    async () => {
      const { answered, unanswered } = await measuredLong();
      const figures = { answered: opened(answered), unanswered: opened(unanswered) };
      if (process.env["STRATA_FIGURES"] !== undefined) console.log(figures);
      expect(figures.answered).toBeGreaterThan(0.75);
      expect(figures.unanswered).toBeLessThanOrEqual(0.6);
    },
    60_000,
  );
});
