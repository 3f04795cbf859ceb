import {
  type ActiveSkill,
  type ActiveTexts,
  type Agent,
  activeSkills,
  joinParts,
  type Layer,
  type LayerContent,
  type LayerPart,
  lowestTrust,
  skillsText,
  type Trusted,
  trusted,
} from "../../protocol/index.ts";
import type { TurnSteps } from "../../turn/index.ts";
import { firstWait, type ProjectDisk } from "../project-disk.ts";
import { skillRules } from "./config.ts";
import { type SkillsFound, skillsOn, waitingIn, withFolders } from "./read.ts";
import { isStandard, readSkill } from "./standard.ts";
import { loadFirst, moreSkills } from "./wording.ts";

/** The tool by which an agent reads a skill's instructions. */
export const LOAD_SKILL = "load_skill";

/** Fills layers with `source: skills`: declared and edited skills, and those in folders. */
export function skillSteps(disk: ProjectDisk): TurnSteps {
  const skillsOf = skillsOn(disk);
  const firstUse = firstWait(disk);
  return {
    prepare: async (_, agent) => {
      if (agent.skillFolders !== undefined) await firstUse.wait(agent, () => skillsOf(agent));
    },
    stored: (_, agent, active) =>
      active === undefined
        ? {}
        : {
            skills: async (layer) => {
              const { value, use } = await skillsOf(agent);
              const content = skillsContent(agent, { layer, active, found: value });
              return agent.skillFolders === undefined ? content : { ...content, cache: firstUse.of(agent) ?? use };
            },
          },
  };
}

interface SkillsBlock {
  readonly layer: Layer;
  readonly active: ActiveTexts;
  readonly found: SkillsFound;
}

function skillsContent(
  agent: Agent,
  { layer, active, found }: SkillsBlock,
): Extract<LayerContent, { kind: "text" | "empty" }> {
  const skills = activeSkills(withFolders(agent, found), layer, active);
  const trust = lowestTrust(skills.map(({ textTrust }) => textTrust));
  const none = { kind: "empty", because: "no skill is enabled" } as const;
  if (agent.skillFolders === undefined && !skills.some(({ text }) => isStandard(text)))
    return skills.length === 0 ? none : { kind: "text", text: skillsText(skills), trust };
  const parts = [
    ...skillParts(agent, skills, found),
    ...[...found.bad, ...waitingIn(found, active)].map(({ path, message }) => part(path, "", message)),
  ];
  const text = joinParts(parts);
  return text === "" ? { ...none, parts } : { kind: "text", text, trust, parts };
}

/** Those that are shown whole come first, then the list of those that are loaded. */
function skillParts(agent: Agent, skills: readonly ActiveSkill[], found: SkillsFound): readonly LayerPart[] {
  const { shown } = skillRules(agent);
  const loads = agent.tools.some((tool) => tool === LOAD_SKILL);
  const read = skills.map((skill) => ({
    ...skill,
    standard: isStandard(skill.text) ? readSkill(skill.text).skill : undefined,
  }));
  const isListed = (one: (typeof read)[number]): boolean => loads && one.standard !== undefined;
  const kept = [...read.filter((one) => !isListed(one)), ...read.filter(isListed)].slice(0, shown);
  const first = kept.findIndex(isListed);
  const parts = kept.map((one, i) => {
    const said = isListed(one) ? one.standard?.description : one.standard?.body;
    const line = skillsText([{ ...one, text: said === undefined ? one.text : trusted(said) }]);
    const { notes = [], isCut } = found.skills.find(({ name, text }) => name === one.name && text === one.text) ?? {};
    const made = part(one.name, i === first ? `${loadFirst(LOAD_SKILL)}\n${line}` : line, notes.join("; "));
    return isCut && !isListed(one) ? { ...made, cut: true as const } : made;
  });
  const more = read.length - kept.length;
  if (more === 0) return parts;
  return [...parts, { ...part("more", moreSkills(more), `${shown} are shown`), others: more }];
}

const part = (name: string, text: string, because: string): LayerPart => ({
  name,
  // Its words were trusted before: a skill's, or the platform's own.
  text: text === "" ? NOTHING : trusted(text),
  ...(because !== "" && { because }),
});

const NOTHING: Trusted = trusted("");
