import { StrataError, standsAtFirst, type TextKey, type TextMove, textName } from "../../protocol/index.ts";
import type { TextChoice } from "../agent-doors.ts";
import { checkDeclared, checkedReason, keptVersion, keyOf } from "./check-text.ts";
import type { Desk } from "./desk.ts";
import { type EditableText, editableText } from "./editable-text.ts";

/** More was hardly done with one text. */
const MOST_MOVES = 1_000;

/** Goes back to what stood there before the active version was made active: another version, the declared text, or nothing. */
export async function rollbackText(desk: Desk, choice: Omit<TextChoice, "n">): Promise<TextMove> {
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const now = await editableText(desk, key);
  const to = await stoodBefore(desk, now);
  const { owner, parts, actor } = desk;
  const request = { kind: "rolled back", by: actor.role, reason, at: parts.clock() } as const;
  if (to === null) return parts.store.moveText(owner, key, { ...request, to });
  const { beside } = to === 0 ? await checkDeclared(desk, now) : await keptVersion(desk, now, to);
  return parts.store.moveText(owner, key, { ...request, to, beside });
}

/** A version that was gone back to is followed further back, and not to what it was gone back from. */
async function stoodBefore(
  { parts, owner, agent }: Desk,
  { key, stands: version }: EditableText,
): Promise<number | null> {
  if (version === null || version === 0) throw nothingBefore(key, version);
  const moves = await parts.store.textMoves(owner, key, MOST_MOVES);
  const began = moves.find(({ kind, from, to }) => to === version && from !== to && kind !== "rolled back");
  if (began === undefined) throw nothingBefore(key, version);
  const isFirst = began === moves.at(-1) && moves.length < MOST_MOVES;
  return isFirst && began.from === 0 && !standsAtFirst(agent, key.part) ? null : began.from;
}

function nothingBefore(key: TextKey, version: number | null): StrataError {
  const stands = version === null ? "nothing of it is active" : "no version of it is active but the declared text";
  const message = `${textName(key)} is not rolled back: ${stands}, so there is nothing to go back to`;
  return new StrataError("text_not_found", message, { ...key });
}
