import { posix } from "node:path";
import { projectFiles, readFiles, type SourceFile } from "./files.ts";
import { checkGenerated } from "./generated.ts";
import { anchorsOf, linksOf, npmCommandsOf } from "./markdown.ts";

/** A check of what is written for people: gives the broken promises, one sentence each. To add one, add it to the list below. */
type DocsCheck = () => readonly string[] | Promise<readonly string[]>;

const CHECKS: readonly DocsCheck[] = [
  () => brokenLinks(markdown(), projectFiles()),
  () => unknownCommands(markdown(), scriptNames()),
  () => foreignWords(readFiles((path) => posix.basename(path) !== "package-lock.json")),
  () => lockedToRegistry(readFiles((path) => posix.basename(path) === "package-lock.json")),
  checkGenerated,
];

export async function checkDocs(): Promise<readonly string[]> {
  const found = await Promise.all(CHECKS.map((check) => check()));
  return found.flat();
}

/** Links to files that are not there, or to headings that are not in them. Addresses of other sites are not tried. */
export function brokenLinks(pages: readonly SourceFile[], paths: readonly string[]): readonly string[] {
  const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]));
  const known = new Set(paths.flatMap(withFolders));
  return pages.flatMap(({ path, text }) =>
    linksOf(text).flatMap(({ target, line }) => {
      const problem = linkProblem(path, target, known, anchors);
      return problem === undefined ? [] : [`${path}:${line}: the link ${target} ${problem}`];
    }),
  );
}

function linkProblem(
  page: string,
  target: string,
  known: ReadonlySet<string>,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  if (/^([a-z][a-z+.-]*:|\/\/)/i.test(target)) return undefined;
  const [file = "", anchor] = target.split("#", 2).map(decodeURIComponent);
  const path = file === "" ? page : posix.join(posix.dirname(page), file.replace(/\?.*$/, "")).replace(/\/$/, "");
  if (!known.has(path)) return `leads to ${path}, which is not in the project`;
  const headings = anchors.get(path);
  if (anchor === undefined || anchor === "" || headings === undefined || headings.has(anchor)) return undefined;
  return `names no heading of ${path}; it has ${[...headings].join(", ")}`;
}

function withFolders(path: string): readonly string[] {
  const parts = path.split("/");
  return ["", ...parts].map((_, length) => parts.slice(0, length).join("/") || ".");
}

/** `npm run x` in a page, where package.json has no script `x`. */
export function unknownCommands(pages: readonly SourceFile[], scripts: readonly string[]): readonly string[] {
  return pages.flatMap(({ path, text }) =>
    npmCommandsOf(text)
      .filter(({ script }) => !scripts.includes(script))
      .map(
        ({ command, script, line }) =>
          `${path}:${line}: "${command}" runs the script "${script}", which package.json does not have`,
      ),
  );
}

/** In pieces, so that this file does not hold what it looks for. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?<![\\w.~/-])/${"work"}/`), "a path of one machine"],
  [new RegExp(["registry", "npmjs", "org"].join("\\.")), "the host of a package registry"],
  [new RegExp(`\\.${"library"}/`), "a folder of one machine"],
];

/** Paths and hosts that mean something on one machine only. */
export function foreignWords(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) =>
        FOREIGN.filter(([pattern]) => pattern.test(line)).map(
          ([, what]) => `${path}:${index + 1}: names ${what}; say it so that it holds everywhere`,
        ),
      ),
  );
}

/** A lock file that names addresses ties every install to the registry it was written with. */
export function lockedToRegistry(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ text }) => /"resolved":\s*"http/.test(text))
    .map(
      ({ path }) =>
        `${path}: holds addresses of packages; run "npm install" with this folder's .npmrc, which leaves them out`,
    );
}

function markdown(): readonly SourceFile[] {
  return readFiles((path) => path.endsWith(".md"));
}

function scriptNames(): readonly string[] {
  const [file] = readFiles((path) => path === "package.json");
  const settings: unknown = JSON.parse(file?.text ?? "{}");
  const scripts = settings !== null && typeof settings === "object" ? Reflect.get(settings, "scripts") : {};
  return Object.keys(scripts);
}
