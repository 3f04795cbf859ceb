// Behind `npm run build`: makes `dist` anew, so that no file of an older build is packed. Another folder may be named.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = resolve(process.argv[2] ?? join(root, "dist"));
rmSync(out, { recursive: true, force: true });
const args = ["node_modules/typescript/bin/tsc", "--project", "bootstrap/tsconfig.build.json", "--outDir", out];
process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
