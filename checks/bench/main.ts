// Behind `npm run bench`: `compile` and `wire`, tables or JSON on stdout, progress on stderr. `--quick` only shows that it runs.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { callersFolder } from "../../bootstrap/caller.mjs";
import { ROOT } from "../files.ts";
import { compileBench, compileText } from "./compile.ts";
import { wireBench, wireText } from "./wire.ts";

const USAGE = "npm run bench -- compile [--json] [--quick]\nnpm run bench -- wire [--threads FILE…] [--json] [--quick]";

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      threads: { type: "string", multiple: true, default: [] },
    },
  });
  const [bench, ...files] = positionals;
  const { json, quick, threads } = values;
  const show = (report: object, text: string) => console.log(json ? JSON.stringify(report) : text);
  if (bench === "compile" && files.length === 0 && threads.length === 0) {
    const report = await compileBench(quick, tell);
    show(report, compileText(report));
  } else if (bench === "wire" && (files.length === 0 || threads.length > 0)) {
    const report = await wireBench(
      { quick, dumps: [...threads, ...files].map((file) => resolve(standing, file)) },
      tell,
    );
    show(report, wireText(report));
  } else {
    throw new Error(`there is no such bench; the two are\n${USAGE}`);
  }
}

/** npm runs us at the root; a file is named from where the user stands. */
const standing = callersFolder(ROOT, process.env, process.cwd());

const tell = (what: string): void => {
  process.stderr.write(`${what}\n`);
};

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
