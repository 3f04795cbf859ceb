import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { say } from "./say.mjs";

const BEAT_MS = 2000;
const STALE_MS = 20_000;
const LOOK_EVERY_MS = 200;
const SILENT_MS = 2000;

/**
 * One process at a time does `work`; the others wait. The lock is a folder whose time is renewed while its holder lives,
 * so a holder that died is noticed on any machine that shares the folder, whatever its process id means there.
 * @template T @param {string} folder @param {() => Promise<T>} work @param {{staleMs?: number}} [options] @returns {Promise<T>}
 */
export async function withLock(folder, work, { staleMs = STALE_MS } = {}) {
  const owner = `${process.pid} ${Math.random()}`;
  const start = Date.now();
  let told = false;
  while (!take(folder, owner)) {
    if (isStale(folder, staleMs)) putAside(folder);
    else await new Promise((go) => setTimeout(go, LOOK_EVERY_MS));
    if (!told && Date.now() - start > SILENT_MS) say("waiting for another command that is installing");
    told = Date.now() - start > SILENT_MS;
  }
  const beat = setInterval(() => renew(folder), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if (ownerOf(folder) === owner) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The lock is made aside and moved into place with its owner's name already in it: a rename onto a folder that holds
 * something fails, so there is no moment in which the lock stands without an owner.
 * @param {string} folder @param {string} owner
 */
function take(folder, owner) {
  if (existsSync(folder)) return false;
  const made = mkdtempSync(`${folder}-`);
  writeFileSync(join(made, "owner"), owner);
  try {
    renameSync(made, folder);
    return true;
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (["EEXIST", "ENOTEMPTY", "EPERM"].includes(codeOf(error))) return false;
    throw error;
  }
}

/** @param {string} folder @param {number} staleMs */
function isStale(folder, staleMs) {
  try {
    return Date.now() - statSync(folder).mtimeMs > staleMs;
  } catch {
    return false;
  }
}

/** Two may see the same stale lock. The rename lets one of them win; if it caught a newer lock, that one is put back. @param {string} folder */
function putAside(folder) {
  const stale = ownerOf(folder);
  const aside = `${folder}-${process.pid}-${Date.now()}`;
  try {
    renameSync(folder, aside);
    if (ownerOf(aside) === stale) rmSync(aside, { recursive: true, force: true });
    else renameSync(aside, folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** @param {string} folder */
function ownerOf(folder) {
  try {
    return readFileSync(join(folder, "owner"), "utf8");
  } catch {
    return undefined;
  }
}

/** @param {string} folder */
function renew(folder) {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // Someone removed it by hand; the work goes on and the next command looks at its result.
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
