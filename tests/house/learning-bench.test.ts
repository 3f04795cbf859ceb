import { describe, expect, it } from "vitest";
import { answer } from "../../checks/bench/learning/answerer.ts";
import { digestOf } from "../../checks/bench/learning/digester.ts";
import { operatorOf } from "../../checks/bench/learning/operator.ts";
import { notesOn, readHouse } from "../../checks/bench/learning/rules.ts";
import { frame } from "../../src/guard/index.ts";
import { type FrameKind, ownKind, untrusted } from "../../src/protocol/index.ts";

const house = (rule: string, more = ""): string =>
  `contacts: [ann, bob]\nrules:\n  - { name: late, ${rule} }\ntalks:\n  - says: ["Is there a check-up on Fridays?", "Hello"]\n${more}`;
const ADD = "edit: { add: We close at one. }";

describe("a file of rules", () => {
  it.each([
    [
      "an edit that is none",
      "edit: { put: x }",
      '"late", edit: {"put":"x"} is no edit: it is one of add, first, remove',
    ],
    ["a contact that is none", `contact: cem, ${ADD}`, '"late": "cem" is not among the contacts ann, bob'],
    ["an end before its beginning", `from: 9, until: 3, ${ADD}`, '"late": it begins with turn 9 and ends with turn 3'],
    [
      "a rule that no message calls for",
      `when: [monday], ${ADD}`,
      '"late": no talk that it is for contains a word of its when, "monday"',
    ],
    ["a key that is none", `color: red, ${ADD}`, '"late": Unrecognized key: "color"'],
  ])("is refused, with the rule, for %s", (_, rule, sentence) => {
    expect(() => readHouse("rules.yaml", house(rule))).toThrow(`rules.yaml: ${sentence}`);
  });

  it("is refused for two rules of one name, and for a contact that stands there twice", () => {
    const twice = house(ADD).replace("talks:", `  - { name: late, ${ADD} }\ntalks:`);
    expect(() => readHouse("rules.yaml", twice)).toThrow('two rules are called "late"');
    expect(() => readHouse("rules.yaml", house(ADD).replace("bob", "ann"))).toThrow('"ann" stands twice in contacts');
  });

  it("names words of a rule that nothing calls for", () => {
    const read = readHouse("rules.yaml", house(`when: [friday, monday], ${ADD}`));
    expect(notesOn(read)).toEqual(['no talk that "late" is for contains "monday"']);
  });
});

/** What an operator makes of a draft. */
function edited(rules: string, message: string, draft: string) {
  const read = readHouse(
    "rules.yaml",
    `contacts: [ann]\nrules:\n${rules}\ntalks:\n  - says: [${JSON.stringify(message)}]`,
  );
  // Of many seeds, one without greeting or signature.
  const all = Array.from({ length: 20 }, (_, seed) =>
    operatorOf(read.rules, seed)({ turn: 1, contact: "ann", message, draft }),
  );
  return all.reduce((one, other) => (other.text.length < one.text.length ? other : one));
}

describe("the operator", () => {
  const rule = (when: string): string => `  - { name: r, when: [${when}], ${ADD} }`;
  it.each([
    ["a hyphen", "check-up", "A check-up, please"],
    ["a plural", "friday", "Open on Fridays?"],
    ["a phrase", "on friday", "Open on FRIDAY?"],
  ])("finds %s of `when` in a message", (_, when, message) => {
    expect(edited(rule(when), message, "Yes.")).toMatchObject({ text: "Yes. We close at one.", broken: ["r"] });
  });

  const WHOLE = `  - { name: phone, ${ADD} }\n  - { name: no, edit: { instead: "Ask Dr Vos." } }`;
  it("leaves a whole answer alone beside which stands what another rule wants, and nothing else", () => {
    expect(edited(WHOLE, "Hello", "Ask Dr Vos. We close at one.")).toMatchObject({ broken: [] });
    expect(edited(WHOLE, "Hello", "We close at one. Ask Dr Vos.")).toMatchObject({ broken: [] });
    const other = edited(WHOLE, "Hello", "Yes. Ask Dr Vos. We close at one.");
    expect(other).toMatchObject({ text: "Ask Dr Vos. We close at one.", broken: ["no", "phone"] });
  });

  it("mends a slip, which breaks no rule", () => {
    const seen = edited(`  - { name: r, ${ADD} }`, "Hello", "Yes. We colse at one.");
    expect(seen).toMatchObject({ text: "Yes. We close at one.", broken: [] });
  });
});

/** As requests write it: in a form that is not this one, the programs would read nothing. */
const framed = (kind: FrameKind, text: string): string =>
  frame({ kind, trust: "contact", at: Date.UTC(2026, 0, 5, 9) }, untrusted(text));

describe("the answerer", () => {
  const asked = (learned: string, message: string): string => answer(`${framed("message", message)}\n\n${learned}`);
  const OWN = "Thank you for your message. Yes, that is no problem. Just come by any time.";
  const CORRECTION = "| The contact wrote: Where can I park my car?\n| This was added: Park behind us.";

  it("follows a rule and a correction where they fit the message, and nowhere else", () => {
    expect(asked('- When a message is about parking or cars: add "Park behind us."', "Is there parking?")).toBe(
      `${OWN} Park behind us.`,
    );
    expect(asked('- When a message is about parking or cars: add "Park behind us."', "Any bells?")).toBe(OWN);
    expect(asked(CORRECTION, "May I park there?")).toBe(`${OWN} Park behind us.`);
    expect(asked(CORRECTION, "Can I buy bells?")).toBe(OWN);
    expect(asked("| Whatever the contact wrote:\n| It began with: Bonjour,", "Bells?")).toBe(`Bonjour, ${OWN}`);
  });

  it("writes one whole answer, and beside it what always holds", () => {
    const rules = '- add "Bye."\n- When a message is about bells: write only "Ask Mia."';
    expect(asked(rules, "Any bells?")).toBe("Ask Mia. Bye.");
  });
});

describe("the digester", () => {
  const digest = (rules: string, ...lessons: readonly string[]): string =>
    JSON.parse(digestOf(["folded_lesson_ids", framed(ownKind("rules"), rules), ...lessons].join("\n")) ?? "{}")
      .body_markdown;
  const lesson = (head: string, ...lines: readonly string[]): string =>
    framed(ownKind("lesson"), [`lsn_1: edit, taught by 2, confidence 0.51${head}`, ...lines].join("\n"));
  const PARK = "instead: Park behind us.";

  it("widens a rule that did not reach a message, and narrows one that reached too far", () => {
    const rule = '- When a message is about parking: add "Park behind us."';
    expect(digest(rule, lesson("", "situation: Where may my van stay?", PARK))).toBe(
      '- When a message is about parking or stay: add "Park behind us."',
    );
    const wide = '- When a message is about parking or bell: add "Park behind us."';
    expect(digest(wide, lesson("", "situation: Any bells?", "wrong: Park behind us."))).toBe(
      '- When a message is about parking (not bell): add "Park behind us."',
    );
  });

  it("drops what was taken back, and writes without a condition what holds for all", () => {
    expect(digest('- add "Park behind us."', lesson(", taken back since", PARK))).toBe("");
    expect(digest("", lesson(", whatever the message was about", "situation: Bells?", PARK))).toBe(
      '- add "Park behind us."',
    );
  });
});
