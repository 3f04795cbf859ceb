import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { npm } from "./npm.mjs";
import { say } from "./say.mjs";

/** @typedef {{version?: string, integrity?: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[]}} Entry */
/** @typedef {{packages: Record<string, Entry>}} Lock */

/** Makes node_modules what package-lock.json says, for this Node. Nothing to do costs one small file read. @param {string} root @param {import("./right-node.mjs").Node} node */
export async function bringPackages(root, node) {
  const isReady = () => readText(stampFile(root)) === stampFor(root, node) || adopt(root, node);
  if (isReady()) return;
  mkdirSync(join(root, ".tools"), { recursive: true });
  await withLock(join(root, ".tools", "lock"), async () => {
    if (isReady()) return;
    say("installing packages (once)");
    // No package of ours needs an install script, so none runs, whatever the age and settings of npm. Dev packages come even if NODE_ENV says production: the checks need them.
    await npm(node.path, ["ci", "--ignore-scripts", "--include=dev", "--include=optional"], root);
    writeFileSync(stampFile(root), stampFor(root, node));
  });
}

/** Somebody ran npm by hand: what it installed is as good as ours if it is what the lock says. @param {string} root @param {import("./right-node.mjs").Node} node */
function adopt(root, node) {
  const stamp = readText(stampFile(root));
  const installed = readText(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined || (stamp !== undefined && kindOf(stamp) !== kindOf(stampFor(root, node)))) return false;
  if (!isInstalled(JSON.parse(readFileSync(lockFile(root), "utf8")), JSON.parse(installed))) return false;
  writeFileSync(stampFile(root), stampFor(root, node));
  return true;
}

/** @param {Lock} lock @param {Lock} installed */
export function isInstalled(lock, installed) {
  const wanted = Object.entries(lock.packages).filter(([path, entry]) => path !== "" && isNeeded(entry));
  const isSame = (/** @type {Entry | undefined} */ a, /** @type {Entry | undefined} */ b) =>
    a !== undefined && b !== undefined && a.version === b.version && a.integrity === b.integrity;
  return (
    wanted.every(([path, entry]) => isSame(entry, installed.packages[path])) &&
    Object.entries(installed.packages).every(([path, entry]) => isSame(entry, lock.packages[path]))
  );
}

/**
 * An optional package is needed if it is the build for this machine. (One for a certain C library, or one that such a
 * build pulls in, is left to npm: the lock does not tell whether it belongs here.)
 * @param {Entry} entry
 */
function isNeeded({ optional, os, cpu, libc }) {
  if (optional !== true) return true;
  return libc === undefined && os?.includes(process.platform) === true && cpu?.includes(process.arch) === true;
}

/** @param {string} root @param {import("./right-node.mjs").Node} node */
function stampFor(root, node) {
  const digest = createHash("sha256")
    .update(readFileSync(lockFile(root)))
    .digest("hex");
  return `${process.platform}-${process.arch} abi-${node.abi} lock-${digest}\n`;
}

/** @param {string} stamp */
function kindOf(stamp) {
  return stamp.split(" lock-")[0];
}

/** @param {string} root */
function stampFile(root) {
  return join(root, "node_modules", ".strata-installed");
}

/** @param {string} root */
function lockFile(root) {
  return join(root, "package-lock.json");
}

/** @param {string} path */
function readText(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
