import { stripVTControlCharacters } from "node:util";
import type { Style } from "./style.ts";

/** One column: its heading, and on which side its cells stand. */
export interface Column {
  readonly head: string;
  readonly right?: true;
  /** Where lines are too short for the table, its cells may be cut down to so many signs. What somebody must copy is never cut. */
  readonly least?: number;
}

type Row = readonly string[];

/**
 * Rows as aligned lines under their dim headings, where there are any. Columns without any content are left out; cells may be
 * coloured. A table too wide for the terminal is put closer together, then cut where it may be, and else each row takes several lines.
 */
export function table(
  columns: readonly Column[],
  rows: readonly Row[],
  { dim, width: room }: Pick<Style, "dim" | "width">,
): readonly string[] {
  const used = columns.flatMap((column, at) => {
    const cells = rows.map((row) => row[at] ?? "");
    return cells.some((cell) => cell !== "") ? [{ ...column, at, width: widest([column.head, ...cells]) }] : [];
  });
  const { parts, gap } = fitted(used, room);
  const heads = parts.map((part, n) => lineOf(part, (column) => column.head, { n, gap }));
  const lines = rows.flatMap((row) =>
    parts.map((part, n) => lineOf(part, ({ at }) => row[at] ?? "", { n, gap })).filter((line) => line !== ""),
  );
  return [...heads.filter((head) => head !== "").map(dim), ...lines];
}

/** A column that is shown: which cell of a row it is, and how wide. */
interface Shown extends Column {
  readonly at: number;
  readonly width: number;
}

/** The columns line by line, and how many blanks are between two. */
interface Fitted {
  readonly parts: readonly (readonly Shown[])[];
  readonly gap: number;
}

/** So much further in stand the lines of a row after its first. */
const INDENT = 2;

function fitted(columns: readonly Shown[], room: number): Fitted {
  const [wide, close] = [2, 1];
  for (const gap of [wide, close]) if (spread(columns, gap) <= room) return { parts: [columns], gap };
  for (const gap of [wide, close]) {
    const cut = narrowed(columns, spread(columns, gap) - room);
    if (spread(cut, gap) <= room) return { parts: [cut], gap };
  }
  return { parts: folded(columns, room), gap: wide };
}

const spread = (columns: readonly Shown[], gap: number): number =>
  columns.reduce((sum, { width }) => sum + width, gap * Math.max(0, columns.length - 1));

/** The columns with so many signs taken from those that may be cut, the last one first. */
function narrowed(columns: readonly Shown[], signs: number): readonly Shown[] {
  let over = signs;
  return columns
    .toReversed()
    .map((column) => {
      const { width, least = width } = column;
      const to = Math.max(Math.min(width, least), Math.min(width, width - over));
      over -= width - to;
      return { ...column, width: to };
    })
    .toReversed();
}

/** As many columns on a line as have room there. */
function folded(columns: readonly Shown[], room: number): readonly (readonly Shown[])[] {
  const parts: Shown[][] = [];
  for (const column of columns) {
    const last = parts.at(-1);
    const indent = parts.length > 1 ? INDENT : 0;
    if (last !== undefined && indent + spread([...last, column], 2) <= room) last.push(column);
    else parts.push([...narrowed([column], column.width + (last === undefined ? 0 : INDENT) - room)]);
  }
  return parts;
}

/** @param n which line of its row it is, from 0 */
function lineOf(
  columns: readonly Shown[],
  cellOf: (column: Shown) => string,
  { n, gap }: { readonly n: number; readonly gap: number },
): string {
  const cells = columns.map((column) => pad(cut(cellOf(column), column.width), column));
  const line = cells.join(" ".repeat(gap)).trimEnd();
  return line === "" || n === 0 ? line : " ".repeat(INDENT) + line;
}

function pad(cell: string, { width, right }: Shown): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(cell)));
  return right === true ? blanks + cell : cell + blanks;
}

/** The colour of a cell stands around all of it and stays. */
function cut(cell: string, to: number): string {
  const plain = stripVTControlCharacters(cell);
  const signs = [...plain];
  return signs.length <= to ? cell : cell.replace(plain, () => `${signs.slice(0, to - 1).join("")}…`);
}

const widthOf = (cell: string): number => [...stripVTControlCharacters(cell)].length;

const widest = (cells: readonly string[]): number => Math.max(...cells.map(widthOf));
