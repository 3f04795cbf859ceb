import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";

const APP = new URL("../../src/app.ts", import.meta.url).href;
const PROJECTS = new URL("../../src/app/entry/projects.ts", import.meta.url).href;

const tool = (name: string, run: string): string => `
import { defineTool, z } from "strata";
export const ${name} = defineTool({
  name: "${name}", description: "Tells.", input: z.object({}), effect: "none", trust: "operator", run: () => ${run},
});
`;

const STRATA_YAML = (modules: readonly string[]): string => `organization: home
modules: [${modules.join(", ")}]
agents:
  shop:
    description: It sells.
    layers: [{id: rules, rank: 1, text: Sell., mutability: versioned}]
`;

/** Runs a program in a folder of these files; `app`, `answers` and `write` are there. Gives what it tells, one value after another. */
async function told(files: Readonly<Record<string, string>>, program: string): Promise<readonly unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), "strata-graph-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const main = `
    import { writeFileSync } from "node:fs";
    import { join } from "node:path";
    import { openApp } from "${APP}";
    import { projectLock } from "${PROJECTS}";
    const folder = import.meta.dirname;
    const tell = (value) => console.log(JSON.stringify(value));
    const write = (file, text) => writeFileSync(join(folder, file), text);
    const failing = (work) => work().then(() => "nothing failed", (error) => error.message);
    projectLock({ folder, env: {} }).write();
    const open = () => openApp({ folder, data: join(folder, "data"), env: {} });
    ${program}`;
  for (const [name, text] of Object.entries({ ...files, "main.mjs": main })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { stdout } = await promisify(execFile)(process.execPath, ["main.mjs"], { cwd: folder });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** What a module tells while it is loaded, in the order of loading. */
const RELOADS = `
    globalThis.seen = [];
    const app = await open();
    const reloaded = async () => {
      globalThis.seen = [];
      const { modules } = await app.reload();
      tell([globalThis.seen, modules.map((file) => file.slice(folder.length + 1))]);
    };`;

const READS = {
  "strata.yaml": STRATA_YAML(["tools/one.ts", "tools/two.ts"]),
  "tools/one.ts": `import { word } from "./lib/word.ts"; globalThis.seen.push("one " + word);${tool("one", '"1"')}`,
  "tools/two.ts": `import { word } from "./lib/word.ts"; globalThis.seen.push("two " + word);${tool("two", '"2"')}`,
  "tools/lib/word.ts": 'export { word } from "./deeper.ts";',
  "tools/lib/deeper.ts": 'export const word: string = "old";',
};

describe('import "strata"', () => {
  const broken = 'import "strata";';

  it("is answered in modules and in what they import from the project, and nowhere else in the program", async () => {
    const files = {
      "strata.yaml": STRATA_YAML(["one.ts"]),
      "one.ts": `import "./lib.ts"; import { other } from "other"; globalThis.other = other;${tool("one", '"1"')}`,
      "lib.ts": 'import { StrataError } from "strata"; globalThis.same = StrataError;',
      "bystander.mjs": broken,
      "node_modules/other/package.json": '{"name": "other", "type": "module", "exports": "./index.js"}',
      "node_modules/other/index.js":
        'export const other = await import("strata").then(() => "answered", ({ code }) => code);',
    };
    const [other, same, bystander] = await told(
      files,
      `const app = await open();
      tell(globalThis.other);
      
      tell(globalThis.same.name);
      tell(await failing(() => import("./bystander.mjs")));
      await app.close();`,
    );
    expect(other).toBe("ERR_MODULE_NOT_FOUND");
    expect(same).toBe("StrataError");
    expect(bystander).toContain("Cannot find package 'strata'");
  });

  it("leaves another Strata to those who have installed one", async () => {
    const files = {
      "strata.yaml": STRATA_YAML(["one.ts"]),
      "one.ts": tool("one", '"1"'),
      "node_modules/strata/package.json": '{"name": "strata", "type": "module", "exports": "./index.js"}',
      "node_modules/strata/index.js": 'export const which = "installed";',
    };
    const [which] = await told(files, 'await open(); tell((await import("strata")).which); process.exit(0);');
    expect(which).toBe("installed");
  });

  it("has the subpaths that the package exports, and no others", async () => {
    const files = {
      "strata.yaml": STRATA_YAML(["one.ts"]),
      "one.ts": `import schema from "strata/schema" with { type: "json" }; globalThis.schema = schema;${tool("one", '"1"')}`,
    };
    const [schema, refused] = await told(
      files,
      `const app = await open();
      tell(typeof globalThis.schema.properties);
      write("one.ts", 'import "strata/src/app.ts";');
      tell(await failing(() => app.reload()));
      await app.close();`,
    );
    expect(schema).toBe("object");
    expect(refused).toContain("Package subpath './src/app.ts' is not defined by \"exports\"");
  });

  it("is answered in CommonJS, too", async () => {
    const files = {
      "strata.yaml": STRATA_YAML(["one.cjs"]),
      "one.cjs": `const { defineTool, z } = require("strata");
        globalThis.seen.push(require("./lib.cjs"));
        exports.one = defineTool({
          name: "one", description: "Tells.", input: z.object({}), effect: "none", trust: "operator", run: () => "1",
        });`,
      "lib.cjs": 'module.exports = "old";',
    };
    const [changed] = await told(
      files,
      `${RELOADS}
      write("lib.cjs", 'module.exports = "newer";');
      await reloaded();
      await app.close();`,
    );
    expect(changed).toEqual([["newer"], ["one.cjs"]]);
  });
});

describe("a reload", () => {
  it("reads modules again when a file changed that they import, however deep, and says which", async () => {
    const [changed, unchanged] = await told(
      READS,
      `${RELOADS}
      write("tools/lib/deeper.ts", 'export const word: string = "newer";');
      await reloaded();
      await reloaded();
      await app.close();`,
    );
    expect(changed).toEqual([
      ["one newer", "two newer"],
      ["tools/one.ts", "tools/two.ts"],
    ]);
    expect(unchanged).toEqual([[], []]);
  });

  it("lets modules go on sharing what they share", async () => {
    const files = {
      ...READS,
      "tools/lib/deeper.ts": "export const word: object = {}; globalThis.seen.push(1);",
    };
    const [changed] = await told(
      files,
      `${RELOADS}
      write("tools/lib/word.ts", 'export { word } from "./deeper.ts"; // changed');
      await reloaded();
      await app.close();`,
    );
    expect(changed).toMatchObject([[1, expect.any(String), expect.any(String)], expect.any(Array)]);
  });

  it("tries again what failed, though no file changed", async () => {
    const [failed, mended] = await told(
      READS,
      `${RELOADS}
      write("tools/one.ts", 'if (globalThis.bad) throw new Error("not now");' + ${JSON.stringify(READS["tools/one.ts"])});
      globalThis.bad = true;
      tell(await failing(() => app.reload()));
      globalThis.bad = false;
      await reloaded();
      await app.close();`,
    );
    expect(failed).toContain("not now");
    expect(mended).toEqual([
      ["one old", "two old"],
      ["tools/one.ts", "tools/two.ts"],
    ]);
  });

  it("leaves alone what is installed", async () => {
    const files = {
      ...READS,
      "tools/lib/deeper.ts": 'export { word } from "dep";',
      "node_modules/dep/package.json": '{"name": "dep", "type": "module", "exports": "./index.js"}',
      "node_modules/dep/index.js": 'globalThis.seen.push("dep"); export const word = "old";',
    };
    const [changed] = await told(
      files,
      `${RELOADS}
      write("node_modules/dep/index.js", "export const word = 'newer';");
      await reloaded();
      await app.close();`,
    );
    expect(changed).toEqual([[], []]);
  });
});
