import {
  digestOf,
  placeOf,
  StrataError,
  skillName,
  standsAtFirst,
  type TextKey,
  type TextMove,
  type TextPointer,
  type TextVersion,
  textDecided,
  textOvertaken,
} from "../../protocol/index.ts";
import { type Desk, note } from "../../turn/index.ts";
import {
  checkDeclared,
  checkedReason,
  checkPlace,
  keptVersion,
  keyOf,
  passed,
  standsAlready,
  versionOf,
} from "./check-text.ts";
import type {
  MovesChoice,
  SkillChoice,
  TextChoice,
  TextEdit,
  TextVerdictChoice,
  VersionsChoice,
} from "./door-types.ts";
import { checkPart, type EditableText, editableText, layerOf, skillsLayer, textNamed } from "./editable-text.ts";
import { lastActive, skillNamed } from "./skill-views.ts";

/** Makes an operator's text active; somebody else's waits for an operator's word. What the guard would only have looked at is the operator's own word, and its verdict is kept. */
export async function editText(
  desk: Desk,
  { layer, part, text, line, reason, isOthers, again }: TextEdit,
): Promise<TextVersion> {
  // A skill's name stands in the prompt.
  if (part !== undefined) skillName(part);
  const now = await editableText(desk, keyOf({ layer, part }));
  const checked = await passed(desk, now, { text, line });
  if (!again && now.text === checked.text && now.line === (checked.line ?? now.line)) {
    throw standsAlready(desk, now.key, "says that");
  }
  const { owner, parts, actor } = desk;
  const edit = {
    ...now.key,
    text: checked.text,
    ...(checked.line !== undefined && { line: checked.line }),
    status: isOthers ? "proposed" : "kept",
    trust: "operator",
    inputs: isOthers ? "contact" : "operator",
    by: actor.role,
    reason: checkedReason(reason),
    verdict: checked.verdict,
    parent: now.stands ?? 0,
    place: placeOf(desk.agent, now.layer, now.key.part),
    beside: checked.beside,
  } as const;
  return parts.store.editText(owner, edit, parts.clock());
}

/** As many versions as are told at once where nobody says how many. */
const USUAL = 100;

/**
 * @throws StrataError `text_not_found` for a layer or skill that is not there; `invalid_input` for a page of all texts, or a part of
 * no layer
 */
export async function textVersions(desk: Desk, choice: VersionsChoice): Promise<readonly TextVersion[]> {
  checkOfLayer(choice);
  const { layer, part, before, limit = USUAL } = choice;
  const key = layer && textNamed(desk.agent, keyOf({ layer, part }));
  if (key !== undefined) await checkThere(desk, key);
  const wish = { ...(key !== undefined && { key }), ...(before !== undefined && { before }), limit };
  return seen(desk, await desk.parts.store.textVersions(desk.owner, wish));
}

/** What waits may be a contact's words, out of a turn with them: who reads it is recorded. */
async function seen(desk: Desk, versions: readonly TextVersion[]): Promise<readonly TextVersion[]> {
  const waiting = versions.filter(({ status }) => status === "proposed").length;
  if (waiting > 0) await note(desk, "read proposals", `proposals: ${waiting}`);
  return versions;
}

/** @throws StrataError as `textVersions` */
export async function textMoves(desk: Desk, choice: MovesChoice): Promise<readonly TextMove[]> {
  checkOfLayer(choice);
  const { layer, part, limit = USUAL, ...page } = choice;
  const key = layer && textNamed(desk.agent, keyOf({ layer, part }));
  if (key !== undefined) await checkThere(desk, key);
  return desk.parts.store.textMoves(desk.owner, { ...page, ...(key !== undefined && { key }), limit });
}

/** Versions and moves are counted text by text, so a number says nothing of all of them; and a part is one of a layer. */
function checkOfLayer({ layer, ...rest }: MovesChoice): void {
  if (layer !== undefined) return;
  const { part, before, below } = rest;
  const given = Object.entries({ part, before, below }).find(([, value]) => value !== undefined);
  if (given === undefined) return;
  const [field, value] = given;
  const says = `${field} ${JSON.stringify(value)} belongs to one layer's text, but no layer was named`;
  throw new StrataError("invalid_input", `${says}: name its layer, or leave it out to see those of all texts`, {
    field,
  });
}

async function checkThere(desk: Desk, key: TextKey): Promise<void> {
  const { layer, part } = key;
  // Of a layer that is no longer declared, what was done with its text is there still.
  const isGone = !desk.agent.layers.some(({ id }) => id === layer);
  if (isGone && (await desk.parts.store.textMoves(desk.owner, { key, limit: 1 })).length > 0) return;
  checkPart(desk.agent, layerOf(desk.agent, layer), part);
  if (part !== undefined) await skillNamed(desk, part);
}

