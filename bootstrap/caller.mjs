import { realpathSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * Where the user stands. npm moves to the package's root and leaves the user's folder in INIT_CWD, which is believed only
 * if this very package's script is running: a script of another project may have called us and left its own there.
 * @param {string} root @param {NodeJS.ProcessEnv} env @param {string} current
 */
export function callersFolder(root, env, current) {
  const folder = real(env["INIT_CWD"]);
  const isOurs = real(env["npm_package_json"]) === real(join(root, "package.json"));
  return folder === undefined || !isOurs || folder.split(sep).includes("node_modules") ? current : folder;
}

/** @param {string | undefined} path */
function real(path) {
  try {
    return path === undefined ? undefined : realpathSync(path);
  } catch {
    return undefined;
  }
}
