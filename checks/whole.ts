// `npm run -s in -- checks/whole.ts [--seconds 3600] [PATH…]`: runs long sweeps from their first case to their last, of which `npm test` tries a spread: the tests that
// use `tests/spread.ts`, themselves or by a contract, or those of them whose path holds one of `PATH…`. STRATA_SEED=N takes other random cases.
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { readFiles } from "./files.ts";
import { importsOf } from "./imports.ts";
import { startProgram } from "./program.ts";

const { values, positionals } = parseArgs({
  options: { seconds: { type: "string", default: "3600" } },
  allowPositionals: true,
});

const SPREAD = "tests/spread.ts";

/** Tests and the contracts that they share, with what each imports of the checkout. */
const imported = new Map(
  readFiles((path) => /\.(test|contract)\.ts$/.test(path)).map(({ path, text }) => [path, importedBy(path, text)]),
);

const paths = [...imported.keys()].filter((path) => path.endsWith(".test.ts") && isWanted(path) && sweeps(path));
if (paths.length === 0) throw new Error(`no test of a sweep has ${positionals.join(" or ")} in its path`);

function isWanted(path: string): boolean {
  return positionals.length === 0 || positionals.some((part) => path.includes(part));
}

function importedBy(path: string, text: string): readonly string[] {
  return importsOf(text).flatMap(({ from }) => (from?.startsWith(".") ? [join(dirname(path), from)] : []));
}

/** Whether it calls `spread` or its like, itself or by a contract. */
function sweeps(path: string, above: readonly string[] = []): boolean {
  const used = imported.get(path) ?? [];
  const deeper = used.filter((one) => one.endsWith(".contract.ts") && !above.includes(one));
  return used.includes(SPREAD) || deeper.some((one) => sweeps(one, [...above, path]));
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
