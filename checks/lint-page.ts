import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ruleTable } from "../src/wire/index.ts";
import { ROOT } from "./files.ts";

const PAGE = join(ROOT, "docs/lint.md");
const FROM = "<!-- The table below is written by `npm run fix`. -->\n";
const TO = "\n<!-- end of rules -->";

/** The page of lint: written by hand but for the table of rules between its marks. */
export function lintPage(): string {
  const [before = "", rest = ""] = readFileSync(PAGE, "utf8").split(FROM);
  const [, after = ""] = rest.split(TO);
  return `${before}${FROM}\n${ruleTable()}\n${TO}${after}`;
}
