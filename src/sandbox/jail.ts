import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { Answers, type Seat } from "./seat.ts";
import { seccompFilter } from "./seccomp.ts";
import { FAILURES, type Outcome, type SliceLimits } from "./task.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAM = import.meta.url.endsWith(".ts") ? "process.ts" : "process.js";
/** The file descriptor on which bubblewrap reads the filter. */
const FILTER = 3;
/** Megabytes that V8 may use for itself; the VM has its own limit. */
const HEAP = 64;

/** The content of the jail, and the walls that are omitted: only tests omit any. */
export interface JailPlan {
  /** The program to start, as a path in the jail. */
  readonly program: string;
  /** Further files and folders: their real paths, and their paths in the jail. All are read-only. */
  readonly shows?: readonly (readonly [from: string, to: string])[];
  readonly without?: readonly Wall[];
}

/** The walls around the process, besides the VM in it. */
export type Wall = "namespaces" | "environment" | "permission" | "filter" | "files";

declare global {
  namespace NodeJS {
    // Node's types do not have it yet.
    interface ProcessReport {
      excludeNetwork: boolean;
    }
  }
}

let knownLibraries: readonly string[] | undefined;

/** The libraries that Node is linked with, as this process has them. */
function libraries(): readonly string[] {
  if (knownLibraries !== undefined) return knownLibraries;
  const { excludeNetwork } = process.report;
  // A report with them looks up the name of each connected address, and the program does nothing else meanwhile.
  process.report.excludeNetwork = true;
  const report: unknown = process.report.getReport();
  process.report.excludeNetwork = excludeNetwork;
  const found = typeof report === "object" && report !== null && "sharedObjects" in report ? report.sharedObjects : [];
  const all = Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  knownLibraries = all.filter((path) => path.startsWith("/") && !path.endsWith(".node"));
  return knownLibraries;
}

/** How bubblewrap is called. */
export function jailCommand({ program, shows = [], without = [] }: JailPlan): readonly string[] {
  const has = (wall: Wall): boolean => !without.includes(wall);
  const namespaces = [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--hostname", "cage"],
    ...["--uid", "65534", "--gid", "65534"],
  ];
  const seen = [...libraries().map((path) => [path, path] as const), [process.execPath, "/node"] as const, ...shows];
  const files = [
    ...seen.flatMap(([from, to]) => ["--ro-bind", from, to]),
    ...["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"],
  ];
  return [
    ...(has("namespaces") ? namespaces : []),
    ...(has("environment") ? ["--clearenv"] : []),
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent"],
    ...(has("files") ? files : ["--dev-bind", "/", "/"]),
    ...(has("filter") ? ["--seccomp", String(FILTER)] : []),
    has("files") ? "/node" : process.execPath,
    ...(has("permission") ? ["--permission", "--allow-fs-read=/cage/*"] : []),
    ...[`--max-old-space-size=${HEAP}`, "--disable-proto=throw", "--no-warnings", program],
  ];
}

/** Why this system cannot have the jail; undefined if it can. */
export function jailMissing(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `it needs Linux on x86-64, and this is ${process.platform} on ${process.arch}`;
  // All walls but the filter, which needs a pipe: containers often allow namespaces, and not to mount what the jail needs.
  const plan = jailCommand({ program: "--version", without: ["filter"] });
  const { error, status, stderr } = spawnSync("bwrap", plan, { encoding: "utf8", timeout: 10_000 });
  if (error !== undefined && "code" in error && error.code === "ENOENT")
    return "bubblewrap is not installed: `apt-get install bubblewrap`, or the package of your system";
  if (error !== undefined || status !== 0)
    return `bubblewrap cannot make the jail here (${stderr?.trim().split("\n")[0] || (error?.message ?? `it ended with ${status}`)})`;
  return undefined;
}

/** Where bubblewrap is: what it starts has no environment, and so no `PATH` in which it would be looked for. */
function bubblewrap(): string {
  const { stdout } = spawnSync("/bin/sh", ["-c", "command -v bwrap"], { encoding: "utf8", timeout: 10_000 });
  return stdout?.trim() || "bwrap";
}

