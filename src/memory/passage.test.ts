import fc from "fast-check";
import { expect, it } from "vitest";
import { passageOf } from "./index.ts";

const LONG = [
  "Of course! Here is how the tracker is set up.",
  "",
  "### Storage",
  ...Array.from({ length: 20 }, (_, at) => `Line ${at} tells of tables and of rows.`),
  "### Sending mail",
  "Mails go out by night:",
  "```python",
  "def send(mail):",
  "    server.login(USER)",
  "    server.send(mail)",
  "```",
  ...Array.from({ length: 20 }, (_, at) => `Note ${at} is about colours.`),
].join("\n");

it("a passage of a long text is the part that fits, under its heading, with its lines as they are", () => {
  const passage = passageOf(LONG, "How do I send a mail at night?", 160);
  expect(passage).toBe(
    [
      "Of course! Here is how the tracker is set up.",
      "…",
      "### Sending mail",
      "Mails go out by night:",
      "```python",
      "def send(mail):",
      "    server.login(USER)",
      "    server.send(mail)",
      "```",
      "Note 0 is about colours.",
      "…",
    ].join("\n"),
  );
  expect(passageOf(LONG, "server login user", 45)).toContain(
    "```python\ndef send(mail):\n    server.login(USER)\n```\n…",
  );
});

it("a passage of a text of hundreds of thousands of characters is the part that fits, wherever it stands", () => {
  const filler = Array.from({ length: 6_000 }, (_, at) => `Line ${at} tells of tables and rows.`);
  const long = filler.toSpliced(4_000, 0, "The boiler room's key hangs behind the blue door.").join("\n");
  expect(passageOf(long, "Where does the boiler room's key hang?", 120)).toBe(
    "Line 0 tells of tables and rows.\n…\nThe boiler room's key hangs behind the blue door.\nLine 4000 tells of tables and rows.\n…",
  );
  const last = [...filler, "The boiler room's key hangs behind the blue door."].join("\n");
  expect(passageOf(last, "boiler room", 90)).toMatch(
    /^Line 0 .*\n…\nThe boiler room's key hangs behind the blue door\.$/,
  );
});

it("a short text is given whole, and of a long one that says nothing of the question its beginning", () => {
  expect(passageOf("Short.\nText.", "anything", 100)).toBe("Short.\nText.");
  expect(passageOf(LONG, "submarines", 60)).toMatch(/^Of course! .*\n\n### Storage\n…$/);
});

it("a long line is cut between its sentences and stays one line", () => {
  const line = Array.from({ length: 40 }, (_, at) => `Sentence ${at} is of version 5.${at}.`).join(" ");
  const passage = passageOf(line, "version 5.33", 500);
  expect(passage.split("\n").slice(2, -1)).toEqual([
    expect.stringContaining("Sentence 33 is of version 5.33. Sentence 34"),
  ]);
  expect(passage).not.toContain("\u0000");
});

it("a passage of any text for any question is no longer than asked for by more than what it belongs to, and well formed", () => {
  const text = fc.string({ unit: "binary", minLength: 400, maxLength: 3_000 });
  fc.assert(
    fc.property(text, fc.string({ maxLength: 60 }), (long, question) => {
      const passage = passageOf(long.toWellFormed(), question, 300);
      expect(passage.length).toBeLessThanOrEqual(300 + 600);
      expect(passage.isWellFormed()).toBe(true);
    }),
    { numRuns: 200 },
  );
});
