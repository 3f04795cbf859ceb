import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryId } from "../protocol/index.ts";
import { type Said, said, unitsFor } from "./index.contract.ts";
import { listIndex, type Ranked, STANDING_TAGS, search, unitsOf } from "./index.ts";

/** The texts that a question finds, best first. */
async function found(texts: readonly Said[], question: string, asker?: string): Promise<readonly string[]> {
  const ranked = await ranking(texts, question, asker);
  return ranked.map(({ memory }) => texts.find((text) => text.memory === memory)?.text ?? "");
}

function ranking(texts: readonly Said[], question: string, asker?: string): Promise<readonly Ranked[]> {
  const index = listIndex(unitsFor(texts));
  return search(index, {
    texts: [{ text: question, weight: 1 }],
    limit: 10,
    ...(asker === undefined ? {} : { asker }),
  });
}

/** Each in a separate session, so that none is near another. */
function apart(...texts: readonly (string | Partial<Said>)[]): readonly Said[] {
  return said(...texts.map((text, at) => ({ session: String(at), ...(typeof text === "string" ? { text } : text) })));
}

describe("a search", () => {
  it("finds by the words, whatever their form", async () => {
    const texts = apart("We bought two bicycles.", "I was painting the mice.", "It rained.");
    expect((await found(texts, "Who buys a bike?"))[0]).toBe("We bought two bicycles.");
    expect((await found(texts, "the painter's mouse, painted"))[0]).toBe("I was painting the mice.");
  });

  it("gives the newest first where nothing else tells them apart", async () => {
    const ranked = await ranking(apart("green tea", "green tea", "green tea"), "tea");
    expect(ranked.map(({ place }) => place)).toEqual([3, 2, 1]);
  });

  it("gives who is named before who is not, and who asks where nobody is", async () => {
    const texts = apart(
      { text: "I have a new car.", speaker: "Ann" },
      { text: "I have a new car.", speaker: "Bob Stone" },
      { text: "I have a new car.", speaker: "Cem" },
    );
    const first = async (question: string, asker?: string) => (await ranking(texts, question, asker))[0]?.place;
    expect(await first("What car has Ann?")).toBe(1);
    expect(await first("Which car is Bob's?")).toBe(2);
    expect(await first("What was my new car?", "Ann")).toBe(1);
    expect(await first("What was my new car?", "BOB stone")).toBe(2);
    expect(await first("What car was new?")).toBe(3);
  });

  it("knows by their roles whom I and you mean, and by who is left of two", async () => {
    const first = async (question: string, speakers: readonly [string, string], asker?: string) => {
      const [ann, bob] = speakers;
      const texts = apart(
        { text: "My car is green.", speaker: ann },
        { text: "Your car is green, my car is red.", speaker: bob },
      );
      return (await ranking(texts, question, asker))[0]?.place;
    };
    for (const [speakers, asker] of [
      [["user", "assistant"]],
      [["Ann", "Bob"], "Ann"],
      [["human", "Claude"]],
    ] as const) {
      expect(await first("Which colour is my car?", speakers, asker), speakers[0]).toBe(1);
      expect(await first("Can you tell me the colour of your car?", speakers, asker), speakers[1]).toBe(2);
    }
  });

  it("takes what the agent did as asked of its words, by you and by its role, and a polite request as no such question", async () => {
    const texts = apart(
      { text: "I can recommend the green hotel.", speaker: "Ann" },
      { text: "I can recommend the green hotel.", speaker: "helper" },
      { text: "I can recommend the green hotel.", speaker: "Ann" },
    );
    const first = async (question: string) => {
      const asked = { texts: [{ text: question, weight: 1 }], limit: 10, asker: "Ann", agent: "helper" };
      return (await search(listIndex(unitsFor(texts)), asked))[0]?.place;
    };
    expect(await first("Which hotel did you recommend?")).toBe(2);
    expect(await first("Which hotel did the assistant recommend?")).toBe(2);
    expect(await first("Can you recommend a hotel?")).toBe(3);
  });

  it("finds what was saved as an instruction or a preference, however it is worded", async () => {
    const tagged = unitsFor(apart("Metric.", "Green trains.", "Rain.")).map((unit, at) => {
      const [{ terms, flags } = unit] = unitsOf(
        ["Metric.", "Green trains.", "Rain."][at] ?? "",
        [STANDING_TAGS.rule, STANDING_TAGS.wish].slice(at, at + 1),
      );
      return { ...unit, speaker: "", terms, flags };
    });
    const asked = { texts: [{ text: "How can I reach the tower?", weight: 1 }], limit: 10, asker: "Ann" };
    const ranked = await search(listIndex(tagged), asked);
    expect(ranked.map(({ place }) => place).sort()).toEqual([1, 2]);
  });

  it("considers what a person once asked for in general where help is asked for, whatever the words, and not where it is asked what was", async () => {
    const rule = "Always give prices in euros.";
    const wish = "I prefer trains to planes.";
    const texts = apart(
      { text: rule, speaker: "user" },
      { text: wish, speaker: "user" },
      { text: "Always book early, I prefer that.", speaker: "assistant" },
      ...Array.from({ length: 12 }, (_, at) => ({ text: `Lisbon has ${at} museums.`, speaker: "assistant" })),
    );
    expect((await found(texts, "How should I travel to Lisbon?")).slice(0, 2).sort()).toEqual([rule, wish]);
    expect(await found(texts, "What did I say about Lisbon?")).not.toContain(rule);
  });

  it("is no surer that something answers for an instruction that shares no word with the question", async () => {
    const said = Array.from({ length: 30 }, (_, at) => ({ text: `Train ${at} is late.`, speaker: "user" }));
    const rule = { text: "Always mention the harbour.", speaker: "user" };
    const sure = async (...texts: readonly (typeof rule)[]) => {
      const ranked = await ranking(apart(...texts), "Which train does your sister take?");
      return Math.max(...ranked.map(({ evidence }) => evidence));
    };
    expect(await sure(rule, ...said)).toBeCloseTo(await sure(...said), 1);
  });

  it("doubts what only others said of what the question asks one of", async () => {
    const texts = apart(
      { text: "I ran the charity race in June.", speaker: "Ann" },
      { text: "The weather was fine in June.", speaker: "Bob" },
      ...Array.from({ length: 30 }, (_, at) => ({
        text: `Train ${at} is late.`,
        speaker: at % 2 === 0 ? "Ann" : "Bob",
      })),
    );
    const evidence = async (question: string) => (await ranking(texts, question))[0]?.evidence ?? 0;
    expect(await evidence("When did Ann run the charity race?")).toBeGreaterThan(0.85);
    expect(await evidence("When did Bob run the charity race?")).toBeLessThan(0.5);
  });

  it("doubts more that anything answers what is asked of what was shown just now", async () => {
    const texts = apart({ text: "I took a picture of the lake near Bergen.", speaker: "Ann" }, "It rained.", "Tea?");
    const sure = async (question: string) => (await ranking(texts, question))[0]?.evidence ?? 0;
    const asked = await sure("Where did Ann take a picture of the lake?");
    expect(await sure("Where did Ann take this picture of the lake?")).toBeLessThan(0.9 * asked);
  });

  it("takes the course of things from each session, and not all from one", async () => {
    const texts = said(
      ...Array.from({ length: 12 }, (_, at) => ({ text: `Garden plan: the garden fence, step ${at}.`, session: "1" })),
      { text: "The garden has roses now.", session: "2" },
      { text: "We sold the garden.", session: "3" },
    );
    const course = await found(texts, "In which order did we change the garden plan?");
    expect(course.slice(0, 6)).toContain("We sold the garden.");
    expect((await found(texts, "What about the garden plan?")).slice(0, 6)).not.toContain("We sold the garden.");
  });

  it("gives an answer that shares no word with the question, by the question before it", async () => {
    const texts = said(
      { text: "What instrument did you take up?", speaker: "Bob" },
      { text: "The oboe! It is lovely.", speaker: "Ann" },
      { text: "And the weather here is fine.", speaker: "Bob" },
      ...Array.from({ length: 9 }, (_, at) => ({
        text: `Nothing new on day ${at}.`,
        session: `${at}`,
        speaker: "Bob",
      })),
    );
    expect((await found(texts, "Which instrument did Ann take up?")).slice(0, 2)).toContain("The oboe! It is lovely.");
  });

  it("finds what is of a kind that is asked for", async () => {
    const texts = apart("I baked a peach pie.", "The train was late.", "He fixed the roof.");
    expect((await found(texts, "What desserts were made?"))[0]).toBe("I baked a peach pie.");
  });

  it("prefers the day or month that is asked for", async () => {
    const on = (month: number, day: number) => Date.UTC(2026, month - 1, day, 12);
    const texts = apart(
      { text: "We went hiking.", at: on(3, 2) },
      { text: "We went hiking.", at: on(5, 7) },
      { text: "We went hiking.", at: on(5, 9) },
      { text: "We went hiking.", at: on(8, 1) },
    );
    const order = async (question: string) => (await ranking(texts, question)).map(({ place }) => place);
    expect((await order("Where did they hike on 7 May 2026?"))[0]).toBe(2);
    expect((await order("Where did they hike on May 7th?"))[0]).toBe(2);
    expect((await order("hiking on 2026-05-07"))[0]).toBe(2);
    expect((await order("Where did they hike in March?"))[0]).toBe(1);
    expect((await order("Where may they hike?"))[0]).toBe(4);
  });

  it("brings what was said at the time that is asked for, whatever its words, and knows how long ago it was", async () => {
    const on = (month: number, day: number) => Date.UTC(2026, month - 1, day, 12);
    const texts = apart(
      { text: "The roof leaks again.", at: on(3, 12) },
      { text: "Lina has a new job.", at: on(5, 29) },
      { text: "We painted the fence.", at: on(6, 9) },
      ...Array.from({ length: 20 }, (_, n) => ({ text: `What is new is number ${n}.`, at: on(1, 1 + n) })),
    );
    const first = async (question: string) => {
      const asks = { texts: [{ text: question, weight: 1 }], at: on(6, 17), limit: 1 };
      const [best] = await search(listIndex(unitsFor(texts)), asks);
      return best?.place;
    };
    for (const question of ["What was new in March?", "What was new three months ago?", "三个月前有什么新的?"])
      expect(await first(question), question).toBe(1);
    for (const question of ["What was new last month?", "Was gab es vor drei Wochen?", "上个月有什么新的?"])
      expect(await first(question), question).toBe(2);
    for (const question of ["What was new last week?", "What was new last Tuesday, on 9 June?", "上周有什么新的?"])
      expect(await first(question), question).toBe(3);
  });

  it("prefers a time where one is asked for", async () => {
    const texts = apart("I swam yesterday.", "I swam a bit.");
    expect((await found(texts, "When did she swim?"))[0]).toBe("I swam yesterday.");
  });

  it("repairs a slip in a word that nobody has said, and no other", async () => {
    const texts = apart("The violin is old.", "A lion sleeps.", "Some stations are closed.");
    for (const slip of ["voilin", "vioin", "viollin", "vialin"]) {
      expect((await found(texts, `Whose ${slip}?`))[0], slip).toBe("The violin is old.");
    }
    expect(await found(texts, "Whose loin?")).toEqual([]);
  });

  it("weighs what was asked last more than what was asked before", async () => {
    const index = listIndex(unitsFor(apart("the garden", "the harbour")));
    const ask = (first: string, second: string) =>
      search(index, {
        texts: [
          { text: first, weight: 1 },
          { text: second, weight: 0.3 },
        ],
        limit: 2,
      });
    expect((await ask("garden", "harbour")).map(({ place }) => place)).toEqual([1, 2]);
    expect((await ask("harbour", "garden")).map(({ place }) => place)).toEqual([2, 1]);
  });

  it("gives a memory once, by its best part, and no more than asked for", async () => {
    const long = Array.from({ length: 40 }, (_, at) => `Part ${at} tells of rivers and of stones.`).join(" ");
    expect(await found(apart(long, "A river."), "river stones")).toHaveLength(2);
    const index = listIndex(unitsFor(apart("tea", "tea", "tea")));
    for (const limit of [0, 1, 2]) {
      expect(await search(index, { texts: [{ text: "tea", weight: 1 }], limit })).toHaveLength(limit);
    }
  });

  it("finds nothing where no word fits, and something by stop words alone", async () => {
    expect(await found(apart("green tea"), "submarine")).toEqual([]);
    expect(await found(apart("green tea"), "")).toEqual([]);
    expect(await found(apart("to be or not to be", "green tea"), "to be?")).toEqual(["to be or not to be"]);
  });

  it("stops when it is told to", async () => {
    const index = listIndex(unitsFor(apart("tea")));
    const stop = new AbortController();
    const candidates = async () => {
      stop.abort(new Error("enough"));
      return [];
    };
    const slow = { ...index, candidates };
    const asked = { texts: [{ text: "tea", weight: 1 }], limit: 1, signal: stop.signal };
    await expect(search(slow, asked)).rejects.toThrow("enough");
    await expect(search(index, asked)).rejects.toThrow("enough");
  });
});

