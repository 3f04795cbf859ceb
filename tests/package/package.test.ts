import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runsTypeScript } from "../../bootstrap/right-node.mjs";
import { ROOT } from "../../checks/files.ts";
import { linksOf } from "../../checks/markdown.ts";
import { tooOld } from "../../src/app/entry/node-version.ts";
import { messagesServer } from "../errors/messages-server.ts";
import { install, installedPackages, type Packed, pack, shell } from "./packed.ts";
import { codeOf, walk, write } from "./walk.ts";

const root = mkdtempSync(join(tmpdir(), "strata-package-"));
/** A folder into which the package was installed, and nothing else. */
const folder = newFolder("user");
/** The folder in which docs/first-agent.md is walked through. */
const empty = newFolder("first");

let packed: Packed;
beforeAll(() => {
  packed = pack(newFolder("pack"));
  install(packed.tarball, folder);
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }), 60_000);

function newFolder(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name);
}

/** What the files of a package take on the disk; packages within it are counted by themselves. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return sum + statSync(path).blocks * 512;
    return entry.name === "node_modules" ? sum : sum + bytesIn(path);
  }, 0);
}

const KINDS = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^dist\/([\w/-]+\.js|(index|testing)\.d\.ts)$/,
  // What the guard of layer texts reads: weights, kinds of words, languages, look-alikes.
  /^dist\/guard\/override\/[a-z]+\.json$/,
  /^schema\/strata\.schema\.json$/,
  /^blueprints\/[a-z-]+\/(strata\.(yaml|lock)|layers\/[\w-]+\.md|handlers\/[\w-]+\.ts)$/,
];

describe("the packed package", () => {
  it("holds what is built, the schema, the blueprints and three pages, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !KINDS.some((kind) => kind.test(path)))).toEqual([]);
    expect(paths.filter((path) => /\b(test|test-d|contract|fixture|golden)\b/.test(path))).toEqual([]);
    const [first, ...rest] = KINDS.map((kind) => paths.filter((path) => kind.test(path)).length);
    expect(first).toBe(3);
    for (const count of rest) expect(count).toBeGreaterThan(0);
    expect(paths).toEqual(expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "dist/doors/cli/main.js"]));
  });

  it("has a README without dead links: pages that are not packed are named", () => {
    const paths = packed.files.map(({ path }) => path);
    const page = readFileSync(join(folder, "node_modules/strata/README.md"), "utf8");
    const isThere = (target: string) => paths.some((path) => path === target || path.startsWith(target));
    const dead = linksOf(page).filter(({ target }) => !/^(#|\w+:)/.test(target) && !isThere(target));
    expect(dead).toEqual([]);
    expect(page).toContain("| `docs/first-agent.md` | from an empty folder");
    expect(page).toContain("[blueprints/companion/](blueprints/companion/)");
  });

  it("is small: under 1.05 megabytes packed, under three and a half unpacked", () => {
    expect(readFileSync(packed.tarball).length).toBeLessThan(1_050_000);
    expect(packed.files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(3_500_000);
  });

  it("is read as it was written, but for comments, which its types have: it needs no source maps", () => {
    expect(packed.files.filter(({ path }) => path.endsWith(".map"))).toEqual([]);
    const turn = readFileSync(join(folder, "node_modules/strata/dist/turn/loop/turn.js"), "utf8");
    expect(turn).toContain("export async function* runTurn(");
    expect(turn).not.toContain("/** ");
    expect(readFileSync(join(folder, "node_modules/strata/dist/index.d.ts"), "utf8")).toContain(
      "/** The operator at this machine, who may do everything; `allow` makes other actors for the functions of `runtime`. */",
    );
    expect(turn).not.toContain("sourceMappingURL");
  });

  it("satisfies publint", async () => {
    const bytes = new Uint8Array(readFileSync(packed.tarball));
    const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  it("gives its types to everybody who imports it as ESM", async () => {
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(packed.tarball))));
    const problems = result.types === false ? ["it has no types"] : result.problems;
    // It is ESM only: what resolves as CommonJS or as before `exports` is not promised.
    const ours = problems.filter((one) => {
      const kind = typeof one === "object" && "resolutionKind" in one ? one.resolutionKind : undefined;
      return kind !== "node10" && kind !== "node16-cjs";
    });
    expect(ours).toEqual([]);
  });
});

