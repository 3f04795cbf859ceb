import {
  type ActiveTexts,
  activeText,
  type Layer,
  StrataError,
  skillNames,
  suggestion,
  type TextKey,
  type TextMove,
} from "../../protocol/index.ts";
import type { AgentAccess } from "../../turn/index.ts";
import type { SkillView } from "./api-types.ts";
import { activeTexts, skillsLayer } from "./editable-text.ts";

/** All skills of the agent, by name: declared ones, and any that were ever written. */
export async function skillsOf(access: AgentAccess): Promise<readonly SkillView[]> {
  const layer = skillsLayer(access.agent);
  const active = await activeTexts(access);
  const counts = await access.parts.store.proposalCounts(access.owner);
  const views = skillNames(access.agent, layer, active).map((name) => {
    const waiting = counts.find((one) => one.layer === layer.id && one.part === name);
    return readSkillView(access, { name, layer, active, proposals: waiting?.proposals ?? 0 });
  });
  return (await Promise.all(views)).flatMap((view) => view ?? []);
}

interface Seen {
  readonly name: string;
  readonly layer: Layer;
  readonly active: ActiveTexts;
  readonly proposals: number;
}

/** Undefined for a skill that is no longer declared and was never written. */
async function readSkillView(
  access: AgentAccess,
  { name, layer, active, proposals }: Seen,
): Promise<SkillView | undefined> {
  const { version, text, declared, textTrust } = activeText(access.agent, { layer, part: name }, active);
  if (version !== null && text !== undefined) return { name, enabled: true, text, version, textTrust, proposals };
  const { parts, owner } = access;
  const key = { layer: layer.id, part: name };
  const last = await lastActive(access, key);
  const [before] = last === 0 ? [] : await parts.store.textVersions(owner, { key, before: last + 1, limit: 1 });
  const [newest] = await parts.store.textVersions(owner, { key, limit: 1 });
  const shown = before?.text ?? declared ?? newest?.text;
  if (shown === undefined) return undefined;
  const written = before ?? (declared === undefined ? newest : undefined);
  return { name, enabled: false, text: shown, version: last, textTrust: written?.trust ?? layer.trust, proposals };
}

/** The version that was active before the skill was disabled; 0 for one that never was enabled. */
export async function lastActive(access: AgentAccess, key: TextKey): Promise<number> {
  return (await lastMove(access, key, ({ to }) => to === null))?.from ?? 0;
}

/** The skill of that name. @throws StrataError `text_not_found` */
export async function skillNamed(access: AgentAccess, name: string): Promise<SkillView> {
  const all = await skillsOf(access);
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const near = suggestion(
    name,
    all.map((one) => one.name),
  );
  throw new StrataError("text_not_found", `${access.agent.name} has no skill ${JSON.stringify(name)}${near}`, {
    skill: name,
  });
}

/** How many moves are read at once: the wanted one is rarely older. */
const PAGE = 100;

/** The last move of a text for which `isSo` holds, however many moves came later. */
export async function lastMove(
  { parts, owner }: AgentAccess,
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