describe("a search in other languages", () => {
  it.each([
    ["Chinese", ["我昨天买了一只小猫。", "天气很好。"], "她的猫叫什么？"],
    ["Chinese", ["圣诞节晚会上跳舞。", "我喜欢喝茶。"], "圣诞晚会"],
    ["Japanese", ["京都でお寺を見ました。", "映画が好きです。"], "お寺はどこですか"],
    ["Thai", ["เมื่อวานฉันไปตลาดกับแม่", "อากาศดี"], "ไปตลาดกับใคร"],
    ["Hindi", ["मैंने कल एक किताब पढ़ी।", "मौसम अच्छा है।"], "कौन सी किताब?"],
    ["Arabic", ["ذهبتُ إلى المَكتبة أمس", "الطقس جميل"], "المكتبة"],
    ["Hebrew", ["קניתי סֵפֶר חדש", "יום יפה"], "ספר"],
    ["Korean", ["어제 도서관에 갔어요", "날씨가 좋아요"], "도서관에"],
    ["French", ["J'ai mangé au café.", "Il pleut."], "cafe mange"],
    ["Spanish", ["Mañana viajo a Perú.", "Hace frío."], "manana viaje peru"],
    ["Russian", ["Я купила новую машину", "Идёт дождь"], "новую машину"],
    ["full width", ["Ｍｙ ｐｉａｎｏ", "rain"], "piano"],
  ])("finds %s", async (_, texts, question) => {
    expect((await found(apart(...texts), question))[0]).toBe(texts[0]);
  });
});

