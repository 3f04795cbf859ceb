import { describe, expect, it } from "vitest";
import { checkProjectRooms, checkRooms } from "../../checks/rooms.ts";

/** What the check says of one file. */
function verdict(path: string, ...lines: readonly string[]): string {
  return checkRooms([{ path, text: lines.join("\n") }]).join("\n");
}

describe("the table of rooms", () => {
  it("holds for the source as it is", () => {
    expect(checkProjectRooms()).toEqual([]);
  });

  it("lets a room import what stands below it", () => {
    expect(verdict("src/compiler/compile.ts", 'import { frame } from "../guard/index.ts";')).toBe("");
    expect(verdict("src/app.ts", 'import { openServer } from "./doors/http/index.ts";')).toBe("");
    expect(verdict("src/doors/cli/main.ts", 'import { openApp } from "../../app.ts";')).toBe("");
    expect(verdict("src/index.ts", 'export { openApp } from "./app.ts";')).toBe("");
  });

  it("forbids an upward import", () => {
    expect(verdict("src/protocol/ids.ts", 'import type { Store } from "../store/index.ts";')).toBe(
      "src/protocol/ids.ts:1: imports store, but protocol may import no room only (the table in checks/rooms.ts)",
    );
    expect(verdict("src/compiler/compile.ts", 'import { runTurn } from "../turn/index.ts";')).toContain("imports turn");
  });

  it("forbids a sideways import", () => {
    expect(verdict("src/store/rows.ts", 'import { open } from "../models/index.ts";')).toContain("imports models");
  });

  it("lets the turn know no feature", () => {
    expect(verdict("src/turn/turn.ts", 'import type { LifeApi } from "../features/life/index.ts";')).toContain(
      "imports features",
    );
  });

  it("forbids app.ts to import the cli, and rooms to import app.ts", () => {
    expect(verdict("src/app.ts", 'import { main } from "./doors/cli/index.ts";')).toContain("imports doors/cli");
    expect(verdict("src/doors/http/server.ts", 'import { openApp } from "../../app.ts";')).toContain("imports app");
  });

  it("lets types pass where only types may, and no values", () => {
    expect(verdict("src/turn/turn.ts", 'import type { Store } from "../store/index.ts";')).toBe("");
    expect(verdict("src/turn/turn.ts", 'export type { Store } from "../store/index.ts";')).toBe("");
    expect(verdict("src/turn/turn.ts", 'import { openSqlite } from "../store/index.ts";')).toContain(
      "imports a value of store",
    );
    expect(verdict("src/turn/turn.ts", 'export { openSqlite } from "../store/index.ts";')).toContain(
      "imports a value of store",
    );
    expect(verdict("src/turn/turn.ts", 'await import("../store/index.ts");')).toContain("imports a value of store");
  });

  it("asks for `import type`, since names marked one by one still load the module", () => {
    expect(verdict("src/turn/turn.ts", 'import { type Store } from "../store/index.ts";')).toContain(
      'write "import type { … }"',
    );
  });

  it("forbids an entry past a room's door", () => {
    expect(verdict("src/compiler/compile.ts", 'import { frame } from "../guard/frame.ts";')).toContain(
      "past the door of guard",
    );
    expect(verdict("tests/walk.test.ts", 'import { frame } from "../src/guard/frame.ts";')).toContain(
      "past the door of guard",
    );
    expect(verdict("tests/walk.test.ts", 'import { frame } from "../src/guard/index.ts";')).toBe("");
    expect(verdict("src/doors/cli/guard.ts", 'await import("../../app/declare.ts");')).toContain(
      "past the door of app",
    );
    expect(verdict("src/doors/cli/guard.ts", 'await import("../../app/entry/guard.ts");')).toBe("");
  });

  it("forbids a path that cannot be known, and one that leaves what is built", () => {
    expect(verdict("src/turn/tools/load.ts", "await import(path);")).toContain("computed path");
    expect(verdict("src/doors/cli/version.ts", 'import settings from "../../../package.json";')).toContain(
      "outside src/",
    );
  });

  it("forbids a folder that is no room", () => {
    expect(verdict("src/services/mail.ts", "")).toContain('"services" is no room');
  });

  it("keeps packages in the rooms that may know them", () => {
    expect(verdict("src/store/sqlite.ts", 'import Database from "better-sqlite3";')).toBe("");
    expect(verdict("src/turn/turn.ts", 'import Database from "better-sqlite3";')).toContain("only store may know");
    expect(verdict("src/compiler/say.ts", 'import type { Prompt } from "@ai-sdk/provider";')).toContain(
      "only models may know",
    );
  });
});

