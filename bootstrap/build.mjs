// Behind `npm run build`: makes `dist` anew, so that no file of an older build is packed. Another folder may be named.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = resolve(process.argv[2] ?? join(root, "dist"));
rmSync(out, { recursive: true, force: true });
const args = ["node_modules/typescript/bin/tsc", "--project", "bootstrap/tsconfig.build.json", "--outDir", out];
process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
if (process.exitCode === 0) {
  removeHiddenTypes();
  format();
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

/** With tabs: the compiler indents by four spaces, which are a sixteenth of the package. */
function format() {
  const program = join(root, "node_modules/@biomejs/biome/bin/biome");
  const config = join(root, "bootstrap/biome.dist.json");
  const made = spawnSync(process.execPath, [program, "format", "--write", `--config-path=${config}`, out], {
    cwd: root,
  });
  if (made.status !== 0) throw new Error(`The build could not be formatted:\n${made.stderr}`);
}
