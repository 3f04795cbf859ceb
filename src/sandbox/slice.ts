import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type JSValueHandle, QuickJS } from "quickjs-wasi";
import type { Failure, Outcome, Task } from "./task.ts";

/** CPU milliseconds of this thread: on a busy machine, time of the clock would end innocent handlers. */
const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

declare global {
  // Node's types name it only as a type.
  namespace WebAssembly {
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

const wasm = await WebAssembly.compile(
  readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")),
);

/** Characters of an error's message, and of its stack, that leave the VM: the first ones. */
const MESSAGE = 500;
const STACK = 2_000;

/**
 * Runs before the handler's code, and keeps its own needs out of reach of that code. Everything that reads the handler's values, above all
 * its errors, is in here: getters are its code, and are interrupted like it.
 */
const PRELUDE = `(() => {
  const { parse, stringify } = JSON, { freeze } = Object, E = Error, S = String, isString = (x) => typeof x === "string";
  const ask = __ask, log = __log, end = __end;
  // One clock, which stands still: the time that it began and the time since then are together what Date.now() says.
  Object.defineProperty(globalThis, "performance", { value: freeze({ timeOrigin: Date.now(), now: () => 0 }) });
  delete globalThis.__ask; delete globalThis.__log; delete globalThis.__end;
  const frozen = (x) => { if (typeof x === "object" && x !== null) { for (const k in x) frozen(x[k]); freeze(x); } return x; };
  const cut = Function.prototype.call.bind(S.prototype.slice);
  const read = (e, key) => { try { const s = e[key]; return isString(s) ? s : ""; } catch { return ""; } };
  // An error has no members that JSON would show. A value that cannot be shown is no reason to end the handler.
  const word = (x) => {
    if (isString(x)) return x;
    try {
      const s = x instanceof E ? read(x, "name") + ": " + read(x, "message") : stringify(x);
      if (s !== undefined) return s;
    } catch {}
    try { return S(x); } catch { return "?"; }
  };
  const threw = (e) => {
    const isObject = (typeof e === "object" && e !== null) || typeof e === "function";
    let message = isObject ? read(e, "message") : "";
    if (!isObject) try { message = S(e); } catch {}
    end("threw", cut(message, 0, ${MESSAGE}), isObject ? cut(read(e, "stack"), 0, ${STACK}) : "");
  };
  const complete = async (request = {}) => {
    const answer = parse(await ask(stringify({ port: "complete", request })));
    if (answer.error !== undefined) throw new E(answer.error);
    return answer.value;
  };
  return async (input, load) => {
    try {
      const { payload, metadata, history } = parse(input);
      const ports = freeze({ complete, log: (...words) => { let line = ""; for (let i = 0; i < words.length; i++) line += (i ? " " : "") + word(words[i]); log(line); }, history: frozen(history) });
      const handler = load();
      const take = typeof handler === "object" && handler !== null ? handler.default : undefined;
      if (typeof take !== "function") throw new E("the module has no default export that is a function");
      const value = stringify((await take(payload, frozen(metadata), ports)) ?? null);
      end("returned", value === undefined ? "null" : value, "");
    } catch (e) { threw(e); }
  };
})()`;

/** Why a slice is stopped by the host: the guest is interrupted at its next step. */
type Stop = Exclude<Failure, "threw" | "busy" | "stuck">;

interface SliceEnd {
  readonly how: "returned" | "threw";
  readonly text: string;
  readonly stack: string;
}

/** Runs one slice in a fresh VM. Never throws. */
export async function slice(task: Task): Promise<Outcome> {
  const { limits } = task;
  const run = { logs: [] as string[], asks: [] as string[], cpuMs: 0, stop: undefined as Stop | undefined };
  try {
    const ended = await runIn(task, run);
    const { logs, asks, cpuMs } = run;
    if (run.stop !== undefined) return failed(run.stop, "", "");
    if (ended?.how === "returned") return { kind: "returned", value: ended.text, logs, cpuMs };
    if (ended !== undefined) return failed(engineReason(ended.text), ended.text, ended.stack);
    if (asks.length <= task.answers.length) return failed("stuck", "", "");
    return { kind: "waits", asks: asks.slice(task.answers.length), logs, cpuMs };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return run.stop === undefined ? failed(engineReason(message), message, "") : failed(run.stop, "", "");
  }

  function failed(reason: Failure, message: string, stack: string): Outcome {
    const { logs, cpuMs } = run;
    const sentence = (reason === "threw" && message.slice(0, MESSAGE)) || SAYS[reason](limits);
    return { kind: "failed", reason, message: sentence, stack, logs, cpuMs };
  }
}

const MEGABYTE = 1_024 * 1_024;

const SAYS: Readonly<Record<Failure, (limits: Task["limits"]) => string>> = {
  threw: () => "it threw something without a message",
  cpu: ({ cpuMs }) => `it used more than ${cpuMs} ms of CPU time`,
  memory: ({ memory }) =>
    `it needed more than ${memory / MEGABYTE} MB of memory; make it keep less, or raise limits.memoryMb`,
  stack: ({ stack }) => `its calls are nested deeper than ${stack / 1_024} KB of stack; nest them less`,
  output: ({ output }) =>
    `it returned more than ${output} characters, or passed more to \`complete\`; make it say less, or raise limits.output`,
  asks: ({ asks }) => `it called \`complete\` more than ${asks} times; make it ask less often, or raise limits.calls`,
  logs: ({ logs, logLength }) =>
    `it logged more than ${logs} lines, or more than ${logLength} characters in one; make it log less, or raise limits.logs`,
  stuck: () => "it waits for something that will never happen",
  busy: () => "too many handlers wait already; try again later",
};

/** The engine's error about its own limits. A guest can fake it, and deceives only itself. */
const engineReason = (message: string): Failure =>
  /^out of memory/.test(message) ? "memory" : /stack overflow|call stack/i.test(message) ? "stack" : "threw";

interface SliceRun {
  logs: string[];
  asks: string[];
  cpuMs: number;
  stop: Stop | undefined;
}

/** Undefined: the handler still waits for something. */
async function runIn(task: Task, run: SliceRun): Promise<SliceEnd | undefined> {
  const { limits } = task;
  let entered = cpu();
  /** The engine reads the clock first to seed its random numbers: it gets the seed. */
  let clock = BigInt(task.seed) * 1_000n;
  const inside = <T>(work: () => T): T => {
    entered = cpu();
    try {
      return work();
    } finally {
      run.cpuMs += cpu() - entered;
      entered = cpu();
    }
  };
  const vm = await QuickJS.create({
    wasm,
    memoryLimit: limits.memory,
    maxStackSize: limits.stack,
    timezoneOffset: 0,
    interruptHandler: () => {
      if (run.cpuMs + cpu() - entered > limits.cpuMs) run.stop ??= "cpu";
      return run.stop !== undefined;
    },
    wasi: (memory: { readonly buffer: ArrayBuffer }) => ({
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        new DataView(memory.buffer).setBigUint64(at, clock, true);
        return 0;
      },
      random_get: (at: number, length: number) => {
        new Uint8Array(memory.buffer, at, length).fill(task.seed & 255);
        return 0;
      },
      // Nothing that is printed goes anywhere.
      fd_write: () => 8,
    }),
  });
  try {
    clock = BigInt(task.now) * 1_000_000n;
    const ports = portsOf(vm, limits, run);
    const main = inside(() => vm.evalCode(PRELUDE, "prelude.js"));
    // In one line with the handler's first, so that its lines keep their numbers.
    inside(() =>
      vm.evalCode(
        `globalThis.__load=()=>{delete globalThis.__load;${task.code}\n;return globalThis.__handler}`,
        "handler.js",
      ),
    );
    inside(() => vm.callFunction(main, vm.undefined, vm.newString(task.input), vm.global.getProp("__load")));
    inside(() => vm.executePendingJobs());
    for (const [n, answer] of task.answers.entries()) {
      const given = "value" in answer ? `{"value":${answer.value}}` : JSON.stringify({ error: answer.error });
      inside(() => {
        ports.open[n]?.(vm.newString(given));
        vm.executePendingJobs();
      });
    }
    return ports.ended();
  } finally {
    vm.dispose();
  }
}

/** The three ways out of the VM: what the handler asks, what it logs, and how it ends. All are texts, counted before they are copied. */
function portsOf(vm: QuickJS, limits: Task["limits"], run: SliceRun) {
  const open: ((answer: JSValueHandle) => void)[] = [];
  let ended: SliceEnd | undefined;
  const text = (handle: JSValueHandle | undefined, most: number, stop: Stop): string => {
    if (handle === undefined) return "";
    if (handle.getProp("length").toNumber() <= most) return handle.toString();
    run.stop ??= stop;
    return "";
  };
  const port = (name: string, take: (...given: JSValueHandle[]) => JSValueHandle): void =>
    vm.global.setProp(name, vm.newFunction(name, take));
  port("__log", (line) => {
    const said = text(line, limits.logLength, "logs");
    if (run.logs.length >= limits.logs) run.stop ??= "logs";
    if (run.stop === undefined) run.logs.push(said);
    return vm.undefined;
  });
  port("__ask", (asked) => {
    const request = text(asked, limits.output, "output");
    if (run.asks.length >= limits.asks) run.stop ??= "asks";
    const { handle, resolve } = vm.newPromise();
    if (run.stop === undefined) {
      run.asks.push(request);
      open.push(resolve);
    }
    return handle;
  });
  port("__end", (how, said, stack) => {
    const returned = how?.toString() === "returned";
    const value = text(said, returned ? limits.output : MESSAGE, "output");
    ended ??= { how: returned ? "returned" : "threw", text: value, stack: text(stack, STACK, "output") };
    return vm.undefined;
  });
  return { open, ended: () => ended };
}
