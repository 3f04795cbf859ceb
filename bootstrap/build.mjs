// Behind `npm run build`: makes `dist` anew, so that no file of an older build is packed. Another folder may be named.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = resolve(process.argv[2] ?? join(root, "dist"));
rmSync(out, { recursive: true, force: true });
// The types explain themselves; the program is shipped without its comments, which are a fourteenth of the package.
process.exitCode =
  compile("--emitDeclarationOnly") || compile("--declaration", "false", "--noCheck", "--removeComments");
if (process.exitCode === 0) {
  await gatherTypes();
  format();
}

/** @param {string[]} options @returns {number} The compiler's exit code. */
function compile(...options) {
  const args = ["--project", "bootstrap/tsconfig.build.json", "--outDir", out, ...options];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, ...args], { cwd: root, stdio: "inherit" }).status ?? 1;
}

/** The types of a door of the package stand in one file, with all that it leads to and nothing else: a sixth of the package less. */
async function gatherTypes() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const doors = Object.values(exports).flatMap(({ types }) => types?.replace("./dist/", "") ?? []);
  const external = (/** @type {string} */ id) => !id.startsWith(".") && !id.startsWith("/");
  const gathered = doors.map(async (/** @type {string} */ door) => {
    const bundle = await rollup({ input: join(out, door), plugins: [dts()], external, onwarn: () => {} });
    const { output } = await bundle.generate({ format: "es" });
    return { door, types: mergeAugmented(output[0].code) };
  });
  const made = await Promise.all(gathered);
  for (const name of globSync("**/*.d.ts", { cwd: out })) rmSync(join(out, name));
  for (const { door, types } of made) writeFileSync(join(out, door), types);
}

/** What a feature adds to an interface of another module stands beside that interface now; where a door does not lead to it, nowhere. @param {string} types @returns {string} */
function mergeAugmented(types) {
  return types.replace(/^declare module "\.[^"]+" \{\s*interface (\w+) ([^{}]*\{\s*\})\s*\}/gm, (_, name, added) => {
    const [, declared] = new RegExp(`^(?:export )?interface (${name}(?:\\$\\d+)?) `, "m").exec(types) ?? [];
    return declared === undefined ? "" : `interface ${declared} ${added}`;
  });
}

/** With tabs, and without spaces inside brackets, semicolons and short objects on several lines: such are a tenth of the package. */
function format() {
  const program = join(root, "node_modules/@biomejs/biome/bin/biome");
  const config = join(root, "bootstrap/biome.dist.json");
  const made = spawnSync(process.execPath, [program, "format", "--write", `--config-path=${config}`, out], {
    cwd: root,
  });
  if (made.status !== 0) throw new Error(`The build could not be formatted:\n${made.stderr}`);
}