export async function proposals(desks: readonly Desk[], limit = USUAL) {
  const found = desks.map(async (desk) => {
    const waiting = await desk.parts.store.proposals(desk.owner, { limit });
    return waiting.map((version) => ({ desk, version }));
  });
  const told = (await Promise.all(found))
    .flat()
    .sort((a, b) => a.version.at - b.version.at)
    .slice(0, limit);
  const toldBy = (desk: Desk) => told.flatMap((one) => (one.desk === desk ? [one.version] : []));
  await Promise.all(desks.map((desk) => seen(desk, toldBy(desk))));
  return told.map(({ desk, version }) => ({ ...version, agent: desk.owner.agent }));
}

/** Approves a proposal, which is looked at once more as it would stand now, or rejects it. */
export async function decideText(desk: Desk, choice: TextVerdictChoice): Promise<TextVersion> {
  const { n, verdict, over } = choice;
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const version = await versionOf(desk, key, n);
  if (version.status !== "proposed") throw textDecided(desk.agent.name, version);
  const { owner, parts, actor } = desk;
  const word = { by: actor.role, reason, at: parts.clock(), ...(over !== undefined && { over }) };
  if (verdict === "rejected") return parts.store.decideText(owner, { ...key, n }, { ...word, verdict });
  const beside = await mayStand(desk, key, { version, over });
  return parts.store.decideText(owner, { ...key, n }, { ...word, verdict, beside });
}

/** Looks at a proposal as it would stand now, and gives what it was measured with. */
async function mayStand(
  desk: Desk,
  key: TextKey,
  { version, over }: { readonly version: TextVersion; readonly over: number | undefined },
): Promise<readonly TextPointer[]> {
  const now = await editableText(desk, key);
  checkParent(desk, now, { version, over });
  checkPlace(desk, now, version);
  const { beside } = await passed(desk, now, version);
  return beside;
}

/**
 * Whoever approves knows what it replaces: another version, or another declared text than it was written over.
 * @throws StrataError `text_decided`
 */
function checkParent(
  { agent }: Desk,
  now: EditableText,
  { version, over }: { readonly version: TextVersion; readonly over: number | undefined },
): void {
  const active = now.stands ?? 0;
  const declared = now.declared === undefined ? undefined : digestOf(now.declared);
  const isSame = active !== 0 || version.place.declared === declared;
  if (over === undefined ? version.parent === active && isSame : over === active) return;
  throw textOvertaken(agent.name, { ...version, over }, active);
}

/** Makes a version active that was so before, or could be. What is declared may always come back, as far as there is room. */
export async function activateText(desk: Desk, choice: TextChoice): Promise<TextMove> {
  const { n } = choice;
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const now = await editableText(desk, key);
  // What is displaced may still be put away for the declared text that is sent in its place.
  if (now.version === n && now.stands === n)
    throw standsAlready(desk, key, n === 0 ? "is as it was declared" : `goes by version ${n}`);
  const { beside } = n === 0 ? await checkDeclared(desk, now) : await keptVersion(desk, now, n);
  const kind = now.version !== null && n < (now.stands ?? 0) ? "rolled back" : "activated";
  const { owner, parts, actor } = desk;
  const atFirst = standsAtFirst(desk.agent, key.part) ? {} : { atFirst: null };
  const deed = { kind, by: actor.role, reason, at: parts.clock() } as const;
  return parts.store.moveText(owner, key, { ...deed, to: n, beside, ...atFirst });
}

/** Takes a skill out of the prompt. */
export async function disableSkill(desk: Desk, { name, reason }: SkillChoice): Promise<TextMove> {
  const why = checkedReason(reason);
  const key = { layer: skillsLayer(desk.agent).id, part: name };
  const { enabled } = await skillNamed(desk, name);
  if (!enabled) throw standsAlready(desk, key, "is disabled");
  const { owner, parts, actor } = desk;
  const request = { to: null, kind: "disabled", by: actor.role, reason: why, at: parts.clock() } as const;
  return parts.store.moveText(owner, key, request);
}

/** Puts back what the skill said last. */
export async function enableSkill(desk: Desk, { name, reason }: SkillChoice): Promise<TextMove> {
  const key = { layer: skillsLayer(desk.agent).id, part: name };
  const { enabled } = await skillNamed(desk, name);
  if (enabled) throw standsAlready(desk, key, "is enabled");
  return activateText(desk, { ...key, n: await lastActive(desk, key), reason });
}
