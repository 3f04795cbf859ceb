import { describe, expect, it } from "vitest";
import { layerJudge } from "../index.ts";

const judgeLayerText = await layerJudge();

const repeated =
  (piece: string) =>
  (length: number): string =>
    piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** Kinds of text that patterns like to go over again and again. */
const KINDS: Readonly<Record<string, (length: number) => string>> = {
  "one letter": repeated("x"),
  "letters of a rare script": repeated("ᚠ"),
  quotes: repeated("'"),
  "line breaks": repeated("\n"),
  "line breaks after a word": (length) => `ab${repeated("\n")(length)}`,
  "stars inside a word": (length) => `a${repeated("*")(length)} b`,
  "dots before a word": (length) => `a${repeated(".")(length)}b`,
  "bytes and a letter": (length) => `${repeated("ab")(length)}z`,
  "letters and signs": repeated("A_"),
  "parts of an address": repeated("a."),
  "piled marks": (length) => `a${repeated("\u0301\u0323")(length)}`,
  "cells of a table": (length) => ["a|", "b|", "c|"].map((cell) => repeated(cell)(length / 3)).join("\n"),
  "lines of a word": repeated("a\na\na\na a a a\n"),
  "base 64 in pieces": repeated("TGF5ZXIgb25lIGlzIG9uZQ== . "),
  "replacements that double": repeated("replace a with aa "),
};

/** What judging takes, the least of a few tries: what else the machine does only adds to it. */
function workFor(text: string): number {
  const tries = [1, 2, 3].map(() => {
    const { user } = process.cpuUsage();
    judgeLayerText(text);
    return process.cpuUsage().user - user;
  });
  return Math.min(...tries);
}

describe("how the work of judging a text grows", () => {
  judgeLayerText(repeated("All patterns are made with the first text. ")(2_000));

  // Growth, not speed: sixteen times the text is 256 times the work where it is read in quadratic time, and what takes next to nothing is noise.
  it.each(Object.entries(KINDS))("is about linear in the length of %s", (_, textOf) => {
    const [short, long] = [workFor(textOf(1_000)), workFor(textOf(16_000))];
    expect(long / Math.max(short, 5_000)).toBeLessThan(16 * 5);
  });

  it("is bounded by what is read, and says that the rest was not", () => {
    const { verdict, findings } = judgeLayerText(repeated("Be kind to senders. ")(3_000_000));
    expect({ verdict, kinds: findings.map(({ kind }) => kind) }).toEqual({ verdict: "review", kinds: ["unread"] });
  });

  it("holds up a text whose signs stand for more than is read", () => {
    const { verdict, findings } = judgeLayerText(repeated("\ufdfa ")(19_000));
    expect(verdict).toBe("review");
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "unread", says: expect.stringMatching(/^it can be read in more ways/) }),
    );
  });
});
