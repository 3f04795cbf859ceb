import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allErrors } from "../src/app/entry/features.ts";
import { ROOT } from "./files.ts";

const PAGE = join(ROOT, "docs/errors.md");
const FROM = "<!-- The table below is written by `npm run fix`. -->\n";

/** The page of errors: written by hand down to the mark, and the whole table of codes after it. */
export async function errorsPage(): Promise<string> {
  const [byHand = ""] = readFileSync(PAGE, "utf8").split(FROM);
  const rows = (await allErrors()).map(
    ([code, { status, exit, retry, message }]) =>
      `| \`${code}\` | ${status} | ${exit} | ${retry ? "yes" : "no"} | ${message} |`,
  );
  const head = ["| code | HTTP | exit | again? | when |", "|---|---|---|---|---|"];
  return `${byHand}${FROM}\n${[...head, ...rows].join("\n")}\n`;
}
