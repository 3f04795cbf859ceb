// Behind `npm run fix`: writes the generated files, then formats everything and repairs what the linter can.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./files.ts";
import { GENERATED } from "./generated.ts";

for (const { path, text } of GENERATED) {
  const wanted = await text();
  if (wanted === undefined) continue;
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), wanted);
}

const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
const args = ["check", "--write", ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, [biome, ...args], { cwd: ROOT, stdio: "inherit" }).status ?? 1;
