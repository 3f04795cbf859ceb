import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cageMissing, DEFAULT_LIMITS, type Task } from "./index.ts";
import { seatOf, startJailed, type Wall } from "./jail.ts";
import type { Seat } from "./seat.ts";

/**
 * Attempts of a program that has left the VM and runs as Node in the jail: each line is the body of a function that throws or returns
 * `true`.
 */
const PROBES: Readonly<Record<string, { readonly code: string; readonly without: readonly Wall[] }>> = {
  "reads a file of the machine": {
    code: "return fs.readFileSync('/etc/passwd').length > 0",
    without: ["files", "permission"],
  },
  "reads it by the way of its own process": {
    code: "return fs.readFileSync('/proc/self/root/etc/passwd').length > 0",
    without: ["files", "permission"],
  },
  "opens a database of the machine": {
    code: "new (require('node:sqlite').DatabaseSync)(HOST + '/record.db').exec('create table x (y)'); return true",
    without: ["files", "permission"],
  },
  "lists the machine's programs": {
    code: "return fs.readdirSync('/usr/bin').length > 0",
    without: ["files", "permission"],
  },
  "writes a file": { code: "fs.writeFileSync(HOST + '/written', 'x'); return true", without: ["files", "permission"] },
  "writes into shared memory": {
    code: "fs.writeFileSync('/dev/shm/cage', 'x'); fs.rmSync('/dev/shm/cage'); return true",
    without: ["files", "permission"],
  },
  "changes its own program": {
    code: "fs.appendFileSync(__filename, ' '); return true",
    without: ["files", "permission"],
  },
  "reads the environment": { code: "return process.env.CAGE_CANARY === 'canary'", without: ["environment"] },
  "connects to the machine": {
    code: "return await new Promise((yes, no) => require('node:net').connect(PORT, '127.0.0.1', () => yes(true)).on('error', no))",
    without: ["filter", "namespaces"],
  },
  listens: {
    code: "return await new Promise((yes, no) => require('node:net').createServer().listen(0, '127.0.0.1', () => yes(true)).on('error', no))",
    without: ["filter"],
  },
  "sends a datagram": {
    code: "return await new Promise((yes, no) => require('node:dgram').createSocket('udp4').on('error', no).bind(0, () => yes(true)))",
    without: ["filter"],
  },
  "starts a program": {
    code: "return require('node:child_process').spawnSync(process.execPath, ['--version']).status === 0",
    without: ["filter", "permission"],
  },
  "starts a thread": {
    code: "return await new Promise((yes, no) => new (require('node:worker_threads').Worker)('1', { eval: true }).on('exit', () => yes(true)).on('error', no))",
    without: ["permission"],
  },
  "signals the first process of its namespace": { code: "return process.kill(1, 0)", without: ["filter"] },
  "ends the first process of its namespace": { code: "return process.kill(1, 'SIGKILL')", without: ["filter"] },
  "sees the machine's processes": { code: "return process.kill(HOST_PID, 0)", without: ["filter", "namespaces"] },
  "sees who the machine is": { code: "return require('node:os').hostname() !== 'cage'", without: ["namespaces"] },
  "is the machine's user": { code: "return process.getuid() !== 65534", without: ["namespaces"] },
};

/** A seat whose process answers every task with these bytes. */
function answering(code: string): Promise<Seat> {
  const program = `process.stdout.write("ready\\n"); process.stdin.once("data", () => { ${code} });`;
  const stdio = ["pipe", "pipe", "pipe", "pipe"] as const;
  return seatOf(spawn(process.execPath, ["--eval", program], { stdio: [...stdio] }));
}

