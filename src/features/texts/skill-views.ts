import {
  type ActiveTexts,
  activeText,
  type Layer,
  StrataError,
  skillNames,
  suggestion,
  type TextKey,
} from "../../protocol/index.ts";
import type { Desk } from "../../turn/index.ts";
import type { SkillView } from "./door-types.ts";
import { activeTexts, skillsLayer } from "./editable-text.ts";
import { lastMove } from "./last-move.ts";

/** All skills of the agent, by name: what is declared, and what was ever written. */
export async function skillsOf(desk: Desk): Promise<readonly SkillView[]> {
  const layer = skillsLayer(desk.agent);
  const active = await activeTexts(desk);
  const counts = await desk.parts.store.proposalCounts(desk.owner);
  const views = skillNames(desk.agent, layer, active).map((name) => {
    const waiting = counts.find((one) => one.layer === layer.id && one.part === name);
    return viewOf(desk, { name, layer, active, proposals: waiting?.proposals ?? 0 });
  });
  return (await Promise.all(views)).flatMap((view) => view ?? []);
}

interface Seen {
  readonly name: string;
  readonly layer: Layer;
  readonly active: ActiveTexts;
  readonly proposals: number;
}

/** None of a skill that is no longer declared and that nobody has written. */
async function viewOf(desk: Desk, { name, layer, active, proposals }: Seen): Promise<SkillView | undefined> {
  const { version, text, declared, wordsOf } = activeText(desk.agent, { layer, part: name }, active);
  if (version !== null && text !== undefined) return { name, enabled: true, text, version, wordsOf, proposals };
  const { parts, owner } = desk;
  const key = { layer: layer.id, part: name };
  const last = await lastActive(desk, key);
  const [before] = last === 0 ? [] : await parts.store.textVersions(owner, { key, before: last + 1, limit: 1 });
  const [newest] = await parts.store.textVersions(owner, { key, limit: 1 });
  const shown = before?.text ?? declared ?? newest?.text;
  if (shown === undefined) return undefined;
  const written = before ?? (declared === undefined ? newest : undefined);
  return { name, enabled: false, text: shown, version: last, wordsOf: written?.trust ?? layer.trust, proposals };
}

/** The version that was active before the skill was disabled; 0 for one that never was enabled. */
export async function lastActive(desk: Desk, key: TextKey): Promise<number> {
  return (await lastMove(desk, key, ({ to }) => to === null))?.from ?? 0;
}

/** The skill of that name. @throws StrataError `text_not_found` */
export async function skillNamed(desk: Desk, name: string): Promise<SkillView> {
  const all = await skillsOf(desk);
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const near = suggestion(
    name,
    all.map((one) => one.name),
  );
  throw new StrataError("text_not_found", `${desk.agent.name} has no skill ${JSON.stringify(name)}${near}`, {
    skill: name,
  });
}
