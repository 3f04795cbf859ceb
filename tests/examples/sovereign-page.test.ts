import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { walk } from "../package/walk.ts";

const PAGE = join(ROOT, "docs/sovereign.md");

/** A folder in which `npx strata`, `strata` and `viem` are this checkout's, as if they were installed there. */
function userFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-sovereign-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode });
  };
  const here = (path: string): string => pathToFileURL(join(ROOT, path)).href;
  const main = join(ROOT, "src/cli/main.ts");
  put("node_modules/.bin/strata", `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, 0o755);
  put("node_modules/strata/package.json", '{"name": "strata", "type": "module", "exports": "./index.js"}');
  put("node_modules/strata/index.js", `export * from "${here("src/index.ts")}";\n`);
  put(
    "node_modules/viem/package.json",
    '{"name": "viem", "type": "module", "exports": {"./accounts": "./accounts.js"}}',
  );
  put("node_modules/viem/accounts.js", `export * from "${here("node_modules/viem/_esm/accounts/index.js")}";\n`);
  put("package.json", '{"type": "module"}');
  return folder;
}

it("docs/sovereign.md shows what its commands print", async () => {
  const page = await walk(readFileSync(PAGE, "utf8"), userFolder(), () => {});
  await expect(page).toMatchFileSnapshot(PAGE);
}, 120_000);
