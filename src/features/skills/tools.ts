import { join } from "node:path";
import { z } from "zod";
import {
  type ActiveSkill,
  activeSkills,
  asSentence,
  suggestion,
  type Tool,
  type ToolOutcome,
} from "../../protocol/index.ts";
import { answeredAs, defineTool, refused } from "../../turn/tools/index.ts";
import type { ToolDeps } from "../feature.ts";
import { prepare } from "../files/index.ts";
import { isInside, type ProjectDisk } from "../project-disk.ts";
import { skillRules } from "./config.ts";
import { type FolderSkill, NO_SKILLS, skillsOn, withFolders } from "./read.ts";
import { isStandard, readSkill } from "./standard.ts";
import { LOAD_SKILL } from "./steps.ts";
import { SKILL_STORE, type SkillFile } from "./store.ts";

/** The tool by which an agent reads the instructions of a skill, and the files that belong to it. */
export const skillTools = (world: ToolDeps): readonly Tool[] => [
  defineTool({
    name: LOAD_SKILL,
    description:
      "Reads the instructions of a skill that your prompt lists, before you do what it is for. With `path`, a file of the skill that its instructions name.",
    input: z.object({
      name: z.string().min(1).max(64).describe("The skill's name."),
      path: z.string().min(1).max(300).optional().describe("A file of the skill, as `references/forms.md`."),
    }),
    effect: "none",
    trust: "operator",
    run: async ({ name, path }, { scope }) => {
      const { org, agent: of } = scope;
      const declared = world.agentOf({ org, agent: of });
      const layer = declared?.layers.find(({ source }) => source.kind === "skills");
      if (declared === undefined || layer === undefined) return refused(`Not read: ${of} has no skills.`);
      const { value: found } = world.disk === undefined ? NO_SKILLS : await skillsOn(world.disk)(declared);
      const [versions, pointers] = await Promise.all([
        world.store.activeTexts({ org, agent: of }),
        world.store.textPointers({ org, agent: of }),
      ]);
      const skills = activeSkills(withFolders(declared, found), layer, { versions, pointers });
      const skill = skills.find((one) => one.name === name);
      if (skill === undefined) return refused(unknown(name, skills));
      const folder = found.skills.find((one) => one.name === name);
      const kept = await world.store.part(SKILL_STORE).skillFiles({ org, agent: of, skill: name, n: skill.version });
      if (path === undefined) return instructions(world.disk, skill, { folder, kept });
      const known = kept.find((one) => one.path === path);
      if (known !== undefined) return answeredAs(skill.wordsOf, shortened(known.text, skillRules(declared).characters));
      if (world.disk === undefined || folder === undefined) return refused(`Not read: the skill ${name} has no files.`);
      return fileOf(world.disk, { skill, folder, path, most: skillRules(declared).characters });
    },
  }),
];

function unknown(name: string, skills: readonly ActiveSkill[]): string {
  const names = skills.map((one) => one.name);
  const says = `Not read: there is no enabled skill ${JSON.stringify(name)}`;
  return names.length === 0 ? `${says}, nor any other.` : asSentence(`${says}${suggestion(name, names)}`);
}

async function instructions(
  disk: ProjectDisk | undefined,
  { text, wordsOf }: ActiveSkill,
  { folder, kept }: { readonly folder: FolderSkill | undefined; readonly kept: readonly SkillFile[] },
): Promise<ToolOutcome> {
  const body = (isStandard(text) ? readSkill(text).skill?.body : undefined) ?? text;
  const inFolder = disk === undefined || folder === undefined ? [] : await filesOf(disk, folder);
  const files = [...new Set([...kept.map(({ path }) => path), ...inFolder])];
  const list = files.length === 0 ? "" : `\n\nFiles of this skill, read with \`path\`: ${files.join(", ")}`;
  return answeredAs(wordsOf, `${body}${list}`);
}

/** Where the standard has a skill's files. */
const PLACES = ["", "scripts", "references", "assets"];
const MOST = 50;

/** The files of a skill, as far as the standard names places for them. */
async function filesOf({ reader }: ProjectDisk, { folder }: FolderSkill): Promise<readonly string[]> {
  const lists = await Promise.all(
    PLACES.map(async (place) => {
      const names = await reader.list(join(folder, place)).catch(() => []);
      return names.map((name) => (place === "" ? name : `${place}/${name}`));
    }),
  );
  const isFile = (name: string): boolean => name !== "SKILL.md" && !PLACES.includes(name) && !name.startsWith(".");
  const all = lists.flat().filter(isFile);
  return all.length > MOST ? [...all.slice(0, MOST), `and ${all.length - MOST} more`] : all;
}

/** Cleaned, and no longer than may be read of one. */
function shortened(file: string, most: number): string {
  const { text } = prepare(file);
  return text.length > most ? `${text.slice(0, most)}\n(Cut here: the file is longer.)` : text;
}

interface SkillWish {
  readonly skill: ActiveSkill;
  readonly folder: FolderSkill;
  readonly path: string;
  readonly most: number;
}

/** A text that stands in the skill's folder, links followed. */
async function fileOf({ reader }: ProjectDisk, { skill, folder, path, most }: SkillWish): Promise<ToolOutcome> {
  const shown = JSON.stringify(path);
  const file = join(folder.folder, path);
  if (path.includes("\0") || !isInside(folder.folder, file))
    return refused(`Not read: ${shown} leads out of the skill ${skill.name}.`);
  try {
    const found = await reader.read(file, 4 * most);
    if (found === undefined) return refused(`Not read: the skill ${skill.name} has no file ${shown}.`);
    if (!isInside(folder.folder, found.real))
      return refused(`Not read: ${shown} leads out of the skill ${skill.name}.`);
    return answeredAs(skill.wordsOf, shortened(found.text, most));
  } catch (error) {
    return refused(
      `Not read: ${shown} of the skill ${skill.name}: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
