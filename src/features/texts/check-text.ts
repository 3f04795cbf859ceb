import { type CheckedText, checkNewText, type PrefixSize, prefixSize, sumProblem } from "../../guard/index.ts";
import {
  activeSkills,
  isInPlace,
  StrataError,
  TEXT_LIMITS,
  type TextKey,
  type TextPointer,
  type TextVersion,
  textDecided,
  textName,
  type Untrusted,
} from "../../protocol/index.ts";
import type { AgentAccess } from "../../turn/index.ts";
import { isStandard, readSkill, skillRules } from "../skills/index.ts";
import { textLimitsOf } from "./config.ts";
import { activeTexts, type EditableText } from "./editable-text.ts";

type Passed = Exclude<CheckedText, { readonly problem: string }>;

/** What its size was measured with. */
interface Measured {
  readonly beside: readonly TextPointer[];
}

/** @throws StrataError `text_refused` with the problem */
export async function passed(
  access: AgentAccess,
  now: EditableText,
  given: { readonly text: string; readonly line?: string | undefined },
): Promise<Passed & Measured> {
  if (now.kind !== "layer" && given.line !== undefined)
    throw textRefused(access, now.key, "only a layer has a one-line summary");
  const beside = await pointersBeside(access, now.key);
  const checked = await checkedText(access, now, given);
  if (checked.problem === undefined) return { ...checked, beside };
  throw textRefused(access, now.key, checked.problem);
}

/** Read before anything is measured: what moves after it is seen when the text is kept. */
export async function pointersBeside(
  { parts, owner }: AgentAccess,
  { layer, part }: TextKey,
): Promise<readonly TextPointer[]> {
  const all = await parts.store.textPointers(owner);
  return all.filter((one) =>
    part === undefined ? one.part === undefined && one.layer !== layer : one.layer === layer && one.part !== part,
  );
}

async function checkedText(
  access: AgentAccess,
  now: EditableText,
  given: { readonly text: string; readonly line?: string | undefined },
): Promise<CheckedText> {
  const { key, kind } = now;
  const { text } = given;
  switch (kind) {
    case "layer":
      return checkNewText({ kind, ...given, ...(await sizeBeside(access, key)) });
    case "soul":
      return checkNewText({ kind, text });
    case "skill":
      return checkSkill(access, now, text);
  }
}

/** A skill of the open standard may be long: agents load it, and its folder's own limits hold in the prompt. */
async function checkSkill(access: AgentAccess, now: EditableText, text: string): Promise<CheckedText> {
  if (!isStandard(text)) return checkNewText({ kind: "skill", text, enabled: await othersEnabled(access, now) });
  const { skill, problems } = readSkill(text, now.key.part);
  if (skill === undefined)
    return { problem: problems.map(({ line, message: sentence }) => `line ${line}: ${sentence}`).join("; ") };
  // The limit is that of its instructions, without the head.
  const head = text.length - skill.body.length;
  return checkNewText({ kind: "skill", text, enabled: 0, longest: skillRules(access.agent).characters + head });
}

const sizeBeside = async ({ agent, parts, owner }: AgentAccess, { layer }: TextKey): Promise<PrefixSize> =>
  prefixSize({
    layers: agent.layers,
    limits: textLimitsOf(agent),
    active: await parts.store.activeTexts(owner),
    layer,
  });

async function othersEnabled(access: AgentAccess, { layer, key }: EditableText): Promise<number> {
  const skills = activeSkills(access.agent, layer, await activeTexts(access));
  return skills.filter(({ name, text }) => name !== key.part && !isStandard(text)).length;
}

/** A text keeps no place by its layer's id alone. @throws StrataError `text_refused` */
export function checkPlace(access: AgentAccess, { key, layer }: EditableText, version: TextVersion): void {
  const { place, n } = version;
  if (isInPlace(layer, version)) return;
  const sentence = `version ${n} was written for rank ${place.rank} and a ${place.source}, and the layer has rank ${layer.rank} and a ${layer.source.kind} now`;
  throw textRefused(access, key, `${sentence}; write it again if it should be used there`);
}

/** What strata.yaml says was looked at when it was loaded; there must only be room for it. */
export async function checkDeclared(access: AgentAccess, now: EditableText): Promise<Measured> {
  const { key, kind, declared } = now;
  const beside = await pointersBeside(access, key);
  if (declared === undefined) {
    const message = `strata.yaml declares no text for ${textName(key)} of ${access.agent.name}: there is no version 0 to go back to`;
    throw new StrataError("text_not_found", message, { ...key, n: 0 });
  }
  if (kind === "skill" && !isStandard(declared) && (await othersEnabled(access, now)) >= TEXT_LIMITS.skills) {
    throw textRefused(
      access,
      key,
      `${TEXT_LIMITS.skills} skills are enabled, and no more are allowed; disable one first`,
    );
  }
  if (kind !== "layer") return { beside };
  const size = await sizeBeside(access, key);
  const asDeclared = prefixSize({ layers: access.agent.layers, limits: size.limits, active: [], layer: key.layer });
  const problem = size.beside <= asDeclared.beside ? undefined : sumProblem(declared.length, size);
  if (problem === undefined) return { beside };
  throw textRefused(access, key, `as it is declared, ${problem}`);
}

export function textRefused({ agent }: AgentAccess, key: TextKey, problem: string): StrataError {
  return new StrataError("text_refused", `the text of ${textName(key)} of ${agent.name} is refused: ${problem}`, {
    ...key,
    problem,
  });
}

/** Reports that a text is already in the requested state. */
export function standsAlready({ agent }: AgentAccess, key: TextKey, is: string): StrataError {
  const message = `${textName(key)} of ${agent.name} ${is} already, and nothing was changed`;
  return new StrataError("text_refused", message, { ...key, problem: `it ${is} already` });
}

export const keyOf = ({
  layer,
  part,
}: {
  readonly layer: TextKey["layer"];
  readonly part?: string | undefined;
}): TextKey => (part === undefined ? { layer } : { layer, part });

/** @throws StrataError `invalid_input` */
export function checkedReason(reason: Untrusted): Untrusted {
  const { length } = reason.trim();
  if (length > 0 && length <= TEXT_LIMITS.reason) return reason;
  const message = `a reason has 1 to ${TEXT_LIMITS.reason} characters; this one has ${length}`;
  throw new StrataError("invalid_input", message, { length });
}

/** A version that may be active again. */
export async function keptVersion(access: AgentAccess, now: EditableText, n: number) {
  const version = await versionOf(access, now.key, n);
  if (version.status !== "kept") throw textDecided(access.agent.name, version);
  checkPlace(access, now, version);
  return passed(access, now, version);
}

/** @throws StrataError `text_not_found` */
export async function versionOf({ parts, owner, agent }: AgentAccess, key: TextKey, n: number): Promise<TextVersion> {
  const [found] = await parts.store.textVersions(owner, { key, before: n + 1, limit: 1 });
  if (found?.n === n) return found;
  const [newest] = await parts.store.textVersions(owner, { key, limit: 1 });
  const there =
    newest === undefined
      ? "none was ever written"
      : newest.n === 1
        ? "there is version 1"
        : `there are 1 to ${newest.n}`;
  const message = `${textName(key)} of ${agent.name} has no version ${n}; ${there}`;
  throw new StrataError("text_not_found", message, { ...key, n });
}
