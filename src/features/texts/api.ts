import {
  type Agent,
  type AgentName,
  type Allowed,
  declaredText,
  diffLines,
  doneBy,
  isInPlace,
  StrataError,
  standsAtFirst,
  type TextKey,
  type TextMove,
  type TextPointer,
  textName,
} from "../../protocol/index.ts";
import { type AgentAccess, accessTo, accessToEach, type Parts } from "../../turn/index.ts";
import type { TextApi, TextChoice, TextComparison, TextPair } from "./api-types.ts";
import { checkDeclared, checkedReason, keptVersion, keyOf, pointersBeside, versionOf } from "./check-text.ts";
import { textLimitsOf } from "./config.ts";
import { checkPart, type EditableText, editableText, isEditable, layerOf, textNamed } from "./editable-text.ts";
import { layerView, layerViews, passedOver } from "./layer-views.ts";
import { lastMove, skillsOf } from "./skill-views.ts";
import {
  activateText,
  decideText,
  disableSkill,
  editText,
  enableSkill,
  proposals,
  textMoves,
  textVersions,
} from "./texts.ts";

export type { LayerView, PassedOver, TextApi } from "./api-types.ts";

/** Completes the agent's declaration with the skills of its folders. */
type Complete = (agent: Agent) => Promise<Agent>;

/** Each call checks the actor first. */
export function textApi(parts: Parts, complete: Complete): TextApi {
  const at = async (actor: Allowed<"view">, agent: AgentName): Promise<AgentAccess> => {
    const access = accessTo(parts, actor, agent);
    return { ...access, agent: await complete(access.agent) };
  };
  const each = (actor: Allowed<"view">, agent: AgentName | undefined): readonly AgentAccess[] =>
    accessToEach(parts, actor, agent);
  /** The access, and which of the agent's texts is meant there. */
  const about = async <K extends TextKey | undefined>(
    actor: Allowed<"view">,
    agent: AgentName,
    key: K,
  ): Promise<readonly [AgentAccess, K]> => {
    const access = await at(actor, agent);
    return [access, key && textNamed(access.agent, key)];
  };
  return {
    textLimits: async (actor, agent) => textLimitsOf(accessTo(parts, actor, agent).agent),
    layers: async (actor, agent) => layerViews(await at(actor, agent)),
    passedOver: async (actor, agent) => {
      const { agent: declared, owner } = accessTo(parts, actor, agent);
      return passedOver(declared, await parts.store.activeTexts(owner));
    },
    layer: async (actor, agent, layer) => layerView(await at(actor, agent), layer),
    skills: async (actor, agent) => skillsOf(await at(actor, agent)),
    editText: async (actor, agent, edit) => editText(...(await about(actor, agent, edit))),
    textVersions: async (actor, agent, choice = {}) => textVersions(await at(actor, agent), choice),
    compareTexts: async (actor, agent, pair) => compareTexts(...(await about(actor, agent, pair))),
    textMoves: async (actor, agent, choice = {}) => textMoves(await at(actor, agent), choice),
    proposals: async (actor, agent, limit, after) => proposals(each(actor, agent), limit, after),
    decideText: async (actor, agent, choice) => decideText(...(await about(actor, agent, choice))),
    activateText: async (actor, agent, choice) => activateText(...(await about(actor, agent, choice))),
    rollbackText: async (actor, agent, choice) => rollbackText(...(await about(actor, agent, choice))),
    disableSkill: async (actor, agent, skill) => disableSkill(await at(actor, agent), skill),
    enableSkill: async (actor, agent, skill) => enableSkill(await at(actor, agent), skill),
  };
}

/** Two versions of a text and how they differ; version 0 is the declared text. @throws StrataError `text_not_found` */
async function compareTexts(access: AgentAccess, { from, to, ...key }: TextPair): Promise<TextComparison> {
  const before = { n: from, text: await readVersionText(access, key, from) };
  const after = { n: to, text: await readVersionText(access, key, to) };
  return { ...key, before, after, lines: diffLines(before.text.split("\n"), after.text.split("\n")) };
}

