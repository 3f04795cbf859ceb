import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IS_WHOLE } from "../../../tests/spread.ts";
import { digestOf, type Json, type ToolOutcome } from "../../protocol/index.ts";
import { call, contextOf } from "../../turn/tools/index.contract.ts";
import { toolset } from "../../turn/tools/index.ts";
import { workspaceTools } from "./index.ts";

const SECRET = "the secret of somebody else";
const linux = process.platform === "linux";

const byPath: [string, boolean] = ["by path", false];
const ways: [string, boolean][] = linux ? [["by descriptor", true], byPath] : [byPath];

let base: string;
let root: string;
/** Caroline's own folder. */
let own: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "strata-workspace-"));
  root = join(base, "workspace");
  own = join(root, "home/companion/caroline");
  mkdirSync(own, { recursive: true });
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "outside/secret.txt"), SECRET);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

describe.each(ways)("workspace %s", (_, byDescriptor) => {
  const use = (name: string, input: Json, contact = "caroline", more = {}): Promise<ToolOutcome> =>
    call(workspaceTools(root, byDescriptor), name, input, contextOf(contact, more));
  const read = (path: string, contact?: string) => use("read", { path }, contact);
  const write = (path: string, content: string, contact?: string) => use("write", { path, content }, contact);

  it("a file that holds a secret is not written over with what stood in the place of the secret when it was read", async () => {
    const config = "name: shop\nkey: AKIAIOSFODNN7EXAMPLQ\n";
    writeFileSync(join(own, "config.yaml"), config);
    const shown = "name: store\nkey: (AWS key removed)\n";
    const refusal = await write("config.yaml", shown);
    expect(refusal).toMatchObject({
      failed: true,
      text: expect.stringContaining('"(AWS key removed)" replaces a secret'),
    });
    expect(readFileSync(join(own, "config.yaml"), "utf8")).toBe(config);
    expect(await write("config.yaml", "name: store\n")).toMatchObject({ failed: false });
    expect(await write("notes.md", "It said (AWS key removed).")).toMatchObject({ failed: false });
    expect(await write("notes.md", "It says (AWS key removed) still.")).toMatchObject({ failed: false });
  });

  it("002.7 what is written can be read again, in folders made on the way", async () => {
    rmSync(root, { recursive: true });
    expect(await use("list", {})).toEqual({ text: "Your workspace has nothing there yet.", failed: false });
    expect(await write("plans/2026/trip.md", "Zürich 🚄\n")).toEqual({
      text: 'Wrote 13 bytes to "plans/2026/trip.md".',
      failed: false,
    });
    expect(await read("./plans/2026/trip.md")).toEqual({ text: "Zürich 🚄\n", failed: false });
    expect((await write("plans/2026/trip.md", "")).failed).toBe(false);
    expect(await read("plans/2026/trip.md")).toEqual({
      text: '"plans/2026/trip.md" in your workspace is empty.',
      failed: false,
    });
    await write("b.md", "x");
    expect((await use("list", {})).text).toBe("b.md (file, 1 bytes)\nplans/ (folder)");
    expect((await use("list", { path: "plans/2026" })).text).toBe("trip.md (file, 0 bytes)");
    expect((await use("list", { path: "./" })).text).toContain("b.md");
  });

  it("002.8 nothing of a workspace is shown unless it is read", async () => {
    const tools = toolset(workspaceTools(root, byDescriptor));
    const names = workspaceTools(root, byDescriptor).map((tool) => tool.schema.name);
    const before = JSON.stringify(tools.schemas(names));
    await write("note.md", SECRET);
    expect(JSON.stringify(tools.schemas(names))).toBe(before);
    expect((await use("list", {})).text).not.toContain(SECRET);
  });

  it("law 5 two contacts never see each other's files, however alike their names are", async () => {
    const alike = [
      "caroline",
      "Caroline",
      "caroline.",
      "+1 555",
      "+1-555",
      "../caroline",
      "con",
      "a/b",
      "ᴄaroline",
      "é",
      "e\u0301",
    ];
    for (const contact of alike) expect((await write("note.md", `of ${contact}`, contact)).failed).toBe(false);
    for (const contact of alike) {
      expect((await read("note.md", contact)).text).toBe(`of ${contact}`);
      expect((await use("list", {}, contact)).text.split("\n")).toHaveLength(1);
    }
    const folders = readdirSync(join(root, "home/companion")).map((name) => name.toLowerCase());
    expect(new Set(folders).size).toBe(alike.length);
    // No contact can take the name of another's folder.
    for (const folder of folders) {
      const seen = await read("note.md", folder);
      if (folder !== "caroline") expect(seen.failed).toBe(true);
    }
  });

  it.each([
    ["a parent", "../melanie/note.md"],
    ["a parent inside", "a/../../melanie/note.md"],
    ["an absolute path", "/etc/passwd"],
    ["an empty part", "a//b"],
    ["a slash at the end", "a/"],
    ["a zero byte", "a\0b"],
    ["a backslash", "..\\melanie"],
    ["a line break", "a\nb"],
    ["an invisible character", "a\u202eb"],
    ["half a character", "a\ud800"],
    ["a part that is a dot", "a/./b"],
    ["a part too long", "x".repeat(201)],
    ["too many parts", "a/".repeat(20)],
    ["a reserved name", ".strata-tmp-1"],
    ["the workspace itself", "."],
  ])("law 10 refuses %s with a sentence", async (_, path) => {
    for (const outcome of [await read(path), await write(path, "x")]) {
      expect(outcome).toMatchObject({ failed: true, text: expect.stringMatching(/^Invalid path .+: .+\.$/) });
    }
  });

  it("refuses links, to files and folders, in reading, writing and listing", async () => {
    symlinkSync(join(base, "outside/secret.txt"), join(own, "file"));
    symlinkSync(join(base, "outside"), join(own, "folder"));
    symlinkSync(join(base, "nowhere"), join(own, "broken"));
    for (const path of ["file", "folder", "folder/secret.txt", "broken", "broken/x"]) {
      expect((await read(path)).failed).toBe(true);
      expect((await write(path, "x")).failed).toBe(true);
    }
    for (const path of ["folder", "broken"]) expect((await use("list", { path })).failed).toBe(true);
    expect(readdirSync(join(base, "outside"))).toEqual(["secret.txt"]);
    expect(readFileSync(join(base, "outside/secret.txt"), "utf8")).toBe(SECRET);
    expect((await use("list", {})).text).toContain("folder (not readable)");
  });

  it("refuses a link in the place of somebody's own folder", async () => {
    symlinkSync(own, join(root, "home/companion/mallory"));
    await write("note.md", SECRET);
    expect((await read("note.md", "mallory")).failed).toBe(true);
    expect((await use("list", {}, "mallory")).failed).toBe(true);
  });

  it("refuses hard links, pipes, devices and folders where a file must be", async () => {
    linkSync(join(base, "outside/secret.txt"), join(own, "hard"));
    execFileSync("mkfifo", [join(own, "pipe")]);
    mkdirSync(join(own, "folder"));
    for (const path of ["hard", "pipe", "folder"]) {
      const seen = await read(path);
      expect(seen).toMatchObject({ failed: true });
      expect(seen.text).not.toContain(SECRET);
      expect((await write(path, "x")).failed).toBe(true);
    }
    expect(readFileSync(join(base, "outside/secret.txt"), "utf8")).toBe(SECRET);
    expect((await use("list", {})).text).toBe("folder/ (folder)\nhard (not readable)\npipe (not readable)");
  });

  it("refuses what is too large or no text, and says what is missing", async () => {
    writeFileSync(join(own, "large"), Buffer.alloc(256 * 1024 + 1, "x"));
    writeFileSync(join(own, "most"), Buffer.alloc(256 * 1024, "x"));
    writeFileSync(join(own, "latin"), Buffer.from([0x68, 0xe9]));
    writeFileSync(join(own, "zero"), "a\0b");
    expect((await read("large")).text).toBe(
      '"large" in your workspace is larger than 256 kB, the most that can be read.',
    );
    expect((await read("most")).text).toHaveLength(256 * 1024);
    expect((await read("latin")).text).toContain("is not UTF-8 text");
    expect((await read("zero")).text).toContain("is not UTF-8 text");
    expect((await read("missing/x")).text).toBe(
      '"missing/x" in your workspace does not exist; list shows what there is. The workspace is a folder of its own, apart from any project\'s files.',
    );
    expect((await read("most/x")).text).toContain("goes through a link or a file");
    expect((await use("list", { path: "missing" })).failed).toBe(true);
    expect((await write("wide", "é".repeat(200 * 1024))).text).toContain("409600 bytes; at most 262144");
    expect((await write("most", "x".repeat(256 * 1024 + 1))).failed).toBe(true);
  });

  it("lists at most 200 entries and says how many there are beside", async () => {
    for (let i = 0; i < 210; i++) writeFileSync(join(own, `f${String(i).padStart(3, "0")}`), "");
    writeFileSync(join(own, "forged\nname"), "");
    const lines = (await use("list", {})).text.split("\n");
    expect(lines).toHaveLength(201);
    expect(lines[0]).toBe("f000 (file, 0 bytes)");
    expect(lines.at(-1)).toBe("… and 11 more");
  });

  it("law 7 a write is whole or not there, and the same call again leaves nothing behind", async () => {
    const { turn } = contextOf("caroline");
    const halfway = `.strata-tmp-${digestOf(`${turn}\ncall-9`).slice(0, 32)}`;
    writeFileSync(join(own, halfway), "sec");
    expect((await use("list", {})).text).toBe("Your workspace has nothing there yet.");
    await write("a.md", "first");
    await use("write", { path: "a.md", content: "second" }, "caroline", { call: "call-9" });
    expect(readFileSync(join(own, "a.md"), "utf8")).toBe("second");
    mkdirSync(join(own, "folder"));
    expect((await write("folder", "x")).failed).toBe(true);
    expect(readdirSync(own).sort()).toEqual(["a.md", "folder"]);
  });

  it("law 10 any path gives a sentence and touches nothing outside", async () => {
    mkdirSync(join(own, "a"));
    symlinkSync(join(base, "outside"), join(own, "out"));
    const part = fc.oneof(
      fc.constantFrom(
        "..",
        ".",
        "",
        "a",
        "out",
        "secret.txt",
        "~",
        "%2e%2e",
        "..%2f",
        "\0",
        "\\",
        "C:",
        "NUL",
        "proc",
        "self",
      ),
      fc.string({ unit: "binary", maxLength: 6 }),
    );
    const paths = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(fc.oneof(paths, fc.string({ unit: "binary" })), async (path) => {
        for (const outcome of [await read(path), await use("list", { path }), await write(path, "mine")]) {
          expect(outcome.text).not.toBe("");
          expect(outcome.text).not.toContain(SECRET);
        }
        expect(readdirSync(base).sort()).toEqual(["outside", "workspace"]);
        expect(readdirSync(root)).toEqual(["home"]);
        expect(readdirSync(join(root, "home/companion"))).toEqual(["caroline"]);
      }),
      { numRuns: 200 },
    );
    expect(readdirSync(join(base, "outside"))).toEqual(["secret.txt"]);
    expect(readFileSync(join(base, "outside/secret.txt"), "utf8")).toBe(SECRET);
  });
});

