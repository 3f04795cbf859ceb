// Behind `npm run build`: makes `dist` anew, so that no file of an older build is packed. Another folder may be named.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = resolve(process.argv[2] ?? join(root, "dist"));
rmSync(out, { recursive: true, force: true });
// The types explain themselves; the program is shipped without its comments, which are a fourteenth of the package.
process.exitCode =
  compile("--emitDeclarationOnly") || compile("--declaration", "false", "--noCheck", "--removeComments");
if (process.exitCode === 0) {
  removeHiddenTypes();
  format();
}

/** @param {string[]} options @returns {number} The compiler's exit code. */
function compile(...options) {
  const args = ["--project", "bootstrap/tsconfig.build.json", "--outDir", out, ...options];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, ...args], { cwd: root, stdio: "inherit" }).status ?? 1;
}

/** The package has one door: types that it does not lead to are of no use to anybody. */
function removeHiddenTypes() {
  const kept = new Set();
  const left = [join(out, "index.d.ts")];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (kept.has(file)) continue;
    kept.add(file);
    for (const [, named = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g))
      left.push(join(dirname(file), named.replace(/\.(?:js|ts)$/, ".d.ts")));
  }
  for (const name of globSync("**/*.d.ts", { cwd: out })) if (!kept.has(join(out, name))) rmSync(join(out, name));
}

/** With tabs, and without spaces inside brackets: the compiler's four spaces and such are a fourteenth of the package. */
function format() {
  const program = join(root, "node_modules/@biomejs/biome/bin/biome");
  const config = join(root, "bootstrap/biome.dist.json");
  const made = spawnSync(process.execPath, [program, "format", "--write", `--config-path=${config}`, out], {
    cwd: root,
  });
  if (made.status !== 0) throw new Error(`The build could not be formatted:\n${made.stderr}`);
}
