import { constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const DESCRIPTORS = "/proc/self/fd";

/** A folder that is held while something is done in it. */
export interface Folder {
  /** The system path of an entry. */
  at(name: string): string;
  /** Whether the file opened under the name is still what is there, in this folder. */
  holds(name: string, opened: Stats): Promise<boolean>;
  /**
   * Whether a file that had one name when it was looked at has it here, and no other. A hard link to a file outside that is removed
   * between opening and looking leaves that file with one name, too: its own.
   */
  hasOnlyName(name: string, entry: FileHandle): Promise<boolean>;
  /** Puts the folder's entries on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens folders; `isRoot` is the operator's word and may go through links. */
type OpenFolder = (path: string, isRoot: boolean) => Promise<Folder>;

/**
 * How folders are opened here. On Linux each is held by its descriptor, and its entries are named relative to that: what others do to the
 * path meanwhile does not matter. Elsewhere paths are compared before and after, which leaves a gap of microseconds for a process that can
 * already write in the workspace.
 */
export function openerFor(byDescriptor = process.platform === "linux" && existsSync(DESCRIPTORS)): OpenFolder {
  return byDescriptor ? openByDescriptor : openByPath;
}

const openByDescriptor: OpenFolder = async (path, isRoot) => {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | (isRoot ? 0 : O_NOFOLLOW));
  return {
    at: (name) => `${DESCRIPTORS}/${handle.fd}/${name}`,
    holds: async () => true,
    hasOnlyName: async (name, entry) => {
      // The system reports the name under which a descriptor was opened, and marks a removed name for good: a name that still exists now
      // existed when the names were counted.
      const [here, opened] = await Promise.all([handle, entry].map(({ fd }) => readlink(`${DESCRIPTORS}/${fd}`)));
      return opened === join(here ?? "", name);
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
};

const openByPath: OpenFolder = async (path, isRoot) => {
  const real = await realpath(path);
  if (!isRoot && real !== path) throw notAFolder(path);
  if (!(await lstat(real)).isDirectory()) throw notAFolder(path);
  return {
    at: (name) => join(real, name),
    holds: async (name, opened) => {
      const now = await lstat(join(real, name));
      return now.ino === opened.ino && now.dev === opened.dev && (await realpath(real)) === real;
    },
    hasOnlyName: async (name, entry) => {
      const [opened, now] = await Promise.all([entry.stat(), lstat(join(real, name))]);
      return now.nlink === 1 && now.ino === opened.ino && now.dev === opened.dev && (await realpath(real)) === real;
    },
    sync: async () => {},
    close: async () => {},
  };
};

function notAFolder(path: string): Error {
  return Object.assign(new Error(`${path} is a link or no folder`), { code: "ENOTDIR" });
}

/** A way from a root, part by part. `create` makes the folders that are missing. */
interface Way {
  readonly root: string;
  readonly parts: readonly string[];
  readonly create: boolean;
}

/** Walks to a folder and does something there. Never follows a link below the root. */
export async function inFolder<T>(openFolder: OpenFolder, way: Way, visit: (folder: Folder) => Promise<T>): Promise<T> {
  if (way.create) await mkdir(way.root, { recursive: true, mode: 0o700 });
  let folder = await openFolder(way.root, true);
  try {
    for (const part of way.parts) {
      if (way.create) await makeFolder(folder, part);
      const next = await openFolder(folder.at(part), false);
      const left = folder;
      folder = next;
      await left.close();
    }
    return await visit(folder);
  } finally {
    await folder.close();
  }
}

async function makeFolder(folder: Folder, name: string): Promise<void> {
  try {
    await mkdir(folder.at(name), { mode: 0o700 });
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return;
    throw thrown;
  }
  await folder.sync();
}

/** The system's code of an error: `ENOENT`. Empty if there is none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

/** Opens an entry without following it, and without waiting for the other end of a pipe. */
export function openEntry(folder: Folder, name: string, flags: number, mode?: number): Promise<FileHandle> {
  return open(folder.at(name), flags | O_NOFOLLOW | constants.O_NONBLOCK, mode);
}
