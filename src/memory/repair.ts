const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const SHORTEST = 5;

/** Whether a term that stands nowhere may be a slip of the pen. */
export function isRepairable(term: string): boolean {
  return term.length >= SHORTEST && /^[a-z]+$/.test(term);
}

/** What differs from the term by one slip: a letter too many, too few, another, or two in the wrong order. */
export function oneEditFrom(term: string): readonly string[] {
  const edits = new Set<string>();
  for (let at = 0; at <= term.length; at += 1) {
    const [before, after] = [term.slice(0, at), term.slice(at)];
    if (after !== "") edits.add(before + after.slice(1));
    if (after.length > 1) edits.add(`${before}${after[1]}${after[0]}${after.slice(2)}`);
    for (const letter of LETTERS) {
      edits.add(before + letter + after);
      if (after !== "") edits.add(before + letter + after.slice(1));
    }
  }
  edits.delete(term);
  return [...edits];
}
