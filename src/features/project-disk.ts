import { constants } from "node:fs";
import { access, open, readdir, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Agent, CacheUse, Clock } from "../protocol/index.ts";
import type { Timer } from "../turn/sources/index.ts";

/** A file's content. */
interface ReadFile {
  /** Its real path, with links followed. */
  readonly real: string;
  readonly text: string;
  /** Bytes of the whole file, of which the text may be the beginning. */
  readonly size: number;
}

/** How files are read. A missing file does not throw. */
export interface FileReader {
  /** @throws Error with a sentence if it is not text, or may not be read */
  readonly read: (path: string, most: number) => Promise<ReadFile | undefined>;
  readonly exists: (path: string) => Promise<boolean>;
  /** The names in a folder, sorted; none of a folder that is not there. */
  readonly list: (folder: string) => Promise<readonly string[]>;
  readonly real: (path: string) => Promise<string | undefined>;
}

/** The folders that projects are in, how they are read, and time. One for each program: all agents share what was read of it. */
export interface ProjectDisk {
  /** The folder of the agent's strata.yaml. */
  readonly folderOf: (agent: Pick<Agent, "org" | "name">) => string | undefined;
  readonly reader: FileReader;
  readonly clock: Pick<Clock, "real">;
  readonly timer: Timer;
}

const { O_RDONLY, O_NONBLOCK } = constants;

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The files of this machine. Pipes and devices are opened without waiting, and not read. */
export const DISK: FileReader = {
  read: (path, most) => unlessMissing(readTextFile(path, most)),
  exists: (path) =>
    access(path).then(
      () => true,
      () => false,
    ),
  list: async (folder) => ((await unlessMissing(readdir(folder))) ?? []).sort(),
  real: (path) => unlessMissing(realpath(path)),
};

async function readTextFile(path: string, most: number): Promise<ReadFile> {
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  try {
    const entry = await file.stat();
    if (!entry.isFile()) throw new Error("it is no regular file");
    // Its other name may be anywhere on the disk, even outside the project.
    if (entry.nlink > 1)
      throw new Error("it is a hard link, whose file may be outside of the project; replace it with a copy");
    // The opened file counts, even if its path is replaced meanwhile: Linux gives a descriptor's real path.
    const real = process.platform === "linux" ? await readlink(`/proc/self/fd/${file.fd}`) : await realpath(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(entry.size, most)), 0);
    return { real, text: utf8(buffer.subarray(0, bytesRead)), size: entry.size };
  } finally {
    await file.close();
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    // The last character may be cut in two: then it is dropped.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    throw new Error("it is not UTF-8; save it as UTF-8");
  }
}

/** Whether a file is in the folder or below it. Both are real paths. */
export function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * The folder that a project's files may be read from: as declared, otherwise the nearest with a `.git` above strata.yaml, otherwise that of
 * strata.yaml itself.
 */
export async function rootOf(reader: FileReader, folder: string, declared?: string): Promise<string> {
  const start = resolve(folder);
  if (declared !== undefined) return resolve(start, declared);
  for (let at = start; ; at = dirname(at)) {
    if (await reader.exists(join(at, ".git"))) return at;
    if (at === dirname(at)) return start;
  }
}

/** From the folder up to the root, nearest first; only the root if the folder is not in it. */
export function upTo(root: string, folder: string): readonly string[] {
  const start = resolve(folder);
  if (!isInside(root, start)) return [root];
  const way: string[] = [start];
  for (let at = start; at !== root; at = dirname(at)) way.push(dirname(at));
  return way;
}

/** The value, and how it was obtained. */
export interface Cached<T> {
  readonly value: T;
  readonly use: CacheUse;
}

interface CachedFile<T> {
  readonly value?: { readonly of: T };
  /** When that was last known to be so. */
  readonly at: number;
  readonly reading?: { readonly of: Promise<unknown>; readonly since: number };
}

/** Milliseconds that who begins a refresh waits for it, before it continues with what there is. */
const PATIENCE = 50;
/** Milliseconds after which an unfinished read is started again. */
const GIVEN_UP = 30_000;
/** How many values are kept. */
const MOST = 200;

/**
 * Stale while revalidate: a value younger than its time to live is given unchanged. An older one is read again in the background, once for
 * all callers: they wait a moment, and otherwise take the old value. If reading fails, that stays until the next time.
 */
export function staleWhileRevalidate<T>({ clock, timer }: Pick<ProjectDisk, "clock" | "timer">) {
  const kept = new Map<string, CachedFile<T>>();
  const keep = (key: string, one: CachedFile<T>): void => {
    kept.delete(key);
    kept.set(key, one);
    for (const oldest of kept.keys()) if (kept.size > MOST) kept.delete(oldest);
  };
  const refresh = (key: string, load: () => Promise<T>): Promise<unknown> => {
    const began = clock.real();
    const before = kept.get(key);
    const isLast = (): boolean => kept.get(key)?.reading?.of === of;
    const of: Promise<unknown> = load().then(
      (value) => isLast() && keep(key, { value: { of: value }, at: began }),
      (error: unknown) => {
        if (isLast()) {
          if (before?.value === undefined) kept.delete(key);
          else keep(key, { value: before.value, at: began });
        }
        throw error;
      },
    );
    of.catch(() => undefined);
    keep(key, {
      at: before?.at ?? began,
      ...(before?.value && { value: before.value }),
      reading: { of, since: began },
    });
    return of;
  };
  return async (key: string, ttl: number, load: () => Promise<T>): Promise<Cached<T>> => {
    const now = clock.real();
    const found = kept.get(key);
    if (found?.value !== undefined && now - found.at < ttl) return { value: found.value.of, use: "hit" };
    const running = found?.reading;
    const isRunning = running !== undefined && now - running.since < GIVEN_UP;
    const reading = isRunning ? running.of : refresh(key, load);
    if (found?.value === undefined) await reading;
    else if (!isRunning || now - running.since < PATIENCE) await moment(reading, timer);
    const { value, reading: stillReading } = kept.get(key) ?? {};
    if (value === undefined) throw new Error("it was read, and is kept no more");
    if (found?.value === undefined) return { value: value.of, use: "miss" };
    return { value: value.of, use: stillReading === undefined && value !== found.value ? "miss" : "stale" };
  };
}

/** The end of it, or a moment, whichever comes first. */
function moment(reading: Promise<unknown>, timer: Timer, milliseconds = PATIENCE): Promise<void> {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const cancel = timer(milliseconds, end);
  reading.then(
    () => end(),
    () => end(),
  );
  return promise.finally(cancel);
}

/** Milliseconds to wait for a program's first read, which also loads its dependencies. */
const FIRST = 2_000;

/** Waits for an agent's first read in a program, before its sources have a deadline. */
export function firstWait({ timer }: Pick<ProjectDisk, "timer">) {
  const known = new WeakMap<Agent, CacheUse | undefined>();
  return {
    wait: async (agent: Agent, read: () => Promise<Cached<unknown>>): Promise<void> => {
      if (known.has(agent)) return;
      known.set(agent, undefined);
      await moment(
        read().then(({ use }) => known.set(agent, use)),
        timer,
        FIRST,
      );
    },
    /** How that turn came by it; nothing for all that follow. */
    of: (agent: Agent): CacheUse | undefined => {
      const use = known.get(agent);
      if (use !== undefined) known.set(agent, undefined);
      return use;
    },
  };
}
