import type { TextKey, TextMove } from "../../protocol/index.ts";
import type { Desk } from "../../turn/index.ts";

/** As many moves are read at once: what is looked for is hardly ever older. */
const PAGE = 100;

/** What was done last with a text of all that is so, however much was done with it since. */
export async function lastMove(
  { parts, owner }: Desk,
  key: TextKey,
  isSo: (move: TextMove) => boolean,
): Promise<TextMove | undefined> {
  for (let before: number | undefined; ; ) {
    const wish = { key, limit: PAGE, ...(before !== undefined && { before }) };
    const moves = await parts.store.textMoves(owner, wish);
    const found = moves.find(isSo);
    if (found !== undefined || moves.length < PAGE) return found;
    before = moves.at(-1)?.seq;
  }
}
