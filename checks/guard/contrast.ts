import { readFileSync } from "node:fs";

/**
 * `contrast.txt`: texts that share their words and differ in their sense. A line begins with `+` where it overrides and with `-` where
 * it is honest; `[[...]]` is the part of an honest text that overrides. Sections (`#`) are of one kind or one language each.
 */
export interface Contrast {
  readonly text: string;
  readonly isOverride: boolean;
  /** Whether it stands in the first section, each of whose lines was written against another. */
  readonly isPaired: boolean;
  /** One in ten is kept out of learning, to judge by: of `contrast.txt` a line of every ten of a section, of `ideas.txt` whole sections. */
  readonly isHeldOut: boolean;
}

const ONE_OF = 10;
const HELD_OUT = 5;

/** `ideas.txt` is written the same way by several other authors, a section for each idea, whose lines share their subject. */
export function contrasts(name: "contrast.txt" | "ideas.txt" = "contrast.txt"): readonly Contrast[] {
  const hasIdeas = name === "ideas.txt";
  let [line, section] = [0, 0];
  return readFileSync(new URL(name, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .flatMap((one) => {
      line = one.startsWith("#") ? 0 : line + 1;
      if (line === 0) section += 1;
      if (line === 0) return [];
      const isHeldOut = (hasIdeas ? section : line) % ONE_OF === HELD_OUT;
      const isPaired = section === 1 && !hasIdeas;
      return [{ text: one.slice(2), isOverride: one.startsWith("+"), isPaired, isHeldOut }];
    });
}

const MARKED = /\[\[(.*?)\]\]/g;

/** A text as it is judged. */
export const whole = ({ text }: Contrast): string => text.replaceAll(/\[\[|\]\]/g, "");

/** What of a text overrides: all of it, unless a part is marked. */
export const overriding = ({ text }: Contrast): readonly string[] =>
  text.includes("[[") ? [...text.matchAll(MARKED)].map(([, part = ""]) => part) : [text];

/** What stands around the part that is marked. */
export const around = ({ text }: Contrast): string => (text.includes("[[") ? text.replaceAll(MARKED, "\n") : "");
