/** The sentences about skills that a model reads. `tests/house/golden/wording.txt` lists them all. */
import { asSentence } from "../../protocol/index.ts";

/** Over the names of skills. */
export const loadFirst = (tool: string): string =>
  `Before a task that one of these skills covers, read it with ${tool}:`;
export const moreSkills = (skills: number): string => `- and ${skills} more`;

export const notRead = (because: string): string => asSentence(`Not read: ${because}`);
export const noSkills = (agent: string): string => `${agent} has no skills`;
export const noSuchSkill = (name: string, suggestion: string): string =>
  `there is no enabled skill ${name}${suggestion}`;
export const NO_OTHER = ", nor any other";
export const noFiles = (skill: string): string => `the skill ${skill} has no files`;
export const noSuchFile = (skill: string, path: string): string => `the skill ${skill} has no file ${path}`;
export const outside = (skill: string, path: string): string => `${path} leads out of the skill ${skill}`;
export const unreadable = (skill: string, path: string, why: string): string => `${path} of the skill ${skill}: ${why}`;

/** Behind the instructions of a skill, and behind the beginning of its file. */
export const filesOfSkill = (files: readonly string[]): string =>
  `Files of this skill, read with \`path\`: ${files.join(", ")}`;
export const moreFiles = (files: number): string => `and ${files} more`;
export const FILE_TRUNCATED = "(Truncated: the file is longer.)";

/** Behind the beginning of a skill's instructions. */
export const charactersRead = (shown: number, all: number): string => `${shown} of ${all} characters are read`;
export const skillTruncated = (read: string): string => `(Truncated: ${read}.)`;
