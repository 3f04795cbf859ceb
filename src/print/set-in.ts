import { stripVTControlCharacters } from "node:util";
import { printable, type Style } from "./style.ts";

/** What is put before the first line of a text, and before each further line. */
export interface Margin {
  readonly first: string;
  readonly more: string;
}

/**
 * Text of a model or a contact, indented, so that no line of it can look like one of ours. Lines too long for the terminal are broken
 * here, between words if possible, so that this holds for long lines, too.
 */
export function setIn(text: string, margin: string | Margin, { width }: Pick<Style, "width">): readonly string[] {
  const { first, more } = typeof margin === "string" ? { first: margin, more: margin } : margin;
  const wide = ({ length }: string, before: string): boolean => length > 0 && length + widthOf(before) > width;
  const lines: string[] = [];
  for (const line of printable(text).split("\n")) {
    let rest = line;
    for (let before = lines.length === 0 ? first : more; wide(rest, before); before = more) {
      const at = breakOf(rest, Math.max(1, width - widthOf(before)));
      lines.push(`${before}${rest.slice(0, at)}`);
      rest = rest.slice(at).replace(/^ /, "");
    }
    lines.push(`${lines.length === 0 ? first : more}${rest}`);
  }
  return lines.map((line) => line.trimEnd());
}

/** Where to break a line that is too long: before a word, or inside a word that is itself too long. */
function breakOf(line: string, room: number): number {
  const at = line.lastIndexOf(" ", room);
  if (at > 0 && line.slice(0, at).trim() !== "") return at;
  const isPair = /[\ud800-\udbff]/.test(line.charAt(room - 1));
  return isPair && room > 1 ? room - 1 : room;
}

const widthOf = (text: string): number => stripVTControlCharacters(text).length;
