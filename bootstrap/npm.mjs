import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Stop } from "./say.mjs";

/** What of npm's settings passes on: where packages come from and with what rights. The rest (`--prefix`, `-s`, `--json`, `omit` …) was meant for the outer call. */
const PASSES_ON =
  /^npm_config_(\/\/.*|.*registry.*|.*proxy|userconfig|globalconfig|cache|ca|cafile|cert|key|strict_ssl|_?auth.*|offline|prefer_offline|fetch_.*|maxsockets)$/i;

/**
 * Runs npm's own program under `node`, silently; its output is shown if it fails.
 * @param {string} node @param {string[]} args @param {string} folder @returns {Promise<void>}
 */
export function npm(node, args, folder) {
  const cli = npmProgram(process.env, process.execPath);
  const env = npmEnvironment(process.env, node);
  const child = spawn(node, [cli, ...args, "--loglevel=error"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** @type {Buffer[]} */
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) return done();
      process.stderr.write(Buffer.concat(output));
      reject(
        new Stop(
          `"npm ${args.join(" ")}" ended with ${signal ?? `exit code ${code}`} in ${folder}; what it said is above`,
        ),
      );
    });
  });
}

/**
 * npm's program as a file, so that it can run under a chosen Node: the npm that called us, the one beside this Node, or the first on the PATH.
 * @param {NodeJS.ProcessEnv} env @param {string} execPath
 */
export function npmProgram(env, execPath) {
  const bin = dirname(execPath);
  const onPath = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const beside = ["../lib/node_modules/npm/bin/npm-cli.js", "node_modules/npm/bin/npm-cli.js"].map((path) =>
    join(bin, path),
  );
  for (const path of [env["npm_execpath"] ?? "", ...beside, ...onPath]) {
    if (path !== "" && existsSync(path) && /npm-cli\.c?js$/.test(realpathSync(path))) return realpathSync(path);
  }
  throw new Stop(
    `npm was not found beside ${execPath} nor on the PATH; install Node 24 with npm and run the command again`,
  );
}

/** @param {NodeJS.ProcessEnv} env @param {string} node */
export function npmEnvironment(env, node) {
  const kept = Object.entries(env).filter(([name]) => !/^npm_/i.test(name) || PASSES_ON.test(name));
  // A package that has to be compiled needs the headers of the Node that will load it; a user's setting may name another's.
  const headers = dirname(dirname(node));
  return {
    ...Object.fromEntries(kept),
    ...(existsSync(join(headers, "include", "node")) && { npm_config_nodedir: headers }),
  };
}
