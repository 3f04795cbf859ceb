/** One line of a difference: only before, only after, or in both. */
export interface DiffLine {
  readonly sign: "-" | "+" | " ";
  readonly line: string;
}

/** Beyond this many comparisons a text counts as replaced: such a diff is unreadable, and would take minutes. */
const COMPARISONS = 4_000_000;

/** The shortest way from one list of lines to another (longest common subsequence). Pure. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [
    ...before.slice(0, head).map(same),
    ...diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

const same = (line: string): DiffLine => ({ sign: " ", line });
const gone = (line: string): DiffLine => ({ sign: "-", line });
const come = (line: string): DiffLine => ({ sign: "+", line });

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > COMPARISONS) return [...before.map(gone), ...after.map(come)];
  const common = commonLengths(before, after);
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old = "", fresh = ""] = [before[i], after[j]];
    if (i < before.length && j < after.length && old === fresh) {
      lines.push(same(old));
      i++;
      j++;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(old));
      i++;
    } else {
      lines.push(come(fresh));
      j++;
    }
  }
  return lines;
}

/** How many lines both lists have in common from (i, j) on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint16Array[] {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const [row, below] = [rows[i], rows[i + 1]];
      if (row === undefined || below === undefined) continue;
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}

/** What changed, with a line around it for orientation and `…` for what was left out. At most `limit` lines. */
export function changedLines(lines: readonly DiffLine[], limit: number): string[] {
  const near = (i: number): boolean => [i - 1, i, i + 1].some((k) => (lines[k]?.sign ?? " ") !== " ");
  const shown: string[] = [];
  for (const [i, { sign, line }] of lines.entries()) {
    if (near(i)) shown.push(`${sign} ${line}`.trimEnd());
    else if (shown.at(-1) !== "  …") shown.push("  …");
  }
  return shown.length <= limit ? shown : [...shown.slice(0, limit), `  … and ${shown.length - limit} lines more`];
}
