import {
  isInPlace,
  StrataError,
  standsAtFirst,
  type TextKey,
  type TextMove,
  type TextPointer,
  textName,
} from "../../protocol/index.ts";
import type { Desk } from "../../turn/index.ts";
import { checkDeclared, checkedReason, keptVersion, keyOf, pointersBeside, versionOf } from "./check-text.ts";
import type { TextChoice } from "./door-types.ts";
import { type EditableText, editableText, isEditable } from "./editable-text.ts";
import { lastMove } from "./last-move.ts";

/**
 * Goes back to what stood there before the active version was made active: another version, the declared text, or nothing. Of a
 * displaced text only a version that was written for this place stands there again; where there is none, or nothing may be done with
 * its layer any more, it is put away.
 */
export async function rollbackText(desk: Desk, choice: Omit<TextChoice, "n">): Promise<TextMove> {
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const move = async (to: Target): Promise<TextMove> => {
    const { owner, parts, actor } = desk;
    return parts.store.moveText(owner, key, { ...to, kind: "rolled back", by: actor.role, reason, at: parts.clock() });
  };
  if (await isLeftOver(desk, key)) return move(await away(desk, key));
  const now = await editableText(desk, key);
  const to = await stoodBefore(desk, now);
  if (now.version !== now.stands && !(await isPlaced(desk, now, to))) return move(await away(desk, key));
  if (to === null) return move({ to });
  const { beside } = to === 0 ? await checkDeclared(desk, now) : await keptVersion(desk, now, to);
  return move({ to, beside });
}

/** Where the pointer goes, and what that was measured with. */
type Target =
  | { readonly to: number; readonly beside: readonly TextPointer[] }
  | { readonly to: null; readonly beside?: never };

/** Whether a version is active of a text with which nothing may be done any more: its layer is locked, or declared no more. */
async function isLeftOver({ parts, owner, agent }: Desk, key: TextKey): Promise<boolean> {
  if (isEditable(agent, key)) return false;
  const active = await parts.store.activeTexts(owner);
  return active.some(({ layer, part }) => layer === key.layer && part === key.part);
}

/** As the text stood before anybody moved its pointer: what is sent stays what it is. */
async function away(desk: Desk, key: TextKey): Promise<Target> {
  if (!standsAtFirst(desk.agent, key.part)) return { to: null };
  return { to: 0, beside: await pointersBeside(desk, key) };
}

const isPlaced = async (desk: Desk, { key, layer }: EditableText, n: number | null): Promise<boolean> =>
  n !== null && n > 0 && isInPlace(layer, await versionOf(desk, key, n));

/** A version that was gone back to is followed further back, and not to what it was gone back from. */
async function stoodBefore(desk: Desk, { key, stands: version }: EditableText): Promise<number | null> {
  if (version === null || version === 0) throw nothingBefore(key, version);
  const began = await lastMove(
    desk,
    key,
    ({ kind, from, to }) => to === version && from !== to && kind !== "rolled back",
  );
  if (began === undefined) throw nothingBefore(key, version);
  return began.seq === 1 && began.from === 0 && !standsAtFirst(desk.agent, key.part) ? null : began.from;
}

function nothingBefore(key: TextKey, version: number | null): StrataError {
  const stands = version === null ? "no version of it is active" : "only the declared text is active";
  const message = `${textName(key)} is not rolled back: ${stands}, so there is nothing to go back to`;
  return new StrataError("text_not_found", message, { ...key });
}
