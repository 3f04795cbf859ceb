import { stripVTControlCharacters } from "node:util";
import { setIn } from "./set-in.ts";
import type { Style } from "./style.ts";

/** One column: its heading, and whether its cells are aligned left or right. */
export interface Column {
  readonly head: string;
  readonly right?: true;
  /** If the table is too wide, the column may become this narrow: for free text, but not for values that somebody must copy. */
  readonly least?: number;
  /** Narrow cells then take several lines. Without this, they are cut and end in `…`. */
  readonly wraps?: true;
}

type CellRow = readonly string[];

/**
 * Rows as aligned lines under their dim headings, if there are any. Columns without content are left out; cells may be
 * coloured. If a table is too wide for the terminal, its gaps shrink, then its columns if they may, and at last its rows take several lines.
 */
export function table(
  columns: readonly Column[],
  rows: readonly CellRow[],
  { dim, width: room }: Pick<Style, "dim" | "width">,
): readonly string[] {
  const used = columns.flatMap((column, at) => {
    const cells = rows.map((row) => row[at] ?? "");
    return cells.some((cell) => cell !== "") ? [{ ...column, at, width: widest([column.head, ...cells]) }] : [];
  });
  const { parts, gap } = fitted(used, room);
  const lines = (cellOf: (column: ShownColumn) => string): readonly string[] =>
    parts.flatMap((part, n) => alignCells(part, cellOf, { before: n === 0 ? "" : INDENT, gap }));
  return [...lines(({ head }) => head).map(dim), ...rows.flatMap((row) => lines(({ at }) => row[at] ?? ""))];
}

/** A visible column: the index of its cells, and its width. */
interface ShownColumn extends Column {
  readonly at: number;
  readonly width: number;
}

/** The columns of each line, and the number of spaces between two. */
interface Fitted {
  readonly parts: readonly (readonly ShownColumn[])[];
  readonly gap: number;
}

/** Indents the further lines of a folded row. */
const INDENT = "  ";

function fitted(columns: readonly ShownColumn[], room: number): Fitted {
  const [wide, close] = [2, 1];
  for (const gap of [wide, close]) if (spread(columns, gap) <= room) return { parts: [columns], gap };
  for (const gap of [wide, close]) {
    const cut = narrowed(columns, spread(columns, gap) - room);
    if (spread(cut, gap) <= room) return { parts: [cut], gap };
  }
  return { parts: foldedColumns(columns, room), gap: wide };
}

const spread = (columns: readonly ShownColumn[], gap: number): number =>
  columns.reduce((sum, { width }) => sum + width, gap * Math.max(0, columns.length - 1));

/** The columns after removing this many characters from those that may be cut, the last one first. */
function narrowed(columns: readonly ShownColumn[], signs: number): readonly ShownColumn[] {
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

/** Puts as many columns on each line as fit. */
function foldedColumns(columns: readonly ShownColumn[], room: number): readonly (readonly ShownColumn[])[] {
  const parts: ShownColumn[][] = [];
  for (const column of columns) {
    const last = parts.at(-1);
    const indent = parts.length > 1 ? INDENT.length : 0;
    if (last !== undefined && indent + spread([...last, column], 2) <= room) last.push(column);
    else parts.push([...narrowed([column], column.width + (last === undefined ? 0 : INDENT.length) - room)]);
  }
  return parts;
}

/** The cells side by side; nothing where all are empty. */
function alignCells(
  columns: readonly ShownColumn[],
  cellOf: (column: ShownColumn) => string,
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

/** A cell as lines of its column's width. Its colour is kept on each line. */
function cellLines(cell: string, { width, wraps }: ShownColumn): readonly string[] {
  if (widthOf(cell) <= width) return [cell];
  const plain = stripVTControlCharacters(cell);
  const lines = wraps === true ? setIn(plain, "", { width }) : [`${[...plain].slice(0, width - 1).join("")}…`];
  return lines.map((line) => cell.replace(plain, () => line));
}

function pad(cell: string, { width, right }: ShownColumn): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(cell)));
  return right === true ? blanks + cell : cell + blanks;
}

const widthOf = (cell: string): number => [...stripVTControlCharacters(cell)].length;

const widest = (cells: readonly string[]): number => Math.max(...cells.map(widthOf));
