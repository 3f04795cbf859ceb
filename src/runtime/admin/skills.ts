import {
  type ActiveTexts,
  activeText,
  type Layer,
  StrataError,
  suggestion,
  type TextVersion,
} from "../../protocol/index.ts";
import type { SkillView } from "../agent-doors.ts";
import type { Desk } from "./desk.ts";
import { activeTexts, skillsLayer } from "./editable-text.ts";

/** All skills of the agent, by name: what is declared, and what was ever written. */
export async function skillsOf(desk: Desk, layer: Layer = skillsLayer(desk.agent)): Promise<readonly SkillView[]> {
  const active = await activeTexts(desk);
  const written = (await desk.parts.store.textVersions(desk.owner)).filter((one) => one.layer === layer.id);
  const names = [
    ...(desk.agent.skills ?? []).map(({ name }) => name),
    ...written.flatMap(({ part }) => (part === undefined ? [] : [part])),
  ];
  const views = [...new Set(names)]
    .sort()
    .map((name) => viewOf(desk, { name, layer, active, written: written.filter(({ part }) => part === name) }));
  return Promise.all(views);
}

interface Written {
  readonly name: string;
  readonly layer: Layer;
  readonly active: ActiveTexts;
  readonly written: readonly TextVersion[];
}

async function viewOf(desk: Desk, { name, layer, active, written }: Written): Promise<SkillView> {
  const key = { layer: layer.id, part: name };
  const { version, text, declared, wordsOf } = activeText(desk.agent, { layer, part: name }, active);
  const proposals = written.filter(({ status }) => status === "proposed").length;
  if (version !== null && text !== undefined) return { name, enabled: true, text, version, wordsOf, proposals };
  const last = await lastActive(desk, key);
  const before = written.find(({ n }) => n === last);
  return {
    name,
    enabled: false,
    text: before?.text ?? declared ?? written[0]?.text ?? "",
    version: last,
    wordsOf: before?.trust ?? layer.trust,
    proposals,
  };
}

/** The version that was active before the skill was disabled; 0 for one that never was enabled. */
export async function lastActive({ parts, owner }: Desk, key: { readonly layer: Layer["id"]; readonly part: string }) {
  const moves = await parts.store.textMoves(owner, key, 1_000);
  return moves.find(({ to }) => to === null)?.from ?? 0;
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