async function readVersionText(access: AgentAccess, key: TextKey, n: number): Promise<string> {
  if (n > 0) return (await versionOf(access, key, n)).text;
  const layer = layerOf(access.agent, key.layer);
  checkPart(access.agent, layer, key.part);
  const text = declaredText(access.agent, layer, key.part);
  if (text === undefined) throw undeclared(access.agent.name, key);
  return text;
}

function undeclared(agent: AgentName, key: TextKey): StrataError {
  const sentence = `${textName(key)} of ${agent} has no version 0, because no text is declared for it; compare versions from 1`;
  return new StrataError("text_not_found", sentence, { ...key, n: 0 });
}

/**
 * Goes back to what was in effect before the active version was activated: another version, the declared text, or nothing. A displaced text
 * is replaced only by a version that was written for this place; if there is none, or its layer no longer allows changes, it is put away.
 */
async function rollbackText(access: AgentAccess, choice: Omit<TextChoice, "n">): Promise<TextMove> {
  const key = keyOf(choice);
  const reason = checkedReason(choice.reason);
  const move = async (to: Target): Promise<TextMove> => {
    const { owner, parts, actor } = access;
    return parts.store.moveText(owner, key, {
      ...to,
      kind: "rolled back",
      ...doneBy(actor),
      reason,
      at: parts.clock.recorded(),
    });
  };
  if (await isLeftOver(access, key)) return move(await away(access, key));
  const now = await editableText(access, key);
  const to = await stoodBefore(access, now);
  if (now.version !== now.stands && !(await isPlaced(access, now, to))) return move(await away(access, key));
  // Without a declared text, there was nothing before its first version.
  if (to === null || (to === 0 && now.declared === undefined)) return move({ to: null });
  const { beside } = to === 0 ? await checkDeclared(access, now) : await keptVersion(access, now, to);
  return move({ to, beside });
}

/** The pointer's new target, and what it was measured with. */
type Target =
  | { readonly to: number; readonly beside: readonly TextPointer[] }
  | { readonly to: null; readonly beside?: never };

/** Whether a version is active of a text with which nothing may be done any more: its layer is locked, or no longer declared. */
async function isLeftOver({ parts, owner, agent }: AgentAccess, key: TextKey): Promise<boolean> {
  if (isEditable(agent, key)) return false;
  const active = await parts.store.activeTexts(owner);
  return active.some(({ layer, part }) => layer === key.layer && part === key.part);
}

/** The target as before the text's first move: what is sent does not change. */
async function away(access: AgentAccess, key: TextKey): Promise<Target> {
  if (!standsAtFirst(access.agent, key.part)) return { to: null };
  return { to: 0, beside: await pointersBeside(access, key) };
}

const isPlaced = async (access: AgentAccess, { key, layer }: EditableText, n: number | null): Promise<boolean> =>
  n !== null && n > 0 && isInPlace(layer, await versionOf(access, key, n));

/** From a version that was restored, the search continues further back, and not to the version it replaced. */
async function stoodBefore(access: AgentAccess, { key, stands: version }: EditableText): Promise<number | null> {
  if (version === null || version === 0) throw nothingBefore(key, version);
  const began = await lastMove(
    access,
    key,
    ({ kind, from, to }) => to === version && from !== to && kind !== "rolled back",
  );
  if (began === undefined) throw nothingBefore(key, version);
  return began.seq === 1 && began.from === 0 && !standsAtFirst(access.agent, key.part) ? null : began.from;
}

function nothingBefore(key: TextKey, version: number | null): StrataError {
  const stands = version === null ? "no version of it is active" : "only the declared text is active";
  const message = `${textName(key)} is not rolled back: ${stands}, so there is nothing to go back to`;
  return new StrataError("text_not_found", message, { ...key });
}
