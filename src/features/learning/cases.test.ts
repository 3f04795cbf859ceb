import { describe, expect, it } from "vitest";
import { type Case, judgeOf } from "./cases.ts";

const SLIP = "Please have the yellow slip with you.";
const LESSON = { wrong: "", instead: [SLIP] };
const YES = "Of course.";

/** Newest first, as they are read; `~` before a message: people removed the sentence from its draft, `+`: they sent it. */
const casesOf = (...messages: readonly string[]): readonly Case[] =>
  messages.map((text, i): Case => {
    const [way, message] = [text[0], text.slice(1)];
    const wrote = way === "~" ? `${YES} ${SLIP}` : YES;
    const sent = way === "+" ? `${YES} ${SLIP}` : YES;
    return { id: `case ${i}`, contact: i % 2 === 0 ? "ann" : "bob", message, wrote, sent, at: 1_000 - i };
  });

describe("whether a lesson is for a message", () => {
  const known = [
    "+May I collect the map?",
    "-Do you sell walnut?",
    "-How wide is the van?",
    "-Thank you, it is lovely",
    "-Is there a class in the evening?",
    "+Somebody will collect both prints",
  ];
  it.each([
    ["shares the word that stood in all of them", "Can I collect my frame on Wednesday?", "fits"],
    ["shares only words of others", "Do you sell hooks?", "unknown"],
    ["shares nothing with any", "Hmm", "unknown"],
    ["is nearly one that was answered without it", "How wide is your van?", "not"],
  ])("one that %s", (_, message, fit) => {
    expect(judgeOf(casesOf(...known)).fit(LESSON, { message, contact: "eve" })).toBe(fit);
  });

  it("what people did last with nearly the same message goes before what they did earlier, and the same contact's before others'", () => {
    const [message, contact] = ["May I collect the map?", "ann"];
    expect(judgeOf(casesOf("~Collect the map?", ...known)).fit(LESSON, { message, contact: "eve" })).toBe("not");
    const both = [...casesOf("+Collect the map?", "~Collect the map?"), ...casesOf("+Collect both prints")];
    expect(judgeOf(both).fit(LESSON, { message, contact })).toBe("fits");
    expect(judgeOf(both).fit(LESSON, { message, contact: "bob" })).toBe("not");
  });

  it("a word that stood as often without it says that it is not", () => {
    const often = ["-A wall in our hall", "-Paint for a wall", "-Which wall?", "-Hello", "+The map for the wall"];
    expect(judgeOf(casesOf(...often)).fit(LESSON, { message: "Our wall is white", contact: "eve" })).toBe("not");
  });
});

describe("whether a lesson is over", () => {
  const sent = ["+May I collect the map?", "+Somebody will collect both prints", "-Do you sell walnut?"];
  const since = (...messages: readonly string[]) => judgeOf(casesOf(...messages)).overSince(LESSON)?.message;

  it("it is since the first time that people took it out of an answer to nearly the same message, until they write it again", () => {
    expect(since(...sent)).toBeUndefined();
    expect(since("~Collect the map?", ...sent)).toBe("Collect the map?");
    expect(since("~And now?", "~Collect the map?", ...sent)).toBe("Collect the map?");
    expect(since("+Collect it?", "~Collect the map?", ...sent)).toBeUndefined();
  });

  it("it is not where it was taken out of an answer to another message, nor where the whole answer was written anew", () => {
    expect(since("~How wide is the van?", "~Any hooks?", ...sent)).toBeUndefined();
    const anew = { ...casesOf("~Collect the map?")[0], sent: "Ask Norah." } as Case;
    expect(judgeOf([anew, ...casesOf(...sent)]).overSince(LESSON)).toBeUndefined();
  });
});

it("a lesson is general as long as people want it with most messages, whatever they are about", () => {
  const isGeneral = (...messages: readonly string[]): boolean => judgeOf(casesOf(...messages)).isGeneral(LESSON);
  const three = ["+May I collect the map?", "+Any hooks?", "+Thank you, it is lovely"];
  expect(isGeneral(...three)).toBe(true);
  expect(isGeneral("-Do you sell walnut?", ...three)).toBe(false);
  expect(isGeneral("+The map?", "+A map", "+This map")).toBe(false);
  // Before people first wrote it, nobody could have wanted it.
  expect(isGeneral(...three, "-Do you sell walnut?", "-Who are you?")).toBe(true);
});
