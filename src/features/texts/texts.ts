import {
  digestOf,
  doneBy,
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
import type { Position } from "../../store/index.ts";
import { type AgentAccess, recordAct } from "../../turn/index.ts";
import type { MovesChoice, SkillChoice, TextChoice, TextEdit, TextVerdictChoice, VersionsChoice } from "./api-types.ts";
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
import { checkPart, type EditableText, editableText, layerOf, skillsLayer, textNamed } from "./editable-text.ts";
import { lastActive, skillNamed } from "./skill-views.ts";

/**
 * Makes an operator's text active; any other waits for an operator's decision. A guard finding that only asks for review is covered by the
 * operator's own word, and the verdict is kept.
 */
export async function editText(
  access: AgentAccess,
  { layer, part, text, line, reason, isOthers, inputs, again }: TextEdit,
): Promise<TextVersion> {
  // A skill's name appears in the prompt.
  if (part !== undefined) skillName(part);
  const now = await editableText(access, keyOf({ layer, part }));
  const checked = await passed(access, now, { text, line });
  if (!again && now.text === checked.text && now.line === (checked.line ?? now.line)) {
    throw standsAlready(access, now.key, "says that");
  }
  const { owner, parts, actor } = access;
  const edit = {
    ...now.key,
    text: checked.text,
    ...(checked.line !== undefined && { line: checked.line }),
    status: isOthers || inputs !== undefined ? "proposed" : "kept",
    trust: inputs === undefined ? "operator" : "agent",
    inputs: inputs ?? (isOthers ? "contact" : "operator"),
    ...doneBy(actor),
    reason: checkedReason(reason),
    verdict: checked.verdict,
    parent: now.stands ?? 0,
    place: placeOf(access.agent, now.layer, now.key.part),
    beside: checked.beside,
  } as const;
  return parts.store.editText(owner, edit, parts.clock.recorded());
}

/** How many versions are listed unless the caller says how many. */
const USUAL = 100;

/**
 * @throws StrataError `text_not_found` for a layer or skill that does not exist; `invalid_input` for a page of all texts, or a part without
 * a layer
 */
export async function textVersions(access: AgentAccess, choice: VersionsChoice): Promise<readonly TextVersion[]> {
  checkOfLayer(choice);
  const { layer, part, before, limit = USUAL } = choice;
  const key = layer && textNamed(access.agent, keyOf({ layer, part }));
  if (key !== undefined) await checkThere(access, key);
  const wish = { ...(key !== undefined && { key }), ...(before !== undefined && { before }), limit };
  return seen(access, await access.parts.store.textVersions(access.owner, wish));
}

/** What waits may be a contact's words, out of a turn with them: who reads it is recorded. */
async function seen(access: AgentAccess, versions: readonly TextVersion[]): Promise<readonly TextVersion[]> {
  const waiting = versions.filter(({ status }) => status === "proposed").length;
  if (waiting > 0) await recordAct(access, "read proposals", `proposals: ${waiting}`);
  return versions;
}

/** @throws StrataError as `textVersions` */
export async function textMoves(access: AgentAccess, choice: MovesChoice): Promise<readonly TextMove[]> {
  checkOfLayer(choice);
  const { layer, part, limit = USUAL, ...page } = choice;
  const key = layer && textNamed(access.agent, keyOf({ layer, part }));
  if (key !== undefined) await checkThere(access, key);
  return access.parts.store.textMoves(access.owner, { ...page, ...(key !== undefined && { key }), limit });
}

/** Versions and moves are numbered text by text, so a number is meaningless across texts; and a part belongs to a layer. */
function checkOfLayer({ layer, ...rest }: MovesChoice): void {
  if (layer !== undefined) return;
  const { part, before, below } = rest;
  const given = Object.entries({ part, before, below }).find(([, value]) => value !== undefined);
  if (given === undefined) return;
  const [field, value] = given;
  const message = `${field} ${JSON.stringify(value)} belongs to one layer's text, but no layer was named`;
  throw new StrataError("invalid_input", `${message}: name its layer, or leave it out to see those of all texts`, {
    field,
  });
}

async function checkThere(access: AgentAccess, key: TextKey): Promise<void> {
  const { layer, part } = key;
  // The history of a layer's text outlives its declaration.
  const isGone = !access.agent.layers.some(({ id }) => id === layer);
  if (isGone && (await access.parts.store.textMoves(access.owner, { key, limit: 1 })).length > 0) return;
  checkPart(access.agent, layerOf(access.agent, layer), part);
  if (part !== undefined) await skillNamed(access, part);
}

export async function proposals(accesses: readonly AgentAccess[], limit = USUAL, after?: Position) {
  const found = accesses.map(async (access) => {
    const waiting = await access.parts.store.proposals(access.owner, { limit, after });
    return waiting.map((version) => ({ access, version }));
  });
  const shown = (await Promise.all(found))
    .flat()
    .sort((a, b) => a.version.link - b.version.link)
    .slice(0, limit);
  const shownBy = (access: AgentAccess) => shown.flatMap((one) => (one.access === access ? [one.version] : []));
  await Promise.all(accesses.map((access) => seen(access, shownBy(access))));
  return shown.map(({ access, version }) => ({ ...version, agent: access.owner.agent }));
}

/** Approves a proposal, after checking it again against the present state, or rejects it. */
export async function decideText(access: AgentAccess, choice: TextVerdictChoice): Promise<TextVersion> {
  const { n, verdict, over } = choice;
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const version = await versionOf(access, key, n);
  if (version.status !== "proposed") throw textDecided(access.agent.name, version);
  const { owner, parts, actor } = access;
  const word = { ...doneBy(actor), reason, at: parts.clock.recorded(), ...(over !== undefined && { over }) };
  if (verdict === "rejected") return parts.store.decideText(owner, { ...key, n }, { ...word, verdict });
  const beside = await mayStand(access, key, { version, over });
  return parts.store.decideText(owner, { ...key, n }, { ...word, verdict, beside });
}

/** Checks a proposal against the present state, and gives what it was measured with. */
async function mayStand(
  access: AgentAccess,
  key: TextKey,
  { version, over }: { readonly version: TextVersion; readonly over: number | undefined },
): Promise<readonly TextPointer[]> {
  const now = await editableText(access, key);
  checkParent(access, now, { version, over });
  checkPlace(access, now, version);
  const { beside } = await passed(access, now, version);
  return beside;
}

/**
 * The approver must know what it replaces: another version, or another declared text than it was written over.
 * @throws StrataError `text_decided`
 */
function checkParent(
  { agent }: AgentAccess,
  now: EditableText,
  { version, over }: { readonly version: TextVersion; readonly over: number | undefined },
): void {
  const active = now.stands ?? 0;
  const declared = now.declared === undefined ? undefined : digestOf(now.declared);
  const isSame = active !== 0 || version.place.declared === declared;
  if (over === undefined ? version.parent === active && isSame : over === active) return;
  throw textOvertaken(agent.name, { ...version, over }, active);
}

/** Activates a version that was active before, or could be. The declared text may always return, if there is room. */
export async function activateText(access: AgentAccess, choice: TextChoice): Promise<TextMove> {
  const { n } = choice;
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const now = await editableText(access, key);
  // A displaced text may still be put away for the declared text that is sent in its place.
  if (now.version === n && now.stands === n)
    throw standsAlready(access, key, n === 0 ? "is as it was declared" : `goes by version ${n}`);
  const { beside } = n === 0 ? await checkDeclared(access, now) : await keptVersion(access, now, n);
  const kind = now.version !== null && n < (now.stands ?? 0) ? "rolled back" : "activated";
  const { owner, parts, actor } = access;
  const atFirst = standsAtFirst(access.agent, key.part) ? {} : { atFirst: null };
  const deed = { kind, ...doneBy(actor), reason, at: parts.clock.recorded() } as const;
  return parts.store.moveText(owner, key, { ...deed, to: n, beside, ...atFirst });
}

/** Takes a skill out of the prompt. */
export async function disableSkill(access: AgentAccess, { name, reason }: SkillChoice): Promise<TextMove> {
  const why = checkedReason(reason);
  const key = { layer: skillsLayer(access.agent).id, part: name };
  const { enabled } = await skillNamed(access, name);
  if (!enabled) throw standsAlready(access, key, "is disabled");
  const { owner, parts, actor } = access;
  const request = { to: null, kind: "disabled", ...doneBy(actor), reason: why, at: parts.clock.recorded() } as const;
  return parts.store.moveText(owner, key, request);
}

/** Restores the skill's last text. */
export async function enableSkill(access: AgentAccess, { name, reason }: SkillChoice): Promise<TextMove> {
  const key = { layer: skillsLayer(access.agent).id, part: name };
  const { enabled } = await skillNamed(access, name);
  if (enabled) throw standsAlready(access, key, "is enabled");
  return activateText(access, { ...key, n: await lastActive(access, key), reason });
}
