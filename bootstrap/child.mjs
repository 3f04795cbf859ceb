import { spawn } from "node:child_process";
import { constants } from "node:os";

const PASSED_ON = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
const LOOK_EVERY_MS = 1000;
const PATIENCE_MS = 10_000;

/**
 * Runs `node ...args` with our own input and output, passes signals on, and ends as the child ends.
 * The child hears a Ctrl-C from the terminal and from us; its lifeline counts the two as one. If our own parent dies
 * without a word (SIGKILL), the child is asked to stop; if we do, its lifeline notices.
 * @param {string} node @param {string[]} args @param {string} folder @returns {Promise<void>}
 */
export function runChild(node, args, folder) {
  const lifeline = new URL("./lifeline.mjs", import.meta.url).href;
  const env = { ...process.env, STRATA_PARENT: String(process.pid) };
  // Some Nodes that run TypeScript as it is still say at each start that this is new.
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", "--import", lifeline, ...args], {
    stdio: "inherit",
    cwd: folder,
    env,
  });
  let wasAsked = false;
  const forward = PASSED_ON.map((signal) => ({
    signal,
    pass: () => {
      wasAsked = true;
      child.kill(signal);
    },
  }));
  for (const { signal, pass } of forward) process.on(signal, pass);
  const looking = watchParent(() => stop(child, wasAsked));
  return new Promise((_, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearInterval(looking);
      for (const { signal: heard, pass } of forward) process.off(heard, pass);
      endAs(code, signal);
    });
  });
}

/** @param {() => void} gone */
function watchParent(gone) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, LOOK_EVERY_MS);
  return timer;
}

/** A second signal may mean "at once" to the command, so one that was asked to stop is only given its time. @param {import("node:child_process").ChildProcess} child @param {boolean} wasAsked */
function stop(child, wasAsked) {
  if (!wasAsked) child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
}

/** A shell tells an interrupted command from a failed one by the signal, so a child's signal becomes ours. @param {number | null} code @param {NodeJS.Signals | null} signal */
function endAs(code, signal) {
  if (signal === null) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 200);
}
