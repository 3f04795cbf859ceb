import { stripVTControlCharacters } from "node:util";
import { setIn } from "./set-in.ts";
import type { Style } from "./style.ts";

/** One column: its heading, and on which side its cells stand. */
export interface Column {
  readonly head: string;
  readonly right?: true;
  /** Where lines are too short for the table, it may get as narrow as this: for free text, and not for what somebody must copy. */
  readonly least?: number;
  /** Then its cells take several lines. Others are cut, and end in `…`. */
  readonly wraps?: true;
}

type Row = readonly string[];

/**
 * Rows as aligned lines under their dim headings, where there are any. Columns without any content are left out; cells may be
 * coloured. A table too wide for the terminal is put closer together, then made narrower where it may be, else its rows are folded.
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
  const lines = (cellOf: (column: Shown) => string): readonly string[] =>
    parts.flatMap((part, n) => linesOf(part, cellOf, { before: n === 0 ? "" : INDENT, gap }));
  return [...lines(({ head }) => head).map(dim), ...rows.flatMap((row) => lines(({ at }) => row[at] ?? ""))];
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

/** Before the lines of a folded row after its first. */
const INDENT = "  ";

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
    const indent = parts.length > 1 ? INDENT.length : 0;
    if (last !== undefined && indent + spread([...last, column], 2) <= room) last.push(column);
    else parts.push([...narrowed([column], column.width + (last === undefined ? 0 : INDENT.length) - room)]);
  }
  return parts;
}

/** The cells side by side; nothing where all are empty. */
function linesOf(
  columns: readonly Shown[],
  cellOf: (column: Shown) => string,
  { before, gap }: { readonly before: string; readonly gap: number },
): readonly string[] {
  const cells = columns.map((column) => cellLines(cellOf(column), column));
  const lines = Array.from({ length: Math.max(...cells.map((cell) => cell.length)) }, (_, n) =>
    columns
      .map((column, at) => pad(cells[at]?.[n] ?? "", column))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
  return lines.filter((line) => line !== "").map((line) => before + line);
}

/** A cell as lines of its column's width. The colour of a cell stands around all of it and stays. */
function cellLines(cell: string, { width, wraps }: Shown): readonly string[] {
  if (widthOf(cell) <= width) return [cell];
  const plain = stripVTControlCharacters(cell);
  const lines = wraps === true ? setIn(plain, "", { width }) : [`${[...plain].slice(0, width - 1).join("")}…`];
  return lines.map((line) => cell.replace(plain, () => line));
}

function pad(cell: string, { width, right }: Shown): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(cell)));
  return right === true ? blanks + cell : cell + blanks;
}

const widthOf = (cell: string): number => [...stripVTControlCharacters(cell)].length;

const widest = (cells: readonly string[]): number => Math.max(...cells.map(widthOf));
