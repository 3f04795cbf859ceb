import { randomUUID } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
// The default import: an old Node has no `registerHooks`, and would fail to link this instead of reporting what it lacks.
import nodeModule, { type ResolveHookContext } from "node:module";
import { relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Files of one project that were loaded together: as long as none of them changes, they are not read again. */
interface GraphReading {
  readonly folder: string;
  /** What `import "strata"` gives in them. */
  readonly strata: URL;
  /** Part of their addresses. Node keeps a module for as long as the program runs, so another state is another address. */
  readonly mark: string;
  /** Each imported file of the project, with its content at that time. */
  readonly seen: Map<string, string>;
  readonly modules: Set<string>;
}

const readings = new Map<string, GraphReading>();
/** The addresses that were given out, and for which reading. */
const givenAddresses = new Map<string, GraphReading>();
/** The same without marks: CommonJS gives only its bare path when it requires something. */
const bare = new Map<string, GraphReading>();

/** The modules of a project at their present addresses. */
export interface Addresses {
  /** The address that `import` is to be given for the file. */
  readonly of: (file: string) => string;
  /** Those of the files that were not read in this state before. */
  readonly anew: readonly string[];
  /** A failure is not cached: the file is read again next time, changed or not. */
  readonly forget: () => void;
}

/**
 * The addresses to import these modules from. If one of them changed, or a file of the project's folder that they import, all of them are
 * read again, so that they keep sharing what they share.
 * @param strata the address of the module that `import "strata"` resolves to in them, and nowhere else in this program
 */
export function addressesOf(modules: readonly string[], folder: string, strata: URL): Addresses {
  hook();
  const place = realpathSync(folder);
  const old = readings.get(place);
  const reading = old !== undefined && isUpToDate(old, strata) ? old : beginReading(place, strata);
  const anew = modules.filter((file) => !reading.modules.has(file));
  for (const file of anew) {
    reading.modules.add(file);
    noteFile(realpathSync(file), reading);
  }
  return {
    of: (file) => {
      const address = at(pathToFileURL(file).href, reading);
      givenAddresses.set(address, reading);
      return address;
    },
    anew,
    forget: () => {
      if (readings.get(place) === reading) readings.delete(place);
    },
  };
}

function beginReading(folder: string, strata: URL): GraphReading {
  const reading: GraphReading = { folder, strata, mark: randomUUID().slice(0, 8), seen: new Map(), modules: new Set() };
  readings.set(folder, reading);
  // CommonJS is kept by its path alone.
  const { cache } = nodeModule.createRequire(import.meta.url);
  for (const path of Object.keys(cache)) if (isOf(fileOf(path), reading)) delete cache[path];
  return reading;
}

const isUpToDate = ({ seen, strata }: GraphReading, wanted: URL): boolean =>
  strata.href === wanted.href && [...seen].every(([file, state]) => fileStamp(file) === state);

function fileStamp(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "gone" : `${found.mtimeMs} ${found.size}`;
}

function noteFile(file: string, { seen }: GraphReading): void {
  if (!seen.has(file)) seen.set(file, fileStamp(file));
}

/** The address of a file in this reading. */
function at(href: string, { mark }: GraphReading): string {
  const url = new URL(href);
  url.searchParams.set("read", mark);
  return url.href;
}

const fileOf = (address: string): string => (address.startsWith("file:") ? fileURLToPath(address) : address);

/** Whether a file belongs to the project's own folder; packages installed there do not. */
function isOf(file: string, { folder }: GraphReading): boolean {
  const [first = "", ...rest] = relative(folder, file).split(sep);
  return first !== ".." && !file.startsWith("node:") && ![first, ...rest].includes("node_modules");
}

let hooked = false;

/** Once for the program. Imports by other files are not affected. */
function hook(): void {
  if (hooked) return;
  hooked = true;
  nodeModule.registerHooks({
    resolve: (specifier, context, next) => {
      const entry = givenAddresses.get(specifier);
      const reading = entry ?? readingOf(context);
      if (reading === undefined) return next(specifier, context);
      if (specifier === "strata") return { url: reading.strata.href, shortCircuit: true };
      // The package's other exports resolve as usual: Node refuses those that it does not name.
      if (specifier.startsWith("strata/")) return next(specifier, { ...context, parentURL: reading.strata.href });
      const found = next(specifier, context);
      if (!found.url.startsWith("file:")) return found;
      const file = fileURLToPath(found.url);
      if (entry === undefined && !isOf(file, reading)) return found;
      return { ...found, ...asModule(file, context), url: registerModule(found.url, file, reading) };
    },
  });
}

/**
 * A file in TypeScript is always a module, whatever the package.json beside it says: npm writes `"type": "commonjs"` into a new one, which
 * authors of tools rarely notice. CommonJS files are named `.cts`.
 */
const asModule = (file: string, { conditions }: ResolveHookContext): { readonly format?: string } =>
  file.endsWith(".ts") && conditions.includes("import") ? { format: "module-typescript" } : {};

/** The reading that an import belongs to; undefined if the importer is not part of a project. */
function readingOf({ parentURL = "", conditions }: ResolveHookContext): GraphReading | undefined {
  return givenAddresses.get(parentURL) ?? (conditions.includes("require") ? bare.get(parentURL) : undefined);
}

function registerModule(href: string, file: string, reading: GraphReading): string {
  const address = at(href, reading);
  noteFile(file, reading);
  givenAddresses.set(address, reading);
  bare.set(pathToFileURL(file).href, reading);
  return address;
}
