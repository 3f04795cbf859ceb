import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A file as the checks see it: its path from the root with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** All files that are tracked or would be: a new file is checked before it is added, an ignored one never. */
export function projectFiles(): readonly string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }).split("\0");
  return [...new Set(listed)].filter((path) => path !== "" && existsSync(join(ROOT, path))).sort();
}

/** The text of those whose path fits. Binary files and folders have none. */
export function readFiles(fits: (path: string) => boolean): readonly SourceFile[] {
  return projectFiles()
    .filter((path) => fits(path) && statSync(join(ROOT, path)).isFile())
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }))
    .filter(({ text }) => !text.includes("\0"));
}

/** Tests, contract suites and fixtures: they lie beside the code but are not part of what is built. */
export function isTestFile(path: string): boolean {
  return /\.(test|test-d|contract|fixture)\.ts$/.test(path) || path.startsWith("tests/");
}
