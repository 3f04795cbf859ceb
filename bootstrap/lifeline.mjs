// Loaded into the process of a command before the command itself. Two cares, neither of which keeps the process alive:
// 1. STRATA_PARENT holds the id of the process that waits for this one. When that is our parent and it dies without a
//    word (SIGKILL), we stop as on SIGTERM, unless a signal has come already: nobody is left who would ever end us. The
//    variable is taken away, so that neither the command nor what it starts watches a second time.
// 2. npm and the bootstrap pass on a Ctrl-C that the terminal has already sent to everyone, so one key press arrives two
//    or three times. The command hears it once; a second press a moment later is heard again.
import { isMainThread } from "node:worker_threads";

const LOOK_EVERY_MS = 1000;
const PATIENCE_MS = 10_000;
const SAME_PRESS_MS = 500;

/** When each signal was heard last. @type {Map<unknown, number>} */
const heard = new Map();

// A worker loads this module too, and a grandchild may inherit the variable: only the child it was meant for has this parent.
if (isMainThread) {
  hearOnce(["SIGINT", "SIGTERM", "SIGHUP"]);
  if (process.env["STRATA_PARENT"] === String(process.ppid)) followParent(process.ppid);
  delete process.env["STRATA_PARENT"];
}

/** @param {number} parent */
function followParent(parent) {
  const timer = setInterval(() => {
    // Not whether the parent's id still lives: a dead process keeps its id until somebody asks how it ended.
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (heard.size === 0) process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.kill(process.pid, "SIGKILL"), PATIENCE_MS).unref();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** Node delivers a signal through `process.emit`, bound when the first listener is added: nothing else comes before all listeners. @param {string[]} signals */
function hearOnce(signals) {
  const emit = process.emit;
  /** @param {unknown[]} args */
  const emitOnce = (...args) => {
    const [name] = args;
    if (typeof name === "string" && signals.includes(name)) {
      const now = performance.now();
      if (now - (heard.get(name) ?? Number.NEGATIVE_INFINITY) < SAME_PRESS_MS) return true;
      heard.set(name, now);
    }
    return Reflect.apply(emit, process, args);
  };
  Object.assign(process, { emit: emitOnce });
}
