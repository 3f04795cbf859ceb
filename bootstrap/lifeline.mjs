// Loaded into the process of a command before the command itself. Two cares, neither of which keeps the process alive:
// 1. STRATA_PARENT holds the id of the process that waits for this one. When it is our parent and dies without a word
//    (SIGKILL), we stop as on SIGTERM: nobody is left who would ever end us.
// 2. npm and the bootstrap pass on a Ctrl-C that the terminal has already sent to everyone, so one key press arrives two
//    or three times. The command hears it once; a second press a moment later is heard again.
import { isMainThread } from "node:worker_threads";

const LOOK_EVERY_MS = 1000;
const PATIENCE_MS = 10_000;
const SAME_PRESS_MS = 300;

// A grandchild inherits the variable, and a worker the module: only the child that it was meant for has this parent.
if (isMainThread) {
  hearOnce(["SIGINT", "SIGTERM", "SIGHUP"]);
  if (process.env["STRATA_PARENT"] === String(process.ppid)) followParent(process.ppid);
}

/** @param {number} parent */
function followParent(parent) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.kill(process.pid, "SIGKILL"), PATIENCE_MS).unref();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** Node delivers a signal through `process.emit`, bound when the first listener is added: nothing else comes before all listeners. @param {string[]} signals */
function hearOnce(signals) {
  const emit = process.emit;
  /** @type {Map<unknown, number>} */
  const heard = new Map();
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
