import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { topicsOf } from "./index.ts";

const about = (contents: readonly string[], speakers: readonly string[] = []) =>
  topicsOf(
    contents.map((content) => ({ content, tags: [] })),
    { least: 3, speakers },
  );

describe("topics", () => {
  it("are the texts that name the same thing, in whichever form, under the word that is said most", () => {
    const texts = ["My boat is green.", "Likes tea.", "She sold the boat!", "Their boats are old.", "Works at night."];
    expect(about(texts)).toEqual([{ name: "boat", of: [0, 2, 3] }]);
  });

  it("are also those that name things of one kind", () => {
    const texts = ["Our dog is old.", "The kitten sleeps.", "Likes tea.", "Her puppy died."];
    expect(about(texts)).toEqual([{ name: "dog kitten", of: [0, 1, 3] }]);
  });

  it("are found by names, tags, and in scripts without spaces", () => {
    expect(about(["We went to Lisbon.", "I miss Lisbon.", "Who lives in Lisbon?"])).toMatchObject([{ name: "lisbon" }]);
    expect(about(["Das alte Boot ist grün.", "Ein Boot!", "Mein Boot sinkt."])).toMatchObject([{ name: "boot" }]);
    expect(about(["她喜欢茉莉茶", "茉莉茶很香", "我买了茉莉茶"])).toMatchObject([{ of: [0, 1, 2] }]);
    const tagged = ["Green.", "In Oslo.", "Sold."].map((content) => ({ content, tags: ["boat"] }));
    expect(topicsOf(tagged, { least: 3, speakers: [] })).toEqual([{ name: "boat", of: [0, 1, 2] }]);
  });

  it("are no words that only colour or join, and no names of those who talk", () => {
    expect(about(["That is great.", "It was great fun.", "We love it, great!", "They love great things."])).toEqual([]);
    expect(about(["My friend Ann sings.", "Ask our Ann.", "With an Ann."], ["Ann"])).toEqual([]);
  });

  it("are none where a word stands in most of many texts", () => {
    const texts = Array.from({ length: 200 }, (_, n) => `${n} of the boat.`);
    expect(about(texts)).toEqual([]);
  });

  it("share no text, have enough of them, and are the same for the same texts: any texts", () => {
    const word = fc.constantFrom(
      "the boat",
      "my dog",
      "a cat",
      "Lisbon",
      "茉莉茶",
      "’s",
      "\u0000",
      "tea.",
      "Ann",
      "is",
    );
    const text = fc.oneof(
      fc.array(word, { maxLength: 6 }).map((words) => words.join(" ")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (contents, least) => {
        const texts = contents.map((content) => ({ content, tags: [] }));
        const found = topicsOf(texts, { least, speakers: ["Ann"] });
        const places = found.flatMap(({ of }) => of);
        expect(new Set(places).size).toBe(places.length);
        for (const { name, of } of found) {
          expect(of.length).toBeGreaterThanOrEqual(least);
          expect(of).toEqual(of.toSorted((a, b) => a - b));
          expect(name).not.toBe("");
        }
        expect(topicsOf(texts, { least, speakers: ["Ann"] })).toEqual(found);
      }),
    );
  });
});