const CONSUMER = `import { type App, cardOf, ERRORS, loadProject, openApp, StrataError } from "strata";
import schema from "strata/schema" with { type: "json" };

const opened: Promise<App> = openApp({ folder: ".", data: "data", env: {} });
const status: 404 = ERRORS.file_not_found.status;
const title: string = schema.title;
// @ts-expect-error: a model is made by a provider package of the AI SDK
void openApp({ model: "claude" });
// @ts-expect-error: there is no such code
new StrataError("no_such_code", "Never.");
export { cardOf, loadProject, opened, status, title };
`;

describe("the installed package", () => {
  it("is imported as ESM, whole and by its schema", async () => {
    const script = `import { ERRORS, openApp } from "strata"; import schema from "strata/schema" with { type: "json" };
console.log(typeof openApp, ERRORS.unexpected.exit, schema.title);`;
    writeFileSync(join(folder, "user.mjs"), script);
    expect(await shell("node user.mjs", folder)).toBe("function 1 strata.yaml\n");
  });

  it.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])("type-checks for a user of --module %s --moduleResolution %s", async (module, resolution) => {
    writeFileSync(join(folder, "consumer.mts"), CONSUMER);
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const options = `--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --target es2024 --resolveJsonModule`;
    const line = `node ${tsc} ${options} --module ${module} --moduleResolution ${resolution} consumer.mts`;
    expect(await shell(line, folder)).toBe("");
  });

  it("gives its types to the tools of docs/tools.md", async () => {
    for (const [file, code] of codeOf(readFileSync(join(ROOT, "docs/tools.md"), "utf8")))
      write(code, join(folder, file));
    const config = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { paths: {}, typeRoots: [join(ROOT, "node_modules/@types")], allowJs: false, checkJs: false },
      include: ["tools"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const told = (await shell(`node ${tsc} --project . --listFiles`, folder)).trimEnd().split("\n");
    const read = told.filter((line) => line.startsWith("/") && /\.c?ts$/.test(line));
    expect(told.filter((line) => !read.includes(line))).toEqual([]);
    expect(read.filter((file) => file.startsWith(`${folder}/tools/`))).toHaveLength(6);
  });

  it("runs the lines of README in a program: they stream, and wait for a reply, from a model of the AI SDK", async () => {
    const model = await messagesServer([
      { type: "text", text: "I will." },
      { type: "text", text: "It is green." },
    ]);
    const [, code = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
    const place = join(folder, "program");
    mkdirSync(place);
    writeFileSync(join(place, "ask.mjs"), code);
    const printed = await shell(`ANTHROPIC_API_KEY=none ANTHROPIC_BASE_URL=${model.url} node ask.mjs`, place);
    expect(printed).toBe("It is green.");
    expect(model.received[1]?.body).toContain("Please remember that my bicycle is green.");
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(10);
  });

  it("brings no more than 120 MB of packages", () => {
    const bytes = installedPackages().map((path) => bytesIn(join(ROOT, path)));
    expect(bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20).toBeLessThan(120);
  });

  it("brings the program", async () => {
    const { version }: { readonly version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(await shell("npx --offline --loglevel=error strata --version", folder)).toBe(`${version}\n`);
  });
});

/** Makes the running Node one of version 20.20.2: it says so, and its `node:module` has no more than that one had. */
const OLD_NODE = `import { registerHooks } from "node:module";
Object.defineProperty(process.versions, "node", { value: "20.20.2" });
const shown = "const all = process.getBuiltinModule('node:module'); const { createRequire, builtinModules } = all;" +
  "const { registerHooks, enableCompileCache, ...old } = all; export { createRequire, builtinModules, old as default };";
registerHooks({
  resolve: (name, context, next) =>
    name === "node:module" ? { url: "data:text/javascript," + encodeURIComponent(shown), shortCircuit: true } : next(name, context),
});
`;

describe("the package in a Node that is too old", () => {
  const SAYS =
    /^\[?strata: Strata needs Node 24, or 22 from 22\.18 on, or 23 from 23\.6 on, and this is Node 20\.20\.2; install Node 24, from \S+ or with `nvm install 24`, and run the command again\]?$/m;
  const inOldNode = (rest: string): Promise<string> => {
    writeFileSync(join(folder, "old-node.mjs"), OLD_NODE);
    return shell(`node --import ./old-node.mjs ${rest}; echo "exit $?"`, folder);
  };

  it("says in one sentence which one it needs and how to get it, and shows no stack", async () => {
    const [said, ...rest] = (await inOldNode("node_modules/strata/dist/doors/cli/main.js chat companion")).split("\n");
    expect(said).toMatch(SAYS);
    expect(rest).toEqual(["exit 1", ""]);
  });

  it("says so to a program that imports it, too", async () => {
    writeFileSync(join(folder, "old.mjs"), 'import { openApp } from "strata"; openApp();');
    const printed = await inOldNode("old.mjs");
    expect(printed).toMatch(SAYS);
    expect(printed).not.toMatch(/^\s+at /m);
  });

  it("means the same versions as the checkout's own start", () => {
    const versions = ["18.20.0", "20.20.2", "22.17.9", "22.18.0", "23.5.0", "23.6.0", "24.0.0", "26.1.0"];
    for (const version of versions) expect(tooOld(version) === undefined).toBe(runsTypeScript(version));
  });
});

describe("the package where nothing optional was installed", () => {
  it("says so, and finds memories by vectors all the same", async () => {
    const bare = newFolder("bare");
    install(packed.tarball, bare);
    const strata = "node_modules/.bin/strata";
    expect(await shell(`${strata} doctor`, bare)).toMatch(/^ok {4}vectors {3}sqlite-vec is not installed/m);
    await shell(`${strata} init companion --folder mine`, bare);
    const file = join(bare, "mine/strata.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}\nembedder: rehearsal\n`);
    await shell(`${strata} memory save 'Der Geburtstagskuchen ist aus Marzipan.' --folder mine`, bare);
    const found = await shell(`${strata} memory search 'Kuchen zum Geburtstag' --folder mine`, bare);
    expect(found).toContain("Der Geburtstagskuchen ist aus Marzipan.");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^ {4}# model: .*/m, "    model: bedrock:anthropic.claude"));
    const access = "AWS_REGION=eu-central-1 AWS_BEARER_TOKEN_BEDROCK=none";
    const printed = await shell(`echo Hello | ${access} ${strata} chat companion --folder mine`, bare);
    expect(printed).toContain(
      "the package @ai-sdk/amazon-bedrock is not installed; run `npm install @ai-sdk/amazon-bedrock` where Strata is installed",
    );
  }, 60_000);
});

describe("docs/first-agent.md", () => {
  it("runs from an empty folder, its model and its tool too, and prints what it shows (`npm test -- tests/package -u` writes it again)", async () => {
    const model = await messagesServer([
      { type: "text", text: "Your bicycle is green." },
      { type: "tool_use", id: "toolu_1", name: "price", input: { repair: "tyre" } },
      { type: "text", text: "A new tyre costs 12 euros." },
    ]);
    const file = join(ROOT, "docs/first-agent.md");
    const standIns = { install: () => install(packed.tarball, empty), model: model.url };
    const page = await walk(readFileSync(file, "utf8"), empty, standIns);
    await expect(page).toMatchFileSnapshot(file);
    const [going, first, second] = model.received;
    // The conversation that rehearsal began continues, with the layers that it began with.
    expect(going?.body).toContain("Please remember that my bicycle is green.");
    expect(going?.body).not.toContain("You answer for the Corner Shop");
    expect(first?.key).toBe("your-key");
    expect(first?.body).toContain("You answer for the Corner Shop");
    expect(second?.body).toContain("A tyre costs 12 euros.");
    expect(first?.body).not.toContain("your-key");
  }, 90_000);
});
