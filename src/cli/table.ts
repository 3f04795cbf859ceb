import { stripVTControlCharacters } from "node:util";

/** One column: its heading, and on which side its cells stand. */
export interface Column {
  readonly head: string;
  readonly right?: true;
}

/** Rows as aligned lines under their headings. Columns without any content are left out; cells may be coloured. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const used = columns.flatMap((column, at) => (rows.some((row) => (row[at] ?? "") !== "") ? [{ column, at }] : []));
  const widths = used.map(({ column, at }) =>
    Math.max(...[column.head, ...rows.map((row) => row[at] ?? "")].map(width)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => pad(cell, widths[i] ?? 0, used[i]?.column.right === true))
      .join("  ")
      .trimEnd();
  return [line(used.map(({ column }) => column.head)), ...rows.map((row) => line(used.map(({ at }) => row[at] ?? "")))];
}

function pad(cell: string, to: number, right: boolean): string {
  const blanks = " ".repeat(Math.max(0, to - width(cell)));
  return right ? blanks + cell : cell + blanks;
}

const width = (cell: string): number => [...stripVTControlCharacters(cell)].length;
