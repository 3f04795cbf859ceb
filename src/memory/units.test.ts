import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FLAGS, foldName, unitsOf } from "./index.ts";

const termsOf = (text: string) => unitsOf(text, []).flatMap(({ terms }) => terms);

describe("a text of any length", () => {
  it("is read as far as anybody asks for, whatever it is made of", () => {
    for (const text of ["한".repeat(5_000_000), `a${"\u0301".repeat(5_000_000)}`, "a".repeat(10_000_000)]) {
      expect(unitsOf(text, []).length).toBeGreaterThan(0);
      expect(typeof foldName(text)).toBe("string");
    }
  });

  it("takes time by its length, also where no space parts it", () => {
    const began = performance.now();
    // Each of its terms used to look through the whole of it.
    expect(unitsOf("漢".repeat(100_000), []).length).toBeLessThanOrEqual(101);
    expect(performance.now() - began).toBeLessThan(8_000);
  });
});

describe("the terms of a text", () => {
  it("are its words in their order, folded, each in the form that stands for all", () => {
    expect(termsOf("She didn’t BUY Ann's children’s books; they bought them.")).toEqual(
      ["she", "do", "n", "bui", "ann", "child", "book", "thei", "bui", "them"]
        .filter((term) => term !== "n" && term !== "do")
        .toSpliced(1, 0, "didn"),
    );
    expect(termsOf("ﬁancé CAFÉ Ünder I’m")).toEqual(["fianc", "cafe", "under", "i"]);
  });

  it("are overlapping pairs where a script has no spaces, and single signs of Chinese besides", () => {
    expect(termsOf("Bart的小猫 ok")).toEqual(["bart", "的小", "小猫", "小", "猫", "ok"]);
    expect(termsOf("ตลาด")).toEqual(["ตล", "ลา", "าด"]);
    expect(termsOf("茶")).toEqual(["茶"]);
  });

  it("have the tags in each unit", () => {
    const units = unitsOf("word ".repeat(200), ["Green Tea"]);
    expect(units.length).toBeGreaterThan(2);
    for (const { terms } of units) expect(terms.slice(-2)).toEqual(["green", "tea"]);
  });

  it("hold no mark that a text could have made", () => {
    expect(termsOf("\ue000rule \ue000wish")).toEqual(["rule", "wish"]);
    expect(unitsOf("Never use tabs.", [])[0]?.terms).toContain("\ue000rule");
  });

  it("stand in units that keep sentences whole where they can", () => {
    const sentence = (at: number) => `${at} ${"word ".repeat(29).trim()}.`;
    const units = unitsOf([1, 2, 3, 4, 5].map(sentence).join(" "), []);
    expect(units.map(({ terms }) => terms.length)).toEqual([60, 60, 30]);
    expect(units.map(({ terms }) => terms[0])).toEqual(["1", "3", "5"]);
  });

  it("are letters, marks and digits only, short, and stay what they are when they are folded again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        const units = unitsOf(text, []);
        expect(units.length).toBeGreaterThan(0);
        for (const { terms } of units) {
          expect(terms.length).toBeLessThanOrEqual(80);
          for (const term of terms) {
            expect(term).toMatch(/^[\p{L}\p{N}\p{M}\p{Co}]+$/u);
            expect([...term].length).toBeLessThanOrEqual(40);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("the units of a long text", () => {
  it("of words that repeat are those of a hundred thousand characters and more", () => {
    const lines = Array.from({ length: 3_000 }, (_, i) => `Line ${i % 900} of the book is about horses and hay.`);
    const units = unitsOf([...lines, "The boiler burns."].join("\n"), []);
    expect(units.length).toBeLessThanOrEqual(400);
    expect(units.at(-1)?.terms).toContain("boiler");
  });

  it("of ever new words are those of its beginning: all go into the index while others wait", () => {
    const words = Array.from({ length: 30_000 }, (_, i) => `word${i}${i % 50 === 0 ? "." : ""}`);
    const units = unitsOf(words.join(" "), []);
    expect(units.length).toBeLessThanOrEqual(125);
    expect(units.flatMap(({ terms }) => terms).length).toBeGreaterThan(1_500);
    expect(units[0]?.terms[0]).toBe("word0");
  });
});

describe("the flags of a unit", () => {
  it.each([
    ["Do you come?", FLAGS.question],
    ["Kommst du? 🙂", FLAGS.question],
    ["来吗？", FLAGS.question],
    ["I come.", FLAGS.firstPerson],
    ["It's OUR house", FLAGS.firstPerson],
    ["我喜欢", FLAGS.firstPerson | FLAGS.wish],
    ["Always answer in metric units.", FLAGS.rule],
    ["Dates as YYYY-MM-DD, please, whenever I ask for one.", FLAGS.rule | FLAGS.firstPerson],
    ["Always happy to help.", 0],
    ["Never heard of it, to be honest.", 0],
    ["They had a great team, never won anything.", 0],
    ["OK. From now on, call me Sam.", FLAGS.rule | FLAGS.firstPerson],
    ["Be sure to call her, everything will work out!", 0],
    ["Make sure to cite your sources.", FLAGS.rule],
    ["I prefer small libraries.", FLAGS.wish | FLAGS.firstPerson],
    ["It always rains here", 0],
    ["They came yesterday", FLAGS.time],
    ["Back in 2019.", FLAGS.time],
    ["昨天很好", FLAGS.time],
    ["So? Fine.", 0],
    ["", 0],
  ])("say what %s is like", (text, flags) => {
    expect(unitsOf(text, [])[0]?.flags).toBe(flags);
  });
});

it("a name is the same whatever its capitals, accents and spaces", () => {
  expect(foldName("  José-Luis  Pérez ")).toBe("jose luis perez");
  expect(foldName("")).toBe("");
  expect(foldName("王小明")).toBe("王小明");
});
