import { join } from "node:path";
import { clean, findSecrets, readsAsOurs } from "../../guard/index.ts";
import { type Agent, type CountTokens, untrusted } from "../../protocol/index.ts";
import type { ProjectDisk } from "../project-disk.ts";
import { fileRules, USUAL } from "./config.ts";
import { COMMENTS_REMOVED, withoutComments } from "./prepare.ts";
import { type ProjectFile, readFiles } from "./read.ts";

/** A problem with a file of the prompt, and its path from the project's root. */
export interface FileProblem {
  readonly path: string;
  /** Absent if it concerns the whole file. */
  readonly line?: number;
  readonly message: string;
}

/** How many characters of a file are checked. */
const MOST = 4_000_000;

/** What is too large, cut, hidden, repeated or not read in the files of an agent's prompt: everything that a turn would drop silently. */
export async function fileProblems(
  disk: ProjectDisk,
  agent: Agent,
  count: CountTokens,
): Promise<readonly FileProblem[]> {
  const folder = disk.folderOf(agent);
  const layer = agent.layers.find(({ source }) => source.kind === "files");
  if (folder === undefined || layer === undefined) return [];
  const { root, files } = await readFiles(disk, folder, fileRules(agent));
  const found: FileProblem[] = [];
  const paragraphs = new Map<string, string>();
  for (const file of files) {
    if (file.path === undefined) {
      // The usual ones may be missing; named ones may not.
      if (!USUAL.includes(file.name)) found.push({ path: file.name, message: file.notes.join("; ") });
      continue;
    }
    const raw = (await disk.reader.read(join(root, file.path), MOST).catch(() => undefined))?.text ?? "";
    found.push(...problemsOf(file, raw), ...repeated(file.path, raw, paragraphs));
  }
  const tokens = files.reduce((sum, { text }) => sum + count(text), 0);
  if (layer.budget !== undefined && tokens > layer.budget) {
    const sentence = `the files have ${tokens} tokens together, and the layer ${layer.id} a budget of ${layer.budget}: where not everything fits, the last are cut`;
    found.push({ path: files.find(({ text }) => text !== "")?.path ?? layer.id, message: sentence });
  }
  return found;
}

function problemsOf(file: ProjectFile, raw: string): readonly FileProblem[] {
  const path = file.path ?? file.name;
  const inLines = lineProblems(raw);
  const seen = new Set(inLines.map(({ note }) => note));
  const others = file.notes.flatMap((note): FileProblem[] => {
    // A note about an included file is not a problem.
    if (seen.has(note) || note.startsWith("with ")) return [];
    return [{ path, ...locateNote(note, { file, raw }) }];
  });
  const faults = file.faults.map((fault) => ({ path, message: `the guard of layer texts finds: ${fault}` }));
  return [...inLines.map(({ line, message: sentence }) => ({ path, line, message: sentence })), ...others, ...faults];
}

/** The place that a note is about. */
function locateNote(
  note: string,
  { file, raw }: { readonly file: ProjectFile; readonly raw: string },
): Omit<FileProblem, "path"> {
  const [, line, sentence] = /^line (\d+): (.*)$/su.exec(note) ?? [];
  if (sentence !== undefined) return { line: Number(line), message: sentence };
  const included = /^(@\S+): /u.exec(note)?.[1];
  const at = included === undefined ? -1 : raw.split("\n").findIndex((one) => one.trim() === included);
  if (at >= 0) return { line: at + 1, message: note };
  if (!note.endsWith("characters are read")) return { message: note };
  const cut = lineOfCut(file.text, raw);
  return { ...(cut > 0 && { line: cut }), message: `it is cut here: ${note}` };
}

/** The line of the file at which the kept text ends, matched by counting occurrences of its last whole line. 0 if it is not found. */
function lineOfCut(kept: string, raw: string): number {
  // The mark of the cut is on its own line, and the line before it may itself be cut.
  const lines = kept.split("\n").slice(0, -1);
  const last = lines.at(-1) ?? "";
  let times = lines.filter((one) => one === last).length;
  return raw.split("\n").findIndex((one) => one.startsWith(last) && --times === 0) + 1;
}

/** What would be removed from a text, line by line. `note` is the turn's sentence about it. */
export function lineProblems(
  raw: string,
): readonly { readonly line: number; readonly message: string; readonly note: string }[] {
  const found: { line: number; message: string; note: string }[] = [];
  const lines = raw
    .replace(/^\ufeff/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  const tell = (line: number, note: string): void =>
    void found.push({
      line,
      note,
      message: note.replace("were removed", "are removed").replace("was removed", "is removed"),
    });
  for (const [i, line] of lines.entries()) {
    if (clean(untrusted(line)) !== line) tell(i + 1, "hidden characters were removed");
    if (readsAsOurs(clean(untrusted(line)))) tell(i + 1, "lines that read as the platform's own were removed");
  }
  const text = lines.join("\n");
  for (const { start } of findSecrets(text))
    tell(text.slice(0, start).split("\n").length, "what looks like a secret was removed");
  const comment = withoutComments(text) === text ? -1 : lines.findIndex((line) => line.includes("<!--"));
  if (comment >= 0) tell(comment + 1, COMMENTS_REMOVED);
  return found;
}

/** Shorter paragraphs may well be repeated. */
const PARAGRAPH = 200;

/** Paragraphs that already appeared earlier, in this file or in another. */
function repeated(path: string, raw: string, known: Map<string, string>): readonly FileProblem[] {
  const found: FileProblem[] = [];
  let line = 1;
  for (const paragraph of raw.replace(/\r\n?/g, "\n").split(/\n[ \t]*\n/u)) {
    const key = paragraph.replaceAll(/\s+/gu, " ").trim();
    const before = key.length < PARAGRAPH ? undefined : known.get(key);
    if (before !== undefined) found.push({ path, line, message: `the same paragraph stands in ${before}` });
    else if (key.length >= PARAGRAPH) known.set(key, `${path}:${line}`);
    line += paragraph.split("\n").length + 1;
  }
  return found;
}
