/** Rows as a Markdown table: it reads well in a terminal and pastes into a page. The first column is text, the rest figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, 3, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** Three digits that count: 0.0421, 3.57, 128. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toString();
  return value >= 1 ? value.toPrecision(3) : value.toFixed(value < 0.1 ? 4 : 3);
}

export const times = (value: number): string => (Number.isFinite(value) ? `${figure(value)}x` : "–");

export const percent = (share: number): string => (Number.isFinite(share) ? `${(100 * share).toFixed(1)}%` : "–");
