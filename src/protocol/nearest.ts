/** The candidate that a mistyped word most likely means, or none: at most a third of its letters may differ. Pure. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.slice(0, 64).toLowerCase();
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const longer = Math.max(typed.length, candidate.length);
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance <= Math.max(1, Math.floor(longer / 3)) && distance < longer && distance < (best?.distance ?? longer)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

/** `; did you mean …?` where a candidate is near, else nothing: for sentences that name all there are. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates);
  return near === undefined ? "" : `; did you mean \`${near}\`?`;
}

/** `; did you mean …?` where a candidate is near, else what there is to choose from. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const near = didYouMean(word, candidates);
  if (near !== "") return near;
  const all = candidates.map((one) => `\`${one}\``);
  if (all.length < 2) return all.length === 0 ? "" : `; there is only ${all[0]}`;
  return `; there are ${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

/** The same as a sentence among others: what is asked has its mark already. */
export const asSentence = (message: string): string => (message.endsWith("?") ? message : `${message}.`);

/** Letters to insert, delete or replace; two swapped neighbours count as one mistake, because this is a common typo. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1)];
      row.push(Math.min(...steps, ...(swapped ? [at(i - 2, j - 2) + 1] : [])));
    }
  }
  return at(a.length, b.length);
}
