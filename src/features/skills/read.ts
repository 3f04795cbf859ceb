import { join, relative, sep } from "node:path";
import { stringify } from "yaml";
import { blocked, flagged, truncateText } from "../../guard/index.ts";
import { type ActiveTexts, type Agent, canonicalJson, type Trusted, trusted } from "../../protocol/index.ts";
import { faultsIn, prepare } from "../files/index.ts";
import { type Cached, isInside, type ProjectDisk, rootOf, staleWhileRevalidate } from "../project-disk.ts";
import { type SkillRules, skillRules } from "./config.ts";
import { readSkill } from "./standard.ts";
import { charactersRead, skillTruncated } from "./wording.ts";

/** A skill of a folder. */
export interface FolderSkill {
  readonly name: string;
  /** Of its SKILL.md, from the root on. */
  readonly path: string;
  /** Its real folder. */
  readonly folder: string;
  /** Its SKILL.md, cleaned. */
  readonly text: Trusted;
  readonly notes: readonly string[];
  readonly isCut: boolean;
  /** The guard's finding, if an operator has to review it first. */
  readonly waits?: string;
}

/** A skill that could not be taken, and why. */
export interface BadSkill {
  readonly path: string;
  readonly message: string;
}

/** All that was read of an agent's folders. */
export interface SkillsFound {
  readonly skills: readonly FolderSkill[];
  readonly bad: readonly BadSkill[];
}

export const NO_SKILLS: Cached<SkillsFound> = { value: { skills: [], bad: [] }, use: "hit" };

export type SkillsOf = (agent: Agent) => Promise<Cached<SkillsFound>>;

const openedSkills = new WeakMap<ProjectDisk, SkillsOf>();

/** The skills on this disk. Agents that name the same folders share what was read. */
export function skillsOn(disk: ProjectDisk): SkillsOf {
  const known = openedSkills.get(disk);
  if (known !== undefined) return known;
  const cached = staleWhileRevalidate<SkillsFound>(disk);
  const skillsOf: SkillsOf = async (agent) => {
    const folder = disk.folderOf(agent);
    if (agent.skillFolders === undefined || folder === undefined) return NO_SKILLS;
    const rules = skillRules(agent);
    const { read, characters, check } = rules;
    const root = agent.files?.root;
    const key = canonicalJson([folder, root ?? "", read, characters, check]);
    return cached(key, rules.ttl * 1_000, () => readSkills(disk, { folder, root, rules }));
  };
  openedSkills.set(disk, skillsOf);
  return skillsOf;
}

interface Where {
  readonly folder: string;
  readonly root: string | undefined;
  readonly rules: SkillRules;
}

/** How many entries of a folder are read. */
const MOST = 500;

async function readSkills({ reader }: ProjectDisk, { folder, root: declared, rules }: Where): Promise<SkillsFound> {
  const root = await rootOf(reader, folder, declared);
  const real = (await reader.real(root)) ?? root;
  const skills: FolderSkill[] = [];
  const bad: BadSkill[] = [];
  for (const place of rules.read) {
    // If it cannot be read, the earlier result for all folders is kept.
    const entries = await reader.list(join(root, place));
    if (entries.length > MOST)
      bad.push({ path: place, message: `its first ${MOST} of ${entries.length} entries are looked at` });
    for (const name of entries.slice(0, MOST)) {
      const file = join(root, place, name, "SKILL.md");
      const path = relative(root, file).split(sep).join("/").replaceAll(/\p{C}/gu, "\ufffd");
      try {
        const found = await reader.read(file, 4 * rules.characters);
        if (found === undefined) continue;
        // Not that of the file: a linked SKILL.md would make the files beside its target those of the skill.
        const own = (await reader.real(join(root, place, name))) ?? real;
        if (![own, found.real].every((one) => isInside(real, one)))
          throw new Error("it leads out of the project's root and is not read");
        if (skills.some((one) => one.name === name)) throw new Error("another folder has a skill of that name");
        skills.push({ ...(await checkSkill(found.text, name, rules)), name, path, folder: own });
      } catch (error) {
        bad.push({ path, message: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  return { skills, bad };
}

/** @throws Error with its problem, and the line */
async function checkSkill(
  text: string,
  folder: string,
  { characters, check }: SkillRules,
): Promise<Pick<FolderSkill, "text" | "notes" | "isCut" | "waits">> {
  const { skill, problems, hints } = readSkill(text, folder);
  if (skill === undefined)
    throw new Error(problems.map(({ line, message: sentence }) => `line ${line}: ${sentence}`).join("; "));
  const body = prepare(skill.body);
  if (body.text === "") throw new Error("nothing is left of its instructions once what is hidden was removed");
  const isCut = body.text.length > characters;
  const saying = (length: number): string => charactersRead(length, body.text.length);
  const marking = (length: number): string => `\n${skillTruncated(saying(length))}`;
  const own = isCut ? truncateText(body.text, characters - marking(characters).length, "") : body.text;
  const sentence = saying(own.length);
  const whole = skillText({ ...skill, body: isCut ? `${own}${marking(own.length)}` : own });
  // What we write around its own words makes it no longer than the guard reads.
  const faults = [...(await faultsIn(skill.description)), ...(await faultsIn(own))];
  if (faults.length > 0 && check === "block") throw new Error(blocked(faults));
  const notes = [
    ...hints.map(({ line, message: hint }) => `line ${line}: ${hint}`),
    ...body.notes,
    ...(isCut ? [sentence] : []),
    ...(faults.length > 0 ? [flagged(faults)] : []),
  ];
  // The operator's own folder, read by the standard and cleaned of everything that reads as the platform's.
  const waits = faults.length > 0 && check === "review" ? { waits: faults.join("; ") } : {};
  return { text: trusted(whole), notes, isCut, ...waits };
}

/** A skill as its file says it, in the one spelling. */
function skillText({
  name,
  description,
  body,
}: {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}): string {
  return `---\n${stringify({ name, description }, { lineWidth: 0 })}---\n${body}`;
}

/** The agent with the skills of its folders beside those that are declared: what strata.yaml says counts first. */
export function withFolders(agent: Agent, { skills }: SkillsFound): Agent {
  const declared = agent.skills ?? [];
  const more = skills.filter(({ name, waits }) => waits === undefined && !declared.some((one) => one.name === name));
  if (more.length === 0) return agent;
  return { ...agent, skills: [...declared, ...more.map(({ name, text }) => ({ name, text, enabled: true }))] };
}

/** A skill that waits for an operator's word on its text. */
export interface WaitingSkill extends BadSkill {
  readonly name: string;
  readonly text: Trusted;
}

/** Skills not approved in their present form. Approved ones are kept in the record, and take precedence over the folder's. */
export const waitingIn = (
  { skills }: SkillsFound,
  { versions }: Pick<ActiveTexts, "versions">,
): readonly WaitingSkill[] =>
  skills.flatMap(({ name, path, text, waits }) =>
    waits === undefined || versions.some((one) => one.part === name && one.text === text)
      ? []
      : [
          {
            name,
            path,
            text,
            message: `it waits until an operator approves it, with \`strata skill approve ${name}\`: ${waits}`,
          },
        ],
  );
