import { constants } from "node:fs";
import { type FileHandle, lstat, opendir, rename, rm } from "node:fs/promises";
import { clean } from "../../guard/index.ts";
import { type ContactScope, digestOf, untrusted } from "../../protocol/index.ts";
import { codeOf, type Folder, openEntry } from "./folder.ts";
import {
  BAD_PATH,
  dots,
  fileLine,
  folderLine,
  longPart,
  more as moreEntries,
  NOT_DONE,
  notReadable,
  reserved,
  tooDeep,
  tooLargeToRead,
} from "./wording.ts";

/** The most bytes that are read or written at once. */
export const LARGEST = 256 * 1024;
/** The most entries a listing shows, and the most it looks at. */
const SHOWN = 200;
const LOOKED_AT = 10_000;

/** The text, or why there is none: the end of a sentence that begins with the file's name. */
export type ReadResult = { readonly text: string } | { readonly because: string };

/** Reads a text file. It must be an ordinary file with one name, small enough, in UTF-8. */
export async function readText(folder: Folder, name: string): Promise<ReadResult> {
  const handle = await openEntry(folder, name, constants.O_RDONLY);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return { because: NOT_DONE.isFolder };
    if (!stats.isFile() || stats.nlink !== 1) return { because: NOT_DONE.notRead };
    if (!(await folder.hasOnlyName(name, handle))) return { because: NOT_DONE.changed };
    const bytes = await readUpTo(handle, LARGEST + 1);
    if (bytes.length > LARGEST) return { because: tooLargeToRead(`${LARGEST / 1024} kB`) };
    return decodeText(bytes);
  } finally {
    await handle.close();
  }
}

/** Not by the size it claims: it may grow meanwhile. */
async function readUpTo(handle: FileHandle, most: number): Promise<Buffer> {
  const buffer = Buffer.alloc(most);
  let length = 0;
  while (length < most) {
    const { bytesRead } = await handle.read(buffer, length, most - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decodeText(bytes: Buffer): ReadResult {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return { text };
  } catch {
    // Not UTF-8: the same as a text with zero bytes.
  }
  return { because: NOT_DONE.notText };
}

/** Puts a text in place at once or not at all. `mark` names the file on its way: the same call, the same name. */
export async function writeText(folder: Folder, name: string, bytes: Buffer, mark: string): Promise<ReadResult> {
  const there = await lstat(folder.at(name)).catch(missing);
  if (there?.isDirectory()) return { because: NOT_DONE.takenByFolder };
  if (there && (!there.isFile() || there.nlink !== 1)) return { because: NOT_DONE.notReplaced };
  const temporary = TEMPORARY + mark;
  // What an interrupted run of the same call may have left.
  await rm(folder.at(temporary), { force: true });
  try {
    const whole = await writeTemporary(folder, temporary, bytes);
    if (!whole) return { because: NOT_DONE.folderChanged };
    await rename(folder.at(temporary), folder.at(name));
  } catch (thrown) {
    await rm(folder.at(temporary), { force: true });
    throw thrown;
  }
  await folder.sync();
  return { text: `${bytes.length} bytes` };
}

async function writeTemporary(folder: Folder, temporary: string, bytes: Buffer): Promise<boolean> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const handle = await openEntry(folder, temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    return await folder.holds(temporary, await handle.stat());
  } finally {
    await handle.close();
  }
}

/** The entries of a folder by name, each with its kind and size. */
export async function listing(folder: Folder): Promise<string> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder.at("."))) {
    if (!name.startsWith(TEMPORARY)) names.push(name);
    if (names.length > LOOKED_AT) break;
  }
  const shown = await Promise.all(
    names
      .sort()
      .slice(0, SHOWN)
      .map((name) => describe(folder, name)),
  );
  const more = names.length - SHOWN;
  const rest = moreEntries(names.length > LOOKED_AT ? undefined : more);
  return [...shown, ...(more > 0 ? [rest] : [])].join("\n");
}

async function describe(folder: Folder, name: string): Promise<string> {
  // Somebody else may have put it there, under any name.
  const shown = clean(untrusted(name)).replaceAll("\n", " ");
  const stats = await lstat(folder.at(name)).catch(missing);
  if (stats?.isDirectory()) return folderLine(shown);
  return stats?.isFile() && stats.nlink === 1 ? fileLine(shown, stats.size) : notReadable(shown);
}

function missing(thrown: unknown): undefined {
  if (codeOf(thrown) !== "ENOENT") throw thrown;
}

/** Files on their way into place. Nobody may name one. */
const TEMPORARY = ".strata-tmp-";

const DEEPEST = 16;
const LONGEST_PART = 200;
const SLUG = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
/** Names that Windows keeps for devices, whatever comes after a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;

/** The parts of a path inside a workspace, or a sentence that says why it is invalid. `.` and `./` are the workspace itself. */
export function pathParts(path: string): readonly string[] | { readonly problem: string } {
  if (path === "." || path === "./") return [];
  const parts = path.normalize("NFC").replace(/^\.\//, "").split("/");
  const problem = parts.length > DEEPEST ? tooDeep(DEEPEST) : parts.map(partProblem).find(Boolean);
  return problem === undefined ? parts : { problem };
}

function partProblem(part: string): string | undefined {
  if (part === "") return BAD_PATH.absolute;
  if (part === "." || part === "..") return dots(part);
  if (part.includes("\\")) return BAD_PATH.backslash;
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(part)) return BAD_PATH.characters;
  if (Buffer.byteLength(part) > LONGEST_PART) return longPart(LONGEST_PART);
  return part.startsWith(TEMPORARY) ? reserved(TEMPORARY) : undefined;
}

/** The folders that lead to the workspace of one contact: its own, shared with no other. */
export function ownFolders({ contact, ...owner }: ContactScope): readonly string[] {
  return [...agentFolders(owner), folderName(contact)];
}

/** The folders that lead to all workspaces of an agent. */
export const agentFolders = ({ org, agent }: Omit<ContactScope, "contact">): readonly string[] =>
  [org, agent].map(folderName);

/**
 * A safe slug is used unchanged. Any other name gets its letters and a digest after a `~`, which no slug contains: so two names never
 * collide, not even if the file system ignores case.
 */
function folderName(name: string): string {
  if (SLUG.test(name) && !DEVICE.test(name)) return name;
  const letters = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32);
  return `${letters}~${digestOf(name).slice(0, 32)}`;
}
