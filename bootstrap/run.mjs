// Behind `npm start`, `npm test` and `npm run strata`: brings the right Node and the packages, then runs the command.
// No dependencies, and it must parse and run on Node 18: it is what an old Node sees first.
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { callersFolder } from "./caller.mjs";
import { runChild } from "./child.mjs";
import { bringPackages } from "./packages.mjs";
import { rightNode } from "./right-node.mjs";
import { Stop, say } from "./say.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** `script` runs in `folder`: a user's relative paths start where the user stands, the project's own at its root. */
const COMMANDS = {
  start: {
    script: "src/doors/cli/main.ts",
    args: ["start"],
    folder: () => callersFolder(root, process.env, process.cwd()),
  },
  strata: { script: "src/doors/cli/main.ts", args: [], folder: () => callersFolder(root, process.env, process.cwd()) },
  check: { script: "checks/all.ts", args: [], folder: () => root },
  in: { script: undefined, args: [], folder: () => root },
};

/** @param {string[]} argv */
async function main([name = "", ...rest]) {
  if (!isCommand(name)) throw new Stop(`there is no command "${name}"; there are ${Object.keys(COMMANDS).join(", ")}`);
  const { script, args, folder } = COMMANDS[name];
  const node = await rightNode(root);
  await bringPackages(root, node);
  const call = { args: [...args, ...rest], folder: folder() };
  process.env["PATH"] = [dirname(node.path), process.env["PATH"]].join(delimiter);
  if (script !== undefined && node.isRunning) await runHere(join(root, script), call);
  else await runChild(node.path, script === undefined ? call.args : [join(root, script), ...call.args], call.folder);
}

/** @param {string} name @returns {name is keyof typeof COMMANDS} */
function isCommand(name) {
  return Object.hasOwn(COMMANDS, name);
}

/**
 * In this very process, so that signals need no passing on. The script sees the arguments it would see if Node had been
 * given it, but it is imported: it must act when loaded and not ask `import.meta.main`.
 * @param {string} script @param {{args: string[], folder: string}} call
 */
async function runHere(script, { args, folder }) {
  process.argv = [process.execPath, script, ...args];
  process.chdir(folder);
  if (process.env["npm_lifecycle_event"] !== undefined) process.env["STRATA_PARENT"] = String(process.ppid);
  await import("./lifeline.mjs");
  await import(pathToFileURL(script).href);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  say(error.message);
  process.exitCode = 1;
}
