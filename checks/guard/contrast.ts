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
  /** Of every ten lines of a section one is kept out of learning, to judge by. */
  readonly isHeldOut: boolean;
}

const ONE_OF = 10;
const HELD_OUT = 5;

/** `ideas.txt` is written the same way, a section for each idea, and nothing has been learned from it so far. */
export function contrasts(name = "contrast.txt"): readonly Contrast[] {
  let [line, section] = [0, 0];
  return readFileSync(new URL(name, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .flatMap((one) => {
      line = one.startsWith("#") ? 0 : line + 1;
      if (line === 0) section += 1;
      if (line === 0) return [];
      const isHeldOut = line % ONE_OF === HELD_OUT;
      return [{ text: one.slice(2), isOverride: one.startsWith("+"), isPaired: section === 1, isHeldOut }];
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
