/** Skills of the open standard: folders with a SKILL.md, listed in the prompt, and read by the agent when it needs them. */

import { join } from "node:path";
import { printable } from "../../print/index.ts";
import type { Agent, AgentName, Allowed } from "../../protocol/index.ts";
import { accessTo, featureApi } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import type { FilePorts } from "../files/index.ts";
import { type FileProblem, lineProblems } from "../files/index.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { KEYS, skillRules } from "./config.ts";
import {
  type BadSkill,
  NO_SKILLS,
  type SkillsOf,
  skillsOn,
  type WaitingSkill,
  waitingIn,
  withFolders,
} from "./read.ts";
import { readSkill } from "./standard.ts";
import { skillSteps } from "./steps.ts";
import { SKILL_STORE } from "./store.ts";
import { skillTools } from "./tools.ts";

/** What operators see of skills in folders. @throws StrataError `not_allowed`, `agent_not_found` */
export interface SkillApi {
  /** The agent with the skills of its folders. */
  withFolderSkills(agent: Agent): Promise<Agent>;
  /** What of its skills' folders could not be taken, and why. */
  badSkills(actor: Allowed<"read">, agent: AgentName): Promise<readonly (BadSkill | WaitingSkill)[]>;
}

/** The functions of skills, as `runtime.use` gives them. */
export const SKILL_API = featureApi<SkillApi>("skills");

export { skillRules } from "./config.ts";

export { isStandard, readSkill, type SkillProblem } from "./standard.ts";
export { SKILL_STORE } from "./store.ts";

export const FEATURE: Feature<FilePorts> = {
  name: "skills",
  needs: ["files"],
  keys: KEYS,
  tools: skillTools,
  store: SKILL_STORE,
  operations: [],
  open: ({ disk }) => {
    const skillsOf: SkillsOf = disk === undefined ? async () => NO_SKILLS : skillsOn(disk);
    return {
      ...(disk && { steps: skillSteps(disk) }),
      api: ({ parts }) =>
        SKILL_API.open({
          withFolderSkills: async (agent) => withFolders(agent, (await skillsOf(agent)).value),
          badSkills: async (actor, name) => {
            const { agent, owner } = accessTo(parts, actor, name);
            const { value: found } = await skillsOf(agent);
            if (!found.skills.some(({ waits }) => waits !== undefined)) return found.bad;
            return [...found.bad, ...waitingIn(found, { versions: await parts.store.activeTexts(owner) })];
          },
        }),
    };
  },
};

/** A skipped skill, in a sentence. */
export const badSkillLine = ({ path, message: sentence }: BadSkill): string =>
  printable(`${path} is left out: ${sentence}`);

/** What is skipped, cut, hidden or repeated among an agent's skills in folders, with file and line. */
export async function skillProblems(disk: ProjectDisk, agent: Agent): Promise<readonly FileProblem[]> {
  if (agent.skillFolders === undefined) return [];
  const { skills, bad } = (await skillsOn(disk)(agent)).value;
  const found: FileProblem[] = bad.flatMap(({ path, message: sentence }) =>
    sentence.split("; ").map((one) => ({ path, ...withLine(`left out: ${one}`) })),
  );
  const described = new Map<string, string>();
  for (const { name, path, folder, text, notes } of skills) {
    const raw = (await disk.reader.read(join(folder, "SKILL.md"), 4_000_000).catch(() => undefined))?.text ?? "";
    const lines = lineProblems(raw);
    found.push(...lines.map(({ line, message: sentence }) => ({ path, line, message: sentence })));
    for (const note of notes) if (!lines.some((one) => one.note === note)) found.push({ path, ...withLine(note) });
    if (agent.skills?.some((one) => one.name === name))
      found.push({ path, message: `strata.yaml declares a skill named ${name}, and that one counts` });
    const { description = "" } = readSkill(text).skill ?? {};
    const same = described.get(description);
    if (same !== undefined)
      found.push({ path, line: 1, message: `it has the description of ${same}: a model cannot tell them apart` });
    else described.set(description, path);
  }
  const { shown } = skillRules(agent);
  const most =
    skills.length > shown
      ? [
          {
            path: agent.skillFolders.read.join(", "),
            message: `there are ${skills.length} skills, and the prompt shows ${shown}: raise \`shown\`, or take some out`,
          },
        ]
      : [];
  return [...found, ...most];
}

/** The line that a note begins with, if it names one. */
function withLine(note: string): Omit<FileProblem, "path"> {
  const [, before = "", line, sentence = ""] = /^(left out: |)line (\d+): (.*)$/su.exec(note) ?? [];
  return line === undefined ? { message: note } : { line: Number(line), message: `${before}${sentence}` };
}
