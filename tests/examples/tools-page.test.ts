import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";
import { shell } from "../package/packed.ts";
import { userFolder } from "./user-folder.ts";

const PAGE = join(ROOT, "docs/tools.md");
const BLOCK = /^```(\w+)\n([\s\S]*?)^```$/gm;

/** Does what the page says, block by block; gives the page with what was printed. */
async function walk(page: string, folder: string): Promise<string> {
  let [written, command, printed, at] = ["", "", "", 0];
  for (const block of page.matchAll(BLOCK)) {
    const [all, kind, text = ""] = block;
    const before = page.slice(at, block.index);
    if (kind === "ts")
      write(
        join(
          folder,
          before
            .match(/`([\w./]+\.ts)`/g)
            ?.at(-1)
            ?.slice(1, -1) ?? "",
        ),
        text,
      );
    if (kind === "yaml") declare(join(folder, "strata.yaml"), text);
    // An empty box would look right, and hide that the command has found nothing.
    if (kind === "text" && printed.trim() === "") throw new Error(`nothing was printed by:\n${command}`);
    if (kind === "sh") command = text;
    if (kind === "sh") printed = plain(await shell(text.replaceAll("npx strata", "node_modules/.bin/strata"), folder));
    const isKnown = kind !== "text" || uncounted(text) === uncounted(printed);
    written += before + (isKnown ? all : `\`\`\`text\n${printed}\`\`\``);
    at = block.index + all.length;
  }
  return written + page.slice(at);
}

/** Ids and times are told in one way. */
const plain = (said: string): string =>
  said
    .replace(/\/\S*\/strata-user-\w+/g, "/home/ann/shop")
    .replace(/\b(thr|trn|apr)_[0-9a-z]{26}\b/g, "$1_01k4x7m2q9v8t6w3y5z0abcdef")
    .replace(/\d{4}-\d{2}-\d{2}T[\d:]+Z/g, "2026-11-21T09:30:00Z")
    .replace(/\d{4}-\d{2}-\d{2} \d\d:\d\dZ/g, "2026-11-21 09:30Z");

/** How many tokens a time or an id has differs from run to run. */
const uncounted = (said: string): string => said.replace(/^· sent.*$/gm, (line) => line.replace(/[\d,]+/g, "#"));

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A whole file, a layer, the agent's list of tools, or keys of the file's own, which replace what was there. */
function declare(file: string, lines: string): void {
  const yaml = lines.startsWith("organization:") ? "" : readFileSync(file, "utf8");
  writeFileSync(file, declared(yaml, lines));
}

function declared(yaml: string, lines: string): string {
  if (lines.startsWith("      - ")) return yaml.replace(/^ {4}layers:\n/m, (head) => head + lines);
  if (lines.startsWith("    tools:")) return yaml.replace(/^ {4}tools:.*\n/m, () => lines);
  if (!lines.startsWith("modules:")) return yaml + lines;
  const [modules = "", ...rest] = lines.split("\n");
  return yaml.replace(/^modules:.*$/m, () => modules) + rest.join("\n");
}

describe("docs/tools.md", () => {
  it("runs, and prints what it shows (`npm test -- tests/examples -u` writes it again)", async () => {
    await expect(await walk(readFileSync(PAGE, "utf8"), await userFolder())).toMatchFileSnapshot(PAGE);
  }, 120_000);
});
