import { existsSync, fdatasyncSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

/** A number below `most`. */
type Chance = (most: number) => number;

/** Numbers that look like chance, the same for the same seed. */
export function chanceOf(seed: number): Chance {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** What is left of a database file after a power cut. */
export interface Outage {
  /** Writes it into an empty folder, and gives the file. */
  readonly into: (folder: string) => string;
}

/**
 * The disk of one database file, which may lose power at any moment. The log keeps its content from when the last sync began. Of anything
 * written later each sector may be there or not, and the last ones may be torn. The file itself is what the last checkpoint left, and a
 * restarted log has its header: SQLite itself waits for both.
 */
export interface TestDisk {
  /** Given to the store. It takes a moment, in which others write. */
  readonly sync: (file: number) => Promise<void>;
  /** Called once the store is open: until then SQLite waits for the disk at each commit. */
  readonly begin: () => void;
  /** The power goes now. */
  readonly cut: () => Outage;
}

/** Bytes that a disk writes at once or not at all. */
const SECTOR = 512;

/** Bytes of a log's header. */
const HEADER = 32;

/** @param lies the disk says that it is done before anything is kept */
export function testDisk(file: string, chance: Chance, lies = false): TestDisk {
  const now = (): Buffer => (existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : Buffer.alloc(0));
  let kept: Buffer = Buffer.alloc(0);
  return {
    begin: () => {
      kept = now();
    },
    sync: async (opened) => {
      const then = now();
      if (lies) return void setTimeout(() => (kept = then), 1 + chance(5));
      for (let turns = chance(4); turns > 0; turns--) await setImmediate();
      fdatasyncSync(opened);
      kept = then;
    },
    cut: () => {
      const main = readFileSync(file);
      const log = torn(kept, now(), chance);
      return {
        into: (folder) => {
          mkdirSync(folder, { recursive: true });
          const found = join(folder, "record.sqlite");
          writeFileSync(found, main);
          if (log.length > 0) writeFileSync(`${found}-wal`, log);
          return found;
        },
      };
    },
  };
}

function torn(kept: Buffer, now: Buffer, chance: Chance): Buffer {
  if (now.length === 0) return now;
  const length = Math.max(kept.length, now.length);
  const found = Buffer.alloc(length);
  kept.copy(found);
  // How much of what is new got there: often nothing, sometimes all.
  const share = [0, 1, 3, 10, 19, 20][chance(6)] ?? 0;
  for (let at = 0; at < now.length; at += SECTOR) {
    const isNew = !now.subarray(at, at + SECTOR).equals(found.subarray(at, at + SECTOR));
    if (!isNew || chance(20) >= share) continue;
    now.copy(found, at, at, Math.min(at + SECTOR, now.length));
    if (chance(50) === 0) found.fill(chance(256), at + chance(SECTOR), Math.min(at + SECTOR, length));
  }
  const isAnew = !kept.subarray(0, HEADER).equals(now.subarray(0, HEADER));
  if (isAnew) now.copy(found, 0, 0, HEADER);
  const least = isAnew ? HEADER : kept.length;
  return found.subarray(0, least + chance(length - least + 1));
}