describe("any search", () => {
  const WORDS = [
    "tea",
    "Ann",
    "when",
    "How many",
    "green",
    "7 May",
    "NEAR(",
    '"',
    "*",
    "\u0000",
    "茶",
    "ช",
    "é",
    "👍",
    "\ud800",
  ];
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(" ")),
  );
  const texts = fc.array(
    fc.record({ text, speaker: fc.constantFrom("Ann", "Bob", ""), session: fc.constantFrom("1", "2") }),
    { maxLength: 12 },
  );

  it("gives only what is in the index, in order, each with features that sum up to its score", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.array(text, { minLength: 1, maxLength: 3 }), async (own, asked) => {
        const all = said(...own);
        const index = listIndex(unitsFor(all));
        const query = { texts: asked.map((one, at) => ({ text: one, weight: 1 / (at + 1) })), limit: 5, asker: "Ann" };
        const ranked = await search(index, query);
        expect(await search(index, query)).toEqual(ranked);
        const places = new Map(unitsFor(all).map(({ place, memory }) => [place, memory]));
        const memories = new Set<MemoryId>();
        ranked.forEach(({ memory, place, score, features, evidence }, at) => {
          expect(places.get(place)).toBe(memory);
          expect(Object.values(features).reduce((sum, one) => sum + one, 0)).toBeCloseTo(score, 9);
          expect(evidence).toBeGreaterThanOrEqual(0);
          const before = ranked[at - 1];
          if (before !== undefined) expect(before.score).toBeGreaterThanOrEqual(score);
          memories.add(memory);
        });
        expect(memories.size).toBe(ranked.length);
      }),
      { numRuns: 300 },
    );
  });

  it("may have ten thousand words, or one of a million letters", async () => {
    const index = listIndex(unitsFor(apart("green tea", "word77 is here")));
    const many = Array.from({ length: 10_000 }, (_, at) => `word${at}`).join(" ");
    const asked: string[][] = [];
    const frequencies = (terms: readonly string[]) => {
      asked.push([...terms]);
      return index.frequencies(terms);
    };
    const counting = { ...index, frequencies };
    expect(await search(counting, { texts: [{ text: many, weight: 1 }], limit: 1 })).toHaveLength(1);
    expect(Math.max(...asked.map((terms) => terms.length))).toBeLessThan(2_000);
    expect(await search(index, { texts: [{ text: "x".repeat(1_000_000), weight: 1 }], limit: 1 })).toEqual([]);
    expect(await search(index, { texts: [{ text: "字".repeat(100_000), weight: 1 }], limit: 1 })).toEqual([]);
  });
});
