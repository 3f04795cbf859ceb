/** Characters of a text that gets one vector: what is longer says too many things to lie near one of them. */
const LONGEST = 1_500;

/** A shorter end of a sentence is looked for in the last part of a passage only. */
const LOOKED_THROUGH = 500;

/** No memory has more vectors than this; what comes after is found by its words. */
const MOST = 32;

/** The passages that get a vector each, in order: whole sentences where there are such. None for a text without a word. Pure. */
export function passagesOf(text: string): readonly string[] {
  const passages: string[] = [];
  for (let from = 0; from < text.length && passages.length < MOST; ) {
    const to = endOf(text, from);
    const passage = text.slice(from, to).trim();
    if (/[\p{L}\p{N}]/u.test(passage)) passages.push(passage);
    from = to;
  }
  return passages;
}

/** Behind a sentence, else a word, else in the middle of nothing: never inside a character. */
function endOf(text: string, from: number): number {
  const last = from + LONGEST;
  if (last >= text.length) return text.length;
  const tail = text.slice(last - LOOKED_THROUGH, last);
  const after = [/^[\s\S]*[.!?。！？\n]/u, /^[\s\S]*\s/u].map((end) => end.exec(tail)?.[0].length ?? 0);
  const found = after.find((length) => length > 0);
  if (found !== undefined) return last - LOOKED_THROUGH + found;
  return /[\ud800-\udbff]/.test(text.charAt(last - 1)) ? last - 1 : last;
}
