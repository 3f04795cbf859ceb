import { constants } from "node:fs";
import { type FileHandle, lstat, opendir, rename, rm } from "node:fs/promises";
import { clean } from "../../guard/index.ts";
import { untrusted } from "../../protocol/index.ts";
import { codeOf, type Folder, openEntry } from "./workspace-folder.ts";
import { TEMPORARY } from "./workspace-path.ts";

/** The most bytes that are read or written at once. */
export const LARGEST = 256 * 1024;
/** The most entries a listing shows, and the most it looks at. */
const SHOWN = 200;
const LOOKED_AT = 10_000;

/** What was found, or why nothing: the end of a sentence that begins with the file's name. */
export type Found = { readonly text: string } | { readonly because: string };

/** Reads a text file. It must be an ordinary file with one name, small enough, in UTF-8. */
export async function readText(folder: Folder, name: string): Promise<Found> {
  const handle = await openEntry(folder, name, constants.O_RDONLY);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return { because: "is a folder; list it instead" };
    if (!stats.isFile() || stats.nlink !== 1) return { because: "is not an ordinary file, so it is not read" };
    if (!(await folder.hasOnlyName(name, handle))) return { because: "was changed while it was read; try again" };
    const bytes = await readUpTo(handle, LARGEST + 1);
    if (bytes.length > LARGEST) return { because: `is larger than ${LARGEST / 1024} kB, the most that can be read` };
    return decoded(bytes);
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

function decoded(bytes: Buffer): Found {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return { text };
  } catch {
    // Not UTF-8: the same as a text with zero bytes.
  }
  return { because: "is not a text in UTF-8; only text files can be read" };
}

/** Puts a text in place at once or not at all. `mark` names the file on its way: the same call, the same name. */
export async function writeText(folder: Folder, name: string, bytes: Buffer, mark: string): Promise<Found> {
  const there = await lstat(folder.at(name)).catch(missing);
  if (there?.isDirectory()) return { because: "is a folder; choose another name" };
  if (there && (!there.isFile() || there.nlink !== 1))
    return { because: "is not an ordinary file, so it is not replaced" };
  const temporary = TEMPORARY + mark;
  // What an interrupted run of the same call may have left.
  await rm(folder.at(temporary), { force: true });
  try {
    const whole = await writeTemporary(folder, temporary, bytes);
    if (!whole) return { because: "could not be put in place: its folder was changed meanwhile; try again" };
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
  const rest = names.length > LOOKED_AT ? "… and many more" : `… and ${more} more`;
  return [...shown, ...(more > 0 ? [rest] : [])].join("\n");
}

async function describe(folder: Folder, name: string): Promise<string> {
  // Somebody else may have put it there, under any name.
  const shown = clean(untrusted(name)).replaceAll("\n", " ");
  const stats = await lstat(folder.at(name)).catch(missing);
  if (stats?.isDirectory()) return `${shown}/ (folder)`;
  return stats?.isFile() && stats.nlink === 1 ? `${shown} (file, ${stats.size} bytes)` : `${shown} (not readable)`;
}

function missing(thrown: unknown): undefined {
  if (codeOf(thrown) !== "ENOENT") throw thrown;
}