describe("a test inside a room", () => {
  it("may enter any room through its door", () => {
    const text = 'import { openSqlite } from "../store/index.ts";';
    expect(verdict("src/compiler/compile.test.ts", text)).toBe("");
    expect(verdict("src/compiler/compiler.contract.ts", text)).toBe("");
  });

  it("may not enter past the door of another room", () => {
    expect(verdict("src/compiler/compile.test.ts", 'import { rows } from "../store/rows.ts";')).toContain(
      "past the door",
    );
  });

  it("may run the contract of another room's port", () => {
    const text = 'import { indexContract } from "../memory/index.contract.ts";';
    expect(verdict("src/store/index.test.ts", text)).toBe("");
    expect(verdict("src/store/open.ts", text)).toContain("past the door");
  });

  it("may use a clock", () => {
    expect(verdict("src/compiler/compile.test.ts", "const start = Date.now();")).toBe("");
  });
});

describe("cycles", () => {
  it("between files of a room are named with their way", () => {
    const files = [
      { path: "src/guard/a.ts", text: 'import "./b.ts";' },
      { path: "src/guard/b.ts", text: 'import type { C } from "./deep/c.ts";' },
      { path: "src/guard/deep/c.ts", text: 'import "../a.ts";' },
    ];
    expect(checkRooms(files).join()).toContain(
      "src/guard/a.ts → src/guard/b.ts → src/guard/deep/c.ts → src/guard/a.ts",
    );
  });

  it("are not seen where two ways lead to one file", () => {
    const files = [
      { path: "src/guard/a.ts", text: 'import "./b.ts"; import "./c.ts";' },
      { path: "src/guard/b.ts", text: 'import "./c.ts";' },
      { path: "src/guard/c.ts", text: "" },
    ];
    expect(checkRooms(files)).toEqual([]);
  });
});

describe("a pure room", () => {
  const IMPURE = [
    "const now = Date.now();",
    "const now = new Date();",
    "const now = new Date;",
    "const now = Date();",
    "const now = performance.now();",
    "const chance = Math.random();",
    "const id = crypto.randomUUID();",
    'import { randomBytes } from "node:crypto"; const key = randomBytes(8);',
    "crypto.getRandomValues(bytes);",
    "process.exit(1);",
    "const { platform } = process;",
    "globalThis.process.exit(1);",
    'import { readFileSync } from "node:fs";',
    'import { connect } from "node:net";',
    'import { spawn } from "node:child_process";',
    'await import("node:fs/promises");',
    "setTimeout(() => {}, 1);",
    "queueMicrotask(go);",
    'await fetch("http://localhost");',
    'console.log("here");',
    "names.sort((a, b) => a.localeCompare(b));",
  ];

  it.each(IMPURE)("may not say %s", (line) => {
    for (const room of ["compiler", "wire", "guard"]) expect(verdict(`src/${room}/a.ts`, line)).toMatch(/is pure/);
    expect(verdict("src/turn/a.ts", line)).toBe("");
  });

  const PURE = [
    "const then = new Date(at);",
    "const then = Date.parse(text);",
    'import { createHash } from "node:crypto";',
    'import type { Stats } from "node:fs";',
    "// Date.now() would break law 1",
    'const text = "process.env";',
    "const at = options.performance.start;",
    "interface Clock { readonly process: string }",
    "const most = Math.max(1, 2);",
  ];

  it.each(PURE)("may say %s", (line) => {
    expect(verdict("src/compiler/a.ts", line)).toBe("");
  });
});

describe("the environment", () => {
  it("is read in app.ts, cli and agents only", () => {
    const text = "const key = process.env.SOME_KEY;";
    expect(verdict("src/app.ts", text)).toBe("");
    expect(verdict("src/doors/cli/start.ts", text)).toBe("");
    expect(verdict("src/agents/secret.ts", text)).toBe("");
    expect(verdict("src/models/open.ts", text)).toContain("reads the environment");
    expect(verdict("src/models/open.ts", 'const key = process["env"];')).toContain("reads the environment");
    expect(verdict("src/models/open.ts", 'import { env } from "node:process";')).toContain("reads the environment");
  });
});
