import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../../checks/files.ts";

const RUN = join(ROOT, "bootstrap/run.mjs");
const LIFELINE = join(ROOT, "bootstrap/lifeline.mjs");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata house "));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A process whose output is collected, and can be waited for. */
class Started {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  output = "";
  errors = "";

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.ended = new Promise((done) => this.child.on("close", (code, signal) => done({ code, signal })));
  }

  async message(text: string): Promise<void> {
    while (!this.output.includes(text)) await new Promise((go) => setTimeout(go, 20));
  }
}

/** Runs a script of ours through `npm run in`'s command, without npm. */
function runIn(source: string, ...args: readonly string[]): Started {
  const script = join(folder, "a script.mjs");
  writeFileSync(script, source);
  return new Started([RUN, "in", script, ...args]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function dies(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((go) => setTimeout(go, 50));
}

const STAYS = 'console.log("pid " + process.pid + "."); setInterval(() => {}, 1000);';
const COUNTS = `let heard = 0;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {
  heard += 1;
  console.log(signal + " " + heard);
  if (heard === 1) setTimeout(() => process.exit(5), 700);
});
${STAYS}`;

describe("a command", () => {
  it("gets its arguments as they are and ends with its own exit code, and nothing else is said", async () => {
    const run = runIn("console.log(JSON.stringify(process.argv.slice(2))); process.exit(7);", "a b", "--json", "");
    expect(await run.ended).toEqual({ code: 7, signal: null });
    expect(run.output).toBe('["a b","--json",""]\n');
    expect(run.errors).toBe("");
  });

  it("that dies of a signal is seen to", async () => {
    const run = runIn('process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000);');
    expect(await run.ended).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("that nobody knows is refused with those that exist", async () => {
    const run = new Started([RUN, "strat"]);
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(run.errors).toContain('there is no command "strat"; there are start, strata, check, in');
  });
});

describe("a signal", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("%s is passed on, and the end is waited for", async (signal) => {
    const run = runIn(COUNTS);
    await run.message("pid");
    run.child.kill(signal);
    expect(await run.ended).toEqual({ code: 5, signal: null });
    expect(run.output).toContain(`${signal} 1`);
  });

  it("that comes from the terminal and from us counts once", async () => {
    const run = runIn(COUNTS);
    await run.message("pid");
    process.kill(Number(/pid (\d+)/.exec(run.output)?.[1]), "SIGINT");
    run.child.kill("SIGINT");
    expect(await run.ended).toEqual({ code: 5, signal: null });
    expect(run.output).not.toContain("SIGINT 2");
  });
});

describe("when the bootstrap is killed hard", () => {
  it("the command stops by itself", async () => {
    const run = runIn(STAYS);
    await run.message("pid");
    const pid = Number(/pid (\d+)/.exec(run.output)?.[1]);
    run.child.kill("SIGKILL");
    await dies(pid);
    expect(isAlive(pid)).toBe(false);
  });
});

describe("when the bootstrap's own parent is killed hard", () => {
  it("the command is cancelled", async () => {
    const script = join(folder, "stays.mjs");
    writeFileSync(script, STAYS);
    const parent = `require("node:child_process").spawn(process.execPath, ${JSON.stringify([RUN, "in", script])}, { stdio: "inherit" });`;
    const run = new Started(["-e", parent]);
    await run.message("pid");
    const pid = Number(/pid (\d+)/.exec(run.output)?.[1]);
    run.child.kill("SIGKILL");
    await dies(pid);
    expect(isAlive(pid)).toBe(false);
  });
});

describe("the lifeline", () => {
  it("does not keep a command alive, and leaves grandchildren alone", async () => {
    const run = new Started(["--import", LIFELINE, "-e", "setTimeout(() => {}, 1500)"], { STRATA_PARENT: "1" });
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });
});
