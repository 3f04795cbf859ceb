import { dirname, join, relative, sep } from "node:path";
import { truncateText } from "../../guard/index.ts";
import { type FileReader, isInside, type ProjectDisk, rootOf, upTo } from "../project-disk.ts";
import type { FileRules } from "./config.ts";
import { COMMENTS_REMOVED, faultsIn, type Prepared, prepare, splitHead, withoutComments } from "./prepare.ts";

/** A file of the list as it was found. */
export interface ProjectFile extends Prepared {
  /** As the list has it. */
  readonly name: string;
  /** Its path from the root; absent if it was not found. */
  readonly path?: string;
  /** Whether a limit shortened it. */
  readonly isCut: boolean;
  /** The faults that the guard finds. */
  readonly faults: readonly string[];
  /** The sub-agents that it defines, if it is an AGENTS.md. */
  readonly subagents: readonly SubagentDefinition[];
}

/** A sub-agent that an AGENTS.md defines. */
export interface SubagentDefinition {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
}

/** All that was read for one declaration. */
export interface FilesFound {
  readonly root: string;
  readonly files: readonly ProjectFile[];
}

/** How deep files may include others, and how many one may bring along. */
const DEPTH = 5;
const INCLUDES = 50;

/** More is read than may be sent, since some of it is removed again. */
const MARGIN = 2;

/** Bytes that are read for a character, at most. */
const BYTES = 4;

/** Reads the files that these rules name, for the project in this folder. A file that cannot be read is noted. */
export async function readFiles(
  disk: Pick<ProjectDisk, "reader">,
  folder: string,
  rules: FileRules,
): Promise<FilesFound> {
  const { reader } = disk;
  const root = await rootOf(reader, folder, rules.root);
  const real = (await reader.real(root)) ?? root;
  const files: ProjectFile[] = [];
  let left = rules.total;
  for (const name of rules.read) {
    const reading: FileReading = { reader, root, real, rules, included: [], notes: [], characters: 0 };
    const path = await pathOf(reading, folder, name);
    const found = path === undefined ? NOT_THERE : await wholeText(reading, path);
    if (typeof found !== "string") {
      files.push({
        name,
        text: "",
        notes: [found.because],
        faults: [],
        subagents: [],
        isCut: false,
        ...(path && { path: shownPath(reading, path) }),
      });
      continue;
    }
    const most = MARGIN * rules.characters;
    const ready = prepare(truncateText(found, most, ""));
    const room = Math.min(rules.characters, left);
    const cut = fitToRoom(ready, room, { notes: reading.notes, isLonger: found.length > most });
    // The guard has not checked what was cut off, so it defines no instructions.
    const subagents = path?.endsWith("AGENTS.md") ? subagentsIn(cut.text) : [];
    const { own, ...kept } = cut;
    const file = { ...kept, faults: await faultsIn(own), name, path: shownPath(reading, path ?? name), subagents };
    left -= file.text.length;
    files.push(file);
  }
  return { root, files };
}

interface FileReading {
  readonly reader: FileReader;
  readonly root: string;
  /** The root with its links followed. */
  readonly real: string;
  readonly rules: FileRules;
  /** The files that it included, by their paths from the root. */
  readonly included: string[];
  readonly notes: string[];
  /** How much was read for it so far. */
  characters: number;
}

interface Missing {
  readonly because: string;
}

const NOT_THERE: Missing = { because: "there is no such file" };

/** A folder may have any name, and its name appears in the prompt. */
const shownPath = ({ root }: FileReading, path: string): string =>
  relative(root, path).split(sep).join("/").replaceAll(/\p{C}/gu, "\ufffd");

/** A bare name is that of the nearest file, a path begins at the root. */
async function pathOf({ reader, root }: FileReading, folder: string, name: string): Promise<string | undefined> {
  const folders = name.includes("/") ? [root] : upTo(root, folder);
  for (const one of folders) if (await reader.exists(join(one, name))) return join(one, name);
  return undefined;
}

/** The text of a file with all that it includes, without its head. */
async function wholeText(reading: FileReading, path: string): Promise<string | Missing> {
  const text = await textAt(reading, path);
  if (typeof text !== "string") return text;
  const split = splitHead(text);
  if (split.problem !== undefined) reading.notes.push(`line ${split.problem.line}: ${split.problem.message}`);
  const whole = await withIncluded(reading, split.body, [path]);
  if (reading.included.length > 0) reading.notes.push(`with ${reading.included.join(", ")}`);
  return whole;
}