describe.skipIf(!linux)("workspace under attack", () => {
  /** Swaps a folder and a file of the workspace for links to outside and back, as fast as it can. */
  const attacker = `
    const { renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } = require("node:fs");
    const { workerData: { own, outside, stop } } = require("node:worker_threads");
    const flag = new Int32Array(stop);
    const quietly = (act, otherwise = () => {}) => { try { act(); } catch { otherwise(); } };
    for (let i = 0; Atomics.load(flag, 0) === 0; i++) {
      const aside = own + "/aside" + i;
      quietly(() => renameSync(own + "/folder", aside));
      quietly(() => symlinkSync(outside, own + "/folder"));
      quietly(() => unlinkSync(own + "/folder"));
      quietly(() => renameSync(aside, own + "/folder"), () => rmSync(aside, { recursive: true, force: true }));
      quietly(() => symlinkSync(outside + "/note.md", own + "/link"));
      quietly(() => renameSync(own + "/link", own + "/folder/note.md"));
      quietly(() => writeFileSync(own + "/plain", "mine"));
      quietly(() => renameSync(own + "/plain", own + "/folder/note.md"));
      // Every few rounds all is as it should be for a moment, so that calls come as far as the file.
      if (i % 3 === 0) Atomics.wait(flag, 0, 0, i % 4);
    }`;

  /** How long it tries at least, in milliseconds. */
  const LEAST = IS_WHOLE ? 1_500 : 500;

  /** Calls a tool again and again while the attacker swaps: how often it worked, was refused, and told the secret. */
  async function underAttack(name: string, input: Json): Promise<{ worked: number; refused: number; leaked: number }> {
    const stop = new SharedArrayBuffer(4);
    const worker = new Worker(attacker, { eval: true, workerData: { own, outside: join(base, "outside"), stop } });
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    const seen = { worked: 0, refused: 0, leaked: 0 };
    const started = performance.now();
    // Until both sides had their turns, or nothing was tried; for no longer than the test may take.
    const enough = (): boolean => seen.worked > 5 && seen.refused > 5 && performance.now() - started > LEAST;
    while (!enough() && performance.now() - started < 15_000) {
      const { text, failed } = await call(workspaceTools(root), name, input, contextOf("caroline"));
      seen[failed ? "refused" : "worked"]++;
      if (text.includes(SECRET) || text.includes("secret.txt")) seen.leaked++;
    }
    Atomics.store(new Int32Array(stop), 0, 1);
    await ended;
    return seen;
  }

  it.each<[string, Json]>([
    ["read", { path: "folder/note.md" }],
    ["list", { path: "folder" }],
    ["write", { path: "folder/note.md", content: "mine" }],
  ])("swapping links in the middle of a %s leaks and changes nothing", { timeout: 20_000 }, async (name, input) => {
    mkdirSync(join(own, "folder"));
    // The same name on both sides: what goes through the link would reach it.
    writeFileSync(join(base, "outside/note.md"), SECRET);
    const seen = await underAttack(name, input);
    console.info(`${name} under attack: ${JSON.stringify(seen)}`);
    expect(seen.leaked).toBe(0);
    expect(Math.min(seen.worked, seen.refused)).toBeGreaterThan(5);
    expect(readFileSync(join(base, "outside/note.md"), "utf8")).toBe(SECRET);
    expect(readdirSync(join(base, "outside")).sort()).toEqual(["note.md", "secret.txt"]);
  });

  /** Puts a hard link to a file outside in the place of the workspace's own, and takes it away again, as fast as it can. */
  const linker = `
    const { linkSync, unlinkSync, writeFileSync } = require("node:fs");
    const { workerData: { own, outside, stop } } = require("node:worker_threads");
    const flag = new Int32Array(stop);
    const quietly = (act) => { try { act(); } catch {} };
    for (let i = 0; Atomics.load(flag, 0) === 0; i++) {
      quietly(() => linkSync(outside + "/secret.txt", own + "/note.md"));
      quietly(() => unlinkSync(own + "/note.md"));
      if (i % 50 === 0) { quietly(() => writeFileSync(own + "/note.md", "mine")); Atomics.wait(flag, 0, 0, 1); quietly(() => unlinkSync(own + "/note.md")); }
    }`;

  it("a hard link that is removed in the middle of a read tells nothing of where it led", {
    timeout: 300_000,
  }, async () => {
    const stop = new SharedArrayBuffer(4);
    const worker = new Worker(linker, { eval: true, workerData: { own, outside: join(base, "outside"), stop } });
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    const tools = workspaceTools(root);
    const read = async (): Promise<string> =>
      (await call(tools, "read", { path: "note.md" }, contextOf("caroline"))).text;
    let [worked, leaked] = [0, 0];
    // Before the name was asked for, one read in a hundred told the secret. `STRATA_READS` asks for more of them.
    const reads = Number(process.env["STRATA_READS"] ?? (IS_WHOLE ? 3_000 : 1_000));
    for (let n = 0; n < reads; n += 20) {
      for (const text of await Promise.all(Array.from({ length: 20 }, read))) {
        if (text.includes(SECRET)) leaked++;
        else if (text.includes("mine")) worked++;
      }
    }
    Atomics.store(new Int32Array(stop), 0, 1);
    await ended;
    console.info(`${reads} reads under attack: ${worked} worked, ${leaked} leaked`);
    expect(leaked).toBe(0);
    expect(worked).toBeGreaterThan(0);
  });

  it("leaves no descriptor open", async () => {
    const tools = workspaceTools(root);
    const open = (): number => readdirSync("/proc/self/fd").length;
    symlinkSync(join(base, "outside"), join(own, "out"));
    const before = open();
    for (let i = 0; i < 50; i++) {
      for (const path of ["a/b/c.md", "out/x", "a", "a/b/c.md/d", "missing"]) {
        await call(tools, "write", { path, content: "x" }, contextOf("caroline"));
        await call(tools, "read", { path }, contextOf("caroline"));
        await call(tools, "list", { path }, contextOf("caroline"));
      }
    }
    expect(open()).toBeLessThanOrEqual(before + 2);
  });

  it.skipIf(process.getuid?.() === 0)("says when a file may not be touched", async () => {
    writeFileSync(join(own, "a.md"), "x");
    chmodSync(join(own, "a.md"), 0);
    const outcome = await call(workspaceTools(root), "read", { path: "a.md" }, contextOf("caroline"));
    expect(outcome).toMatchObject({ failed: true, text: '"a.md" was refused: access denied.' });
  });
});