describe("what comes out of the jail", () => {
  const task: Task = { code: "", input: "{}", answers: [], seed: 1, now: 0, limits: DEFAULT_LIMITS };
  const outcome = { kind: "returned", value: "1", logs: [], cpuMs: 1 };
  const told = (value: unknown) => `process.stdout.write(${JSON.stringify(JSON.stringify(value))} + "\\n")`;

  it("is an outcome, and no more of it than the limits allow", async () => {
    const taken = await answering(told(outcome));
    expect(await taken.run(task)).toEqual(outcome);
    await taken.end();
    const asks = { kind: "waits", asks: Array(DEFAULT_LIMITS.asks + 1).fill("{}"), logs: [], cpuMs: 1 };
    const wrong = [{ ...outcome, value: { toString: 1 } }, { ...outcome, kind: "granted" }, asks, null].map(told);
    for (const code of [...wrong, 'process.stdout.write("ready\\n")']) {
      const seat = await answering(code);
      await expect(seat.run(task), code).rejects.toThrow("the jail of the cage answered what no handler can say");
      await seat.end();
    }
  });

  it("is not kept where it never ends", async () => {
    const seat = await answering(
      'const part = "x".repeat(1e6); const more = () => { for (let n = 0; n < 20; n++) process.stdout.write(part); setTimeout(more); }; more();',
    );
    const before = process.memoryUsage().rss;
    await expect(seat.run(task)).rejects.toThrow("answered what no handler can say");
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(64);
    await seat.end();
  });
});

const missing = cageMissing("process");

describe.skipIf(missing !== undefined)(
  `native probes of the jail${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    let folder: string;
    const server = createServer((socket) => socket.destroy());
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "strata-jail-"));
      process.env.CAGE_CANARY = "canary";
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    });
    afterAll(() => {
      delete process.env.CAGE_CANARY;
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function probe(names: readonly string[], without: readonly Wall[]) {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const file = join(folder, "probe.cjs");
      const tries = names.map((name) => `${JSON.stringify(name)}: async () => { ${PROBES[name]?.code} }`);
      const known = `const fs = require('node:fs'), HOST = ${JSON.stringify(folder)}, PORT = ${port}, HOST_PID = ${process.pid};`;
      const text = `${known}\nconst tries = { ${tries.join(",\n")} };\n(async () => { for (const [name, go] of Object.entries(tries)) { let got; try { got = await go(); } catch (e) { got = e.code ?? String(e); } fs.writeSync(1, JSON.stringify([name, got]) + '\\n'); } process.exit(); })();\nsetTimeout(() => process.exit(), 5000);`;
      writeFileSync(file, text);
      // If the files are not hidden, the program runs in its usual folder.
      const plain = without.includes("files");
      const child = startJailed(
        plain
          ? { program: file, without }
          : { program: "/cage/probe.cjs", shows: [[file, "/cage/probe.cjs"]], without },
      );
      let said = "";
      child.stdout.on("data", (data) => {
        said += data;
      });
      await once(child, "close");
      const lines = said.split("\n").filter(Boolean);
      return Object.fromEntries(lines.map((line) => JSON.parse(line)));
    }

    it("stand before walls: none of them gets through", async () => {
      const got = await probe(Object.keys(PROBES), []);
      expect(Object.keys(got)).toEqual(Object.keys(PROBES));
      expect(Object.entries(got).filter(([, result]) => result === true)).toEqual([]);
    });

    it("stand in a jail also where bubblewrap is in no usual folder", async () => {
      const { PATH = "" } = process.env;
      const real =
        PATH.split(":")
          .map((one) => join(one, "bwrap"))
          .find(existsSync) ?? "";
      mkdirSync(join(folder, "bin"));
      symlinkSync(real, join(folder, "bin/bwrap"));
      process.env.PATH = join(folder, "bin");
      try {
        expect(await probe(["sees who the machine is"], [])).toEqual({ "sees who the machine is": false });
      } finally {
        process.env.PATH = PATH;
      }
    });

    it("is missing where bubblewrap starts, but not with all walls of the jail", async () => {
      const { PATH = "" } = process.env;
      const bin = join(folder, "refusing");
      mkdirSync(bin);
      const refuses =
        '#!/bin/sh\ncase "$*" in *--proc*) echo \'cannot mount /proc\' >&2; exit 1;; esac\nexec bwrap "$@"\n';
      writeFileSync(join(bin, "bwrap"), refuses.replace("exec bwrap", `exec env PATH=${PATH} bwrap`), { mode: 0o755 });
      process.env.PATH = `${bin}:${PATH}`;
      try {
        expect(cageMissing("process")).toContain(
          "cannot run here: bubblewrap cannot make the jail here (cannot mount /proc)",
        );
      } finally {
        process.env.PATH = PATH;
      }
    });

    it.each(Object.keys(PROBES))("succeeds without its walls: %s", async (name) => {
      const got = await probe([name], PROBES[name]?.without ?? []);
      expect(got).toEqual({ [name]: true });
    });
  },
);
