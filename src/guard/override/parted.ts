/** What the parts of a run cost: a word that is known, where it is one, and each letter that belongs to none. */
interface Prices {
  readonly longest: number;
  readonly letter: number;
  readonly wordOf: (word: string) => number | undefined;
}

/** The cheapest way to part a run of letters into words and single letters. */
export function parted(run: string, { longest, letter, wordOf }: Prices): readonly string[] {
  const cost = [0];
  const from = [0];
  for (let end = 1; end <= run.length; end++) {
    cost[end] = (cost[end - 1] ?? 0) + letter;
    from[end] = end - 1;
    for (let start = Math.max(0, end - longest); start < end; start++) {
      const price = wordOf(run.slice(start, end));
      if (price === undefined || (cost[start] ?? 0) + price >= (cost[end] ?? 0)) continue;
      cost[end] = (cost[start] ?? 0) + price;
      from[end] = start;
    }
  }
  const parts: string[] = [];
  for (let end = run.length; end > 0; end = from[end] ?? 0) parts.push(run.slice(from[end] ?? 0, end));
  return parts.toReversed();
}