/** Starts a program in the jail. The filter goes through a separate pipe. */
export function startJailed(plan: JailPlan) {
  const has = (wall: Wall): boolean => !plan.without?.includes(wall);
  const child = spawn(bubblewrap(), jailCommand(plan), {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    ...(has("environment") && { env: {} }),
  });
  const filter = child.stdio[FILTER];
  // Where bubblewrap ends before it has read all, it says why.
  filter?.on("error", () => {});
  if (filter && "end" in filter) filter.end(seccompFilter());
  return child;
}

/** A separate process that sees Node, the VM and nothing else of the machine. */
export async function openJail(): Promise<Seat> {
  const vm = dirname(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm"));
  return await seatOf(
    startJailed({
      program: `/cage/sandbox/${PROGRAM}`,
      shows: [
        [HERE, "/cage/sandbox"],
        [vm, "/cage/node_modules/quickjs-wasi"],
      ],
    }),
  );
}

/** The seat of a process that runs slices. What it says may come from a handler that has left its VM: it is read as such. */
export async function seatOf(child: ReturnType<typeof startJailed>): Promise<Seat> {
  const { promise: gone, resolve: ended } = Promise.withResolvers<void>();
  let said = "";
  child.stderr.on("data", (data) => {
    said = `${said}${data}`.slice(-2_000);
  });
  child.stdin.on("error", () => {});
  const lines = new Answers<string>();
  /** Characters that the next line may have. */
  let most = READY;
  readLines(child.stdout, lines, () => most);
  const end = () => {
    ended();
    lines.end();
  };
  child.on("error", ({ message }) => {
    said ||= message;
    end();
  });
  child.on("exit", end);
  if ((await lines.next()) === undefined) throw new Error(`the jail of the cage did not start: ${said.trim()}`);
  const pipes = [child.stdin, child.stdout, child.stderr];
  const hold = (how: "ref" | "unref"): void => {
    child[how]();
    for (const pipe of pipes)
      if (how in pipe && typeof Reflect.get(pipe, how) === "function") Reflect.get(pipe, how).call(pipe);
  };
  hold("unref");
  return {
    run: async (task) => {
      hold("ref");
      most = longestOutcome(task.limits);
      const line = lines.next();
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const answer = await line;
      hold("unref");
      return answer === undefined ? undefined : outcomeIn(answer, task.limits);
    },
    used: async () => usedBy(child.pid),
    end: async () => {
      // A program that ends waits for it.
      hold("ref");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

const READY = 100;

/** Characters of the longest outcome within the limits, each of them escaped. */
const longestOutcome = ({ output, asks, logs, logLength }: SliceLimits): number =>
  6 * (output * (1 + asks) + logs * logLength) + 50_000;

/** Hands on each line. One that is too long is handed on as far as it goes, and nothing after it. */
function readLines(stream: Readable, lines: Answers<string>, most: () => number): void {
  let parts: string[] = [];
  let length = 0;
  stream.setEncoding("utf8").on("data", (text: string) => {
    const [first = "", ...rest] = text.split("\n");
    parts.push(first);
    length += first.length;
    if (rest.length === 0 && length <= most()) return;
    if (rest.length === 0) stream.pause();
    lines.give(parts.join(""));
    parts = [rest.at(-1) ?? ""];
    length = parts[0]?.length ?? 0;
  });
}

const WITH = { logs: z.array(z.string()), cpuMs: z.number() };
const OUTCOME = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("returned"), value: z.string(), ...WITH }),
  z.strictObject({ kind: z.literal("waits"), asks: z.array(z.string()), ...WITH }),
  z.strictObject({
    kind: z.literal("failed"),
    reason: z.enum(FAILURES),
    message: z.string(),
    stack: z.string(),
    ...WITH,
  }),
]);

/** @throws Error for anything else */
function outcomeIn(line: string, { asks, output }: SliceLimits): Outcome {
  try {
    const outcome = OUTCOME.parse(JSON.parse(line));
    const isWithin =
      outcome.kind === "waits"
        ? outcome.asks.length <= asks
        : outcome.kind === "failed" || outcome.value.length <= output;
    if (isWithin) return outcome;
  } catch {}
  throw new Error("the jail of the cage answered what no handler can say");
}

/** CPU milliseconds of a process and of those below it; Linux counts them in hundredths of a second. */
function usedBy(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const own = (Number(fields[11]) + Number(fields[12])) * 10;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    return children.reduce((sum, child) => sum + (usedBy(Number(child)) ?? 0), own);
  } catch {
    return undefined;
  }
}
