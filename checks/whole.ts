// `npm run -s in -- checks/whole.ts [--seconds 3600] [PATH…]`: runs long sweeps from their first case to their last, of which `npm test` tries a spread: the tests that
// call `spread` (`tests/spread.ts`), or those of them whose path holds one of `PATH…`. STRATA_SEED=N takes other random cases.
import { parseArgs } from "node:util";
import { readFiles } from "./files.ts";
import { startProgram } from "./program.ts";

const { values, positionals } = parseArgs({
  options: { seconds: { type: "string", default: "3600" } },
  allowPositionals: true,
});

const paths = readFiles((path) => path.endsWith(".test.ts"))
  .filter(({ path, text }) => /tests\/spread\.ts"|"\.\.?\/spread\.ts"/.test(text) && isWanted(path))
  .map(({ path }) => path);
if (paths.length === 0) throw new Error(`no test of a sweep has ${positionals.join(" or ")} in its path`);

function isWanted(path: string): boolean {
  return positionals.length === 0 || positionals.some((part) => path.includes(part));
}

process.env["STRATA_SWEEPS"] = "whole";
const patience = ["--testTimeout=600000", "--reporter=verbose"];
const child = startProgram(
  "vitest/vitest.mjs",
  ["run", "--config=checks/vitest.config.ts", ...patience, ...paths],
  "inherit",
);
const end = setTimeout(() => child.kill("SIGTERM"), 1_000 * Number(values.seconds));
child.on("exit", (code) => {
  clearTimeout(end);
  process.exitCode = code ?? 1;
});
