import { join } from "node:path";
import { z } from "zod";
import { type ActiveSkill, activeSkills, suggestion, type Tool, type ToolOutcome } from "../../protocol/index.ts";
import { answeredAs, defineTool, refused } from "../../turn/tools/index.ts";
import type { ToolDeps } from "../feature.ts";
import { prepare } from "../files/index.ts";
import { isInside, type ProjectDisk } from "../project-disk.ts";
import { skillRules } from "./config.ts";
import { type FolderSkill, NO_SKILLS, skillsOn, withFolders } from "./read.ts";
import { isStandard, readSkill } from "./standard.ts";
import { LOAD_SKILL } from "./steps.ts";
import { SKILL_STORE, type SkillFile } from "./store.ts";
import {
  FILE_TRUNCATED,
  filesOfSkill,
  moreFiles,
  NO_OTHER,
  noFiles,
  noSkills,
  noSuchFile,
  noSuchSkill,
  notRead,
  outside,
  unreadable,
} from "./wording.ts";

/** The tool by which an agent reads the instructions of a skill, and the files that belong to it. */
export const skillTools = (world: ToolDeps): readonly Tool[] => [
  {
    ...defineTool({
      name: LOAD_SKILL,
      description:
        "Reads a skill that your prompt lists; call it before a task that the skill covers. With `path`, reads a file that the skill names.",
      input: z.object({
        name: z.string().min(1).max(64).describe("The skill's name."),
        path: z.string().min(1).max(300).optional().describe("A file of the skill, e.g. `references/forms.md`."),
      }),
      effect: "none",
      trust: "operator",
      run: async ({ name, path }, { scope }) => {
        const { org, agent: of } = scope;
        const declared = world.agentOf({ org, agent: of });
        const layer = declared?.layers.find(({ source }) => source.kind === "skills");
        if (declared === undefined || layer === undefined) return refused(notRead(noSkills(of)));
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
        if (known !== undefined)
          return answeredAs(skill.textTrust, shortened(known.text, skillRules(declared).characters));
        if (world.disk === undefined || folder === undefined) return refused(notRead(noFiles(name)));
        return fileOf(world.disk, { skill, folder, path, most: skillRules(declared).characters });
      },
    }),
    listedIn: "skills",
  },
];

function unknown(name: string, skills: readonly ActiveSkill[]): string {
  const names = skills.map((one) => one.name);
  const others = names.length === 0 ? NO_OTHER : suggestion(name, names);
  return notRead(noSuchSkill(JSON.stringify(name), others));
}

async function instructions(
  disk: ProjectDisk | undefined,
  { text, textTrust }: ActiveSkill,
  { folder, kept }: { readonly folder: FolderSkill | undefined; readonly kept: readonly SkillFile[] },
): Promise<ToolOutcome> {
  const body = (isStandard(text) ? readSkill(text).skill?.body : undefined) ?? text;
  const inFolder = disk === undefined || folder === undefined ? [] : await filesOf(disk, folder);
  const files = [...new Set([...kept.map(({ path }) => path), ...inFolder])];
  const list = files.length === 0 ? "" : `\n\n${filesOfSkill(files)}`;
  return answeredAs(textTrust, `${body}${list}`);
}

/** Where the standard has a skill's files. */
const PLACES = ["", "scripts", "references", "assets"];
const MOST = 50;

/** The files of a skill in the places that the standard names. */
async function filesOf({ reader }: ProjectDisk, { folder }: FolderSkill): Promise<readonly string[]> {
  const lists = await Promise.all(
    PLACES.map(async (place) => {
      const names = await reader.list(join(folder, place)).catch(() => []);
      return names.map((name) => (place === "" ? name : `${place}/${name}`));
    }),
  );
  const isFile = (name: string): boolean => name !== "SKILL.md" && !PLACES.includes(name) && !name.startsWith(".");
  const all = lists.flat().filter(isFile);
  return all.length > MOST ? [...all.slice(0, MOST), moreFiles(all.length - MOST)] : all;
}

/** Cleaned, and no longer than may be read of one. */
function shortened(file: string, most: number): string {
  const { text } = prepare(file);
  return text.length > most ? `${text.slice(0, most)}\n${FILE_TRUNCATED}` : text;
}

interface SkillWish {
  readonly skill: ActiveSkill;
  readonly folder: FolderSkill;
  readonly path: string;
  readonly most: number;
}

/** A text in the skill's folder, with links followed. */
async function fileOf({ reader }: ProjectDisk, { skill, folder, path, most }: SkillWish): Promise<ToolOutcome> {
  const shown = JSON.stringify(path);
  const file = join(folder.folder, path);
  if (path.includes("\0") || !isInside(folder.folder, file)) return refused(notRead(outside(skill.name, shown)));
  try {
    const found = await reader.read(file, 4 * most);
    if (found === undefined) return refused(notRead(noSuchFile(skill.name, shown)));
    if (!isInside(folder.folder, found.real)) return refused(notRead(outside(skill.name, shown)));
    return answeredAs(skill.textTrust, shortened(found.text, most));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused(notRead(unreadable(skill.name, shown, why)));
  }
}