async function textAt({ reader, real, rules }: FileReading, path: string): Promise<string | Missing> {
  try {
    const found = await reader.read(path, MARGIN * BYTES * rules.characters);
    if (found === undefined) return NOT_THERE;
    if (!isInside(real, found.real)) return { because: "it leads out of the project's root and is not read" };
    return found.text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  } catch (error) {
    return { because: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

const OPENS_CODE = /^ {0,3}(?:```|~~~)/;

/** A line that is only `@path`, outside code. A name without a dot or a slash is a mention of a person. */
const INCLUDE = /^@(?=\S*[./])([^\s@]+)$/;

/** The text with each `@path` replaced by that file; paths are relative to the file that names them. */
async function withIncluded(reading: FileReading, text: string, way: readonly string[]): Promise<string> {
  const lines: string[] = [];
  let isCode = false;
  // Includes inside comments are ignored.
  const visible = withoutComments(text);
  if (visible !== text) reading.notes.push(COMMENTS_REMOVED);
  for (const line of visible.split("\n")) {
    if (OPENS_CODE.test(line)) isCode = !isCode;
    const named = isCode ? undefined : INCLUDE.exec(line.trim())?.[1];
    lines.push(named === undefined ? line : await included(reading, named, way));
  }
  return lines.join("\n");
}

/** The replacement for an include: the file, or the line itself if there is no such file. */
async function included(reading: FileReading, named: string, way: readonly string[]): Promise<string> {
  const path = join(dirname(way.at(-1) ?? reading.root), named);
  const refuse = (because: string): string => {
    reading.notes.push(`@${named}: ${because}`);
    return `@${named}`;
  };
  if (!isInside(reading.root, path)) return refuse("it leads out of the project's root and is not read");
  if (way.includes(path)) return refuse("it includes itself");
  if (way.length > DEPTH) return refuse(`files include each other ${DEPTH} deep at most`);
  if (reading.included.length >= INCLUDES) return refuse(`no more than ${INCLUDES} files are included`);
  if (reading.characters > MARGIN * reading.rules.characters) return refuse("there is no room for it");
  const text = await textAt(reading, path);
  if (typeof text !== "string") return refuse(text.because);
  reading.characters += text.length;
  reading.included.push(shownPath(reading, path));
  return withIncluded(reading, splitHead(text).body.trim(), [...way, path]);
}

/** Behind the beginning of a file that is not read to its end. */
export const WORDING = {
  read: (shown: number, all: number, isLonger: boolean): string =>
    `${shown} of ${isLonger ? "more than " : ""}${all} characters are read`,
  truncated: (sentence: string): string => `(Truncated: ${sentence}.)`,
} as const;

/** As much of it as fits, to the end of a line if one is near. */
function fitToRoom(
  ready: Prepared,
  room: number,
  before: { readonly notes: readonly string[]; readonly isLonger: boolean },
): Omit<ProjectFile, "name" | "faults" | "subagents"> & { /** Without our mark of the cut. */ readonly own: string } {
  const notes = firstNotes([...new Set([...before.notes, ...ready.notes])]);
  if (ready.text.length <= room && !before.isLonger) return { ...ready, own: ready.text, notes, isCut: false };
  const beginning = truncateText(ready.text, Math.max(0, room), "");
  const end = beginning.lastIndexOf("\n");
  const text = end > room / 2 ? beginning.slice(0, end) : beginning;
  const sentence = WORDING.read(text.length, ready.text.length, before.isLonger);
  const mark = WORDING.truncated(sentence);
  return { ...ready, own: text, text: text === "" ? "" : `${text}\n${mark}`, notes: [...notes, sentence], isCut: true };
}

/** How many notes about one file are shown. */
const NOTES = 12;

const firstNotes = (notes: readonly string[]): readonly string[] =>
  notes.length <= NOTES ? notes : [...notes.slice(0, NOTES), `and ${notes.length - NOTES} more`];

const HEADING = /^(#{1,6})\s+(.+?)\s*#*$/;
/** A longer line is not a heading. */
const LONGEST = 200;
const SUBAGENTS = /^(?:sub-?agents?|agents?)$/i;

/**
 * Under a heading `Subagents`, each heading one level deeper defines one: its first paragraph says what it is for, the whole text is its
 * instructions.
 */
export function subagentsIn(text: string): readonly SubagentDefinition[] {
  const found: { name: string; lines: string[] }[] = [];
  let depth = 0;
  for (const line of text.split("\n")) {
    const [, marks = "", title = ""] = line.length > LONGEST ? [] : (HEADING.exec(line) ?? []);
    if (marks !== "" && (depth === 0 || marks.length <= depth)) depth = SUBAGENTS.test(title) ? marks.length : 0;
    else if (depth > 0 && marks.length === depth + 1) found.push({ name: title.replaceAll("`", ""), lines: [] });
    else if (depth > 0) found.at(-1)?.lines.push(line);
  }
  return found.map(({ name, lines }) => {
    const instructions = lines.join("\n").trim();
    const [description = ""] = instructions.split(/\n\s*\n/);
    return { name, description: description.replaceAll("\n", " "), instructions };
  });
}
