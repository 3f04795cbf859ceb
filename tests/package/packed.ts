import { execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { npmProgram } from "../../bootstrap/npm.mjs";
import { packedFiles } from "../../bootstrap/pack.mjs";
import { ROOT } from "../../checks/files.ts";
import { plainEnv } from "../plain-env.ts";

/** A file of the package, as npm lists it. */
export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface Packed {
  readonly tarball: string;
  readonly files: readonly PackedFile[];
}

/** Builds and packs in a folder what `npm pack` would in the checkout, so that nobody's `dist` is touched. */
export function pack(folder: string): Packed {
  const { files }: { readonly files: readonly string[] } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const path of ["package.json", "README.md", "LICENSE", ...files.filter((path) => path !== "dist")])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  for (const [path, text] of packedFiles()) writeFileSync(join(folder, path), text);
  node([join(ROOT, "bootstrap/build.mjs"), join(folder, "dist")], ROOT);
  const npm = npmProgram(process.env, process.execPath);
  const told = node([npm, "pack", "--ignore-scripts", "--json", "--loglevel=error"], folder);
  const [made]: readonly { readonly filename: string; readonly files: readonly PackedFile[] }[] = JSON.parse(told);
  if (made === undefined) throw new Error("npm pack made nothing");
  return { tarball: join(folder, made.filename), files: made.files };
}

const node = (args: readonly string[], cwd: string): string =>
  execFileSync(process.execPath, args, { cwd, encoding: "utf8" });

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** The folders below the checkout of all packages that `npm install` of the package brings, without optional ones. */
export function installedPackages(): readonly string[] {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  return Object.entries(lock.packages).flatMap(([path, { dev, optional }]) =>
    path === "" || dev === true || optional === true ? [] : [path],
  );
}

/**
 * Does what `npm install ./strata.tgz` does, without a network: the package is unpacked, and the packages that it depends on
 * are linked from the checkout. Packages that only our checks need are not there.
 */
export function install(tarball: string, folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", modules]);
  renameSync(join(modules, "package"), join(modules, "strata"));
  for (const path of installedPackages()) {
    if (path.lastIndexOf("node_modules/") > 0) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  const main = join(modules, "strata/dist/doors/cli/main.js");
  chmodSync(main, 0o755);
  symlinkSync(main, join(modules, ".bin/strata"));
}

/** Runs lines of a shell as a person would, and gives all they print; never fails. */
export function shell(lines: string, folder: string): Promise<string> {
  const { HOME = "" } = process.env;
  const { PATH, ...rest } = plainEnv();
  const env = { ...rest, PATH: [dirname(process.execPath), PATH].join(delimiter), HOME, NO_COLOR: "1" };
  const child = spawn("sh", ["-c", `exec 2>&1\n${lines}`], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString("utf8");
  });
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", () => done(printed));
  });
}
